//! Two levels: the outcome against the group, and each turn against all turns of the group, normalised apart.

use crate::credit::short;
use crate::kernels::{GroupStats, mean, mean_std};
use crate::token_rewards::paid_by_turn;
use crate::{
    AnnotationNeed, Credit, CreditBatch, CreditError, CreditRule, Differs, Needs, Note, Properties, ZeroSum,
};
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
///
/// With `annotation`, `p_{i,t}` is what that annotation says of the turn, a judge's grade for instance, and `o_i` the whole reward: grades
/// steer the credit and are no part of the reward. A turn of which nothing was said is in no comparison of turns and gets the outcome's level
/// alone. `turns_annotated` among the metrics is the share of trained turns of which something was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TwoLevel {
    /// How much a turn's own part counts beside the outcome.
    pub eta: f64,
    /// Divide each level by its standard deviation. On by default, as published.
    pub scale_by_std: bool,
    /// The annotation that says what each turn is worth. Absent: what the reward pays by turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
}

impl Default for TwoLevel {
    fn default() -> Self {
        Self { eta: 0.5, scale_by_std: true, annotation: None }
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
        if self.annotation.as_ref().is_some_and(String::is_empty) {
            return Err(Refusal::new(
                "`annotation` is empty; give the name of an annotation, or leave it out",
            ));
        }
        Refusal::unless(self.eta >= 0.0 && self.eta.is_finite(), "eta", self.eta, "0 or above")
    }
}

/// What an episode was paid.
struct Paid {
    /// The reward less what was paid by turn.
    outcome: f64,
    turns: Vec<Part>,
}

/// What a turn is worth by itself.
#[derive(Clone, Copy)]
enum Part {
    /// Nothing of the turn is trained here: it takes no part in the comparison.
    Elsewhere,
    /// Whoever was asked said nothing of it.
    Unsaid,
    Worth(f64),
}

impl Part {
    fn worth(self) -> Option<f64> {
        match self {
            Self::Worth(worth) => Some(worth),
            Self::Elsewhere | Self::Unsaid => None,
        }
    }
}

impl CreditRule for TwoLevel {
    fn properties(&self) -> Properties {
        let learns_from: &[Differs] = match &self.annotation {
            _ if self.eta == 0.0 => &[Differs::Rewards],
            Some(_) => &[Differs::Rewards, Differs::TurnAnnotations],
            None => &[Differs::Rewards, Differs::TurnRewards],
        };
        Properties { zero_sum: ZeroSum::Turns, learns_from, ..Properties::by_turn() }
    }

    fn needs(&self) -> Needs {
        let need = |name: &String| AnnotationNeed { name: name.clone(), per_turn: true };
        Needs { annotations: self.annotation.iter().map(need).collect(), ..Needs::default() }
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let (episodes, samples): (Vec<_>, Vec<Sample>) = batch.samples()?.into_iter().unzip();
        let paid = episodes.iter().zip(&samples).map(|(scored, sample)| self.paid(batch, scored, sample));
        let paid: Vec<Option<Paid>> = paid.collect::<Result<_, _>>()?;
        let mut levels: BTreeMap<usize, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for (sample, paid) in samples.iter().zip(&paid) {
            if let Some(paid) = paid {
                let (outcomes, turns) = levels.entry(sample.group).or_default();
                outcomes.push(paid.outcome);
                turns.extend(paid.turns.iter().filter_map(|part| part.worth()));
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
                |part: &Part| outcome + part.worth().map_or(0.0, |worth| self.eta * self.norm(worth, turns));
            let of_turns: Vec<f64> = paid.turns.iter().map(of_turn).collect();
            notes.push(self.note(paid, outcomes, turns, outcome, &of_turns));
            advantages.push(of_turns);
        }
        Ok(Credit { numbers: self.numbers(&paid), ..batch.per_turn(samples, &advantages, notes)? })
    }
}

impl TwoLevel {
    /// What an episode was paid; `None` where its outcome is not valid.
    fn paid(
        &self,
        batch: &CreditBatch<'_>,
        scored: &ScoredEpisode,
        sample: &Sample,
    ) -> Result<Option<Paid>, CreditError> {
        let Some(reward) = scored.reward() else { return Ok(None) };
        let (outcome, worth) = match &self.annotation {
            Some(name) => (reward, batch.turn_annotations(Self::ABOUT.name, scored, name)?),
            None => {
                let paid = paid_by_turn(scored, sample)?;
                let of_turn = |turn: usize| Some(paid.get(turn).copied().unwrap_or(0.0));
                (reward - paid.iter().sum::<f64>(), (0..sample.turns.len()).map(of_turn).collect())
            }
        };
        let part = |(turn, range): (usize, &Range<usize>)| match worth.get(turn).copied().flatten() {
            _ if !sample.mask[range.clone()].contains(&true) => Part::Elsewhere,
            Some(worth) => Part::Worth(worth),
            None => Part::Unsaid,
        };
        Ok(Some(Paid { outcome, turns: sample.turns.iter().enumerate().map(part).collect() }))
    }

    /// The share of trained turns of which the annotation says something; nothing where none is read.
    fn numbers(&self, paid: &[Option<Paid>]) -> Vec<(&'static str, f64)> {
        let parts = || paid.iter().flatten().flat_map(|paid| &paid.turns);
        let trained = parts().filter(|part| !matches!(part, Part::Elsewhere)).count();
        let said = parts().filter(|part| part.worth().is_some()).count();
        let share = (self.annotation.is_some() && trained > 0).then(|| said as f64 / trained as f64);
        share.map(|share| ("turns_annotated", share)).into_iter().collect()
    }

    fn norm(&self, reward: f64, stats: &GroupStats) -> f64 {
        match stats.constant {
            true => 0.0,
            false if self.scale_by_std => mean_std(reward, stats),
            false => mean(reward, stats),
        }
    }
    fn note(
        &self,
        paid: &Paid,
        outcomes: &GroupStats,
        turns: &GroupStats,
        level: f64,
        advantages: &[f64],
    ) -> Note {
        let [outcome, mean, std, level] = [paid.outcome, outcomes.mean, outcomes.std, level].map(short);
        let count = outcomes.count;
        let first = format!("outcome {outcome}, group of {count}: mean {mean}, std {std}; level {level}");
        let (count, mean, std) = (turns.count, short(turns.mean), short(turns.std));
        let what =
            self.annotation.as_ref().map_or_else(|| "paid".to_owned(), |name| format!("`{name}` says"));
        let of_turn = |(turn, (part, advantage)): (usize, (&Part, &f64))| {
            let advantage = short(*advantage);
            match part {
                Part::Elsewhere => None,
                Part::Unsaid => Some(format!("turn {turn}: {what} nothing of it; advantage {advantage}")),
                Part::Worth(worth) => Some(format!(
                    "turn {turn}: {what} {}, {count} turns: mean {mean}, std {std}; advantage {advantage}",
                    short(*worth)
                )),
            }
        };
        let by_turn = paid.turns.iter().zip(advantages).enumerate().filter_map(of_turn);
        Note::new([first].into_iter().chain(by_turn))
    }
}
