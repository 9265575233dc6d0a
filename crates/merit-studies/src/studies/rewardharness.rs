//! RewardHarness: what a frozen judge consults is evolved on a hundred labelled pairs, behind a gate, without weight updates.

use crate::frozen_judge::{Analyst, FrozenJudge, Shown, evidence, prefers_first};
use crate::tabular::mean;
use crate::tabular::softmax_policy::SoftmaxPolicy;
use crate::turns::advantages::Normalisation;
use crate::worlds::edits::{MANNERS, Work, manner};
use crate::{Desk, Study, StudyError};
use merit_core::gate::GateRule;
use merit_core::{About, Component, Refusal, Seed};
use merit_evolve::{Evolution, EvolveSettings, Library, evolve};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a proposal is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Nothing is proposed: the library stays empty.
    Nothing,
    /// Always.
    Always,
    /// By the gate, a margin below the best.
    Gated,
}

/// Pictures with edits, labelled pairs of them, a frozen judge with a library and an analyst that proposes; then an editor that is
/// paid by the judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RewardHarness {
    /// Whether a proposal is kept.
    pub keep: Keep,
    /// What a proposal may cost on the validation pairs.
    pub margin: f64,
    /// Entries whose removal costs nothing are removed after every so many rounds; 0 never.
    pub prune_every: usize,
    /// Training pairs are shown in both orders.
    pub swap: bool,
    /// Labels of training and validation are dealt out by chance: a control.
    pub shuffled: bool,
    /// Chance that a label is wrong.
    pub noise: f64,
    /// Share of the analyst's proposals that come from what it read.
    pub quality: f64,
    /// Rounds.
    pub rounds: usize,
    /// Pairs that proposals are made from.
    pub train: usize,
    /// Validation pairs.
    pub validation: usize,
    /// Pairs of the final test.
    pub test: usize,
    /// Updates of the editor; 0: there is none.
    pub updates: usize,
}

impl Default for RewardHarness {
    fn default() -> Self {
        Self {
            keep: Keep::Gated,
            margin: 0.075,
            prune_every: 0,
            swap: true,
            shuffled: false,
            noise: 0.05,
            quality: 0.7,
            rounds: 10,
            train: 60,
            validation: 40,
            test: 1000,
            updates: 200,
        }
    }
}

impl Component for RewardHarness {
    const ABOUT: About = About {
        name: "rewardharness",
        summary: "The library of a frozen judge of picture edits, evolved on labelled pairs behind a gate.",
        paper: "RewardHarness: Self-Evolving Agentic Post-Training (2026), arXiv:2605.08703",
    };

    fn check(&self) -> Result<(), Refusal> {
        let share =
            |key: &str, value: f64| Refusal::unless((0.0..=1.0).contains(&value), key, value, "from 0 to 1");
        share("margin", self.margin)?;
        share("noise", self.noise)?;
        share("quality", self.quality)?;
        Refusal::unless(self.train > 0, "train", self.train, "at least 1")?;
        Refusal::unless(self.validation > 1, "validation", self.validation, "at least 2")?;
        Refusal::unless(self.test > 0, "test", self.test, "at least 1")
    }
}

impl Study for RewardHarness {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let evolution = self.evolved(seed, desk)?;
        let test = self.pairs("test", self.test, 0.0, seed);
        for (name, library) in [("test", &evolution.head), ("test_best", &evolution.best)] {
            desk.measure(name, accuracy(library, &test));
        }
        let validation =
            evolution.changes.iter().rev().find(|change| change.kept).and_then(|change| change.after);
        let overfit = validation.map(|after| after - accuracy(&evolution.head, &test));
        overfit.into_iter().for_each(|overfit| desk.measure("validation_less_test", overfit));
        desk.measure("position_bias", position_bias(&evolution.head, &test));
        desk.measure("entries", evolution.head.len() as f64);
        let kept = evolution.changes.iter().filter(|change| change.kept).count() - 1;
        desk.measure("changes_kept", kept as f64);
        if self.updates > 0 {
            self.editor(&evolution.head, seed, desk)?;
        }
        Ok(())
    }
}

impl RewardHarness {
    fn pairs(&self, name: &str, count: usize, noise: f64, seed: &Seed) -> Vec<Shown> {
        let mut stream = seed.child(name, 0).stream();
        (0..count).map(|_| Shown::draw(noise, &mut stream)).collect()
    }

