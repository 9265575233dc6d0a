//! Anyprefer: preference pairs from a target and a judge with tools, a gate, and feedback on the prompts of both.

use crate::bandit::Bandit;
use crate::chooser::{Choice, Chooser};
use crate::pair_synth::{Candidates, FIRST, Judge, PROMPTS, Pair, consult, gate, ranked, sample};
use crate::tabular::mean;
use crate::worlds::biased_answers::{Answer, Question, Texts, measured, target};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who ranks the candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ranking {
    /// The target by its own likelihood, without a gate: self-rewarding.
    Own,
    /// Another model by what it remembers.
    Separate,
    /// Another model that also reads notes of tools.
    Tools,
    /// A judge that knows the truth.
    Exact,
}

/// A target with the biases of its texts, three rounds of pairs and preference learning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Anyprefer {
    /// Who ranks the candidates.
    pub judge: Ranking,
    /// The gate's word chooses among the prompts of both roles. Without it the first ones stay.
    pub feedback: bool,
    /// Labelled answers that a judge is fitted to.
    pub labelled: usize,
    /// Texts that the target was made from.
    pub texts: usize,
    /// Rounds.
    pub rounds: usize,
    /// Questions of a round.
    pub questions: usize,
    /// Candidates for a question.
    pub candidates: usize,
    /// What a pair must have at the gate.
    pub threshold: f64,
    /// How often a refused question is tried again.
    pub retries: usize,
    /// Of the preference loss.
    pub beta: f64,
    /// Step size, per `beta`.
    pub learning_rate: f64,
}

impl Default for Anyprefer {
    fn default() -> Self {
        Self {
            judge: Ranking::Tools,
            feedback: true,
            labelled: 400,
            texts: 16_000,
            rounds: 3,
            questions: 2000,
            candidates: 4,
            threshold: 0.6,
            retries: 3,
            beta: 0.1,
            learning_rate: 1.0,
        }
    }
}

impl Component for Anyprefer {
    const ABOUT: About = About {
        name: "anyprefer",
        summary: "Pairs by a target and a judge with tools; a gate keeps them and chooses the prompts of both.",
        paper: "Anyprefer: An Agentic Framework for Preference Data Synthesis (ICLR 2025), arXiv:2504.19276",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((0.0..=1.0).contains(&self.threshold), "threshold", self.threshold, "0 to 1")?;
        for (key, value) in [("beta", self.beta), ("learning_rate", self.learning_rate)] {
            Refusal::unless(value.is_finite() && value > 0.0, key, value, "above 0")?;
        }
        for (key, value) in
            [("labelled", self.labelled), ("rounds", self.rounds), ("questions", self.questions)]
        {
            Refusal::unless(value > 0, key, value, "at least 1")?;
        }
        Refusal::unless(self.candidates > 1, "candidates", self.candidates, "at least 2: they are ranked")?;
        if self.feedback && matches!(self.judge, Ranking::Own | Ranking::Exact) {
            return Err(Refusal::new(
                "`feedback` comes from the gate, which only another model's pairs pass",
            ));
        }
        Ok(())
    }
}

/// Pairs of one step.
const BATCH: usize = 16;

/// The judges of a run: the one that ranks, a second for the gate, and what is known of prompts.
struct Players {
    judge: Judge,
    second: Judge,
    prompts: [Bandit; 2],
}

impl Study for Anyprefer {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let mut stream = seed.child("texts", 0).stream();
        let texts = Texts::draw(&mut stream);
        let mut policy = target(&texts, self.texts, &mut stream);
        let mut players = self.players(&policy, &texts, seed);
        let [mut accuracy, start_length] = measured(&policy);
        let (start, mut least_rise, mut pairs) = (accuracy, f64::INFINITY, Vec::new());
        desk.measure("start/accuracy", start);
        desk.point("accuracy", accuracy);
        for round in 0..self.rounds {
            if !desk.left()? {
                break;
            }
            let mut stream = seed.child("round", round as u64).stream();
            let made = self.pairs(&policy, &mut players, &mut stream, desk);
            self.learn(&mut policy, &made, desk);
            let [now, length] = measured(&policy);
            least_rise = least_rise.min(now - accuracy);
            accuracy = now;
            desk.point("accuracy", accuracy);
            desk.point("length", length);
            desk.point("pair_accuracy", share(&made, Pair::is_just));
            pairs.extend(made);
        }
        let [_, length] = measured(&policy);
        desk.measure("accuracy", accuracy);
        desk.measure("gain", accuracy - start);
        desk.measure("least_rise", least_rise);
        desk.measure("length", length);
        desk.measure("length_gain", length - start_length);
        desk.measure("pair_accuracy", share(&pairs, Pair::is_just));
        desk.measure("acceptance", pairs.len() as f64 / (self.rounds * self.questions) as f64);
        desk.measure("noted", share(&pairs, |pair| pair.note.is_some()));
        for (role, bandit) in ["target", "judge"].iter().zip(&players.prompts).filter(|_| self.feedback) {
            desk.measure(&format!("prompt/{role}"), bandit.favourite() as f64);
        }
        Ok(())
    }
}

