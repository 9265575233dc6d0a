//! The seam: what compares or scores episodes.

use crate::{Answer, Choice, Pair, Verdict};
use merit_core::Episode;
use std::sync::Arc;

/// Compares or scores episodes: a program over checks, a model that is asked, several of them.
pub trait Judge: Send {
    /// Name and version: two judges of the same id give the same answers.
    fn id(&self) -> String;

    /// Which of the two of each question is better, in the order in which they are shown. One answer for each, in order.
    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer>;

    /// How good each episode is. One answer for each, in order.
    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer>;
}

/// What a judge said of one pair, shown in both orders.
#[derive(Debug, Clone, PartialEq)]
pub struct BothOrders {
    /// Shown as it stands.
    pub straight: Answer,
    /// Shown the other way round; the choice is turned back, so that the first is `a` in both.
    pub swapped: Answer,
}

impl BothOrders {
    /// What both orders come to: a choice where they agree, a tie where they contradict each other. Absent where one of them is no
    /// verdict.
    pub fn choice(&self) -> Option<Choice> {
        let (one, other) = (self.straight.verdict.choice()?, self.swapped.verdict.choice()?);
        Some(if one == other { one } else { Choice::Tie })
    }

    /// Whether the order decided. Absent where one of them is no verdict.
    pub fn flipped(&self) -> Option<bool> {
        let (one, other) = (self.straight.verdict.choice()?, self.swapped.verdict.choice()?);
        Some(one != other)
    }
}

/// Asks about every pair in both orders.
pub fn both_orders(judge: &mut dyn Judge, pairs: &[Pair]) -> Vec<BothOrders> {
    let shown = |pair: &Pair| (Arc::clone(&pair.a), Arc::clone(&pair.b));
    let turned = |pair: &Pair| (Arc::clone(&pair.b), Arc::clone(&pair.a));
    let asked: Vec<_> = pairs.iter().map(shown).chain(pairs.iter().map(turned)).collect();
    let mut straight = judge.compare(&asked);
    let swapped = straight.split_off(pairs.len().min(straight.len()));
    let back = |mut answer: Answer| {
        if let Verdict::Prefers { choice } = &mut answer.verdict {
            *choice = choice.swapped();
        }
        answer
    };
    let swapped = swapped.into_iter().map(back);
    straight.into_iter().zip(swapped).map(|(straight, swapped)| BothOrders { straight, swapped }).collect()
}
