//! Compares the final answer with the task's: 1 where they are the same, 0 where they differ.
//!
//! Both are trimmed. Where the right answer is an integer or decimal, numbers are compared by value (`007.50` is `7.5`), and
//! an answer that is no number is a parse failure. Where it is text, the texts must be equal. Giving no answer is the
//! policy's doing and worth 0. A task without a single right answer makes the term not applicable.

use super::number::canonical;
use super::reading::excerpt;
use crate::term::{Finding, Nature, ParseFailurePath, Settings, Term, TermConfig, View, one};
use crate::{Component, ErrorRates, Problem};
use merit_core::{About, Evidence};
use serde::{Deserialize, Serialize};

pub(crate) const EXACT_ANSWER: Component = Component {
    about: About {
        name: "exact-answer",
        summary: "1 where the final answer is the task's, compared by value for numbers; 0 where it is not.",
        paper: "",
    },
    example: r#"
type = "exact-answer"
weight = 2.0
on_parse_failure = { value = -0.5 }
"#,
};

/// `exact-answer`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactAnswerConfig {
    /// Name in the score. Absent: `exact-answer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Factor of the raw value, 0 or 1.
    #[serde(default = "one")]
    pub weight: f64,
    /// What an answer that is no number enters as where a number is asked for.
    #[serde(default)]
    pub on_parse_failure: ParseFailurePath,
    /// Makes the verdict wrong now and then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorRates>,
}

impl Default for ExactAnswerConfig {
    fn default() -> Self {
        Self { name: None, weight: 1.0, on_parse_failure: ParseFailurePath::default(), errors: None }
    }
}

impl TermConfig for ExactAnswerConfig {
    fn settings(&self) -> Settings {
        Settings {
            name: self.name.clone().unwrap_or_else(|| EXACT_ANSWER.about.name.to_owned()),
            weight: self.weight,
            on_parse_failure: self.on_parse_failure,
            errors: self.errors,
        }
    }

    fn nature(&self) -> Nature {
        Nature::PARSED_VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        Ok(Box::new(ExactAnswer))
    }
}

struct ExactAnswer;

impl Term for ExactAnswer {
    fn look(&self, view: &View<'_>) -> Finding {
        let episode = view.episode;
        let Some(right) = &episode.task.answer else {
            return Finding::not_applicable("the task has no single right answer");
        };
        match episode.answer() {
            None => Finding::value(0.0, Evidence::new("parsed", "no final answer was given")),
            Some(given) => compare(given.trim(), right.trim()),
        }
    }
}

fn compare(given: &str, right: &str) -> Finding {
    let same = match (canonical(right), canonical(given)) {
        (Some(right), Some(given)) => right == given,
        (Some(_), None) => {
            let finding = format!("a number is asked for, `{}` was answered", excerpt(given));
            return Finding::parse_failure("the answer is not a number", Evidence::new("parsed", finding));
        }
        (None, _) => right == given,
    };
    let verb = if same { "is" } else { "is not" };
    let finding = format!("`{}` {verb} `{}`", excerpt(given), excerpt(right));
    Finding::value(f64::from(u8::from(same)), Evidence::new("compared", finding))
}
