//! Supervised updates among those by reward: which of the two the next update is.
//!
//! Decided from the settings, the seed and what the run has recorded of earlier imitation, so that a run that comes back decides
//! alike.

use crate::driver::Drive;
use crate::metrics::Metrics;
use crate::parts::Parts;
use crate::{RunError, imitate};
use merit_core::{Cost, Phase, Seed};
use merit_learn::{LearnConfig, Learner, Optimiser, Schedule, SftSequence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When an update imitates the demonstrations of the warm start instead of learning by reward.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interleave {
    /// Which updates imitate.
    pub when: When,
    /// Learning rate of the imitation; constant.
    #[serde(alias = "lr")]
    #[schemars(extend("aliases" = ["lr"]))]
    pub learning_rate: f32,
}

/// How it is decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum When {
    /// One imitation, then so many by reward.
    Alternate {
        /// Updates by reward after each imitation.
        reward: u64,
    },
    /// With the same chance at every step.
    Random {
        /// The chance of an imitation.
        p: f64,
    },
    /// With the chance `g / (g + gamma * G)`, where `G` is the gradient norm of imitation at the start and `g` its present one: the
    /// further reward leads away from the demonstrations, the likelier they are shown again (SASR, 2025).
    Switch {
        /// How much the gradient at the start counts. Larger means less imitation.
        #[serde(default = "one")]
        gamma: f64,
        /// How much of `g` an imitation keeps of the one before.
        #[serde(default = "slow")]
        ema: f64,
        /// So many imitations at the start measure `G`.
        #[serde(default = "four")]
        first: u64,
        /// After so many steps without imitation one is made, or a `g` that has become small would never grow again.
        #[serde(default = "twenty")]
        refresh: u64,
    },
}

fn one() -> f64 {
    1.0
}

fn slow() -> f64 {
    0.9
}

fn four() -> u64 {
    4
}

fn twenty() -> u64 {
    20
}

/// What the next update is, and the chance that imitation had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Turn {
    pub(crate) imitates: bool,
    pub(crate) chance: f64,
}

impl Interleave {
    /// Refuses what cannot work, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let share = |key: &str, value: f64| match (0.0..=1.0).contains(&value) {
            true => Ok(()),
            false => Err(format!("`interleave.when.{key}` is {value}; it must lie between 0 and 1")),
        };
        match &self.when {
            When::Alternate { reward: 0 } => {
                return Err("`interleave.when.reward` is 0; it must be at least 1".into());
            }
            When::Alternate { .. } => {}
            When::Random { p } => share("p", *p)?,
            When::Switch { gamma, ema, first, refresh } => {
                share("ema", *ema)?;
                if !(gamma.is_finite() && *gamma > 0.0) {
                    return Err(format!("`interleave.when.gamma` is {gamma}; it must be above 0"));
                }
                if *first == 0 || *refresh == 0 {
                    return Err("`interleave.when.first` and `refresh` must be at least 1".into());
                }
            }
        }
        if self.learning_rate.is_finite() && self.learning_rate > 0.0 {
            Ok(())
        } else {
            Err(format!("`interleave.learning_rate` is {}; it must be above 0", self.learning_rate))
        }
    }

    /// What update `step` is. `imitated`: the steps that imitated, with the gradient norm of each.
    pub(crate) fn turn(&self, step: u64, imitated: &[(u64, f64)], seed: &Seed) -> Turn {
        let chance = self.chance(step, imitated);
        let drawn = seed.child("interleave", step).stream().unit();
        Turn { imitates: drawn < chance, chance }
    }

    fn chance(&self, step: u64, imitated: &[(u64, f64)]) -> f64 {
        match &self.when {
            When::Alternate { reward } => f64::from(u8::from(step.is_multiple_of(reward + 1))),
            When::Random { p } => *p,
            When::Switch { gamma, ema, first, refresh } => {
                let Some(last) = imitated.last().map(|last| last.0) else { return 1.0 };
                if (imitated.len() as u64) < *first || step > last + refresh {
                    return 1.0;
                }
                let (start, later) = imitated.split_at(*first as usize);
                let begun = start.iter().map(|one| one.1).sum::<f64>() / start.len() as f64;
                let now = later.iter().fold(begun, |now, one| ema * now + (1.0 - ema) * one.1);
                if now + begun > 0.0 { now / (now + gamma * begun) } else { 0.0 }
            }
        }
    }
}

