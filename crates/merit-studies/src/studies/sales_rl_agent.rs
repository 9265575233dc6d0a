//! SalesRLAgent: the chance of a sale at every turn as the action of a policy, and what it is worth as guidance.

use crate::scores::{auroc, brier, ece};
use crate::tabular::{argmax, mean};
use crate::worlds::sale::{Act, Talk};
use crate::{Desk, Study, StudyError};
use merit_core::bag::{Bag, row};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a prediction is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Learner {
    /// PPO, paid `1 − |p − q|` a turn and a fine at the end, as published.
    Absolute,
    /// PPO, paid `1 − (p − outcome)²` a turn.
    Brier,
    /// Logistic regression on the outcome.
    Logistic,
}

/// Dialogues of a seller of some skill with customers by rule. Before every answer a head on hashed words says how likely a sale is.
/// What it says changes nothing in the dialogue, so that PPO is regression by policy gradient here, and every turn is paid for itself.
/// Afterwards the head guides: each act is the one that it gives the best chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SalesRlAgent {
    /// How a prediction is learned.
    pub learner: Learner,
    /// The outcome is among the words, as in the released script.
    pub leak: bool,
    /// Dialogues to learn from.
    pub dialogues: u64,
    /// Times that they are gone through.
    pub passes: u64,
    /// Held-out dialogues.
    pub tests: u64,
    /// Customers that are sold to by guidance and by a fixed script.
    pub guided: u64,
    /// The chance of the recorded seller to take the right act.
    pub skill: f64,
    /// Dialogues of a batch.
    pub batch: usize,
    /// Steps of the optimiser for each batch, for every learner.
    pub steps: usize,
    /// Step size of Adagrad.
    pub rate: f64,
    /// The policy's deviation, in logits.
    pub spread: f64,
    /// How far PPO's ratio may be from 1.
    pub clip: f64,
}

impl Default for SalesRlAgent {
    fn default() -> Self {
        Self {
            learner: Learner::Logistic,
            leak: false,
            dialogues: 10_000,
            passes: 4,
            tests: 1000,
            guided: 1000,
            skill: 0.5,
            batch: 50,
            steps: 4,
            rate: 0.03,
            spread: 0.5,
            clip: 0.2,
        }
    }
}

impl Component for SalesRlAgent {
    const ABOUT: About = About {
        name: "sales-rl-agent",
        summary: "The chance of a sale at every turn, by PPO or by logistic regression, and as guidance.",
        paper: "SalesRLAgent: A Reinforcement Learning Approach for Real-Time Sales Conversion Prediction and Optimization (2025)",
    };
    const EXAMPLE: &'static str = "dialogues = 20\ntests = 10\nguided = 5\n";

    fn check(&self) -> Result<(), Refusal> {
        let counts =
            [self.dialogues, self.passes, self.tests, self.guided, self.batch as u64, self.steps as u64];
        let all = counts.iter().all(|count| *count > 0);
        Refusal::unless(all, "dialogues, passes, tests, guided, batch or steps", 0, "at least 1")?;
        Refusal::unless((0.0..=1.0).contains(&self.skill), "skill", self.skill, "between 0 and 1")?;
        let positive = [("rate", self.rate), ("spread", self.spread), ("clip", self.clip)];
        positive.into_iter().try_for_each(|(key, value)| Refusal::unless(value > 0.0, key, value, "above 0"))
    }
}

/// Rows and width of the encoder's table.
const ROWS: usize = 4096;
const WIDTH: usize = 8;

/// A recorded dialogue: the words before every answer, the outcome, and the talk as it stood after the first act.
#[derive(Debug, Clone)]
struct Dialogue {
    turns: Vec<Vec<usize>>,
    sold: bool,
    /// An error where it was over then: the chance of a deal.
    first: Result<Talk, f64>,
}

/// A turn to learn from, with what was drawn and paid. Logistic regression draws nothing.
struct Taken<'a> {
    words: &'a [usize],
    sold: bool,
    action: f64,
    mean: f64,
    reward: f64,
    advantage: f64,
}

