//! The share of turns that the world's dialect understands: in [0, 1], with 1 or 0 for each turn.
//!
//! An episode without turns makes the term not applicable.

use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Action, Evidence};

pub(crate) const FORMAT: Component = Component {
    about: About {
        name: "format",
        summary: "The share of turns that the world's dialect understands.",
        paper: "",
    },
    example: r#"
type = "format"
weight = 0.5
"#,
};

term_config! {
    /// `format`
    pub struct FormatConfig of FORMAT {}
}

impl Default for FormatConfig {
    fn default() -> Self {
        Self { name: None, weight: 1.0, on_parse_failure: None, errors: None }
    }
}

impl TermConfig for FormatConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        Ok(Box::new(Format))
    }
}

struct Format;

impl Term for Format {
    fn look(&self, view: &View<'_>) -> Finding {
        let turns = &view.episode.turns;
        if turns.is_empty() {
            return Finding::not_applicable("there is no turn");
        }
        let understood: Vec<bool> =
            turns.iter().map(|turn| !matches!(turn.action, Action::Malformed { .. })).collect();
        let good = understood.iter().filter(|&&u| u).count();
        let finding = format!("{good} of {} turns understood", understood.len());
        Finding::value(good as f64 / understood.len() as f64, Evidence::new("counted", finding))
            .with_turns(understood.into_iter().map(|u| Some(f64::from(u8::from(u)))).collect())
    }
}
