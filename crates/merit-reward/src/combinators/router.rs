//! One reward per kind of task (TableGPT-R1): what is known of the task chooses the part that pays.
//!
//! A task of a kind without a route gets `otherwise`; where there is none, the router does not apply, which at the top makes
//! the episode unscorable and never worth 0. Routes often differ in scale: compare and normalise within a kind, not across.

use super::task_fact::{TaskFact, possible};
use crate::compile::{Combinator, Compiler};
use crate::expression::{Expression, Facts, Node, evaluate_as};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::Worth;
use crate::{Component, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const ROUTER: Component = Component {
    about: About {
        name: "router",
        summary: "Pays the part that is named for the task's kind.",
        paper: "TableGPT-R1: Advancing Tabular Reasoning Through Reinforcement Learning (2025), arXiv:2512.20312",
    },
    example: r#"
type = "router"
by = "/kind"
routes = { lookup = { type = "tool-success" }, sum = { type = "exact-answer" } }
otherwise = { type = "exact-answer", name = "other answers" }
"#,
};

/// `router`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterConfig {
    /// What tells the kind: `world`, `split`, `size`, `phase` or a JSON pointer into the task's payload.
    pub by: TaskFact,
    /// The part for each kind; at least one. Terms are listed in the order of the kinds' names.
    pub routes: BTreeMap<String, RewardConfig>,
    /// The part for every other kind, and for tasks of which nothing is known. Absent: not applicable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Box<RewardConfig>>,
}

impl Combinator for RouterConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        self.routes.values().chain(self.otherwise.as_deref()).collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        if self.routes.is_empty() {
            return Err(
                compiler.error(Problem::Setting("`router` has no `routes`; name at least one".into()))
            );
        }
        let mut routes = BTreeMap::new();
        for (kind, config) in &self.routes {
            possible(&self.by, kind).map_err(|text| compiler.error(Problem::Setting(text)))?;
            routes.insert(kind.clone(), compiler.part(format!("routes.{kind}"), config)?);
        }
        let otherwise = self.otherwise.as_ref().map(|c| compiler.part("otherwise", c)).transpose()?;
        Ok(Arc::new(Router { by: self.by.clone(), routes, otherwise }))
    }
}

struct Router {
    by: TaskFact,
    routes: BTreeMap<String, Node>,
    otherwise: Option<Node>,
}

/// Where an episode goes, and what is known of its kind.
struct Way<'a> {
    role: &'static str,
    part: &'a Node,
    kind: Option<String>,
}

impl Router {
    fn way(&self, facts: &Facts<'_>) -> Result<Way<'_>, Worth> {
        let (kind, why) = match self.by.tell(facts.episode) {
            Ok(kind) => match self.routes.get(&kind) {
                Some(part) => return Ok(Way { role: "route", part, kind: Some(kind) }),
                None => {
                    let why = Worth::NotApplicable(format!("there is no route for {} `{kind}`", self.by));
                    (Some(kind), why)
                }
            },
            Err(nothing @ Worth::NotApplicable(_)) => (None, nothing),
            Err(other) => return Err(other),
        };
        let otherwise = self.otherwise.as_ref().ok_or(why)?;
        Ok(Way { role: "otherwise", part: otherwise, kind })
    }
}

impl Expression for Router {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        match self.way(facts) {
            Ok(Way { role, part, kind }) => {
                tracer.note(|| match kind {
                    Some(kind) => format!("{} is `{kind}`", self.by),
                    None => format!("the task has no {}", self.by),
                });
                evaluate_as(role, part.as_ref(), facts, tracer)
            }
            Err(why) => why,
        }
    }

    fn label(&self, _: &Facts<'_>) -> String {
        format!("router (by {})", self.by)
    }

    fn paid_by_turn(&self, facts: &Facts<'_>) -> Option<Vec<f64>> {
        self.way(facts).ok()?.part.paid_by_turn(facts)
    }

    fn range(&self, terms: &[Range]) -> Range {
        let parts = self.routes.values().chain(&self.otherwise);
        parts.map(|part| part.range(terms)).reduce(Range::hull).unwrap_or(Range::ALL)
    }
}
