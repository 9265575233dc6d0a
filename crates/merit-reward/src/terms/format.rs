//! The share of turns that the world's dialect understands: in [0, 1], with 1 or 0 for each turn.
//!
//! An episode without turns makes the term not applicable.

use crate::term::{Finding, ParseFailurePath, Settings, Term, TermConfig, one};
use crate::{Component, Problem};
use merit_core::{About, Action, Episode, Evidence};
use serde::{Deserialize, Serialize};

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

/// `format`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormatConfig {
    /// Name in the score. Absent: `format`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Factor of the share.
    #[serde(default = "one")]
    pub weight: f64,
}

impl Default for FormatConfig {
    fn default() -> Self {
        Self { name: None, weight: 1.0 }
    }
}

impl TermConfig for FormatConfig {
    fn settings(&self) -> Settings {
        Settings {
            name: self.name.clone().unwrap_or_else(|| FORMAT.about.name.to_owned()),
            weight: self.weight,
            on_parse_failure: ParseFailurePath::default(),
        }
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        Ok(Box::new(Format))
    }
}

struct Format;

impl Term for Format {
    fn look(&self, episode: &Episode) -> Finding {
        if episode.turns.is_empty() {
            return Finding::not_applicable("there is no turn");
        }
        let understood: Vec<bool> =
            episode.turns.iter().map(|turn| !matches!(turn.action, Action::Malformed { .. })).collect();
        let good = understood.iter().filter(|&&u| u).count();
        let finding = format!("{good} of {} turns understood", understood.len());
        Finding::value(good as f64 / understood.len() as f64, Evidence::new("counted", finding))
            .with_turns(understood.into_iter().map(|u| Some(f64::from(u8::from(u)))).collect())
    }
}
