//! Fenced code: a block whose word names a tool calls it with what is inside, and a `json` block with a name and arguments
//! calls that tool.
//!
//! A word names the tool of that name, or the one that `fences` says. Any other block is text, so that an answer may hold
//! code. A tool that takes JSON gets the object in its block. A block of a tool that never closes is malformed.

use super::fence::{self, Block};
use super::literal::{self, Grammar};
use super::turn::Reading;
use super::{CallFormat, MalformedCall, ParsedTurn, advertise, finish};
use crate::{Arguments, ToolSpec};
use merit_core::registry::Component;
use merit_core::{About, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the registry says of it.
pub(super) const ABOUT: About = About {
    name: "fenced",
    summary: "Fenced code: the word behind the backticks names the tool that runs the block.",
    paper: "https://arxiv.org/abs/2309.17452",
};

const JSON: &str = "json";
const STOPS: [&str; 1] = ["```output"];

/// The settings of `fenced`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fenced {
    /// Which tool a word behind the backticks calls, beside the tool of that name.
    pub fences: BTreeMap<String, String>,
}

impl Default for Fenced {
    fn default() -> Self {
        let alias = |word: &str| (word.to_owned(), "python".to_owned());
        Self { fences: BTreeMap::from(["py", "python3"].map(alias)) }
    }
}

impl Component for Fenced {
    const ABOUT: About = ABOUT;
}

impl Fenced {
    /// Where the first block of a tool begins.
    pub(super) fn begins(&self, text: &str, cards: &[ToolSpec]) -> Option<usize> {
        let mut from = 0;
        while let Some(block) = fence::next_block(text, from) {
            if self.is_call(&block, cards) {
                return Some(block.start);
            }
            from = block.end?;
            from += usize::from(text.get(from..)?.starts_with('\n'));
        }
        None
    }

    fn card<'a>(&self, word: &str, cards: &'a [ToolSpec]) -> Option<&'a ToolSpec> {
        let named = finish::card_of(word, cards).filter(|_| word != JSON);
        named.or_else(|| finish::card_of(self.fences.get(word)?, cards))
    }

    fn is_call(&self, block: &Block<'_>, cards: &[ToolSpec]) -> bool {
        self.card(block.word, cards).is_some() || (block.word == JSON && is_object_call(block.body))
    }

    fn call(&self, block: &Block<'_>, cards: &[ToolSpec]) -> Result<ToolCall, MalformedCall> {
        let card = self.card(block.word, cards);
        let name = card.map(|card| card.name.as_str());
        if block.end.is_none() {
            return Err(finish::wrong(self, "the block is not closed by a line of backticks", name, cards));
        }
        if let Some(card) = card
            && matches!(card.arguments, Arguments::Text { .. })
        {
            return Ok(ToolCall { tool: card.name.clone(), input: block.body.to_owned() });
        }
        let bad =
            |fault: literal::Fault| finish::wrong(self, &format!("bad JSON: {}", fault.text()), name, cards);
        let value = literal::whole(block.body, Grammar::Json).map_err(bad)?;
        match card {
            Some(card) => finish::finish(self, &card.name, value, cards),
            None => finish::call_of(self, value, cards),
        }
    }

    /// The word of a block that calls a tool with text.
    fn word<'a>(&'a self, card: &'a ToolSpec) -> Option<&'a str> {
        let is_word = |word: &str| {
            !word.is_empty() && word != JSON && !word.contains(|c: char| c.is_whitespace() || c == '`')
        };
        let is_text = matches!(card.arguments, Arguments::Text { .. });
        Some(card.name.as_str()).filter(|name| is_text && is_word(name))
    }
}

/// Whether the body of a `json` block is meant as a call: it has a name and arguments, or tries to.
fn is_object_call(body: &str) -> bool {
    match literal::whole(body, Grammar::Json) {
        Ok(value) => value.get("name").is_some_and(Value::is_string) && value.get("arguments").is_some(),
        Err(_) => body.contains("\"name\"") && body.contains("\"arguments\""),
    }
}

impl CallFormat for Fenced {
    fn about(&self) -> About {
        ABOUT
    }

    fn serves(&self, cards: &[ToolSpec]) -> Result<(), String> {
        let unknown = self.fences.iter().find(|(word, tool)| {
            let is_default = Fenced::default().fences.get(*word) == Some(*tool);
            !is_default && finish::card_of(tool, cards).is_none()
        });
        match unknown {
            Some((word, tool)) => {
                Err(format!("`fences` says that `{word}` calls `{tool}`, but there is no such tool"))
            }
            None => Ok(()),
        }
    }

    fn parse(&self, text: &str, cards: &[ToolSpec]) -> Result<ParsedTurn, MalformedCall> {
        let mut reading = Reading::open(text, &STOPS)?;
        while let Some(block) = fence::next_block(reading.rest(), 0) {
            if self.is_call(&block, cards) {
                let (start, end) = (block.start, block.end);
                let call = self.call(&block, cards)?;
                reading.say_until(start);
                reading.skip(end.unwrap_or_default().saturating_sub(start));
                reading.call(call)?;
            } else {
                reading.say_until(block.end.unwrap_or(reading.rest().len()));
            }
            // What is left begins with the line break behind the block, or is empty.
            let is_break = reading.rest().starts_with('\n');
            reading.say_until(usize::from(is_break));
        }
        Ok(reading.finish())
    }

    fn advertise(&self, cards: &[ToolSpec]) -> String {
        let line = |card: &ToolSpec| match self.word(card) {
            Some(word) => format!("- ```{word}: {}", card.summary),
            None => format!("- ```json: {}", advertise::signature(card)),
        };
        let example = cards.first().map_or_else(
            || self.shape().to_owned(),
            |card| {
                let call = ToolCall { tool: card.name.clone(), input: card.example.clone() };
                self.write(&[call], cards)
            },
        );
        format!(
            "You can run tools by writing fenced blocks; the word behind the backticks says which. A `json` block holds \
             an object with `name` and `arguments`. Tools:\n{}\n\nFor example:\n{example}\n\nThe answer comes in an \
             `output` block.",
            advertise::lines(cards, line)
        )
    }

    fn write(&self, calls: &[ToolCall], cards: &[ToolSpec]) -> String {
        let block =
            |call: &ToolCall| match finish::card_of(&call.tool, cards).and_then(|card| self.word(card)) {
                Some(word) => fence::fenced(word, &call.input),
                None => fence::fenced(JSON, &finish::object(call, "arguments", cards)),
            };
        calls.iter().map(block).collect::<Vec<_>>().join("\n")
    }

    fn shape(&self) -> &'static str {
        "```NAME\nINPUT\n```"
    }

    fn answer(&self, _tool: &str, output: &str) -> String {
        fence::fenced("output", output)
    }

    fn stops(&self) -> Vec<String> {
        STOPS.map(str::to_owned).to_vec()
    }
}
