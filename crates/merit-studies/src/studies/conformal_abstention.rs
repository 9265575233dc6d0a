//! Conformal abstention: error levels of an answer/set/abstain rule, tuned by REINFORCE.

use crate::conformal::{Answer, Item, OPTIONS, Thresholds, quantile};
use crate::gaussian_policy::GaussianPolicy;
use crate::selective::Selective;
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How items are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decider {
    /// Always the likeliest option.
    Argmax,
    /// Prediction sets by 1 − p.
    Lac,
    /// Prediction sets by cumulated probability.
    Aps,
    /// The answer/set/abstain rule at `start`.
    Fixed,
    /// The rule at the best of a grid of error levels.
    Grid,
    /// The rule at the error levels that REINFORCE ends with.
    Reinforce,
}

/// Synthetic option probabilities with controlled miscalibration and a share out of distribution. Four disjoint splits:
/// calibrate and tune for the search, fresh calibration and test for what is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConformalAbstention {
    /// Who decides when to answer.
    pub decider: Decider,
    /// Questions in each of the splits.
    pub items: usize,
    /// The share of items whose logits know nothing of the truth.
    pub out_of_distribution: f64,
    /// The true option's logit lies this far above the others, on average.
    pub margin: f64,
    /// The deviation of that distance between items.
    pub margin_deviation: f64,
    /// All logits are multiplied by this: above 1, the model is surer than it should be.
    pub overconfidence: f64,
    /// LAC and APS: the error they may make.
    pub error: f64,
    /// Where the two error levels start, single answers first.
    pub start: [f64; 2],
    /// The range of the error level for single answers.
    pub range_single: [f64; 2],
    /// The range of the error level for abstention.
    pub range_abstain: [f64; 2],
    /// How far an action of 1 moves a level.
    pub step: f64,
    /// Evaluations of the tune split that a search may spend.
    pub evaluations: usize,
    /// Step size of REINFORCE.
    pub learning_rate: f64,
    /// REINFORCE: subtract the running mean of the rewards.
    pub running_mean: bool,
    /// Search on the test split, as the published trainer does.
    pub tune_on_test: bool,
    /// Draws of the decisions over which test measures are averaged.
    pub redraws: usize,
}

impl Default for ConformalAbstention {
    fn default() -> Self {
        Self {
            decider: Decider::Reinforce,
            items: 1000,
            out_of_distribution: 0.2,
            margin: 3.5,
            margin_deviation: 1.5,
            overconfidence: 1.5,
            error: 0.1,
            start: [0.85, 0.025],
            range_single: [0.75, 0.9],
            range_abstain: [0.01, 0.05],
            step: 0.005,
            evaluations: 200,
            learning_rate: 1e-3,
            running_mean: false,
            tune_on_test: false,
            redraws: 20,
        }
    }
}

impl Component for ConformalAbstention {
    const ABOUT: About = About {
        name: "conformal-abstention",
        summary: "Conformal thresholds of an answer/set/abstain rule, tuned by REINFORCE or by a grid.",
        paper: "Learning Conformal Abstention Policies for Adaptive Risk Management in Large Language and Vision-Language Models (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.items >= 10, "items", self.items, "at least 10")?;
        Refusal::unless(self.redraws > 0, "redraws", self.redraws, "at least 1")?;
        Refusal::unless(self.evaluations > 0, "evaluations", self.evaluations, "at least 1")?;
        Refusal::unless(self.learning_rate > 0.0, "learning_rate", self.learning_rate, "above 0")?;
        Refusal::unless(self.overconfidence > 0.0, "overconfidence", self.overconfidence, "above 0")?;
        let share = self.out_of_distribution;
        Refusal::unless((0.0..=1.0).contains(&share), "out_of_distribution", share, "between 0 and 1")?;
        Refusal::unless(self.error > 0.0 && self.error < 1.0, "error", self.error, "between 0 and 1")?;
        let ranges = [("range_single", self.range_single), ("range_abstain", self.range_abstain)];
        for ((key, [low, high]), start) in ranges.into_iter().zip(self.start) {
            if !(0.0 < low && low < high && high < 1.0) {
                return Err(Refusal::new(format!(
                    "`{key}` must be two numbers between 0 and 1, the lower first"
                )));
            }
            Refusal::unless((low..=high).contains(&start), "start", start, &format!("within `{key}`"))?;
        }
        Ok(())
    }
}

struct Splits {
    calibrate: Vec<Item>,
    tune: Vec<Item>,
    fresh: Vec<Item>,
    test: Vec<Item>,
}

impl Study for ConformalAbstention {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let split = |at| self.split(&mut seed.child("split", at).stream());
        let splits = Splits { calibrate: split(0), tune: split(1), fresh: split(2), test: split(3) };
        let levels = match self.decider {
            Decider::Grid => self.grid(seed, &splits, desk)?,
            Decider::Reinforce => self.reinforce(seed, &splits, desk)?,
            _ => self.start,
        };
        let found = self.test(seed, &splits, levels);
        desk.point("cost", found.cost);
        found.named().into_iter().for_each(|(name, value)| desk.measure(name, value));
        if matches!(self.decider, Decider::Fixed | Decider::Grid | Decider::Reinforce) {
            desk.measure("level_single", levels[0]);
            desk.measure("level_abstain", levels[1]);
        }
        Ok(())
    }
}

impl ConformalAbstention {
    fn split(&self, stream: &mut Stream) -> Vec<Item> {
        (0..self.items).map(|_| self.item(stream)).collect()
    }

