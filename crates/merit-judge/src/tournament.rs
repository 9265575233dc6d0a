//! An order out of comparisons: every pair is shown in both orders, and a choice that depends on the order is a tie.

use crate::{Answer, Choice, Judge, Label, Pair, Verdict, both_orders};
use merit_core::{Cost, Episode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which candidates are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tournament {
    /// Everybody meets everybody: n (n - 1) questions.
    #[default]
    RoundRobin,
    /// The better of two goes on, at a tie the one that was shown first: about 2 n questions. Sure of the best only.
    Knockout,
}

/// All of these, the best first. A win is a point and a tie half of one; those with as many points stay as they are shown. Where a
/// meeting gave no verdict there is no order.
pub fn tournament(judge: &mut dyn Judge, group: &[Arc<Episode>], rule: Tournament) -> Answer {
    let mut meeting = Meeting { judge, group, cost: Cost::default() };
    let order = match rule {
        Tournament::RoundRobin => meeting.round_robin(),
        Tournament::Knockout => meeting.knockout(),
    };
    let verdict = match order {
        Ok(order) => Verdict::Ranks { order },
        Err(why) => Verdict::Failed { why },
    };
    Answer { cost: meeting.cost, ..Answer::of(verdict) }
}

struct Meeting<'a> {
    judge: &'a mut dyn Judge,
    group: &'a [Arc<Episode>],
    cost: Cost,
}

impl Meeting<'_> {
    fn round_robin(&mut self) -> Result<Vec<usize>, String> {
        let count = self.group.len();
        let meetings: Vec<(usize, usize)> =
            (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect();
        let choices = self.choices(&meetings)?;
        let mut points = vec![0.0_f64; count];
        for ((a, b), choice) in meetings.into_iter().zip(choices) {
            let (one, other) = match choice {
                Choice::First => (1.0, 0.0),
                Choice::Second => (0.0, 1.0),
                Choice::Tie => (0.5, 0.5),
            };
            points[a] += one;
            points[b] += other;
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| points[*b].total_cmp(&points[*a]));
        Ok(order)
    }

    fn knockout(&mut self) -> Result<Vec<usize>, String> {
        let mut left: Vec<usize> = (0..self.group.len()).collect();
        // The last to leave stands first.
        let mut order = Vec::with_capacity(left.len());
        while left.len() > 1 {
            let meetings: Vec<(usize, usize)> = left.chunks_exact(2).map(|two| (two[0], two[1])).collect();
            let bye = (left.len() % 2 == 1).then(|| left[left.len() - 1]);
            let choices = self.choices(&meetings)?;
            let mut gone = Vec::new();
            left.clear();
            for ((a, b), choice) in meetings.into_iter().zip(choices) {
                let (wins, loses) = if choice == Choice::Second { (b, a) } else { (a, b) };
                left.push(wins);
                gone.push(loses);
            }
            left.extend(bye);
            order.extend(gone.into_iter().rev());
        }
        order.extend(left);
        order.reverse();
        Ok(order)
    }

    fn choices(&mut self, meetings: &[(usize, usize)]) -> Result<Vec<Choice>, String> {
        let pair = |(a, b): &(usize, usize)| Pair {
            id: format!("{a} {b}"),
            group: String::new(),
            a: Arc::clone(&self.group[*a]),
            b: Arc::clone(&self.group[*b]),
            label: Label::Tie,
        };
        let pairs: Vec<Pair> = meetings.iter().map(pair).collect();
        let said = both_orders(self.judge, &pairs);
        self.cost += said.iter().flat_map(|both| [both.straight.cost, both.swapped.cost]).sum();
        let silent = |(a, b): &(usize, usize)| {
            format!("the meeting of candidates {} and {} has no verdict", a + 1, b + 1)
        };
        meetings.iter().zip(said).map(|(at, both)| both.choice().ok_or_else(|| silent(at))).collect()
    }
}
