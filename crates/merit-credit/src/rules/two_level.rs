//! Two levels: the outcome against the group, and each turn against all turns of the group, normalised apart.

use crate::credit::short;
use crate::kernels::{GroupStats, mean, mean_std};
use crate::token_rewards::paid_by_turn;
use crate::{Baseline, Credit, CreditBatch, CreditError, CreditRule, Note};
use merit_core::{About, Component, Refusal, Sample, ScoredEpisode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// With `p_{i,t}` what a turn was paid and `o_i` the rest of the reward:
///   `A_{i,t} = norm(o_i) + eta · norm(p_{i,t})`, `norm(x) = (x − mean) / (std + 1e-6)`,
/// the first over the members of the group, the second over all trained turns of them, so that long episodes weigh more in it. A turn
/// is paid its own part only; nothing later flows back to it. A level that is the same everywhere gives 0. Where nothing is paid by
/// turn it is GRPO.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TwoLevel {
    /// How much a turn's own part counts beside the outcome.
    pub eta: f64,
    /// Divide each level by its standard deviation. On by default, as published.
    pub scale_by_std: bool,
}

impl Default for TwoLevel {
    fn default() -> Self {
        Self { eta: 0.5, scale_by_std: true }
    }
}

impl Component for TwoLevel {
    const ABOUT: About = About {
        name: "two-level",
        summary: "The outcome against the group, and each turn's own part against all turns of the group, normalised apart.",
        paper: "SWE-TRACE: Optimizing Long-Horizon SWE Agents Through Rubric Process Reward Models and Heuristic Test-Time Scaling (2026), arXiv:2604.14820",
    };
    const EXAMPLE: &'static str = "eta = 0.5\nscale_by_std = true\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.eta >= 0.0 && self.eta.is_finite(), "eta", self.eta, "0 or above")
    }
}

/// What an episode was paid.
struct Paid {
    /// The reward less what was paid by turn.
    outcome: f64,
    /// What each turn was paid by itself. Absent where nothing of the turn is trained: it takes no part in the comparison.
    turns: Vec<Option<f64>>,
}

impl CreditRule for TwoLevel {
    fn baseline(&self) -> Baseline {
        Baseline::Levels
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let (episodes, samples): (Vec<_>, Vec<Sample>) = batch.samples()?.into_iter().unzip();
        let paid = episodes.iter().zip(&samples).map(|(scored, sample)| Paid::of(scored, sample));
        let paid: Vec<Option<Paid>> = paid.collect::<Result<_, _>>()?;
        let mut levels: BTreeMap<usize, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for (sample, paid) in samples.iter().zip(&paid) {
            if let Some(paid) = paid {
                let (outcomes, turns) = levels.entry(sample.group).or_default();
                outcomes.push(paid.outcome);
                turns.extend(paid.turns.iter().flatten());
            }
        }
        let stats =
            |(outcomes, turns): &(Vec<f64>, Vec<f64>)| (GroupStats::of(outcomes), GroupStats::of(turns));
        let levels: BTreeMap<usize, _> = levels.iter().map(|(group, level)| (*group, stats(level))).collect();
        let (mut advantages, mut notes) = (Vec::new(), Vec::new());
        for ((scored, sample), paid) in episodes.iter().zip(&samples).zip(&paid) {
            let (Some(paid), Some((outcomes, turns))) = (paid, levels.get(&sample.group)) else {
                advantages.push(Vec::new());
                notes.push(Note::excluded(scored.outcome()));
                continue;
            };
            let outcome = self.norm(paid.outcome, outcomes);
            let of_turn =
                |part: &Option<f64>| part.map_or(0.0, |part| outcome + self.eta * self.norm(part, turns));
            let of_turns: Vec<f64> = paid.turns.iter().map(of_turn).collect();
            notes.push(note(paid, outcomes, turns, outcome, &of_turns));
            advantages.push(of_turns);
        }
        batch.per_turn(samples, &advantages, notes)
    }
}

impl Paid {
    /// Of an episode; `None` where its outcome is not valid.
    fn of(scored: &ScoredEpisode, sample: &Sample) -> Result<Option<Self>, CreditError> {
        let Some(reward) = scored.reward() else { return Ok(None) };
        let paid = paid_by_turn(scored, sample)?;
        let part = |(turn, range): (usize, &Range<usize>)| {
            sample.mask[range.clone()].contains(&true).then(|| paid.get(turn).copied().unwrap_or(0.0))
        };
        let turns = sample.turns.iter().enumerate().map(part).collect();
        Ok(Some(Self { outcome: reward - paid.iter().sum::<f64>(), turns }))
    }
}

impl TwoLevel {
    fn norm(&self, reward: f64, stats: &GroupStats) -> f64 {
        match stats.constant {
            true => 0.0,
            false if self.scale_by_std => mean_std(reward, stats),
            false => mean(reward, stats),
        }
    }
}

fn note(paid: &Paid, outcomes: &GroupStats, turns: &GroupStats, level: f64, advantages: &[f64]) -> Note {
    let [outcome, mean, std, level] = [paid.outcome, outcomes.mean, outcomes.std, level].map(short);
    let count = outcomes.count;
    let first = format!("outcome {outcome}, group of {count}: mean {mean}, std {std}; level {level}");
    let (count, mean, std) = (turns.count, short(turns.mean), short(turns.std));
    let by_turn = paid.turns.iter().zip(advantages).enumerate().filter_map(|(turn, (part, advantage))| {
        let (part, advantage) = (short((*part)?), short(*advantage));
        Some(format!(
            "turn {turn}: paid {part}, {count} turns: mean {mean}, std {std}; advantage {advantage}"
        ))
    });
    Note::new([first].into_iter().chain(by_turn))
}