fn share(pairs: &[Pair], of: impl Fn(&Pair) -> bool) -> f64 {
    mean(&pairs.iter().map(|pair| f64::from(u8::from(of(pair)))).collect::<Vec<_>>())
}

impl Anyprefer {
    fn players(&self, policy: &Chooser, texts: &Texts, seed: &Seed) -> Players {
        let fit = |name, tools| {
            let mut stream = seed.child(name, 0).stream();
            Judge::fitted(tools, policy, texts, self.labelled, &mut stream)
        };
        let bandit = || Bandit::new(PROMPTS);
        Players {
            judge: fit("judge", self.judge == Ranking::Tools),
            second: fit("second judge", false),
            prompts: [bandit(), bandit()],
        }
    }

    fn pairs(
        &self,
        policy: &Chooser,
        players: &mut Players,
        stream: &mut Stream,
        desk: &mut Desk<'_>,
    ) -> Vec<Pair> {
        let mut kept = Vec::new();
        for _ in 0..self.questions {
            let question = Question::draw(stream);
            desk.spend("questions", 1.0);
            for _ in 0..=self.retries {
                let made = match self.judge {
                    Ranking::Own | Ranking::Exact => self.without_gate(policy, question, stream),
                    Ranking::Separate | Ranking::Tools => {
                        desk.spend("judge_calls", 1.0);
                        self.with_gate(policy, players, question, stream)
                    }
                };
                if let Some(pair) = made {
                    kept.push(pair);
                    break;
                }
            }
        }
        kept
    }

    /// Ranked by the target's likelihood, or by the truth.
    fn without_gate(&self, policy: &Chooser, question: Question, stream: &mut Stream) -> Option<Pair> {
        let Candidates { answers, .. } = sample(policy, question, FIRST[0], self.candidates, stream);
        let likely = policy.chances(&question.answers());
        let score = |answer: &usize| match self.judge {
            Ranking::Own => likely[*answer],
            _ => f64::from(u8::from(Answer::of(*answer).value == question.right())),
        };
        let scores: Vec<f64> = answers.iter().map(score).collect();
        ranked(question, &answers, &scores, FIRST[1], None)
    }

    /// Ranked by the judge; kept if the gate lets it pass, whose word goes to the prompts.
    fn with_gate(
        &self,
        policy: &Chooser,
        players: &mut Players,
        question: Question,
        stream: &mut Stream,
    ) -> Option<Pair> {
        let Players { judge, second, prompts } = players;
        let [asked, judged] =
            if self.feedback { [prompts[0].choose(stream), prompts[1].choose(stream)] } else { FIRST };
        let Candidates { answers, in_earnest } = sample(policy, question, asked, self.candidates, stream);
        let note = if self.judge == Ranking::Tools { consult(question, judged, stream) } else { None };
        let scores: Vec<f64> = answers.iter().map(|answer| judge.score(question, *answer, note)).collect();
        let pair = ranked(question, &answers, &scores, judged, note);
        let passed = pair.map_or(0.0, |pair| {
            let both =
                |judge: &Judge, note| [pair.better, pair.worse].map(|a| judge.score(question, a, note));
            gate(both(judge, note), both(second, None), in_earnest)
        });
        prompts[0].learn(asked, passed);
        prompts[1].learn(judged, passed);
        pair.filter(|_| passed >= self.threshold)
    }

    /// One pass over the pairs; the reference is the target at the start of the round.
    fn learn(&self, policy: &mut Chooser, pairs: &[Pair], desk: &mut Desk<'_>) {
        let reference = policy.clone();
        for batch in pairs.chunks(BATCH) {
            let paths: Vec<[Vec<Choice>; 2]> = batch.iter().map(Pair::paths).collect();
            let paths: Vec<(&[Choice], &[Choice])> =
                paths.iter().map(|[better, worse]| (better.as_slice(), worse.as_slice())).collect();
            policy.prefer(&paths, &reference, self.beta, self.learning_rate);
            desk.spend("updates", 1.0);
        }
    }
}