/// What interleaved imitation needs while a stage learns.
pub(crate) struct Imitation {
    settings: Interleave,
    learner: Learner,
    sequences: Vec<SftSequence>,
}

/// The metric by which an imitation is remembered.
const NORM: &str = "imitation_grad_norm";

impl Imitation {
    /// Absent: the recipe learns by reward alone.
    pub(crate) fn of(drive: &mut Drive<'_>, parts: &Parts) -> Result<Option<Self>, RunError> {
        let Some(settings) = parts.recipe.interleave.clone() else { return Ok(None) };
        let mut config =
            LearnConfig { schedule: Schedule::Constant { warmup: 0 }, ..LearnConfig::supervised() };
        let Optimiser::AdamW(adamw) = &mut config.optimiser;
        adamw.lr = f64::from(settings.learning_rate);
        let learner = Learner::new(config, parts.recipe.budget.steps)?;
        Ok(Some(Self { settings, learner, sequences: imitate::shown(drive, parts)? }))
    }

    /// What the update of `step` is, by what the run has recorded so far.
    pub(crate) fn turn(
        &self,
        drive: &Drive<'_>,
        parts: &Parts,
        phase: &Phase,
        step: u64,
    ) -> Result<Turn, RunError> {
        let mut imitated = drive.folder.metric(phase, NORM)?;
        imitated.retain(|(at, _)| *at < step);
        Ok(self.settings.turn(step, &imitated, &parts.seed))
    }

    /// One supervised update, on a batch drawn by the step's own seed.
    pub(crate) fn update(
        &self,
        drive: &mut Drive<'_>,
        parts: &Parts,
        phase: &Phase,
        step: u64,
    ) -> Result<Metrics, RunError> {
        let mut stream = parts.seed.child("interleaved", step).stream();
        let count = parts.recipe.warm().batch;
        let drawn: Vec<SftSequence> =
            (0..count).filter_map(|_| stream.pick(&self.sequences).cloned()).collect();
        let report = self.learner.sft_step(drive.policy.trainer(), &drawn, step)?;
        let own = Cost {
            trained_tokens: report.tokens as u64,
            updates: report.optimiser_steps as u64,
            ..Cost::default()
        };
        drive.folder.record_cost(phase, step, &own)?;
        drive.learned(phase).spent.add(&own, 0);
        let norm = report.grad_norm.unwrap_or(0.0);
        Ok(Metrics::from([("loss".to_owned(), report.loss.total()), (NORM.to_owned(), norm)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch() -> Interleave {
        toml::from_str(
            "learning_rate = 1e-3\nwhen = { type = \"switch\", ema = 0.0, first = 2, refresh = 5 }",
        )
        .unwrap()
    }

    #[test]
    fn the_chance_follows_the_gradient_of_imitation() {
        let switch = switch();
        // The start measures 2; as large as that again gives one half, three times as large three quarters.
        let at = |norm: f64| switch.chance(3, &[(0, 1.0), (1, 3.0), (2, norm)]);
        assert_eq!((at(2.0), at(6.0), at(0.0)), (0.5, 0.75, 0.0));
        assert_eq!(switch.chance(1, &[(0, 1.0)]), 1.0, "the start is measured first");
        assert_eq!(switch.chance(8, &[(0, 1.0), (1, 3.0), (2, 0.0)]), 1.0, "a small one is looked at again");
    }

    #[test]
    fn alternation_and_chance_are_what_they_say() {
        let read = |when: &str| {
            toml::from_str::<Interleave>(&format!("learning_rate = 1e-3\nwhen = {when}")).unwrap()
        };
        let alternate = read("{ type = \"alternate\", reward = 3 }");
        let turns: Vec<bool> =
            (0..8).map(|step| alternate.turn(step, &[], &Seed::root(1)).imitates).collect();
        assert_eq!(turns, [true, false, false, false, true, false, false, false]);
        let random = read("{ type = \"random\", p = 0.3 }");
        let count = (0..2000).filter(|step| random.turn(*step, &[], &Seed::root(1)).imitates).count();
        assert!((500..700).contains(&count), "{count}");
        assert!(
            read("{ type = \"random\", p = 1.3 }")
                .check()
                .unwrap_err()
                .contains("`interleave.when.p` is 1.3")
        );
    }
}