impl Study for SalesRlAgent {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let record =
            |name, count| (0..count).map(|i| self.record(&mut seed.child(name, i).stream())).collect();
        let (learned, tests): (Vec<Dialogue>, Vec<Dialogue>) =
            (record("dialogue", self.dialogues), record("test", self.tests));
        let bag = self.learn(&learned, &tests, seed, desk)?;
        let pairs = self.predict(&bag, &tests, self.leak, usize::MAX);
        desk.measure("brier", brier(&pairs));
        desk.measure("ece", ece(&pairs, 10));
        desk.measure("auroc", auroc(&pairs));
        desk.measure("auroc_blanked", auroc(&self.predict(&bag, &tests, false, usize::MAX)));
        let right = pairs.iter().map(|(p, sold)| f64::from((*p > 0.5) == *sold));
        desk.measure("accuracy", mean(&right.collect::<Vec<_>>()));
        let first = self.predict(&bag, &tests, self.leak, 1);
        desk.measure("first_turn_above_bayes", auroc(&first) - self.bayes(&tests, seed));
        desk.measure("base_rate", mean(&first.iter().map(|(_, sold)| f64::from(*sold)).collect::<Vec<_>>()));
        let mut ties = seed.child("ties", 0).stream();
        let acts = Act::all();
        let guided = self.sell(seed, &mut |talk: &Talk| {
            let chances: Vec<f64> = acts.iter().map(|act| bag.chance(&words(talk, *act))).collect();
            acts[argmax(&chances, 0.0, &mut ties)]
        });
        let script = self.sell(seed, &mut Talk::script);
        desk.measure("script", script);
        desk.measure("guided", guided);
        desk.measure("guided_lift", guided / script.max(1.0 / self.guided as f64) - 1.0);
        Ok(())
    }
}

impl SalesRlAgent {
    fn record(&self, stream: &mut Stream) -> Dialogue {
        let mut talk = Talk::new(stream);
        let (mut turns, mut first) = (Vec::new(), None);
        loop {
            let act = talk.usual(self.skill, stream);
            turns.push(words(&talk, act));
            let over = talk.take(act);
            first = first.or_else(|| Some(over.map_or_else(|| Ok(talk.clone()), Err)));
            if let Some(chance) = over {
                return Dialogue { turns, sold: stream.chance(chance), first: first.unwrap_or(Err(chance)) };
            }
        }
    }

    /// What a turn pays: `turn` of `turns`, from 1. The labels q go in a line from 0.5 to the outcome, as one who knows the end
    /// would write them.
    pub fn paid(&self, p: f64, sold: bool, turn: usize, turns: usize) -> f64 {
        let y = f64::from(sold);
        if self.learner == Learner::Brier {
            return 1.0 - (p - y).powi(2);
        }
        let q = 0.5 + (y - 0.5) * turn as f64 / turns.max(1) as f64;
        let wrong_side = if sold { 0.5 - p } else { p - 0.5 };
        1.0 - (p - q).abs() - if turn == turns { wrong_side.max(0.0) } else { 0.0 }
    }

