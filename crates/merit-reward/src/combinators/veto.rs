//! Replaces `then` by `value` where `when` is out of bounds.
//!
//! Exactly one of `below`, `at_most`, `above`, `at_least` says which values veto. A veto needs evidence: where `when` is
//! not applicable nothing is vetoed.

use crate::compile::{Combinator, Compiler};
use crate::condition::Deciding;
use crate::evaluate::{Expression, Facts, Trace, Worth};
use crate::{Component, Condition, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};

pub(crate) const VETO: Component = Component {
    about: About {
        name: "veto",
        summary: "Replaces a part by a fixed value where another is out of bounds.",
        paper: "",
    },
    example: r#"
type = "veto"
when = { type = "format" }
below = 0.5
value = -1.0
then = { type = "exact-answer" }
"#,
};

/// `veto`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VetoConfig {
    /// What decides: the name of a term (its raw value) or an expression.
    pub when: Condition,
    /// Values below this veto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// Values of at most this veto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Values above this veto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// Values of at least this veto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// What is paid instead.
    pub value: f64,
    /// What is paid where nothing is vetoed.
    pub then: Box<RewardConfig>,
}

#[derive(Debug, Clone, Copy)]
enum Bound {
    Below(f64),
    AtMost(f64),
    Above(f64),
    AtLeast(f64),
}

impl Bound {
    fn vetoes(self, value: f64) -> bool {
        match self {
            Self::Below(bound) => value < bound,
            Self::AtMost(bound) => value <= bound,
            Self::Above(bound) => value > bound,
            Self::AtLeast(bound) => value >= bound,
        }
    }
}

impl VetoConfig {
    fn bound(&self, compiler: &Compiler) -> Result<Bound, RewardError> {
        let given: Vec<(&'static str, f64, Bound)> = [
            self.below.map(|b| ("below", b, Bound::Below(b))),
            self.at_most.map(|b| ("at_most", b, Bound::AtMost(b))),
            self.above.map(|b| ("above", b, Bound::Above(b))),
            self.at_least.map(|b| ("at_least", b, Bound::AtLeast(b))),
        ]
        .into_iter()
        .flatten()
        .collect();
        match given[..] {
            [(field, value, bound)] => compiler.finite(field, value).map(|_| bound),
            _ => Err(compiler.error(Problem::Threshold { given: given.len() })),
        }
    }
}

impl Combinator for VetoConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        self.when.children().into_iter().chain([&*self.then]).collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Box<dyn Expression>, RewardError> {
        Ok(Box::new(Veto {
            bound: self.bound(compiler)?,
            value: compiler.finite("value", self.value)?,
            when: compiler.condition(&self.when)?,
            then: compiler.part("then", &self.then)?,
        }))
    }
}

struct Veto {
    when: Deciding,
    bound: Bound,
    value: f64,
    then: Box<dyn Expression>,
}

impl Expression for Veto {
    fn evaluate(&self, facts: &Facts<'_>) -> Trace {
        let when = self.when.evaluate(facts);
        match when.worth {
            Worth::Number(value) if self.bound.vetoes(value) => {
                let label = format!("veto (falls, {:?})", self.bound);
                Trace::new(label, Worth::Number(self.value), vec![when])
            }
            Worth::Number(_) | Worth::NotApplicable(_) => {
                let then = self.then.evaluate(facts).in_role("then");
                let label = format!("veto (does not fall, {:?})", self.bound);
                Trace::new(label, then.worth.clone(), vec![when, then])
            }
            Worth::Unscorable(_) | Worth::Broken(_) => Trace::new("veto", when.worth.clone(), vec![when]),
        }
    }
}
