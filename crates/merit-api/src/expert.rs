//! Experts: programs that play a task right or wrong, for warm starts and as an oracle.

use crate::EnvError;
use merit_core::{Message, Role, Seed, Task};

/// Plays tasks of one world.
pub trait Expert: Send + Sync {
    /// What to say next, given the turns so far. The episode is played right with probability `p_correct`; otherwise the expert
    /// errs in a way that `seed` decides. The seed is that of the episode, so that one demonstration errs in one way.
    fn say(&self, task: &Task, turns: &[ExpertTurn], p_correct: f64, seed: &Seed)
    -> Result<String, EnvError>;
}

/// A turn of a demonstration so far.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpertTurn {
    /// What was said.
    pub said: String,
    /// What the tools and the environment answered, in order.
    pub observed: Vec<Message>,
}

/// What an expert of a [`TextGame`](crate::TextGame) knows besides the puzzle.
#[derive(Debug, Clone, Copy)]
pub struct Demonstration<'a> {
    /// The turns so far.
    pub turns: &'a [ExpertTurn],
    /// The probability that the episode is played right; within 0 and 1.
    pub p_correct: f64,
    /// The seed of the episode.
    pub seed: &'a Seed,
}

impl Demonstration<'_> {
    /// Whether this episode is played right: the same in all its turns.
    pub fn is_correct(&self) -> bool {
        self.seed.child("manner", 0).stream().chance(self.p_correct)
    }

    /// What the environment said last; empty before the first turn.
    pub fn last_observation(&self) -> &str {
        // By a chat template, the environment speaks as the user.
        let shows = |message: &&Message| matches!(message.role, Role::Environment | Role::User);
        let seen = self.turns.last().and_then(|turn| turn.observed.iter().find(shows));
        seen.map_or("", |message| message.text.as_str())
    }
}
