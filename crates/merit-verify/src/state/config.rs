//! How states are compared, and what can be wrong with a comparison.

use crate::json::{BadLimits, Limits, Numbers, PathPattern, TooLarge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How states are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StateConfig {
    /// When two numbers are the same.
    pub numbers: Numbers,
    /// Arrays whose order means nothing.
    pub unordered: Vec<PathPattern>,
    /// Places that are not part of the state: clocks, counters, logs.
    pub ignore: Vec<PathPattern>,
    /// Whether the goal is a whole state or a part of one.
    pub goal: GoalKind,
    /// How the score is made.
    pub score: StateScore,
    /// Largest input, and most steps of one check.
    pub limits: Limits,
}

/// What the goal says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalKind {
    /// Everything: what the goal does not have must not be there.
    #[default]
    Whole,
    /// Some facts that have to hold; objects may have more keys. Arrays are whole.
    Part,
}

/// How the score is made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum StateScore {
    /// 1 when the goal holds and nothing else was touched, else 0.
    Exact,
    /// The share of the goal's facts achieved, less `collateral_weight` for each other change, over the same count.
    Facts {
        /// What one change that was not asked for costs, in facts.
        collateral_weight: f64,
    },
}

impl Default for StateScore {
    fn default() -> Self {
        Self::Facts { collateral_weight: 1.0 }
    }
}

/// Which state is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// Where the episode began.
    Initial,
    /// The state in which the episode ended.
    Reached,
    /// Where it should end.
    Goal,
    /// The only state that was given.
    Given,
}

/// Why states cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StateError {
    /// A state passes the limits.
    #[error("the {} state is {limit}", .which.name())]
    TooLarge { which: Which, limit: TooLarge },
    /// The limits cannot be used.
    #[error(transparent)]
    Limits(#[from] BadLimits),
    /// The price of collateral changes is no number of 0 or more.
    #[error("`collateral_weight` is {0}; give a finite number of 0 or more")]
    CollateralWeight(f64),
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Reached => "reached",
            Self::Goal => "goal",
            Self::Given => "given",
        }
    }
}

impl StateConfig {
    pub(super) fn check(&self) -> Result<(), StateError> {
        self.limits.check()?;
        match self.score {
            StateScore::Facts { collateral_weight: w } if !w.is_finite() || w < 0.0 => {
                Err(StateError::CollateralWeight(w))
            }
            StateScore::Facts { .. } | StateScore::Exact => Ok(()),
        }
    }
}
