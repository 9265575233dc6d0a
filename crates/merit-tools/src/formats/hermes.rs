//! `<tool_call>` with a JSON object in it, as Hermes and Qwen write: several in one turn, text around them.
//!
//! The object is read to its own end, so that a string in it may hold `</tool_call>`. A tag that does not open or close, and
//! anything beside the one object inside, is malformed. Repairs are those of `literal`; `parameters` stands for `arguments`.

use super::turn::Reading;
use super::{CallFormat, MalformedCall, ParsedTurn, advertise, finish, hide};
use crate::ToolSpec;
use merit_core::registry::Component;
use merit_core::{About, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(super) const ABOUT: About = About {
    name: "hermes",
    summary: "Hermes and Qwen: a JSON object in <tool_call> tags, any number in a turn.",
    paper: "",
};

pub(super) const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";
const ANSWER: &str = "<tool_response>";
const STOPS: [&str; 2] = [ANSWER, "<|im_end|>"];

/// `hermes`: it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hermes {}

impl Component for Hermes {
    const ABOUT: About = ABOUT;
}

impl Hermes {
    pub(super) fn begins(text: &str) -> Option<usize> {
        text.find(OPEN)
    }
}

impl CallFormat for Hermes {
    fn about(&self) -> About {
        ABOUT
    }

    fn parse(&self, text: &str, cards: &[ToolSpec]) -> Result<ParsedTurn, MalformedCall> {
        let fail = |what: &str| finish::wrong(self, what, None, cards);
        let mut reading = Reading::open(text, &STOPS)?;
        loop {
            let next = reading.find(OPEN);
            let before = reading.rest().get(..next.unwrap_or(reading.rest().len()));
            if before.is_some_and(|before| before.contains(CLOSE)) {
                return Err(fail("a `</tool_call>` closes nothing"));
            }
            let Some(next) = next else { return Ok(reading.finish()) };
            reading.say_until(next);
            reading.skip(OPEN.len());
            let value = reading.json().map_err(|fault| fail(&format!("bad JSON: {}", fault.text())))?;
            reading.space();
            if !reading.pass(CLOSE) {
                let more = !reading.rest().is_empty() && !reading.rest().starts_with(OPEN);
                let what =
                    if more { "one JSON object, then `</tool_call>`" } else { "`</tool_call>` is missing" };
                return Err(fail(what));
            }
            reading.call(finish::call_of(self, value, cards)?)?;
        }
    }

    fn advertise(&self, cards: &[ToolSpec]) -> String {
        format!(
            "# Tools\n\nYou can call the functions described in <tools></tools>:\n<tools>\n{}\n</tools>\n\n\
             To call one, write a JSON object with its name and arguments in <tool_call></tool_call>:\n{}",
            advertise::lines(cards, advertise::function),
            self.shape()
        )
    }

    fn write(&self, calls: &[ToolCall], cards: &[ToolSpec]) -> String {
        let call = |call: &ToolCall| {
            let object = finish::object(call, "arguments", cards);
            let object = hide::in_json(object, &[OPEN, CLOSE, STOPS[0], STOPS[1]]);
            format!("{OPEN}\n{object}\n{CLOSE}")
        };
        calls.iter().map(call).collect::<Vec<_>>().join("\n")
    }

    fn shape(&self) -> &'static str {
        "<tool_call>\n{\"name\": NAME, \"arguments\": {ARGUMENT: VALUE}}\n</tool_call>"
    }

    fn answer(&self, _tool: &str, output: &str) -> String {
        format!("{ANSWER}\n{output}\n</tool_response>")
    }

    fn stops(&self) -> Vec<String> {
        STOPS.map(str::to_owned).to_vec()
    }
}
