//! What a judge says. Only the first four are judgements; the last three are never a number and never a tie.

use crate::Label;
use merit_core::Cost;
use serde::{Deserialize, Serialize};

/// Which of two that were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The one shown first.
    First,
    /// The one shown second.
    Second,
    /// Neither is better.
    Tie,
}

impl Choice {
    /// The same choice where the two were shown the other way round.
    pub fn swapped(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
            Self::Tie => Self::Tie,
        }
    }
}

impl From<Label> for Choice {
    fn from(label: Label) -> Self {
        match label {
            Label::A => Self::First,
            Label::B => Self::Second,
            Label::Tie => Self::Tie,
        }
    }
}

/// What a judge says of what it was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Verdict {
    /// How good one candidate is, from 0 to 1 where a scale was given, else in the judge's own unit.
    Score { value: f64 },
    /// Which of two is better.
    Prefers { choice: Choice },
    /// All candidates, the best first, by their place as shown.
    Ranks {
        /// Places, from 0.
        order: Vec<usize>,
    },
    /// Each item of a checklist: met, not met, or not said.
    Items {
        /// In the order of the list.
        met: Vec<Option<bool>>,
        /// What each item counts. Empty: all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<f64>,
    },
    /// The judge would not say.
    Refused {
        /// What the judge said instead.
        why: String,
    },
    /// The judge said something of which no verdict can be read.
    Unreadable {
        /// What is missing or malformed.
        why: String,
    },
    /// The judge did not answer: a server, a deadline, a budget, a program.
    Failed { why: String },
}

impl Verdict {
    /// The choice, where it is one.
    pub fn choice(&self) -> Option<Choice> {
        match self {
            Self::Prefers { choice } => Some(*choice),
            _ => None,
        }
    }

    /// The number: a score, or the share of items that are met among those that were said, by their weights. Absent for everything else.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Score { value } => Some(*value),
            Self::Items { met, weights } => {
                let weight = |at: usize| weights.get(at).copied().unwrap_or(1.0);
                let said = || met.iter().enumerate().filter_map(|(at, met)| Some((weight(at), (*met)?)));
                let all: f64 = said().map(|(weight, _)| weight).sum();
                let good: f64 = said().filter(|(_, met)| *met).map(|(weight, _)| weight).sum();
                (all > 0.0).then(|| good / all)
            }
            _ => None,
        }
    }

    /// In a word, for tables.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Score { .. } => "score",
            Self::Prefers { .. } => "prefers",
            Self::Ranks { .. } => "ranks",
            Self::Items { .. } => "items",
            Self::Refused { .. } => "refused",
            Self::Unreadable { .. } => "unreadable",
            Self::Failed { .. } => "failed",
        }
    }
}

/// A verdict with what it rests on and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub verdict: Verdict,
    /// What it rests on, in words. Empty: the judge gave no reasons.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// How sure the judge is, from 0 to 1. Absent: it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What asking cost; nothing where the answer was kept from before.
    #[serde(default)]
    pub cost: Cost,
}

impl Answer {
    /// An answer without reasons that cost nothing.
    pub fn of(verdict: Verdict) -> Self {
        Self { verdict, evidence: String::new(), confidence: None, cost: Cost::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_said_has_a_number() {
        let met = vec![Some(true), None, Some(false), Some(true)];
        let items = |met: &[Option<bool>], weights: &[f64]| {
            Verdict::Items { met: met.to_vec(), weights: weights.to_vec() }.value()
        };
        assert_eq!(items(&met, &[]), Some(2.0 / 3.0));
        // Met are 3 and 1 of 3 + 2 + 1; the second was not said.
        assert_eq!(items(&met, &[3.0, 9.0, 2.0, 1.0]), Some(4.0 / 6.0));
        assert_eq!(items(&[None], &[]), None);
        for nothing in [
            Verdict::Refused { why: "no".into() },
            Verdict::Unreadable { why: "no JSON".into() },
            Verdict::Failed { why: "500".into() },
        ] {
            assert_eq!((nothing.value(), nothing.choice()), (None, None));
        }
    }
}
