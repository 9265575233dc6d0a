//! Agreement within the group: the share of the *other* members that gave the same final answer. Looks at a group.
//!
//! Answers are the same where they are equal after trimming, numbers by value. An episode without an answer agrees with
//! nobody. In a group of one there is nobody to agree with, and the term is not applicable. As the only reward this pays
//! for being alike, right or wrong: gate it, or keep its weight small.

use super::number::canonical;
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};

pub(crate) const MAJORITY: Component = Component {
    about: About {
        name: "majority",
        summary: "The share of the group's other members that gave the same final answer.",
        paper: "",
    },
    example: r#"
type = "sum"
of = [{ type = "exact-answer" }, { type = "majority", weight = 0.1 }]
"#,
};

term_config! {
    /// `majority`
    pub struct MajorityConfig of MAJORITY {}
}

impl TermConfig for MajorityConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        Ok(Box::new(Majority))
    }
}

struct Majority;

fn answer(episode: &Episode) -> Option<String> {
    let given = episode.answer()?.trim();
    Some(canonical(given).unwrap_or_else(|| given.to_owned()))
}

impl Term for Majority {
    fn look(&self, view: &View<'_>) -> Finding {
        let others = view.group.len() - 1;
        if others == 0 {
            return Finding::not_applicable("the group has no other member");
        }
        let Some(own) = answer(view.episode) else {
            return Finding::value(0.0, Evidence::new("counted", "no final answer was given"));
        };
        let members = view.group.iter().enumerate().filter(|(place, _)| *place != view.place);
        let same = members.filter(|(_, other)| answer(other).as_deref() == Some(own.as_str())).count();
        let finding = format!("{same} of {others} others gave the same answer");
        Finding::value(same as f64 / others as f64, Evidence::new("counted", finding))
    }
}
