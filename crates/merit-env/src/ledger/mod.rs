//! Purchases to add up: every price must be looked up and every sum computed, one action per turn.
//!
//! `buy 3 mug, buy 4 pen, return 2 cup. total?` is solved by a running total: `lookup mug`, `calc 3*47`, `lookup pen`,
//! `calc 141+4*12`, … `answer 159`. Prices are hidden in the task's table; only the lookup tool reveals them. Tasks are made in
//! `purchase`, text is read in `dialect`, an open task lives in `room`, and `demonstrate` plays well or badly.

mod config;
mod demonstrate;
mod dialect;
mod purchase;
mod room;

pub use config::{LedgerConfig, MAX_DISTRACTORS, SIZES};
pub use demonstrate::{MANNER_WEIGHTS, Manner};
pub use dialect::{INSTRUCTIONS, parse};
pub use purchase::{Entry, ITEMS, Purchase, Sign};

use crate::{Demonstrator, Env, EnvError, World};
use merit_core::{About, Seed, Split, Task};
use merit_tools::{Calculator, Faulty, Lookup, Tool, Toolbox};
use serde_json::Value;
use std::sync::Arc;

/// What the registry says of it.
pub const ABOUT: About = About {
    name: "ledger",
    summary: "Purchases to add up over several turns with a price lookup and a calculator.",
    paper: "",
};

/// Raised when the meaning of the payload changes.
pub(crate) const VERSION: u32 = 1;

/// The world of purchases.
pub struct Ledger {
    config: LedgerConfig,
    tools: Vec<Arc<dyn Tool>>,
}

impl Ledger {
    /// A world with these settings.
    pub fn new(config: LedgerConfig) -> Result<Self, EnvError> {
        Self::with_toolbox(config, &Toolbox::Live)
    }

    /// The same, whose calls are answered as `toolbox` says.
    pub fn with_toolbox(config: LedgerConfig, toolbox: &Toolbox) -> Result<Self, EnvError> {
        config.validate()?;
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        if config.tools {
            tools = vec![Arc::new(Lookup), Arc::new(Calculator)];
        }
        if let Some(plan) = config.faults {
            let disturb = |tool| Faulty::new(tool, plan).map(|faulty| Arc::new(faulty) as Arc<dyn Tool>);
            tools = tools
                .into_iter()
                .map(disturb)
                .collect::<Result<_, _>>()
                .map_err(|error| EnvError::Setting { world: ABOUT.name, why: error.to_string() })?;
        }
        let tools = tools.into_iter().map(|tool| toolbox.wrap(tool)).collect();
        Ok(Self { config, tools })
    }
}

impl Env for Ledger {
    fn about(&self) -> About {
        ABOUT
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        let sizes = self.config.sizes_of(split);
        // Dealt in turn, so that every stretch of tasks is balanced over sizes.
        let size = sizes[(index % sizes.len() as u64) as usize];
        let purchase =
            Purchase::draw(split, size, self.config.distractors, &seed.child(split.name(), index))?;
        Ok(purchase.into_task(split, index))
    }

    fn open(
        &self,
        task: &Arc<Task>,
        _seed: &Seed,
        state: Option<&Value>,
    ) -> Result<Box<dyn World>, EnvError> {
        let room = room::Room::open(task, self.tools.clone(), self.config.instructions, state)?;
        Ok(Box::new(room))
    }

    fn demonstrator(&self) -> Option<&dyn Demonstrator> {
        Some(self)
    }
}

impl Demonstrator for Ledger {
    fn say(
        &self,
        task: &Task,
        turns: &[crate::DemoTurn],
        skill: f64,
        seed: &Seed,
    ) -> Result<String, EnvError> {
        let purchase = Purchase::of(task)?;
        let manner = Manner::drawn(skill, seed)?;
        if self.config.tools {
            demonstrate::next_line(&purchase, turns, manner, seed)
        } else {
            demonstrate::answer_unaided(&purchase, manner, seed)
        }
    }
}
