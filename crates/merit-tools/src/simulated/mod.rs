//! Tools that exist only as a declaration: a role plays them.
//!
//! A call that was recorded, by tool and arguments, is answered as it was; any other is played by a [`ToolPlayer`]: drawn
//! from the schema of what the tool returns, refused, or invented by a program. Arguments are checked against their schema
//! first. What a role has said in an episode it says again, and the tools of one set remember together, as in CM2's worlds.

mod command;
mod config;
mod declaration;
pub(crate) mod declared;
mod draw;
mod examples;
mod memory;
mod player;
mod schema;
mod session;

use crate::{EpisodeShared, ExecKind, Tool, ToolError, ToolSession, ToolSettings, ToolSpec};
pub(crate) use declared::Declared;
use declared::Recorded;
use memory::Memory;
use merit_core::registry::{Component, Refusal};
use merit_core::{About, Task};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use config::{RoleConfig, SimulatedConfig};
pub use declaration::{Declaration, Example};
pub use player::{PlayedCall, Remembered, ToolPlayer};

/// What the registry says of it.
const ABOUT: About = About {
    name: "simulated",
    summary: "Tools from declarations, played by a role: drawn, recorded or by a program.",
    paper: "CM2, 2026",
};

/// One simulated tool of a set.
pub struct Simulated {
    set: Arc<Set>,
    tool: Arc<Declared>,
    card: ToolSpec,
}

/// Tools that are played by the same role.
struct Set {
    /// Where the tools of an episode meet.
    name: String,
    player: Arc<dyn ToolPlayer>,
}

impl Simulated {
    /// The tools that `declarations` describe, played by `player`.
    pub fn set(declarations: Vec<Declaration>, player: Arc<dyn ToolPlayer>) -> Result<Vec<Self>, ToolError> {
        static SETS: AtomicU64 = AtomicU64::new(0);
        let set = Set { name: format!("simulated {}", SETS.fetch_add(1, Ordering::Relaxed)), player };
        let set = Arc::new(set);
        let tools = declared::all(declarations).map_err(setting)?;
        let play = |tool: Arc<Declared>| Self { set: Arc::clone(&set), card: tool.spec(), tool };
        Ok(tools.into_iter().map(play).collect())
    }

    fn begin(
        &self,
        task: &Task,
        state: Option<&Value>,
        memory: impl FnOnce(Memory) -> Arc<Memory>,
    ) -> Result<Arc<dyn ToolSession>, ToolError> {
        let recorded = Recorded::of_task(&self.tool, task).map_err(|why| ToolError::Task {
            tool: self.card.name.clone(),
            task: task.id.clone(),
            why,
        })?;
        let first = Memory::restored(&self.card.name, state, self.set.player.remembers())?;
        Ok(session::open(&self.tool, recorded, Arc::clone(&self.set.player), memory(first)))
    }
}

fn setting(why: String) -> ToolError {
    ToolError::Setting { tool: ABOUT.name.to_owned(), why }
}

impl Component for SimulatedConfig {
    const ABOUT: About = ABOUT;
    const EXAMPLE: &'static str = "role = { type = \"schema\", seed = 1 }\n\
        [[tools]]\n\
        name = \"weather\"\n\
        summary = \"The weather of a city.\"\n\
        [tools.parameters]\n\
        type = \"object\"\n\
        properties = { city = { type = \"string\", minLength = 1 } }\n\
        required = [\"city\"]\n\
        additionalProperties = false\n\
        [tools.returns]\n\
        type = \"object\"\n\
        properties = { sky = { enum = [\"clear\", \"rain\", \"snow\"] }, celsius = { type = \"integer\", minimum = -20, maximum = 40 } }\n\
        required = [\"sky\", \"celsius\"]\n\
        [[tools.examples]]\n\
        arguments = { city = \"Oslo\" }\n\
        output = { sky = \"snow\", celsius = -4 }";

    fn check(&self) -> Result<(), Refusal> {
        self.check_source().and_then(|()| self.role.check()).map_err(Refusal::new)
    }
}

impl ToolSettings for SimulatedConfig {
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let declarations = self.declarations().map_err(setting)?;
        let player = self.role.player(&declarations).map_err(setting)?;
        let tools = Simulated::set(declarations, player)?;
        Ok(tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect())
    }
}

impl Tool for Simulated {
    fn spec(&self) -> &ToolSpec {
        &self.card
    }

    fn exec_kind(&self) -> ExecKind {
        self.set.player.exec_kind()
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        self.begin(task, state, Arc::new)
    }

    fn open_beside(
        &self,
        shared: &EpisodeShared,
        task: &Task,
        state: Option<&Value>,
    ) -> Result<Arc<dyn ToolSession>, ToolError> {
        // All tools of a set have the same snapshot, so whichever is opened first brings the memory of all.
        self.begin(task, state, |first| shared.get_or(&self.set.name, || first))
    }
}
