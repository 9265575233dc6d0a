//! Whatever format a turn is in: the one whose mark stands first, and only where nothing else is meant as well.
//!
//! Marks, the earlier in this order where two stand at one place: `<tool_call>` (hermes), `[TOOL_CALLS]` (mistral),
//! `<|python_tag|>` or a line that begins with an object of name and parameters (llama3-json), a line that begins with `[name(`
//! (pythonic), `<code>` where there is a tool `python` (code-tags), and a fenced block of a tool (fenced). A mark of another
//! format outside the calls makes the turn malformed. Calls are advertised, written and answered as `hermes` does.

use super::code_tags::{CodeTags, CodeTagsConfig};
use super::fenced::{Fenced, FencedConfig};
use super::hermes::Hermes;
use super::llama3::Llama3Json;
use super::mistral::{Mistral, MistralForm};
use super::pythonic::Pythonic;
use super::registry::FormatSettings;
use super::turn::Reading;
use super::{CallFormat, MalformedCall, ParsedTurn};
use crate::ToolCard;
use merit_core::{About, ToolCall};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the registry says of it.
pub(super) const ABOUT: About = About {
    name: "auto",
    summary: "Any of the other formats, by the mark that stands first; mixed turns are malformed.",
    paper: "",
};

/// `auto`: it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoConfig {}

impl FormatSettings for AutoConfig {
    fn build(&self) -> Arc<dyn CallFormat> {
        Arc::new(Auto {
            mistral: Mistral(MistralForm::default()),
            code_tags: CodeTags(CodeTagsConfig::default()),
            fenced: Fenced(FencedConfig::default()),
        })
    }
}

struct Auto {
    mistral: Mistral,
    code_tags: CodeTags,
    fenced: Fenced,
}

impl Auto {
    /// The format whose mark stands first.
    fn first(&self, text: &str, cards: &[ToolCard]) -> Option<&dyn CallFormat> {
        let marks: [(Option<usize>, &dyn CallFormat); 6] = [
            (Hermes::begins(text), &Hermes),
            (Mistral::begins(text), &self.mistral),
            (Llama3Json::begins(text), &Llama3Json),
            (Pythonic::begins(text), &Pythonic),
            (self.code_tags.begins(text, cards), &self.code_tags),
            (self.fenced.begins(text, cards), &self.fenced),
        ];
        let found = marks.into_iter().filter_map(|(at, format)| Some((at?, format)));
        found.min_by_key(|(at, _)| *at).map(|(_, format)| format)
    }
}

impl CallFormat for Auto {
    fn about(&self) -> About {
        ABOUT
    }

    fn parse(&self, text: &str, cards: &[ToolCard]) -> Result<ParsedTurn, MalformedCall> {
        let reading = Reading::open(text, &[])?;
        let Some(format) = self.first(reading.rest(), cards) else { return Hermes.parse(text, cards) };
        let turn = format.parse(text, cards)?;
        let outside = Reading::open(&turn.said, &[])?;
        match self.first(outside.rest(), cards) {
            Some(other) if !turn.calls.is_empty() => {
                let (one, two) = (format.about().name, other.about().name);
                let what = format!("calls in two formats, `{one}` and `{two}`; use one in a turn");
                Err(MalformedCall::teach(&Hermes, &what, cards.first()))
            }
            _ => Ok(turn),
        }
    }

    fn advertise(&self, cards: &[ToolCard]) -> String {
        Hermes.advertise(cards)
    }

    fn write(&self, calls: &[ToolCall], cards: &[ToolCard]) -> String {
        Hermes.write(calls, cards)
    }

    fn shape(&self) -> &'static str {
        Hermes.shape()
    }

    fn answer(&self, tool: &str, output: &str) -> String {
        Hermes.answer(tool, output)
    }

    fn stops(&self) -> Vec<String> {
        Hermes.stops()
    }
}
