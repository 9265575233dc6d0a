//! Replaces `then` by `value` where `when` is out of bounds.
//!
//! Exactly one of `below`, `at_most`, `above`, `at_least` says which values veto. A veto needs evidence: where `when` is
//! not applicable nothing is vetoed.

use crate::compile::{Combinator, Compiler};
use crate::condition::Deciding;
use crate::expression::{Expression, Facts, Node, evaluate_as};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::Worth;
use crate::{Component, Condition, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

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

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(bound) => write!(f, "below {bound}"),
            Self::AtMost(bound) => write!(f, "at most {bound}"),
            Self::Above(bound) => write!(f, "above {bound}"),
            Self::AtLeast(bound) => write!(f, "at least {bound}"),
        }
    }
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

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        Ok(Arc::new(Veto {
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
    then: Node,
}

impl Expression for Veto {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        match self.when.evaluate(facts, tracer) {
            Worth::Number(value) if self.bound.vetoes(value) => {
                tracer.note(|| "it falls".to_owned());
                Worth::Number(self.value)
            }
            Worth::Number(_) | Worth::NotApplicable(_) => {
                tracer.note(|| "it does not fall".to_owned());
                evaluate_as("then", self.then.as_ref(), facts, tracer)
            }
            other => other,
        }
    }

    fn label(&self, _: &Facts<'_>) -> String {
        format!("veto ({})", self.bound)
    }

    fn range(&self, terms: &[Range]) -> Range {
        self.then.range(terms).hull(Range::only(self.value))
    }
}