    fn learn(
        &self,
        data: &[Dialogue],
        tests: &[Dialogue],
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<Bag, StudyError> {
        let data: Vec<Dialogue> = data.iter().map(|dialogue| self.shown(dialogue, self.leak)).collect();
        let mut bag = Bag::new(ROWS, WIDTH, 2, &mut seed.child("bag", 0).stream());
        let (mut gradient, mut stream) = (bag.gradient(), seed.child("actions", 0).stream());
        let mut order: Vec<usize> = (0..data.len()).collect();
        for _ in 0..self.passes {
            stream.shuffle(&mut order);
            for batch in order.chunks(self.batch) {
                if !desk.left()? {
                    return Ok(bag);
                }
                let turns = self.act(&bag, batch.iter().map(|at| &data[*at]), &mut stream);
                for _ in 0..self.steps {
                    for turn in &turns {
                        let slope = self.slope(turn, &bag.encode(turn.words));
                        bag.back(turn.words, &slope.map(|slope| slope / turns.len() as f64), &mut gradient);
                    }
                    bag.descend(&mut gradient, self.rate);
                    desk.spend("updates", 1.0);
                }
                desk.spend("dialogues", batch.len() as f64);
            }
            desk.point("brier", brier(&self.predict(&bag, tests, self.leak, usize::MAX)));
        }
        Ok(bag)
    }

    /// Draws a prediction for every turn of a batch; advantages over the value head, normalised over the batch.
    fn act<'a>(
        &self,
        bag: &Bag,
        batch: impl Iterator<Item = &'a Dialogue>,
        stream: &mut Stream,
    ) -> Vec<Taken<'a>> {
        let mut taken = Vec::new();
        for dialogue in batch {
            for (at, words) in dialogue.turns.iter().enumerate() {
                let (sold, out) = (dialogue.sold, bag.encode(words));
                let action = out[0] + self.spread * stream.normal();
                let reward = self.paid(1.0 / (1.0 + (-action).exp()), sold, at + 1, dialogue.turns.len());
                taken.push(Taken { words, sold, action, mean: out[0], reward, advantage: reward - out[1] });
            }
        }
        let advantages: Vec<f64> = taken.iter().map(|turn| turn.advantage).collect();
        let centre = mean(&advantages);
        let deviation = mean(&advantages.iter().map(|a| (a - centre).powi(2)).collect::<Vec<_>>()).sqrt();
        taken.iter_mut().for_each(|turn| turn.advantage = (turn.advantage - centre) / (deviation + 1e-8));
        taken
    }

    /// The slope of the loss on the logit and on the value.
    ///   PPO: `−min(ρA, clip(ρ)A)`, ρ the ratio of the action's densities, and half the square of the value's error
    fn slope(&self, turn: &Taken<'_>, out: &[f64]) -> [f64; 2] {
        if self.learner == Learner::Logistic {
            return [1.0 / (1.0 + (-out[0]).exp()) - f64::from(turn.sold), 0.0];
        }
        let (variance, off) = (self.spread * self.spread, turn.action - out[0]);
        let ratio = (((turn.action - turn.mean).powi(2) - off * off) / (2.0 * variance)).exp();
        let clipped = if turn.advantage > 0.0 { ratio > 1.0 + self.clip } else { ratio < 1.0 - self.clip };
        let policy = if clipped { 0.0 } else { -turn.advantage * ratio * off / variance };
        [policy, out[1] - turn.reward]
    }

    /// A dialogue with the outcome among the words, or without.
    fn shown(&self, dialogue: &Dialogue, leak: bool) -> Dialogue {
        let mut dialogue = dialogue.clone();
        if leak {
            let word = row(if dialogue.sold { "outcome-1" } else { "outcome-0" }, ROWS);
            dialogue.turns.iter_mut().for_each(|words| words.push(word));
        }
        dialogue
    }

    /// What is said at the first `turns` turns, and what came of it.
    fn predict(&self, bag: &Bag, tests: &[Dialogue], leak: bool, turns: usize) -> Vec<(f64, bool)> {
        let mut pairs = Vec::new();
        for dialogue in tests.iter().map(|dialogue| self.shown(dialogue, leak)) {
            pairs.extend(dialogue.turns.iter().take(turns).map(|words| (bag.chance(words), dialogue.sold)));
        }
        pairs
    }

    /// The AUROC at the first turn of one who knows the customer: the share of a hundred continuations that end in a sale. Who has
    /// only the words can do no better.
    fn bayes(&self, tests: &[Dialogue], seed: &Seed) -> f64 {
        let mut pairs = Vec::new();
        for (dialogue, number) in tests.iter().zip(0..) {
            let mut stream = seed.child("bayes", number).stream();
            let chance = match &dialogue.first {
                Err(chance) => *chance,
                Ok(talk) => {
                    mean(&(0..100).map(|_| self.go_on(talk.clone(), &mut stream)).collect::<Vec<_>>())
                }
            };
            pairs.push((chance, dialogue.sold));
        }
        auroc(&pairs)
    }

    fn go_on(&self, mut talk: Talk, stream: &mut Stream) -> f64 {
        loop {
            let act = talk.usual(self.skill, stream);
            if let Some(chance) = talk.take(act) {
                return chance;
            }
        }
    }

    /// The mean chance of a deal of one who acts so, over fresh customers, the same for everybody.
    fn sell(&self, seed: &Seed, act: &mut dyn FnMut(&Talk) -> Act) -> f64 {
        let sale = |customer| {
            let mut talk = Talk::new(&mut seed.child("customer", customer).stream());
            loop {
                let act = act(&talk);
                if let Some(chance) = talk.take(act) {
                    return chance;
                }
            }
        };
        mean(&(0..self.guided).map(sale).collect::<Vec<_>>())
    }
}

/// What a head sees before an answer: the words so far, the last answer, how many words it has been, the act, and the act paired with
/// each of them.
fn words(talk: &Talk, act: Act) -> Vec<usize> {
    let act = act.word();
    let (before, answer) = talk.said.split_at(talk.said.len() - talk.answer);
    let mut seen = vec![format!("turn {}", before.len())];
    seen.extend(answer.iter().map(|word| format!("now {word}")));
    seen.extend(talk.said.iter().cloned());
    let pairs: Vec<String> = seen.iter().map(|word| format!("{word} then {act}")).collect();
    let all = seen.iter().chain(&pairs).chain([&act]);
    all.map(|word| row(word, ROWS)).collect()
}
