//! `[TOOL_CALLS]` and what follows it, as Mistral writes: a JSON array of objects, or since tokenizer version 11 a name with
//! its arguments, `[TOOL_CALLS]name{…}`, also with `[CALL_ID]` and `[ARGS]` between, the marker again for each call.
//!
//! Both forms are read, and one object without its array. Text behind the last call is said, not called.

use super::turn::Reading;
use super::{CallFormat, MalformedCall, ParsedTurn, advertise, finish, hide};
use crate::ToolSpec;
use merit_core::canonical;
use merit_core::registry::Component;
use merit_core::{About, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the registry says of it.
pub(super) const ABOUT: About = About {
    name: "mistral",
    summary: "Mistral: [TOOL_CALLS] with a JSON array, or with a name and its arguments.",
    paper: "",
};

pub(super) const MARK: &str = "[TOOL_CALLS]";
const ID: &str = "[CALL_ID]";
const ARGS: &str = "[ARGS]";
const ANSWER: &str = "[TOOL_RESULTS]";
const STOPS: [&str; 2] = [ANSWER, "</s>"];

/// How calls are written; both forms are always read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MistralForm {
    /// `[TOOL_CALLS] [{"name": …, "arguments": {…}}]`, up to tokenizer version 7.
    #[default]
    Array,
    /// `[TOOL_CALLS]name[ARGS]{…}`, from version 11 on.
    Args,
}

/// The settings of `mistral`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mistral {
    /// How calls are written and answered.
    pub form: MistralForm,
}

impl Component for Mistral {
    const ABOUT: About = ABOUT;
}

impl Mistral {
    pub(super) fn begins(text: &str) -> Option<usize> {
        text.find(MARK)
    }

    /// The calls behind one marker.
    fn marked(&self, reading: &mut Reading<'_>, cards: &[ToolSpec]) -> Result<(), MalformedCall> {
        let fail = |what: &str| finish::wrong(self, what, None, cards);
        reading.space();
        if !reading.rest().starts_with(['[', '{']) {
            let call = self.named(reading, cards)?;
            return reading.call(call);
        }
        let value = reading.json().map_err(|fault| fail(&format!("bad JSON: {}", fault.text())))?;
        let objects = match value {
            Value::Array(objects) if objects.is_empty() => return Err(fail("the list of calls is empty")),
            Value::Array(objects) => objects,
            object => vec![object],
        };
        objects.into_iter().try_for_each(|object| reading.call(finish::call_of(self, object, cards)?))
    }

    /// `name{…}`, with what may stand between.
    fn named(&self, reading: &mut Reading<'_>, cards: &[ToolSpec]) -> Result<ToolCall, MalformedCall> {
        let rest = reading.rest();
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        let fail = |what: &str| finish::wrong(self, what, Some(name).filter(|name| !name.is_empty()), cards);
        if name.is_empty() {
            return Err(fail("`[TOOL_CALLS]` is followed by no call"));
        }
        reading.skip(end);
        if reading.pass(ID) {
            let id = reading.rest().find(|c: char| !is_name(c)).unwrap_or(reading.rest().len());
            reading.skip(id);
        }
        reading.pass(ARGS);
        reading.space();
        if !reading.rest().starts_with('{') {
            return Err(fail("the name of the tool must be followed by its arguments"));
        }
        let value = reading.json().map_err(|fault| fail(&format!("bad JSON: {}", fault.text())))?;
        finish::finish(self, name, value, cards)
    }

    fn write_named(call: &ToolCall, cards: &[ToolSpec]) -> String {
        let arguments = canonical(&finish::arguments_of(call, cards));
        format!("{MARK}{}{ARGS}{}", call.tool, hide::in_json(arguments, &HIDDEN))
    }
}

const HIDDEN: [&str; 5] = [MARK, ARGS, ID, ANSWER, "</s>"];

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':')
}

impl CallFormat for Mistral {
    fn about(&self) -> About {
        ABOUT
    }

    fn parse(&self, text: &str, cards: &[ToolSpec]) -> Result<ParsedTurn, MalformedCall> {
        let mut reading = Reading::open(text, &STOPS)?;
        while let Some(next) = reading.find(MARK) {
            reading.say_until(next);
            reading.skip(MARK.len());
            self.marked(&mut reading, cards)?;
        }
        Ok(reading.finish())
    }

    fn advertise(&self, cards: &[ToolSpec]) -> String {
        let functions: Vec<String> = cards.iter().map(advertise::function).collect();
        format!(
            "[AVAILABLE_TOOLS] [{}][/AVAILABLE_TOOLS]\nTo call tools, write {}",
            functions.join(", "),
            self.shape()
        )
    }

    fn write(&self, calls: &[ToolCall], cards: &[ToolSpec]) -> String {
        let is_plain = |call: &ToolCall| !call.tool.is_empty() && call.tool.chars().all(is_name);
        if self.form == MistralForm::Args && calls.iter().all(is_plain) {
            return calls.iter().map(|call| Self::write_named(call, cards)).collect();
        }
        let object = |call| hide::in_json(finish::object(call, "arguments", cards), &HIDDEN);
        format!("{MARK} [{}]", calls.iter().map(object).collect::<Vec<_>>().join(", "))
    }

    fn shape(&self) -> &'static str {
        match self.form {
            MistralForm::Array => "[TOOL_CALLS] [{\"name\": NAME, \"arguments\": {ARGUMENT: VALUE}}]",
            MistralForm::Args => "[TOOL_CALLS]NAME[ARGS]{ARGUMENT: VALUE}",
        }
    }

    fn answer(&self, _tool: &str, output: &str) -> String {
        match self.form {
            MistralForm::Array => format!("{ANSWER} {}[/TOOL_RESULTS]", json!({ "content": output })),
            MistralForm::Args => format!("{ANSWER}{output}[/TOOL_RESULTS]"),
        }
    }

    fn stops(&self) -> Vec<String> {
        STOPS.map(str::to_owned).to_vec()
    }
}
