//! Compares the final answer with the task's: 1 where they are the same, 0 where they differ.
//!
//! Both are trimmed. Where the right answer is an integer or decimal, numbers are compared by value (`007.50` is `7.5`), and
//! an answer that is no number is a parse failure. Where it is text, the texts must be equal. Giving no answer is the
//! policy's doing and worth 0. A task without a single right answer makes the term not applicable.

use super::number::canonical;
use super::reading::excerpt;
use crate::prelude::*;

/// 1 where the final answer is the task's, compared by value for numbers; 0 where it is not.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExactAnswer {}

impl Component for ExactAnswer {
    const ABOUT: About = About {
        name: "exact-answer",
        summary: "1 where the final answer is the task's, compared by value for numbers; 0 where it is not.",
        paper: "",
    };
    const EXAMPLE: &'static str = "weight = 2.0\non_parse_failure = { value = -0.5 }\n";
}

impl Term for ExactAnswer {
    fn kind(&self) -> TermKind {
        TermKind { solves: true, ..TermKind::PARSED_VERDICT }
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let episode = context.episode;
        let Some(right) = &episode.task.answer else {
            return TermResult::not_applicable("the task has no single right answer");
        };
        match episode.answer() {
            None => TermResult::value(0.0, Evidence::new("parsed", "no final answer was given")),
            Some(given) => compare(given.trim(), right.trim()),
        }
    }
}

fn compare(given: &str, right: &str) -> TermResult {
    let same = match (canonical(right), canonical(given)) {
        (Some(right), Some(given)) => right == given,
        (Some(_), None) => {
            let finding = format!("a number is asked for, `{}` was answered", excerpt(given));
            return TermResult::parse_failure("the answer is not a number", Evidence::new("parsed", finding));
        }
        (None, _) => right == given,
    };
    let verb = if same { "is" } else { "is not" };
    let finding = format!("`{}` {verb} `{}`", excerpt(given), excerpt(right));
    TermResult::verdict(same, Evidence::new("compared", finding))
}
