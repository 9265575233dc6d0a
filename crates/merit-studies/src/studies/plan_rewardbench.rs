//! Plan-RewardBench: pairs of whole tool-use traces with one defect each, and judges that are measured on them by family, kind and length.

use crate::pair_models::{Messages, Recurrent, Weights};
use crate::tabular::mean;
use crate::worlds::traces::{Kind, Pair, TOKENS, Trace};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The judges that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Judge {
    /// It chooses by chance.
    Random,
    /// The longer trace.
    Length,
    /// Weights of the tokens of the last message, fitted to pairs.
    LastMessage,
    /// Weights of all tokens and of whole messages, wherever they stand.
    Bag,
    /// A recurrent network, fitted to pairs.
    Recurrent,
    /// The same, fitted to pairs whose order is drawn.
    Shuffled,
}

/// The settings of `plan-rewardbench`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlanRewardbench {
    pub judge: Judge,
    /// Most calls of a trace that the judge is fitted to; the least are 5.
    pub longest: usize,
    /// Pairs that it is fitted to.
    pub pairs: usize,
    /// Pairs of each length and kind that it is measured on.
    pub evaluation: usize,
    /// How often every pair is met.
    pub epochs: usize,
    /// Units of the network.
    pub width: usize,
    /// Step size of the network.
    pub learning_rate: f64,
}

impl Default for PlanRewardbench {
    fn default() -> Self {
        Self {
            judge: Judge::Recurrent,
            longest: 60,
            pairs: 2000,
            evaluation: 80,
            epochs: 12,
            width: 24,
            learning_rate: 5e-3,
        }
    }
}

/// Calls of the traces that are measured on.
const LENGTHS: [(usize, usize, &str); 4] =
    [(5, 10, "5-10"), (11, 20, "11-20"), (21, 39, "21-39"), (40, 60, "40-60")];
/// Pairs of an update.
const BATCH: usize = 16;
/// Tokens, and whole messages: of a call 24, of a request 4, the last one is a token.
const WORDS: usize = TOKENS + 28;

impl Component for PlanRewardbench {
    const ABOUT: About = About {
        name: "plan-rewardbench",
        summary: "Judges of whole tool-use traces, measured on pairs with one defect by family, kind and length.",
        paper: "Aligning Agents via Planning: A Benchmark for Trajectory-Level Reward Modeling (2026)",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((5..=60).contains(&self.longest), "longest", self.longest, "5 to 60")?;
        Refusal::unless(self.pairs > 0, "pairs", self.pairs, "at least 1")?;
        Refusal::unless(self.evaluation > 0, "evaluation", self.evaluation, "at least 1")?;
        Refusal::unless((1..=256).contains(&self.width), "width", self.width, "1 to 256")?;
        let rate = self.learning_rate;
        Refusal::unless(rate.is_finite() && rate > 0.0, "learning_rate", rate, "above 0")
    }
}

/// A judge that is ready.
enum Fitted {
    Chance(Seed),
    Length,
    Last(Weights),
    Bag(Weights),
    Network(Recurrent),
}

impl Fitted {
    /// How good a trace is. `name` is its own.
    fn score(&self, trace: &Trace, name: u64) -> f64 {
        match self {
            Self::Chance(seed) => seed.child("coin", name).stream().unit(),
            Self::Length => trace.calls.len() as f64,
            Self::Last(weights) => weights.score(&last(trace)),
            Self::Bag(weights) => weights.score(&words(trace)),
            Self::Network(model) => model.score(&trace.tokens()),
        }
    }
}

fn last(trace: &Trace) -> Vec<usize> {
    trace.tokens().pop().unwrap_or_default()
}

/// All tokens, and each message as a word of its own.
fn words(trace: &Trace) -> Vec<usize> {
    let messages = trace.tokens();
    let word = |message: &Vec<usize>| match message[..] {
        [tool, object, ok] => TOKENS + (tool - 4) * 6 + (object - 8) * 2 + (ok - 11),
        [safe, there] => TOKENS + 24 + safe * 2 + (there - 2),
        _ => message[0],
    };
    let whole: Vec<usize> = messages.iter().map(word).collect();
    [messages.concat(), whole].concat()
}

