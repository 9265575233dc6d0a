//! The reward that the recorder of an imported episode gave it. Not applicable where none was given: an episode that was run
//! here has no such claim.

use crate::prelude::*;

/// The reward that the recorder of an imported episode gave it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reported {}

impl Component for Reported {
    const ABOUT: About = About {
        name: "reported",
        summary: "What whoever recorded an imported episode said it was worth.",
        paper: "",
    };
}

impl Term for Reported {
    fn kind(&self) -> TermKind {
        TermKind { judges: true, ..TermKind::NUMBER }
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        match &context.episode.reported {
            Some(reported) => {
                let finding = format!("{} gave {}", reported.by, reported.reward);
                TermResult::value(reported.reward, Evidence::new("reported", finding))
            }
            None => TermResult::not_applicable("nobody reported a reward"),
        }
    }
}
