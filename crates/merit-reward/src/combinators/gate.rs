//! Pays `then` only where `when` is at least `at_least`; otherwise `otherwise`, or 0 where there is none.
//!
//! Where `when` is not applicable there is nothing to decide by, and the gate is not applicable. The branch not taken is
//! not evaluated; its terms still stand in the score.

use crate::compile::{Combinator, Compiler};
use crate::condition::Deciding;
use crate::evaluate::{Expression, Facts, Trace, Worth};
use crate::{Component, Condition, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};

pub(crate) const GATE: Component = Component {
    about: About {
        name: "gate",
        summary: "Pays one part only where another is high enough; otherwise a third part, or 0.",
        paper: "",
    },
    example: r#"
type = "sum"
of = [
  { type = "exact-answer" },
  { type = "gate", when = "exact-answer", at_least = 1, then = { type = "tool-success", weight = 0.5 } },
]
"#,
};

/// `gate`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateConfig {
    /// What decides: the name of a term (its raw value) or an expression.
    pub when: Condition,
    /// The gate is open from this value on.
    pub at_least: f64,
    /// What is paid where the gate is open.
    pub then: Box<RewardConfig>,
    /// What is paid where it is shut. Absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Box<RewardConfig>>,
}

impl Combinator for GateConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        let branches = [Some(&*self.then), self.otherwise.as_deref()];
        self.when.children().into_iter().chain(branches.into_iter().flatten()).collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Box<dyn Expression>, RewardError> {
        Ok(Box::new(Gate {
            at_least: compiler.finite("at_least", self.at_least)?,
            when: compiler.condition(&self.when)?,
            then: compiler.part("then", &self.then)?,
            otherwise: self.otherwise.as_ref().map(|c| compiler.part("otherwise", c)).transpose()?,
        }))
    }
}

struct Gate {
    when: Deciding,
    at_least: f64,
    then: Box<dyn Expression>,
    otherwise: Option<Box<dyn Expression>>,
}

impl Expression for Gate {
    fn evaluate(&self, facts: &Facts<'_>) -> Trace {
        let when = self.when.evaluate(facts);
        let open = match when.worth {
            Worth::Number(value) => value >= self.at_least,
            _ => return Trace::new("gate", when.worth.clone(), vec![when]),
        };
        let taken = if open {
            Some(self.then.evaluate(facts).in_role("then"))
        } else {
            self.otherwise.as_ref().map(|otherwise| otherwise.evaluate(facts).in_role("otherwise"))
        };
        let worth = taken.as_ref().map_or(Worth::Number(0.0), |t| t.worth.clone());
        let label = format!("gate ({}, at least {})", if open { "open" } else { "shut" }, self.at_least);
        Trace::new(label, worth, std::iter::once(when).chain(taken).collect())
    }
}
