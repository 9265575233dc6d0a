//! A reward as data: the tagged enum that a recipe's `[reward]` table is read into.

use crate::combinators::{
    ClipConfig, GateConfig, ProductConfig, ScheduleConfig, SolvedByConfig, SumConfig, VetoConfig,
};
use crate::compile::Combinator;
use crate::term::TermConfig;
use crate::terms::{CostConfig, ExactAnswerConfig, FormatConfig, ToolSuccessConfig};
use serde::{Deserialize, Serialize};

/// An expression over terms. `type` chooses the variant; [`crate::TERMS`] and [`crate::COMBINATORS`] describe each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum RewardConfig {
    /// Adds its parts.
    Sum(SumConfig),
    /// Multiplies its parts.
    Product(ProductConfig),
    /// Pays one part only where another is high enough.
    Gate(GateConfig),
    /// Replaces a part by a fixed value where another is out of bounds.
    Veto(VetoConfig),
    /// Keeps a part within bounds.
    Clip(ClipConfig),
    /// Multiplies a part by a number that changes over the steps.
    Schedule(ScheduleConfig),
    /// Says which term tells that the task was solved; outermost only.
    SolvedBy(SolvedByConfig),
    /// Compares the final answer with the task's.
    ExactAnswer(ExactAnswerConfig),
    /// Counts the turns that the world understands.
    Format(FormatConfig),
    /// Counts the tool calls that succeed.
    ToolSuccess(ToolSuccessConfig),
    /// Takes away for tokens, turns and calls.
    Cost(CostConfig),
}

/// The two kinds of part.
pub(crate) enum Part<'a> {
    Term(&'a dyn TermConfig),
    Combinator(&'a dyn Combinator),
}

impl RewardConfig {
    pub(crate) fn part(&self) -> Part<'_> {
        match self {
            Self::Sum(config) => Part::Combinator(config),
            Self::Product(config) => Part::Combinator(config),
            Self::Gate(config) => Part::Combinator(config),
            Self::Veto(config) => Part::Combinator(config),
            Self::Clip(config) => Part::Combinator(config),
            Self::Schedule(config) => Part::Combinator(config),
            Self::SolvedBy(config) => Part::Combinator(config),
            Self::ExactAnswer(config) => Part::Term(config),
            Self::Format(config) => Part::Term(config),
            Self::ToolSuccess(config) => Part::Term(config),
            Self::Cost(config) => Part::Term(config),
        }
    }

    /// Its name, where it is a term.
    pub(crate) fn term_name(&self) -> Option<String> {
        match self.part() {
            Part::Term(term) => Some(term.settings().name),
            Part::Combinator(_) => None,
        }
    }

    /// The names of all terms inside, in the order of the file.
    pub(crate) fn term_names(&self) -> Vec<String> {
        match self.part() {
            Part::Term(term) => vec![term.settings().name],
            Part::Combinator(combinator) => {
                combinator.children().into_iter().flat_map(Self::term_names).collect()
            }
        }
    }
}
