//! Rules over a sequence of calls, as data.
//!
//! ```toml
//! [[rules]]
//! must_call = { tool = "get_user" }
//! [[rules]]
//! before = ["get_user", "book_flight"]
//! [[rules]]
//! at_most = { tool = "search", n = 3 }
//! [[rules]]
//! no_repeat = { except = ["poll"] }
//! ```

use super::grounding::Grounding;
use super::reference::ReferenceActions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A rule over a sequence of calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Some call fits the pattern.
    MustCall(CallPattern),
    /// No call fits the pattern.
    MustNotCall(CallPattern),
    /// Every call of the second tool comes after some call of the first.
    Before(String, String),
    /// No more calls than so many.
    AtMost(AtMost),
    /// No call is made twice with the same arguments.
    NoRepeat(NoRepeat),
    /// Arguments are taken from what was seen, not invented.
    ArgsFromObservations(Grounding),
    /// The calls are those expected.
    ReferenceActions(ReferenceActions),
}

/// Which calls are meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallPattern {
    /// The tool that is called.
    pub tool: String,
    /// Arguments that have to be there with these values; others may be there too.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// A limit on the number of calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtMost {
    /// The tool. Absent: all calls together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The largest number of calls.
    pub n: usize,
}

/// Which calls may be repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoRepeat {
    /// Tools that may be called again with the same arguments.
    pub except: Vec<String>,
}

/// A rule that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RuleError {
    #[error("rule {rule} (`{name}`): a tool has no name")]
    NoTool { rule: usize, name: &'static str },
    /// A tool that has to come before itself.
    #[error("rule {rule} (`before`): `{tool}` cannot come before itself; no call of it could ever pass")]
    BeforeItself { rule: usize, tool: String },
    #[error(
        "rule {rule} (`reference_actions`): no calls are listed; to forbid calls use `at_most = {{ n = 0 }}`"
    )]
    NothingExpected { rule: usize },
    /// A setting that can never act.
    #[error("rule {rule} (`reference_actions`): {why}")]
    Idle { rule: usize, why: &'static str },
    /// A penalty that is no number of 0 or more.
    #[error(
        "rule {rule} (`reference_actions`): `extra_penalty` is {value}; give a finite number of 0 or more"
    )]
    Penalty { rule: usize, value: f64 },
}

impl Rule {
    /// The name of the rule as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MustCall(_) => "must_call",
            Self::MustNotCall(_) => "must_not_call",
            Self::Before(..) => "before",
            Self::AtMost(_) => "at_most",
            Self::NoRepeat(_) => "no_repeat",
            Self::ArgsFromObservations(_) => "args_from_observations",
            Self::ReferenceActions(_) => "reference_actions",
        }
    }

    fn tools(&self) -> Vec<&str> {
        match self {
            Self::MustCall(pattern) | Self::MustNotCall(pattern) => vec![&pattern.tool],
            Self::Before(first, then) => vec![first, then],
            Self::AtMost(limit) => limit.tool.iter().map(String::as_str).collect(),
            Self::NoRepeat(rule) => rule.except.iter().map(String::as_str).collect(),
            Self::ArgsFromObservations(rule) => rule.tools.iter().map(String::as_str).collect(),
            Self::ReferenceActions(rule) => rule.calls.iter().map(|call| call.tool.as_str()).collect(),
        }
    }

    pub(super) fn check(&self, rule: usize) -> Result<(), RuleError> {
        if self.tools().contains(&"") {
            return Err(RuleError::NoTool { rule, name: self.name() });
        }
        match self {
            Self::Before(first, then) if first == then => {
                Err(RuleError::BeforeItself { rule, tool: first.clone() })
            }
            Self::ReferenceActions(actions) => actions.check(rule),
            _ => Ok(()),
        }
    }
}