    fn item(&self, stream: &mut Stream) -> Item {
        let truth = stream.below(OPTIONS as u64) as usize;
        let known = !stream.chance(self.out_of_distribution);
        let margin = self.margin + self.margin_deviation * stream.normal();
        let mut probs: [f64; OPTIONS] = std::array::from_fn(|_| stream.normal());
        if known {
            probs[truth] += margin;
        }
        let top = probs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        probs = probs.map(|logit| (self.overconfidence * (logit - top)).exp());
        let sum: f64 = probs.iter().sum();
        Item { probs: probs.map(|p| p / sum), truth }
    }

    /// What the tuner sees: the cost of one draw of decisions on the tune split.
    fn evaluate(&self, splits: &Splits, levels: [f64; 2], stream: &mut Stream, desk: &mut Desk<'_>) -> f64 {
        let items = if self.tune_on_test { &splits.test } else { &splits.tune };
        let thresholds = Thresholds::calibrate(&splits.calibrate, levels[0], levels[1]);
        let answers: Vec<Answer> = items.iter().map(|item| thresholds.decide(item, stream)).collect();
        desk.spend("evaluations", 1.0);
        Selective::of(items, &answers, true).cost
    }

    /// Everything on the test split, calibrated on the fresh one.
    fn test(&self, seed: &Seed, splits: &Splits, levels: [f64; 2]) -> Selective {
        let calibrated = |score: fn(&Item, usize) -> f64| {
            let mut scores: Vec<f64> = splits.fresh.iter().map(|item| score(item, item.truth)).collect();
            quantile(&mut scores, self.error)
        };
        let plain = |answer: &dyn Fn(&Item) -> Answer| {
            let answers: Vec<Answer> = splits.test.iter().map(answer).collect();
            Selective::of(&splits.test, &answers, false)
        };
        match self.decider {
            Decider::Argmax => plain(&|item| Answer::Single(item.best())),
            Decider::Lac => {
                let q = calibrated(Item::lac_score);
                plain(&|item| Answer::Set(item.lac_set(q)))
            }
            Decider::Aps => {
                let q = calibrated(Item::aps_score);
                plain(&|item| Answer::Set(item.aps_set(q)))
            }
            Decider::Fixed | Decider::Grid | Decider::Reinforce => self.drawn(seed, splits, levels),
        }
    }

    fn drawn(&self, seed: &Seed, splits: &Splits, levels: [f64; 2]) -> Selective {
        let thresholds = Thresholds::calibrate(&splits.fresh, levels[0], levels[1]);
        let draws = (0..self.redraws as u64).map(|draw| {
            let mut stream = seed.child("test", draw).stream();
            let answers: Vec<Answer> =
                splits.test.iter().map(|item| thresholds.decide(item, &mut stream)).collect();
            Selective::of(&splits.test, &answers, true)
        });
        Selective::mean(draws)
    }

    fn grid(&self, seed: &Seed, splits: &Splits, desk: &mut Desk<'_>) -> Result<[f64; 2], StudyError> {
        // Twice as many levels for single answers, whose range is wider.
        let columns = ((self.evaluations as f64 / 2.0).sqrt() as usize).max(1);
        let rows = (self.evaluations / columns).max(1);
        let level =
            |[low, high]: [f64; 2], at: usize, of: usize| low + (high - low) * (at as f64 + 0.5) / of as f64;
        let mut best = (f64::INFINITY, self.start);
        let mut stream = seed.child("grid", 0).stream();
        for at in 0..rows * columns {
            if !desk.left()? {
                break;
            }
            let a = level(self.range_single, at / columns, rows);
            let b = level(self.range_abstain, at % columns, columns);
            let cost = self.evaluate(splits, [a, b], &mut stream, desk);
            if cost < best.0 {
                best = (cost, [a, b]);
            }
            if at % 20 == 0 {
                desk.point("cost", self.test(seed, splits, best.1).cost);
            }
        }
        Ok(best.1)
    }

    fn reinforce(&self, seed: &Seed, splits: &Splits, desk: &mut Desk<'_>) -> Result<[f64; 2], StudyError> {
        let mut policy = GaussianPolicy::new(self.learning_rate, &mut seed.child("policy", 0).stream());
        let mut stream = seed.child("actions", 0).stream();
        let mut levels = self.start;
        let (mut mean, mut on_bound, mut steps) = (0.0, 0.0, 0.0);
        let [[a_low, a_high], [b_low, b_high]] = [self.range_single, self.range_abstain];
        while desk.left()? && steps < self.evaluations as f64 {
            let taken = policy.act(levels, &mut stream);
            let a = (levels[0] + self.step * taken.action[0]).clamp(a_low, a_high);
            let b = (levels[1] + self.step * taken.action[1]).clamp(b_low, b_high);
            levels = [a, b];
            let reward = -self.evaluate(splits, levels, &mut stream, desk);
            policy.reinforce(&taken, if self.running_mean { reward - mean } else { reward });
            steps += 1.0;
            mean += (reward - mean) / steps;
            on_bound += f64::from(u8::from([a_low, a_high].contains(&a) || [b_low, b_high].contains(&b)));
            if steps as usize % 20 == 1 {
                desk.point("cost", self.test(seed, splits, levels).cost);
            }
        }
        desk.measure("on_bound", on_bound / steps.max(1.0));
        Ok(levels)
    }
}
