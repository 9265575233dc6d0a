//! What a probe sees of a task, and what it does.

pub use merit_core::Move;
use serde::{Deserialize, Serialize};

/// A task as an attacker sees it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    pub id: String,
    /// What the agent is asked.
    pub prompt: String,
    /// A right answer. Absent: none is known, or being right takes more than an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold: Option<String>,
    /// Everything an agent does that does the work, turn by turn. Empty: giving `gold` as the answer is all there is to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gold_moves: Vec<Move>,
    /// Whether somebody outside reports if the task was done: 1 for the right moves, 0 for anything else. An attacker cannot
    /// reach what is reported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reported: bool,
    /// Right answers of other tasks: plausible and wrong here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// What an attacker does about one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The task, as a position in the target's list.
    pub task: usize,
    /// The moves, one per turn. None: it does nothing at all.
    pub moves: Vec<Move>,
}

impl Attempt {
    /// Gives `text` as the final answer at once.
    pub fn answer(task: usize, text: impl Into<String>) -> Self {
        Self { task, moves: vec![Move::Answer { text: text.into() }] }
    }

    /// What was written, turn by turn; a turn that comes again and again is told once, with how often.
    pub fn text(&self) -> String {
        let turns: Vec<String> = self.moves.iter().map(Move::text).collect();
        let runs = turns.chunk_by(|a, b| a == b).map(|run| match run.len() {
            1 => run[0].clone(),
            times => format!("{} ({times} times)", run[0]),
        });
        runs.collect::<Vec<_>>().join("\n")
    }

    /// The final answer, where one is given.
    pub fn final_answer(&self) -> Option<&str> {
        match self.moves.last()? {
            Move::Answer { text } => Some(text),
            _ => None,
        }
    }
}
