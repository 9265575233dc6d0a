//! The calls of a task in its call format, for models whose server has calls of its own.

use super::speech::Speech;
use merit_api::{CallLanguage, ToolSpec};
use merit_core::ToolCall;
use std::sync::Arc;

/// Stands where a tool's answer goes, to learn what the format puts around it. No format writes this character.
const PLACE: &str = "\u{fffc}";

pub(super) struct FormatCalls {
    pub(super) speech: Arc<Speech>,
    pub(super) cards: Vec<ToolSpec>,
}

impl CallLanguage for FormatCalls {
    fn tools(&self) -> &[ToolSpec] {
        &self.cards
    }

    fn write(&self, said: &str, calls: &[ToolCall]) -> String {
        let calls = self.speech.format.write(calls, &self.cards);
        match said.trim() {
            "" => calls,
            said => format!("{said}\n{calls}"),
        }
    }

    fn read(&self, text: &str) -> Option<(String, Vec<ToolCall>)> {
        let turn = self.speech.format.parse(text, &self.cards).ok()?;
        (!turn.calls.is_empty()).then_some((turn.said, turn.calls))
    }

    fn answered(&self, tool: &str, shown: &str) -> String {
        let format = &self.speech.format;
        let around = format.answer(tool, PLACE);
        let inner = around
            .split_once(PLACE)
            .and_then(|(before, after)| shown.strip_prefix(before)?.strip_suffix(after));
        let Some(inner) = inner else { return shown.to_owned() };
        // Some formats show the answer as a JSON string.
        let as_string = serde_json::from_str::<String>(&format!("\"{inner}\"")).ok();
        let candidates = [Some(inner.to_owned()), as_string];
        let right = candidates.into_iter().flatten().find(|text| format.answer(tool, text) == shown);
        right.unwrap_or_else(|| shown.to_owned())
    }

    fn advert(&self) -> String {
        self.speech.advert(&self.cards).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_tools::formats::call_format;

    fn language(format: &str) -> FormatCalls {
        let cards = vec![merit_tools::Tool::spec(&merit_tools::Calculator).clone()];
        let format = call_format(format).unwrap().component();
        let (mark, instructions) = (String::new(), "Be exact.".to_owned());
        FormatCalls { speech: Arc::new(Speech { format, mark, instructions, advertise: true }), cards }
    }

    #[test]
    fn calls_and_answers_come_back_in_every_format() {
        for name in ["hermes", "mistral", "llama3-json", "pythonic", "fenced"] {
            let language = language(name);
            let call = ToolCall { tool: "calc".into(), input: "3*47".into() };
            let text = language.write("", std::slice::from_ref(&call));
            assert_eq!(language.read(&text).map(|(_, calls)| calls), Some(vec![call]), "{name}: {text}");
            for output in ["141", "two\nlines with \"quotes\" and é", ""] {
                let shown = language.speech.format.answer("calc", output);
                assert_eq!(language.answered("calc", &shown), output, "{name}: {shown}");
            }
        }
        assert_eq!(language("hermes").answered("calc", "as it is"), "as it is");
    }

    #[test]
    fn the_tools_are_told_in_a_part_of_the_instructions() {
        let language = language("hermes");
        let system = language.speech.system(&language.cards).unwrap();
        assert!(!language.advert().is_empty() && system.contains(&language.advert()));
    }
}
