//! 1 where the episode came to its end, 0 where a limit cut it off. Not applicable where it is unknown how it ended or would have.
//!
//! Any answer is paid, right or wrong: gate it on the outcome, or let it gate something else.

use crate::prelude::*;
use serde::{Deserialize, Serialize};

/// 1 where the episode came to its end, 0 where a limit cut it off.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// Which ends are paid: any real end, or a final answer only.
    #[serde(default)]
    pub by: EndedBy,
}

impl Component for Ended {
    const ABOUT: About = About {
        name: "ended",
        summary: "1 where the episode came to its end, 0 where a limit cut it off.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
by = "answer"
"#;
}

impl Term for Ended {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let end = &context.episode.end;
        let yes = match end {
            End::Answered => true,
            End::EnvironmentDone => self.by == EndedBy::Any,
            End::Truncated { .. } => false,
            End::Left | End::Failed { .. } | End::Unknown => {
                return TermResult::not_applicable("nobody knows how it ended");
            }
        };
        TermResult::verdict(yes, Evidence::new("parsed", format!("it ended as {}", end.label())))
    }
}

/// The ends that are paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// Any real end: a final answer, or the world's own.
    #[default]
    Any,
    /// A final answer only.
    Answer,
}
