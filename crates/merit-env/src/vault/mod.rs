//! A row of boxes whose notes lead to a key: a world without tools, in which every action changes the state.
//!
//! `open 3` shows a note with the number of another box, or the key; `take` takes the key out of the open box; `go` leaves,
//! which the locked door allows only with the key. The world ends by itself, and only when the goal is reached. Tasks are made
//! in `boxes`; an open task lives in `room`.

mod boxes;
mod room;

pub use boxes::Boxes;

use crate::{DemoTurn, Demonstrator, Env, EnvError, World};
use merit_core::{About, Role, Seed, Split, Task};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// What the registry says of it.
pub const ABOUT: About =
    About { name: "vault", summary: "Boxes whose notes lead to a key; no tools, real state.", paper: "" };

/// Raised when the meaning of the payload changes.
pub(crate) const VERSION: u32 = 1;

/// The settings of the vault world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VaultConfig {
    /// Boxes in the row, 4 to 9.
    pub boxes: u32,
    /// Boxes on the way to the key in training tasks, dealt in turn.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
}

impl Default for VaultConfig {
    fn default() -> Self {
        Self { boxes: 6, sizes: vec![2, 3], held_out_sizes: Vec::new() }
    }
}

impl VaultConfig {
    /// Checks that tasks can be made.
    pub fn validate(&self) -> Result<(), EnvError> {
        let bad = |why: String| Err(EnvError::Setting { world: ABOUT.name, why });
        if !(4..=9).contains(&self.boxes) {
            return bad(format!("`boxes` is {}; a row has 4 to 9", self.boxes));
        }
        if self.sizes.is_empty() {
            return bad("`sizes` is empty; list the sizes to train on, as in [2, 3]".to_owned());
        }
        match self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(2..=self.boxes).contains(size)) {
            Some(size) => {
                bad(format!("a way of {size} boxes; give 2 to {}, the boxes in the row", self.boxes))
            }
            None => Ok(()),
        }
    }

    fn sizes_of(&self, split: Split) -> &[u32] {
        match split {
            Split::HeldOut if !self.held_out_sizes.is_empty() => &self.held_out_sizes,
            Split::HeldOut | Split::Train => &self.sizes,
        }
    }
}

/// The world of boxes.
pub struct Vault {
    config: VaultConfig,
}

impl Vault {
    /// A world with these settings.
    pub fn new(config: VaultConfig) -> Result<Self, EnvError> {
        config.validate()?;
        Ok(Self { config })
    }
}

impl Env for Vault {
    fn about(&self) -> About {
        ABOUT
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        let sizes = self.config.sizes_of(split);
        let size = sizes[(index % sizes.len() as u64) as usize];
        let boxes = Boxes::draw(split, size, self.config.boxes, &seed.child(split.name(), index))?;
        Ok(boxes.into_task(split, index))
    }

    fn open(
        &self,
        task: &Arc<Task>,
        _seed: &Seed,
        state: Option<&Value>,
    ) -> Result<Box<dyn World>, EnvError> {
        Ok(Box::new(room::Room::open(task, state)?))
    }

    fn demonstrator(&self) -> Option<&dyn Demonstrator> {
        Some(self)
    }
}

/// The exact manner follows the notes. The bad one wanders: it opens boxes at random until it meets the key.
impl Demonstrator for Vault {
    fn say(&self, task: &Task, turns: &[DemoTurn], skill: f64, seed: &Seed) -> Result<String, EnvError> {
        if !(0.0..=1.0).contains(&skill) {
            let why = format!("skill is {skill}; give a probability, 0 to 1");
            return Err(EnvError::Setting { world: ABOUT.name, why });
        }
        let boxes = Boxes::of(task)?;
        let wanders = !seed.child("manner", 0).stream().chance(skill);
        // By a chat template, the environment speaks as the user.
        let shows = |message: &&merit_core::Message| matches!(message.role, Role::Environment | Role::User);
        let seen = turns.last().and_then(|turn| turn.observed.iter().find(shows));
        let note = match seen.map_or("", |message| message.text.as_str()) {
            "key" => return Ok("take".to_owned()),
            "taken" => return Ok("go".to_owned()),
            text => text.strip_prefix("note ").and_then(|number| number.parse().ok()),
        };
        let next = if wanders {
            1 + seed.child("wander", turns.len() as u64).stream().below(boxes.notes.len() as u64)
        } else {
            note.unwrap_or(u64::from(boxes.start))
        };
        Ok(format!("open {next}"))
    }
}
