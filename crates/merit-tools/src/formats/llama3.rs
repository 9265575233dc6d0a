//! A bare JSON object `{"name": …, "parameters": {…}}`, as Llama 3 writes: several separated by `;`, perhaps behind
//! `<|python_tag|>`.
//!
//! Nothing marks the start of a bare object, and an answer may be JSON too. An object is a call where it begins a line (the
//! first line that begins with `{`) and has both a `name` and `parameters` (or `arguments`), or behind the tag. An object with
//! the name of a tool and nothing else is a call that lacks its arguments; any other object is text. Code behind the tag, the
//! form of Llama's own interpreter, is not read.

use super::literal::Fault;
use super::turn::Reading;
use super::{CallFormat, MalformedCall, ParsedTurn, advertise, finish, hide};
use crate::ToolSpec;
use merit_core::registry::Component;
use merit_core::{About, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the registry says of it.
pub(super) const ABOUT: About = About {
    name: "llama3-json",
    summary: "Llama 3: bare JSON objects with name and parameters, separated by semicolons.",
    paper: "",
};

const TAG: &str = "<|python_tag|>";
const STOPS: [&str; 2] = ["<|eom_id|>", "<|eot_id|>"];

/// `llama3-json`: it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Llama3Json {}

impl Component for Llama3Json {
    const ABOUT: About = ABOUT;
}

/// What may be calls: where they begin and whether the tag says so.
struct Start {
    at: usize,
    is_tagged: bool,
}

impl Llama3Json {
    pub(super) fn begins(text: &str) -> Option<usize> {
        let start = start(text)?;
        let rest = text.get(start.at..).unwrap_or_default();
        (start.is_tagged || resembles_call(rest)).then_some(start.at)
    }

    /// The objects from the cursor on; the cursor is behind the last of them.
    fn objects(&self, reading: &mut Reading<'_>, cards: &[ToolSpec]) -> Result<(), MalformedCall> {
        let fail = |fault: Fault| finish::wrong(self, &format!("bad JSON: {}", fault.text()), None, cards);
        loop {
            let value = reading.json().map_err(fail)?;
            reading.call(finish::call_of(self, value, cards)?)?;
            reading.space();
            if !reading.pass(";") {
                return Ok(());
            }
            reading.space();
            if reading.rest().is_empty() {
                return Ok(());
            }
        }
    }
}

fn start(text: &str) -> Option<Start> {
    let line = text.match_indices('{').map(|(at, _)| at).find(|&at| {
        let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    });
    match (text.find(TAG), line) {
        (Some(tag), line) if line.is_none_or(|line| tag < line) => Some(Start { at: tag, is_tagged: true }),
        (_, line) => line.map(|at| Start { at, is_tagged: false }),
    }
}

/// Whether text that begins with `{` looks like a call that may be broken: its first key is `name` or `type`, and it speaks
/// of parameters soon.
fn resembles_call(text: &str) -> bool {
    const SOON: usize = 300;
    let head: String = text.chars().take(SOON).collect();
    let key = head.trim_start_matches(['{', ' ', '\n', '\t', '"', '\'']);
    let begins = key.starts_with("name") || key.starts_with("type") || key.starts_with("parameters");
    begins && head.contains("name") && (head.contains("parameters") || head.contains("arguments"))
}

/// Whether a value that was read is meant as a call.
fn is_call(value: &Value, cards: &[ToolSpec]) -> bool {
    let name = value.get("name").and_then(Value::as_str);
    let has_arguments = value.get("parameters").is_some() || value.get("arguments").is_some();
    name.is_some_and(|name| has_arguments || finish::card_of(name, cards).is_some())
}

impl CallFormat for Llama3Json {
    fn about(&self) -> About {
        ABOUT
    }

    fn parse(&self, text: &str, cards: &[ToolSpec]) -> Result<ParsedTurn, MalformedCall> {
        let mut reading = Reading::open(text, &STOPS)?;
        let Some(start) = start(reading.rest()) else { return Ok(reading.finish()) };
        let rest = reading.rest().get(start.at..).unwrap_or_default();
        if !start.is_tagged {
            let meant = match super::literal::prefix(rest, super::literal::Grammar::Json) {
                Ok((value, _)) => is_call(&value, cards),
                Err(_) => resembles_call(rest),
            };
            if !meant {
                return Ok(reading.finish());
            }
        }
        reading.say_until(start.at);
        reading.pass(TAG);
        self.objects(&mut reading, cards)?;
        Ok(reading.finish())
    }

    fn advertise(&self, cards: &[ToolSpec]) -> String {
        format!(
            "You can call these functions. To call one, answer with nothing but a JSON object in the form {}; \
             separate several with a semicolon. Values are written out, never as variables.\n\n{}",
            self.shape(),
            advertise::lines(cards, advertise::function)
        )
    }

    fn write(&self, calls: &[ToolCall], cards: &[ToolSpec]) -> String {
        let call = |call: &ToolCall| {
            hide::in_json(finish::object(call, "parameters", cards), &[TAG, STOPS[0], STOPS[1]])
        };
        calls.iter().map(call).collect::<Vec<_>>().join("; ")
    }

    fn shape(&self) -> &'static str {
        "{\"name\": NAME, \"parameters\": {ARGUMENT: VALUE}}"
    }

    fn answer(&self, _tool: &str, output: &str) -> String {
        json!({ "output": output }).to_string()
    }

    fn stops(&self) -> Vec<String> {
        STOPS.map(str::to_owned).to_vec()
    }
}
