//! 1 where the episode came to its end, 0 where a limit cut it off. Not applicable where nobody knows how it ended.
//!
//! Any answer is paid, right or wrong: gate it on the outcome, or let it gate something else.

use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, End, Evidence};
use serde::{Deserialize, Serialize};

pub(crate) const ENDED: Component = Component {
    about: About {
        name: "ended",
        summary: "1 where the episode came to its end, 0 where a limit cut it off.",
        paper: "",
    },
    example: r#"
type = "product"
of = [{ type = "exact-answer" }, { type = "ended", by = "answer" }]
"#,
};

term_config! {
    /// `ended`
    pub struct EndedConfig of ENDED {
        /// Which ends count.
        #[serde(default)]
        pub by: EndedBy,
    }
}

/// Which ends count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// Any real end: a final answer, or the world's own.
    #[default]
    Any,
    /// A final answer only.
    Answer,
}

impl TermConfig for EndedConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        Ok(Box::new(Ended(self.by)))
    }
}

struct Ended(EndedBy);

impl Term for Ended {
    fn look(&self, view: &View<'_>) -> Finding {
        let end = &view.episode.end;
        let yes = match end {
            End::Answered => true,
            End::EnvironmentDone => self.0 == EndedBy::Any,
            End::Truncated { .. } => false,
            End::Failed { .. } | End::Unknown => return Finding::not_applicable("nobody knows how it ended"),
        };
        Finding::verdict(yes, Evidence::new("parsed", format!("it ended as {}", end.label())))
    }
}
