//! A judge who knows the labels and errs as told: for tests, and for systems whose judge must have a known error.
//!
//! In: labelled pairs and knobs. Out: a [`Judge`]. What it says of the same question is always the same: every error is drawn from the
//! content, and only the bias of position sees the order.

use crate::ask::shown;
use crate::asked::by_number;
use crate::{Answer, Choice, Judge, Label, Pair, Verdict};
use merit_core::registry::Refusal;
use merit_core::{Cost, Episode, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// How an oracle errs. The default never does. All but `noise` are probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OracleKnobs {
    /// A worse candidate is taken for a good one.
    pub false_positive: f64,
    /// A better candidate is taken for a bad one.
    pub false_negative: f64,
    /// The other of two is preferred.
    pub wrong: f64,
    /// The one shown first is preferred, whatever it is.
    pub position: f64,
    /// The longer of two is preferred, whatever it is.
    pub length: f64,
    /// Standard deviation of what is added to a number; the sum stays within 0 to 1.
    pub noise: f64,
    /// It refuses.
    pub refuses: f64,
    /// What it says cannot be read.
    pub unreadable: f64,
}

impl OracleKnobs {
    /// Refuses what cannot work.
    pub fn check(&self) -> Result<(), Refusal> {
        let shares = [
            ("false_positive", self.false_positive),
            ("false_negative", self.false_negative),
            ("wrong", self.wrong),
            ("position", self.position),
            ("length", self.length),
            ("refuses", self.refuses),
            ("unreadable", self.unreadable),
        ];
        for (name, share) in shares {
            Refusal::unless((0.0..=1.0).contains(&share), name, share, "a probability, from 0 to 1")?;
        }
        Refusal::unless(self.noise >= 0.0 && self.noise.is_finite(), "noise", self.noise, "0 or more")
    }
}

/// A judge who knows the labels.
pub struct OracleJudge {
    knobs: OracleKnobs,
    seed: Seed,
    /// How good each episode is by its labels: 1 better, 0 worse, 0.5 neither.
    truth: HashMap<String, f64>,
}

impl OracleJudge {
    /// A judge of the candidates of these pairs.
    pub fn new(knobs: OracleKnobs, seed: Seed, pairs: &[Pair]) -> Self {
        let mut truth = HashMap::new();
        for pair in pairs {
            let (a, b) = match pair.label {
                Label::A => (1.0, 0.0),
                Label::B => (0.0, 1.0),
                Label::Tie => (0.5, 0.5),
            };
            truth.insert(name(&pair.a), a);
            truth.insert(name(&pair.b), b);
        }
        Self { knobs, seed, truth }
    }

    /// The randomness that belongs to these candidates, whatever their order where `ordered` is not said.
    fn stream(&self, what: &str, names: &[&str]) -> Stream {
        let seed = names.iter().fold(self.seed.child(what, 0), |seed, name| seed.child(name, 0));
        seed.stream()
    }

    /// Why there is no verdict, where there is none.
    fn silent(&self, names: &[&str]) -> Option<Answer> {
        let mut stream = self.stream("silent", names);
        let (refuses, unreadable) = (stream.chance(self.knobs.refuses), stream.chance(self.knobs.unreadable));
        let verdict = match (refuses, unreadable) {
            (true, _) => Verdict::Refused { why: "the oracle refuses".into() },
            (false, true) => Verdict::Unreadable { why: "the oracle mumbles".into() },
            (false, false) => return None,
        };
        Some(priced(verdict))
    }

    fn number(&self, name: &str) -> Answer {
        let Some(&truth) = self.truth.get(name) else {
            return priced(Verdict::Failed { why: "the oracle has no label for this episode".into() });
        };
        let mut stream = self.stream("number", &[name]);
        let (up, down) = (stream.chance(self.knobs.false_positive), stream.chance(self.knobs.false_negative));
        let taken = match truth {
            worse if worse < 0.5 && up => 1.0,
            better if better > 0.5 && down => 0.0,
            as_it_is => as_it_is,
        };
        let value = if self.knobs.noise > 0.0 {
            (taken + self.knobs.noise * stream.normal()).clamp(0.0, 1.0)
        } else {
            taken
        };
        priced(Verdict::Score { value })
    }

    fn choice(&self, first: &Episode, second: &Episode) -> Answer {
        let (one, other) = (name(first), name(second));
        if let Some(silent) = self.silent(&[&one, &other]) {
            return silent;
        }
        let honest = by_number(&self.number(&one), &self.number(&other));
        let Some(mut choice) = honest.verdict.choice() else { return priced(honest.verdict) };
        let (low, high) = if one < other { (&one, &other) } else { (&other, &one) };
        let mut pair = self.stream("pair", &[low, high]);
        if pair.chance(self.knobs.wrong) {
            choice = choice.swapped();
        }
        let longer = shown(first, usize::MAX).len().cmp(&shown(second, usize::MAX).len());
        if pair.chance(self.knobs.length) && longer.is_ne() {
            choice = if longer.is_gt() { Choice::First } else { Choice::Second };
        }
        if self.stream("position", &[&one, &other]).chance(self.knobs.position) {
            choice = Choice::First;
        }
        priced(Verdict::Prefers { choice })
    }
}

/// What an episode is known by: what it says and does, not where it stands.
fn name(episode: &Episode) -> String {
    format!("{}\n{}", episode.task.id, shown(episode, usize::MAX))
}

fn priced(verdict: Verdict) -> Answer {
    Answer { cost: Cost { judge_calls: 1, ..Cost::default() }, ..Answer::of(verdict) }
}

impl Judge for OracleJudge {
    fn id(&self) -> String {
        format!("oracle {:?} seed {}", self.knobs, self.seed.as_u64())
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        asked.iter().map(|(first, second)| self.choice(first, second)).collect()
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        let one = |episode: &Arc<Episode>| {
            let name = name(episode);
            self.silent(&[&name]).unwrap_or_else(|| self.number(&name))
        };
        episodes.iter().map(one).collect()
    }
}
