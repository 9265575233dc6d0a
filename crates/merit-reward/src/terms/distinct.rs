//! Variety: the share of the batch's other episodes *of the same task* or, with `scope = "batch"`, of all episodes, whose
//! last turn does not read the same. Looks at a group or at the whole batch.
//!
//! Texts are compared after trimming and folding case and white space. Without another episode to compare with, not applicable.

use super::reading::Reading;
use crate::combinators::normalised_sum::Scope;
use crate::prelude::*;

/// The share of the group's or the batch's other episodes whose last turn reads differently.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distinct {
    /// Whom an episode is compared with.
    #[serde(default)]
    pub scope: Scope,
}

impl Component for Distinct {
    const ABOUT: About = About {
        name: "distinct",
        summary: "The share of the group's or the batch's other episodes whose last turn reads differently.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
weight = 0.1
scope = "batch"
"#;
}

impl Term for Distinct {
    fn kind(&self) -> TermKind {
        TermKind::MEASURE
    }

    fn count(&self, batch: &[&Episode]) -> BatchCounts {
        let mut counts = BatchCounts::new();
        if self.scope == Scope::Batch {
            batch.iter().filter_map(|e| folded(e)).for_each(|text| *counts.entry(text).or_default() += 1);
        }
        counts
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let Some(own) = folded(context.episode) else {
            return TermResult::not_applicable("the policy wrote nothing");
        };
        let (same, among) = match self.scope {
            Scope::Group => {
                let same =
                    context.group.iter().filter(|e| folded(e).as_deref() == Some(own.as_str())).count();
                (same, context.group.len())
            }
            Scope::Batch => (context.counts.get(&own).copied().unwrap_or(1), context.batch.len()),
        };
        if among < 2 {
            return TermResult::not_applicable("there is no other episode");
        }
        let (other, others) = (among - same, among - 1);
        let finding = format!("{other} of {others} others read differently");
        TermResult::value(other as f64 / others as f64, Evidence::new("counted", finding))
    }
}

fn folded(episode: &Episode) -> Option<String> {
    let text = Reading::LastTurn.of(episode).ok()?;
    Some(text.split_whitespace().collect::<Vec<&str>>().join(" ").to_lowercase())
}
