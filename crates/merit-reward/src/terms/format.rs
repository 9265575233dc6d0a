//! The share of turns that the world's dialect understands: in [0, 1], with 1 or 0 for each turn.
//!
//! An episode without turns makes the term not applicable.

use crate::prelude::*;

/// The share of turns that the world's dialect understands.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Format {}

impl Component for Format {
    const ABOUT: About = About {
        name: "format",
        summary: "The share of turns that the world's dialect understands.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
weight = 0.5
"#;
}

impl Term for Format {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let turns = &context.episode.turns;
        if turns.is_empty() {
            return TermResult::not_applicable("there is no turn");
        }
        let understood: Vec<bool> =
            turns.iter().map(|turn| !matches!(turn.action, Action::Malformed { .. })).collect();
        let good = understood.iter().filter(|&&u| u).count();
        let finding = format!("{good} of {} turns understood", understood.len());
        TermResult::value(good as f64 / understood.len() as f64, Evidence::new("counted", finding))
            .with_turns(understood.into_iter().map(|u| Some(f64::from(u8::from(u)))).collect())
    }
}
