//! A judge that knows what is right: the control beside which others are held.
//!
//! In: questions with the episodes they are about. Out: answers in the words of a model, made of what a reward says of each episode, and
//! wrong at a given rate. Where the reward says nothing there is no answer, with the reason.

use crate::ask::Ask;
use crate::asked::{Asker, Put, Said};
use merit_core::{Cost, Episode, Reward, Seed};
use merit_reward::{ScoreContext, Scorer};
use serde_json::json;
use std::sync::Arc;

/// Answers by the truth.
pub struct Oracle {
    /// Who it is: two of one id give the same answers.
    pub id: String,
    /// What is true of an episode: how much it is worth, from 0 to 1.
    pub truth: Scorer,
    /// The kind of question that it answers.
    pub ask: Ask,
    /// The share of answers that are turned round.
    pub errors: f64,
    /// Which ones, by the words of the question.
    pub seed: Seed,
}

impl Oracle {
    fn says(&self, put: &Put) -> Result<String, String> {
        let worth =
            put.shown.iter().map(|episode| self.worth(episode)).collect::<Result<Vec<f64>, String>>()?;
        let mut draw = self.seed.child(&put.question.user, u64::from(put.vote)).stream();
        let wrong = draw.chance(self.errors);
        let said = match (&self.ask, &worth[..]) {
            (Ask::Score { scale }, [worth]) => {
                json!({ "score": f64::from(*scale) * if wrong { 1.0 - worth } else { *worth } })
            }
            (Ask::Compare {}, [one, other]) => {
                let first = match one.total_cmp(other) {
                    std::cmp::Ordering::Equal if !wrong => return Ok(json!({ "better": "tie" }).to_string()),
                    std::cmp::Ordering::Equal => draw.chance(0.5),
                    order => order.is_gt() != wrong,
                };
                json!({ "better": if first { 1 } else { 2 } })
            }
            (Ask::Rank {}, _) => {
                let mut order: Vec<usize> = (0..worth.len()).collect();
                order.sort_by(|a, b| worth[*b].total_cmp(&worth[*a]));
                if wrong {
                    order.reverse();
                }
                json!({ "order": order.iter().map(|at| at + 1).collect::<Vec<usize>>() })
            }
            (ask, _) => return Err(format!("an oracle knows no answer to `{}`", ask.name())),
        };
        Ok(said.to_string())
    }

    fn worth(&self, episode: &Arc<Episode>) -> Result<f64, String> {
        match self.truth.score(episode, &ScoreContext::default()).reward {
            Reward::Value { value } => Ok(value),
            Reward::GraderFailed { why } | Reward::Unscorable { why } => Err(format!(
                "nobody knows what is right about task `{}`: {why}; give tasks an `answer`, or the oracle a `reward` that says it",
                episode.task.id
            )),
        }
    }
}

impl Asker for Oracle {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn ask(&mut self, questions: &[Put], heard: &mut dyn FnMut(usize, Result<Said, String>)) {
        let cost = Cost { judge_calls: 1, ..Cost::default() };
        for (at, put) in questions.iter().enumerate() {
            heard(at, self.says(put).map(|text| Said { text, cost }));
        }
    }
}
