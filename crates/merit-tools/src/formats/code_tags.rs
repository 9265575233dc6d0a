//! Code between `<code>` and `</code>`, answered between `<interpreter>` tags, as ReTool has it: one tool, no names.
//!
//! A fenced block that begins the code is unwrapped, and then the code may itself hold `</code>`. Nested or unclosed tags are
//! malformed. The tool takes text and is the only one, since nothing in the format says which is meant.

use super::turn::Reading;
use super::{CallFormat, MalformedCall, ParsedTurn, fence, finish};
use crate::{Arguments, ToolSpec};
use merit_core::registry::Component;
use merit_core::{About, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(super) const ABOUT: About = About {
    name: "code-tags",
    summary: "Code in <code> tags for one interpreter, answered in <interpreter> tags, as ReTool.",
    paper: "https://arxiv.org/abs/2504.11536",
};

pub(super) const OPEN: &str = "<code>";
const CLOSE: &str = "</code>";
const ANSWER: &str = "<interpreter>";

/// The settings of `code-tags`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CodeTags {
    /// The tool that runs the code.
    pub tool: String,
}

impl Default for CodeTags {
    fn default() -> Self {
        Self { tool: "python".to_owned() }
    }
}

impl Component for CodeTags {
    const ABOUT: About = ABOUT;
}

impl CodeTags {
    /// Only where its tool is there: the tag is common in other text.
    pub(super) fn begins(&self, text: &str, cards: &[ToolSpec]) -> Option<usize> {
        finish::card_of(&self.tool, cards).and_then(|_| text.find(OPEN))
    }
}

/// The code at the start of `text`, behind `<code>`, and the length up to and with `</code>`.
fn code_of(text: &str) -> Option<(&str, usize)> {
    let space = text.len() - text.trim_start().len();
    let inner = text.get(space..)?;
    if let Some(block) = fence::next_block(inner, 0).filter(|block| block.start == 0)
        && let Some(end) = block.end
    {
        let behind = inner.get(end..)?.trim_start();
        if behind.starts_with(CLOSE) {
            return Some((block.body, text.len() - behind.len() + CLOSE.len()));
        }
    }
    let end = text.find(CLOSE)?;
    let code = text.get(..end)?;
    let inner = code.trim();
    let block =
        fence::next_block(inner, 0).filter(|block| block.start == 0 && block.end == Some(inner.len()));
    let code = block.map_or_else(
        || {
            let code = code.strip_prefix('\n').unwrap_or(code);
            code.strip_suffix('\n').unwrap_or(code)
        },
        |block| block.body,
    );
    Some((code, end + CLOSE.len()))
}

impl CallFormat for CodeTags {
    fn about(&self) -> About {
        ABOUT
    }

    fn serves(&self, cards: &[ToolSpec]) -> Result<(), String> {
        let tool = &self.tool;
        match cards {
            [card] if card.name == *tool && matches!(card.arguments, Arguments::Text { .. }) => Ok(()),
            [card] if card.name == *tool => Err(format!("`{tool}` does not take text; use `hermes`")),
            _ => {
                let names: Vec<&str> = cards.iter().map(|card| card.name.as_str()).collect();
                let given = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                Err(format!(
                    "it calls one tool, `{tool}`, but the tools are {given}; set `tool`, or use `fenced`"
                ))
            }
        }
    }

    fn parse(&self, text: &str, cards: &[ToolSpec]) -> Result<ParsedTurn, MalformedCall> {
        let fail = |what: &str| finish::wrong(self, what, Some(&self.tool), cards);
        let mut reading = Reading::open(text, &[ANSWER])?;
        while let Some(next) = reading.find(OPEN) {
            reading.say_until(next);
            reading.skip(OPEN.len());
            let Some((code, length)) = code_of(reading.rest()) else {
                return Err(fail("`</code>` is missing"));
            };
            if code.trim().is_empty() {
                return Err(fail("there is no code between the tags"));
            }
            reading.skip(length);
            reading.call(ToolCall { tool: self.tool.clone(), input: code.to_owned() })?;
        }
        if reading.rest().contains(CLOSE) {
            return Err(fail("a `</code>` closes nothing"));
        }
        Ok(reading.finish())
    }

    fn advertise(&self, cards: &[ToolSpec]) -> String {
        let summary = finish::card_of(&self.tool, cards).map_or("", |card| card.summary.as_str());
        format!(
            "You can run code while you think: write it between {OPEN} and {CLOSE}, and what it prints comes back between \
             {ANSWER} and </interpreter>. {summary}\nFor example:\n{OPEN}\n```python\nprint(141 + 4 * 12)\n```\n{CLOSE}"
        )
    }

    fn write(&self, calls: &[ToolCall], _cards: &[ToolSpec]) -> String {
        let block = |call: &ToolCall| format!("{OPEN}\n{}\n{CLOSE}", fence::fenced(&self.tool, &call.input));
        calls.iter().map(block).collect::<Vec<_>>().join("\n")
    }

    fn shape(&self) -> &'static str {
        "<code>\nCODE\n</code>"
    }

    fn answer(&self, _tool: &str, output: &str) -> String {
        format!("{ANSWER}\n{output}\n</interpreter>")
    }

    fn stops(&self) -> Vec<String> {
        [CLOSE, ANSWER].map(str::to_owned).to_vec()
    }
}