    fn evolved(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<Evolution, StudyError> {
        let mut train = self.pairs("train", self.train, self.noise, seed);
        let mut validation = self.pairs("validation", self.validation, self.noise, seed);
        if self.shuffled {
            let mut stream = seed.child("shuffled", 0).stream();
            train.iter_mut().chain(&mut validation).for_each(|shown| shown.first = stream.chance(0.5));
        }
        if self.swap {
            let swapped: Vec<Shown> = train.iter().map(Shown::swapped).collect();
            train.extend(swapped);
        }
        let settings = EvolveSettings {
            rounds: if self.keep == Keep::Nothing { 0 } else { self.rounds },
            gate: if self.keep == Keep::Always {
                GateRule::Always
            } else {
                GateRule::Margin { margin: self.margin }
            },
            prune_every: self.prune_every,
            ..EvolveSettings::default()
        };
        let mut analyst =
            Analyst { train: &train.clone(), quality: self.quality, seed: seed.child("analyst", 0), each: 3 };
        let mut judge = FrozenJudge { train, validation, calls: 0 };
        let evolution = evolve(Library::default(), &mut judge, &mut analyst, &settings, &mut |change, _| {
            if change.kept
                && let Some(after) = change.after
            {
                desk.point("validation", after);
            }
        });
        desk.spend("judge_calls", judge.calls as f64);
        evolution.map_err(|error| StudyError::Broken(error.to_string()))
    }

    /// An editor that chooses how to edit, by GRPO on what the judge's library says of each edit.
    fn editor(&self, library: &Library, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        const GROUP: usize = 8;
        let mut policy = SoftmaxPolicy::new(1, MANNERS);
        let before = self.played(&policy, library, seed);
        for update in 0..self.updates {
            desk.left()?;
            let mut stream = seed.child("editor", update as u64).stream();
            let work = Work::draw(&mut stream);
            let chosen: Vec<usize> = (0..GROUP).map(|_| policy.act(0, &mut stream)).collect();
            let judged: Vec<Vec<f64>> = chosen
                .iter()
                .map(|which| {
                    let grid = work.edited(manner(*which), &mut stream);
                    vec![evidence(library, &work.predicates(&grid))]
                })
                .collect();
            let advantages = Normalisation::Joint.advantages(&judged, &[1.0]);
            let mut gradient = vec![0.0; MANNERS];
            for (which, advantage) in chosen.iter().zip(advantages) {
                policy.push(&mut gradient, 0, *which, advantage / GROUP as f64);
            }
            policy.climb(&gradient, 0.2);
            desk.spend("updates", 1.0);
        }
        let after = self.played(&policy, library, seed);
        desk.measure("worth", after.0);
        desk.measure("worth_gained", after.0 - before.0);
        desk.measure("judged_gained", after.1 - before.1);
        Ok(())
    }

    /// What the editor's work is worth, and what the library says of it.
    fn played(&self, policy: &SoftmaxPolicy, library: &Library, seed: &Seed) -> (f64, f64) {
        let mut stream = seed.child("played", 0).stream();
        let both: Vec<(f64, f64)> = (0..400)
            .map(|_| {
                let work = Work::draw(&mut stream);
                let grid = work.edited(manner(policy.act(0, &mut stream)), &mut stream);
                (work.worth(&grid), evidence(library, &work.predicates(&grid)))
            })
            .collect();
        let (worth, judged): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
        (mean(&worth), mean(&judged))
    }
}

fn accuracy(library: &Library, pairs: &[Shown]) -> f64 {
    let right = |shown: &Shown| f64::from(u8::from(prefers_first(library, shown) == shown.first));
    mean(&pairs.iter().map(right).collect::<Vec<_>>())
}

/// How far the share of choices for what is shown first is from a half, over both orders of every pair.
fn position_bias(library: &Library, pairs: &[Shown]) -> f64 {
    let first = |shown: &Shown| f64::from(u8::from(prefers_first(library, shown)));
    let shares: Vec<f64> = pairs.iter().map(|shown| (first(shown) + first(&shown.swapped())) / 2.0).collect();
    (mean(&shares) - 0.5).abs()
}
