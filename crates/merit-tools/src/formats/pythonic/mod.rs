//! A Python list of calls, `[get_weather(city="Paris"), f(x=1)]`, as Llama 3.2 and 4 and others write.
//!
//! The list is what begins a line with `[name(`; any other bracket is text. Values are literals only (see `literal`): a
//! variable or an expression is malformed. An argument without its name is taken where the tool has exactly one.

mod read;
mod write;

use super::turn::Reading;
use super::{CallFormat, MalformedCall, ParsedTurn, advertise, finish};
use crate::ToolSpec;
use merit_core::registry::Component;
use merit_core::{About, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What the registry says of it.
pub(super) const ABOUT: About = About {
    name: "pythonic",
    summary: "A Python list of calls with literal arguments, as Llama 3.2 and 4 write.",
    paper: "",
};

const TAG: &str = "<|python_start|>";
const STOPS: [&str; 3] = ["<|python_end|>", "<|eom_id|>", "<|eot_id|>"];

/// `pythonic`: it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pythonic {}

impl Component for Pythonic {
    const ABOUT: About = ABOUT;
}

impl Pythonic {
    /// Where a line begins with `[name(`.
    pub(super) fn begins(text: &str) -> Option<usize> {
        let tag = text.find(TAG);
        let list = text.match_indices('[').map(|(at, _)| at).find(|&at| {
            let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
            let begins_line = before.is_empty() || before.ends_with('\n');
            begins_line && read::name_of(text.get(at + 1..).unwrap_or_default()).is_some()
        });
        tag.into_iter().chain(list).min()
    }
}

impl CallFormat for Pythonic {
    fn about(&self) -> About {
        ABOUT
    }

    fn parse(&self, text: &str, cards: &[ToolSpec]) -> Result<ParsedTurn, MalformedCall> {
        let mut reading = Reading::open(text, &STOPS)?;
        let Some(start) = Self::begins(reading.rest()) else {
            let name = read::name_of(reading.rest()).filter(|name| finish::card_of(name, cards).is_some());
            return match name {
                Some(name) => Err(finish::wrong(self, "calls stand in a list", Some(name), cards)),
                None => Ok(reading.finish()),
            };
        };
        reading.say_until(start);
        reading.pass(TAG);
        reading.space();
        read::calls(self, &mut reading, cards)?;
        Ok(reading.finish())
    }

    fn advertise(&self, cards: &[ToolSpec]) -> String {
        format!(
            "You can call these functions. To call some, answer with nothing but a Python list of calls in the form \
             [name1(argument1=value1, argument2=value2), name2(argument=value)]. Values are literals, never \
             variables.\n\n{}",
            advertise::lines(cards, advertise::signature)
        )
    }

    fn write(&self, calls: &[ToolCall], cards: &[ToolSpec]) -> String {
        let written: Vec<String> = calls.iter().map(|call| write::call(call, cards)).collect();
        format!("[{}]", written.join(", "))
    }

    fn shape(&self) -> &'static str {
        "[NAME(ARGUMENT=VALUE)]"
    }

    fn answer(&self, _tool: &str, output: &str) -> String {
        json!({ "output": output }).to_string()
    }

    fn stops(&self) -> Vec<String> {
        STOPS.map(str::to_owned).to_vec()
    }
}
