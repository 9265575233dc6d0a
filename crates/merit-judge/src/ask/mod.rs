//! What a judge that is a model is asked, and how its answer is read.
//!
//! In: an [`Ask`], a rubric, routed entries of a library and episodes. Out: a [`Question`] whose candidates are fenced as data, and a
//! typed verdict of what comes back. Pure: who is asked, and how often, is not known here.

mod examples;
mod fence;
mod heard;
mod prompt;
mod shown;

pub use examples::Examples;
pub(crate) use heard::last_object;
pub use prompt::{Question, Wording};
pub use shown::shown;

use merit_core::registry::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a judge is asked about what it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// How good one candidate is.
    Score {
        /// The best grade; 0 is the worst. The verdict is the share of it.
        #[serde(default = "ten")]
        scale: u32,
    },
    /// Which of two candidates is better, or that neither is.
    Compare {},
    /// All candidates at once, the best first.
    Rank {},
    /// Which items of a list one candidate meets.
    Check {
        /// What is to be met, a sentence each.
        items: Vec<String>,
        /// What each item counts. Empty: all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<f64>,
    },
}

fn ten() -> u32 {
    10
}

impl Ask {
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Score { scale } => {
                Refusal::unless((1..=1000).contains(scale), "ask.scale", scale, "from 1 to 1000")
            }
            Self::Check { items, weights } => {
                let some = !items.is_empty() && items.iter().all(|item| !item.trim().is_empty());
                Refusal::unless(
                    some,
                    "ask.items",
                    format!("{items:?}"),
                    "a list of sentences, none of them empty",
                )?;
                let whole = weights.is_empty() || weights.len() == items.len();
                let weighed = whole && weights.iter().all(|weight| weight.is_finite() && *weight > 0.0);
                let want = "a number above 0 for each item, or left out";
                Refusal::unless(weighed, "ask.weights", format!("{weights:?}"), want)
            }
            Self::Compare {} | Self::Rank {} => Ok(()),
        }
    }

    /// Whether it is about one candidate, so that each is asked about by itself.
    pub fn is_of_one(&self) -> bool {
        matches!(self, Self::Score { .. } | Self::Check { .. })
    }

    /// The JSON Schema of a bare verdict, without reasons: for a model that is held to it while it answers.
    pub fn schema(&self) -> Value {
        let (key, value) = match self {
            Self::Score { scale } => ("score", json!({ "enum": (0..=*scale).collect::<Vec<u32>>() })),
            Self::Compare {} => ("better", json!({ "enum": [1, 2, "tie"] })),
            Self::Rank {} => {
                ("order", json!({ "type": "array", "items": { "type": "integer", "minimum": 1 } }))
            }
            Self::Check { items, .. } => {
                let (one, count) = (json!({ "enum": [true, false, null] }), items.len());
                ("items", json!({ "type": "array", "items": one, "minItems": count, "maxItems": count }))
            }
        };
        json!({ "type": "object", "properties": { key: value }, "required": [key], "additionalProperties": false })
    }

    /// All that it says, as text. Weights that are all the same are not said.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Check { items, weights } if weights.is_empty() => format!("Check {{ items: {items:?} }}"),
            other => format!("{other:?}"),
        }
    }

    /// What the judge is asked to do, in one word for errors and versions.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Score { .. } => "score",
            Self::Compare {} => "compare",
            Self::Rank {} => "rank",
            Self::Check { .. } => "check",
        }
    }
}
