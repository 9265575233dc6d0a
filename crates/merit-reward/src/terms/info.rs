//! What the environment knows to be true: one of the named numbers that it records on every turn (`Turn::info`).
//!
//! The value is the last, first, sum, mean or greatest of the turns that have the number; with `per_turn` each turn is told as
//! well, so that a sum can pay it there; with `verdict` each is a yes or a no, which `errors` can make wrong now
//! and then. Where no turn has it the term is not applicable: it was not measured, which is not 0. Where the policy overran in its
//! very first turn, so that the environment never heard of it, that is a parse failure: the policy's doing.

use crate::prelude::*;
use merit_core::{Episode, Turn, TurnStop};

/// One of the named numbers that the environment records on every turn.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Info {
    /// The name under which the environment records the number.
    pub key: String,
    /// How the turns are taken together.
    #[serde(default)]
    pub reduce: TurnReduce,
    /// Tell the number of every turn that has it.
    #[serde(default)]
    pub per_turn: bool,
    /// Every number is a verdict: a yes (1) from one half on, otherwise a no (0). `errors` are for verdicts alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verdict: bool,
}

/// How the numbers of several turns are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnReduce {
    /// The number of the last turn.
    #[default]
    Last,
    /// The number of the first turn.
    First,
    /// The sum of the numbers.
    Sum,
    /// The mean of the numbers.
    Mean,
    /// The greatest of the numbers.
    Max,
}

impl TurnReduce {
    /// The numbers taken together. Absent: there are none.
    pub fn of(self, numbers: &[f64]) -> Option<f64> {
        match self {
            Self::Last => numbers.last().copied(),
            Self::First => numbers.first().copied(),
            Self::Sum => (!numbers.is_empty()).then(|| numbers.iter().sum()),
            Self::Mean => merit_core::stats::mean(numbers),
            Self::Max => numbers.iter().copied().reduce(f64::max),
        }
    }

    /// The result of a term that reads one number of every turn of `episode`.
    pub(super) fn result(
        self,
        what: &str,
        episode: &Episode,
        number: impl Fn(&Turn) -> Option<f64>,
        per_turn: bool,
    ) -> TermResult {
        let turns: Vec<Option<f64>> = episode.turns.iter().map(number).collect();
        let numbers: Vec<f64> = turns.iter().copied().flatten().collect();
        let Some(value) = self.of(&numbers) else {
            if let [only] = &episode.turns[..]
                && matches!(only.stop, TurnStop::MaxTokens | TurnStop::ContextFull)
            {
                let finding =
                    format!("no {what}: the policy's first turn was cut before the environment heard it");
                return TermResult::parse_failure(
                    "the first turn was cut",
                    Evidence::new("measured", finding),
                );
            }
            return TermResult::not_applicable(format!("no turn has {what}"));
        };
        let how = format!("{self:?}").to_lowercase();
        let finding = format!("{what} in {} of {} turns; {how}: {value}", numbers.len(), turns.len());
        let result = TermResult::value(value, Evidence::new("measured", finding));
        if per_turn { result.with_turns(turns) } else { result }
    }
}

impl Component for Info {
    const ABOUT: About = About {
        name: "info",
        summary: "One of the named numbers that the environment records on every turn.",
        paper: "",
    };
    const EXAMPLE: &'static str = "key = \"progress\"\nreduce = \"sum\"\nper_turn = true\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(
            !self.key.is_empty(),
            "key",
            "empty",
            "the name of a number that the environment records",
        )?;
        if self.verdict && self.reduce == TurnReduce::Sum {
            return Err(Refusal::new(
                "a sum of verdicts is no verdict; give `reduce` = \"mean\", or leave `verdict` out",
            ));
        }
        Ok(())
    }
}

impl Term for Info {
    fn kind(&self) -> TermKind {
        let kind = if self.verdict { TermKind::VERDICT } else { TermKind::NUMBER };
        TermKind { needs_a_turn: true, ..kind }
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let read = |number: &f64| if self.verdict { f64::from(u8::from(*number >= 0.5)) } else { *number };
        let number = |turn: &Turn| turn.info.get(&self.key).map(read);
        self.reduce.result(&format!("`{}`", self.key), context.episode, number, self.per_turn)
    }
}
