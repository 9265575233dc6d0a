//! What whoever recorded the episode said it was worth. Not applicable where nobody said anything: an episode that was run
//! here has no such claim.

use crate::range::Range;
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Evidence};

pub(crate) const REPORTED: Component = Component {
    about: About {
        name: "reported",
        summary: "What whoever recorded an imported episode said it was worth.",
        paper: "",
    },
    example: r#"
type = "solved-by"
term = "reported"
of = { type = "reported" }
"#,
};

term_config! {
    /// `reported`
    pub struct ReportedConfig of REPORTED {}
}

impl TermConfig for ReportedConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature { judges: true, parses: false, range: Range::ALL }
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        Ok(Box::new(Reported))
    }
}

struct Reported;

impl Term for Reported {
    fn look(&self, view: &View<'_>) -> Finding {
        match &view.episode.reported {
            Some(reported) => {
                let finding = format!("{} gave {}", reported.by, reported.reward);
                Finding::value(reported.reward, Evidence::new("reported", finding))
            }
            None => Finding::not_applicable("nobody reported a reward"),
        }
    }
}
