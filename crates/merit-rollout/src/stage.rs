//! The open world of an episode with its open tools. Freed when the episode is over.

use crate::EpisodePlan;
use crate::guard::{guarded, guarded_infallible};
use merit_core::registry::{UnknownName, nearest};
use merit_core::{Boundary, Fault, Message};
use merit_env::{Env, World};
use merit_tools::{Commons, Pace, Tool, ToolSession};
use std::sync::Arc;

/// A world and its tools.
pub(crate) struct Stage {
    pub(crate) world: Box<dyn World>,
    /// Strings that end a turn.
    pub(crate) stops: Vec<String>,
    tools: Vec<OpenTool>,
}

/// A tool opened for one episode.
#[derive(Clone)]
pub(crate) struct OpenTool {
    pub(crate) name: String,
    pub(crate) pace: Pace,
    pub(crate) session: Arc<dyn ToolSession>,
    /// Whether it keeps state, so that a fork must repeat its calls.
    pub(crate) stateful: bool,
}

impl Stage {
    /// Opens the world of a plan and all its tools; also what the policy is shown first.
    pub(crate) fn open(plan: &EpisodePlan, env: &dyn Env) -> Result<(Self, Vec<Message>), Fault> {
        let seed = plan.world_seed();
        let world = guarded(Boundary::Environment, || env.open(&plan.task, &seed, None))?;
        let (opening, stops, kinds) =
            guarded_infallible(Boundary::Environment, || (world.opening(), world.stops(), world.tools()))?;
        let commons = Commons::default();
        let open = |kind| open_tool(kind, &commons, plan);
        let tools = kinds.iter().map(open).collect::<Result<_, Fault>>()?;
        Ok((Self { world, stops, tools }, opening))
    }

    /// The tool called `name`.
    pub(crate) fn tool(&self, name: &str) -> Result<OpenTool, UnknownName> {
        self.tools.iter().find(|tool| tool.name == name).cloned().ok_or_else(|| UnknownName {
            kind: "tool",
            name: name.to_owned(),
            nearest: nearest(name, self.tools.iter().map(|tool| tool.name.as_str())),
        })
    }
}

fn open_tool(kind: &Arc<dyn Tool>, commons: &Commons, plan: &EpisodePlan) -> Result<OpenTool, Fault> {
    guarded(Boundary::Tool, || {
        let session = kind.open_beside(commons, &plan.task, None)?;
        let stateful = !session.snapshot().is_null();
        Ok::<_, merit_tools::ToolError>(OpenTool {
            name: kind.card().name.clone(),
            pace: kind.pace(),
            session,
            stateful,
        })
    })
}
