//! Variety: the share of the batch's other episodes *of the same task* or, with `scope = "batch"`, of all episodes, whose
//! last turn does not read the same. Looks at a group or at the whole batch.
//!
//! Texts are compared after trimming and folding case and white space. With nobody to compare with, not applicable.

use super::reading::Reading;
use crate::term::{Finding, Nature, Settings, Survey, Term, TermConfig, View, term_config};
use crate::{Component, Problem, Scope};
use merit_core::{About, Episode, Evidence};

pub(crate) const DISTINCT: Component = Component {
    about: About {
        name: "distinct",
        summary: "The share of the group's or the batch's other episodes whose last turn reads differently.",
        paper: "",
    },
    example: r#"
type = "gate"
when = { type = "exact-answer" }
at_least = 1
then = { type = "distinct", weight = 0.1, scope = "batch" }
"#,
};

term_config! {
    /// `distinct`
    pub struct DistinctConfig of DISTINCT {
        /// Whom an episode is compared with.
        #[serde(default)]
        pub scope: Scope,
    }
}

impl TermConfig for DistinctConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature { judges: false, ..Nature::VERDICT }
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        Ok(Box::new(Distinct { scope: self.scope }))
    }
}

struct Distinct {
    scope: Scope,
}

fn folded(episode: &Episode) -> Option<String> {
    let text = Reading::LastTurn.of(episode).ok()?;
    Some(text.split_whitespace().collect::<Vec<&str>>().join(" ").to_lowercase())
}

impl Term for Distinct {
    fn survey(&self, batch: &[&Episode]) -> Survey {
        let mut counts = Survey::new();
        if self.scope == Scope::Batch {
            batch.iter().filter_map(|e| folded(e)).for_each(|text| *counts.entry(text).or_default() += 1);
        }
        counts
    }

    fn look(&self, view: &View<'_>) -> Finding {
        let Some(own) = folded(view.episode) else {
            return Finding::not_applicable("the policy wrote nothing");
        };
        let (same, among) = match self.scope {
            Scope::Group => {
                let same = view.group.iter().filter(|e| folded(e).as_deref() == Some(own.as_str())).count();
                (same, view.group.len())
            }
            Scope::Batch => (view.survey.get(&own).copied().unwrap_or(1), view.batch.len()),
        };
        if among < 2 {
            return Finding::not_applicable("there is no other episode");
        }
        let (other, others) = (among - same, among - 1);
        let finding = format!("{other} of {others} others read differently");
        Finding::value(other as f64 / others as f64, Evidence::new("counted", finding))
    }
}
