//! One reward per kind of task (TableGPT-R1): what is known of the task chooses the part that pays.
//!
//! A task of a kind without a route gets `otherwise`; where there is none, the router does not apply, which at the top makes
//! the episode unscorable and never worth 0. Routes often differ in scale: compare and normalise within a kind, not across.

use super::task_fact::{TaskFact, possible};
use crate::prelude::*;
use std::collections::BTreeMap;

/// Pays the part that is named for the task's kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Router {
    /// What tells the kind: `world`, `split`, `size`, `phase` or a JSON pointer into the task's payload.
    pub by: TaskFact,
    /// The part for each kind; at least one. Terms are listed in the order of the kinds' names.
    pub routes: BTreeMap<String, RewardConfig>,
    /// The part for every other kind, and for tasks of which nothing is known. Absent: not applicable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Box<RewardConfig>>,
}

impl Component for Router {
    const ABOUT: About = About {
        name: "router",
        summary: "Pays the part that is named for the task's kind.",
        paper: "TableGPT-R1: Advancing Tabular Reasoning Through Reinforcement Learning (2025), arXiv:2512.20312",
    };
    const EXAMPLE: &'static str = r#"
by = "/kind"
routes = { lookup = { type = "tool-success" }, sum = { type = "exact-answer" } }
otherwise = { type = "exact-answer", name = "other answers" }
"#;
}

impl Combinator for Router {
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
        Ok(Arc::new(RouterNode { by: self.by.clone(), routes, otherwise }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        if self.by == TaskFact::Split && self.routes.len() == 2 && self.otherwise.is_some() {
            advice.never("otherwise", "both splits have a route", "remove it");
        }
        self.routes.keys().for_each(|kind| advice.tells_apart(self.by.task_of_kind(kind)));
    }
}

struct RouterNode {
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

impl RouterNode {
    fn way(&self, context: &NodeContext<'_>) -> Result<Way<'_>, Value> {
        let (kind, why) = match self.by.tell(context.episode) {
            Ok(kind) => match self.routes.get(&kind) {
                Some(part) => return Ok(Way { role: "route", part, kind: Some(kind) }),
                None => {
                    let why = Value::NotApplicable(format!("there is no route for {} `{kind}`", self.by));
                    (Some(kind), why)
                }
            },
            Err(nothing @ Value::NotApplicable(_)) => (None, nothing),
            Err(other) => return Err(other),
        };
        let otherwise = self.otherwise.as_ref().ok_or(why)?;
        Ok(Way { role: "otherwise", part: otherwise, kind })
    }
}

impl Expression for RouterNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        match self.way(context) {
            Ok(Way { role, part, kind }) => {
                tracer.note(|| match kind {
                    Some(kind) => format!("{} is `{kind}`", self.by),
                    None => format!("the task has no {}", self.by),
                });
                evaluate_as(role, part.as_ref(), context, tracer)
            }
            Err(why) => why,
        }
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        format!("router (by {})", self.by)
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        self.way(context).ok()?.part.paid_by_turn(context)
    }

    fn range(&self, terms: &[Range]) -> Range {
        let parts = self.routes.values().chain(&self.otherwise);
        parts.map(|part| part.range(terms)).reduce(Range::hull).unwrap_or(Range::ALL)
    }
}
