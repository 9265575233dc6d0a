//! Experts: programs that play a task right or wrong, or in a manner that has a name, for warm starts and as an oracle.

use crate::EnvError;
use merit_core::registry::UnknownName;
use merit_core::{Message, Role, Seed, Task};

/// Plays tasks of one world.
pub trait Expert: Send + Sync {
    /// What to say next, given the turns so far. The episode is played right with probability `p_correct`; otherwise the expert
    /// errs in a way that `seed` decides. The seed is that of the episode, so that one demonstration errs in one way.
    fn say(&self, task: &Task, turns: &[ExpertTurn], p_correct: f64, seed: &Seed)
    -> Result<String, EnvError>;

    /// What to say next in an episode that is played in the manner of this name, one of its world's.
    fn say_in(
        &self,
        manner: &str,
        task: &Task,
        turns: &[ExpertTurn],
        seed: &Seed,
    ) -> Result<String, EnvError> {
        let _ = (task, turns, seed);
        Err(EnvError::Manner { manner: manner.to_owned() })
    }
}

/// A manner of playing that a world's expert knows by name: always right, always hasty, by written steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// The name used in recipes.
    pub name: &'static str,
    /// How it plays, in one line of help.
    pub summary: &'static str,
}

impl Manner {
    /// A manner of this name and help.
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Self { name, summary }
    }

    /// The manner of this name among a world's, or an error that names the nearest and all of them.
    ///
    /// ```
    /// use merit_api::Manner;
    /// let known = [Manner::new("exact", "Right."), Manner::new("hasty", "Answers at once.")];
    /// assert_eq!(Manner::find(&known, "hasty").unwrap(), 1);
    /// let error = Manner::find(&known, "exakt").unwrap_err().to_string();
    /// assert_eq!(error, "unknown manner `exakt` (did you mean `exact`?); known: exact, hasty");
    /// ```
    pub fn find(known: &[Self], name: &str) -> Result<usize, UnknownName> {
        let names = || known.iter().map(|manner| manner.name);
        names().position(|known| known == name).ok_or_else(|| UnknownName {
            known: names().map(str::to_owned).collect(),
            ..UnknownName::among("manner", name, names())
        })
    }
}

/// A turn of a demonstration so far.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpertTurn {
    /// What the player wrote in this turn.
    pub said: String,
    /// What the tools and the environment answered, in order.
    pub observed: Vec<Message>,
}

/// What an expert of a [`TextGame`](crate::TextGame) knows besides the puzzle.
#[derive(Debug, Clone, Copy)]
pub struct Demonstration<'a> {
    /// The turns before this one, in order; empty at the first.
    pub turns: &'a [ExpertTurn],
    /// The probability that the episode is played right; within 0 and 1.
    pub p_correct: f64,
    /// The manner in which it is played, one of the game's. Absent: `p_correct` decides.
    pub manner: Option<&'a str>,
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
