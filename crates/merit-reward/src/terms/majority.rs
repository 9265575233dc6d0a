//! Agreement within the group: the share of the *other* members that gave the same final answer. Looks at a group.
//!
//! Answers are the same where they are equal after trimming, numbers by value. An episode without an answer agrees with
//! nobody. In a group of one there is nobody to agree with, and the term is not applicable. As the only reward this pays
//! for being alike, right or wrong: gate it, or keep its weight small.

use super::number::canonical;
use crate::prelude::*;

/// The share of the group's other members that gave the same final answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Majority {}

impl Component for Majority {
    const ABOUT: About = About {
        name: "majority",
        summary: "The share of the group's other members that gave the same final answer.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
weight = 0.1
"#;
}

impl Term for Majority {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let others = context.group.len() - 1;
        if others == 0 {
            return TermResult::not_applicable("the group has no other member");
        }
        let Some(own) = answer(context.episode) else {
            return TermResult::value(0.0, Evidence::new("counted", "no final answer was given"));
        };
        let members = context.group.iter().enumerate().filter(|(place, _)| *place != context.place);
        let same = members.filter(|(_, other)| answer(other).as_deref() == Some(own.as_str())).count();
        let finding = format!("{same} of {others} others gave the same answer");
        TermResult::value(same as f64 / others as f64, Evidence::new("counted", finding))
    }
}

fn answer(episode: &Episode) -> Option<String> {
    let given = episode.answer()?.trim();
    Some(canonical(given).unwrap_or_else(|| given.to_owned()))
}