impl Study for PlanRewardbench {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let judge = self.fitted(seed, desk)?;
        let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut stream = seed.child("test", 0).stream();
        let mut item = 0;
        for (low, high, length) in LENGTHS {
            for (kind, family, name) in Kind::ALL {
                for _ in 0..self.evaluation {
                    let calls = stream.between(low as i64, high as i64) as usize;
                    let pair = Pair::draw(kind, calls, &mut stream);
                    let ahead = judge.score(&pair.right, 2 * item) - judge.score(&pair.wrong, 2 * item + 1);
                    item += 1;
                    // Who cannot tell them apart is right half of the time.
                    let right = if ahead == 0.0 { 0.5 } else { f64::from(u8::from(ahead > 0.0)) };
                    for group in [length, family, name] {
                        found.entry(format!("accuracy/{group}")).or_default().push(right);
                    }
                    let at_length = format!("accuracy/{family}/{length}");
                    found.entry(at_length).or_default().push(right);
                }
            }
        }
        let found: BTreeMap<String, f64> = found.into_iter().map(|(name, all)| (name, mean(&all))).collect();
        let of = |name: &str| found.get(&format!("accuracy/{name}")).copied().unwrap_or(0.5);
        let families = ["safety", "tools", "planning", "recovery"].map(of);
        desk.measure("accuracy", mean(&families));
        desk.measure("drop", of("5-10") - of("40-60"));
        desk.measure("accuracy/process", mean(&[of("redundant-call"), of("ignored-error")]));
        LENGTHS.iter().for_each(|(_, _, length)| desk.point("accuracy", of(length)));
        found.iter().for_each(|(name, value)| desk.measure(name, *value));
        Ok(())
    }
}

impl PlanRewardbench {
    /// Pairs to fit to, every kind as often.
    fn drawn(&self, seed: &Seed) -> Vec<(Trace, Trace)> {
        let mut stream = seed.child("pairs", 0).stream();
        let kinds = Kind::ALL.iter().cycle().take(self.pairs);
        let drawn = kinds.map(|(kind, _, _)| {
            let calls = stream.between(5, self.longest as i64) as usize;
            let Pair { right, wrong, .. } = Pair::draw(*kind, calls, &mut stream);
            match self.judge == Judge::Shuffled && stream.chance(0.5) {
                true => (wrong, right),
                false => (right, wrong),
            }
        });
        drawn.collect()
    }

    fn fitted(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<Fitted, StudyError> {
        let weights = |tokens: usize, of: fn(&Trace) -> Vec<usize>| {
            let pairs: Vec<_> =
                self.drawn(seed).iter().map(|(right, wrong)| (of(right), of(wrong))).collect();
            Weights::fitted(tokens, &pairs, self.epochs, 0.05)
        };
        Ok(match self.judge {
            Judge::Random => Fitted::Chance(seed.child("chance", 0)),
            Judge::Length => Fitted::Length,
            Judge::LastMessage => Fitted::Last(weights(TOKENS, last)),
            Judge::Bag => Fitted::Bag(weights(WORDS, words)),
            Judge::Recurrent | Judge::Shuffled => Fitted::Network(self.network(seed, desk)?),
        })
    }

    fn network(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<Recurrent, StudyError> {
        let pairs: Vec<(Messages, Messages)> =
            self.drawn(seed).iter().map(|(right, wrong)| (right.tokens(), wrong.tokens())).collect();
        let mut order: Vec<&(Messages, Messages)> = pairs.iter().collect();
        let mut stream = seed.child("fit", 0).stream();
        let mut model = Recurrent::new(TOKENS, self.width, &mut stream);
        for epoch in 0..self.epochs {
            desk.left()?;
            stream.shuffle(&mut order);
            // Linear to nothing, so that the last updates average what the first found.
            let rate = self.learning_rate * (1.0 - epoch as f64 / self.epochs as f64);
            order.chunks(BATCH).for_each(|batch| model.learn(batch, rate));
            desk.spend("pairs", pairs.len() as f64);
        }
        Ok(model)
    }
}
