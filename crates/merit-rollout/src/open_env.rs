//! The environment of an episode with its open tools. Freed when the episode is over.

use crate::EpisodePlan;
use crate::guard::{guarded, guarded_infallible};
use merit_api::{CallLanguage, Env, EpisodeShared, ExecKind, Tool, ToolError, ToolSession, World};
use merit_core::registry::nearest;
use merit_core::{Boundary, Fault, Message};
use std::sync::Arc;

/// An environment and its tools.
pub(crate) struct OpenEnv {
    pub(crate) env: Box<dyn Env>,
    /// Strings that end a turn.
    pub(crate) stops: Vec<String>,
    /// How calls are written and read. Absent: only the environment knows.
    pub(crate) calls: Option<Arc<dyn CallLanguage>>,
    tools: Vec<OpenTool>,
}

/// A tool opened for one episode.
#[derive(Clone)]
pub(crate) struct OpenTool {
    pub(crate) name: String,
    pub(crate) exec_kind: ExecKind,
    pub(crate) session: Arc<dyn ToolSession>,
    /// Whether it keeps state, so that a fork must repeat its calls.
    pub(crate) stateful: bool,
}

impl OpenEnv {
    /// Opens the environment of a plan and all its tools, and resets it; also what the policy is shown first.
    pub(crate) fn open(plan: &EpisodePlan, world: &dyn World) -> Result<(Self, Vec<Message>), Fault> {
        let seed = plan.world_seed();
        let mut env = guarded(Boundary::Environment, || world.open(&plan.task, &seed, None))?;
        let first = guarded(Boundary::Environment, || env.reset())?;
        let (stops, kinds, calls) =
            guarded_infallible(Boundary::Environment, || (env.stops(), env.tools(), env.call_language()))?;
        let shared = EpisodeShared::default();
        let open = |kind| open_tool(kind, &shared, plan);
        let tools = kinds.iter().map(open).collect::<Result<_, Fault>>()?;
        Ok((Self { env, stops, calls, tools }, first))
    }

    /// The tool called `name`; the error is what the policy is told.
    pub(crate) fn tool(&self, name: &str) -> Result<OpenTool, String> {
        self.tools.iter().find(|tool| tool.name == name).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
            let near = nearest(name, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            format!("no tool `{name}`{near}; known: {}", known.join(", "))
        })
    }
}

fn open_tool(kind: &Arc<dyn Tool>, shared: &EpisodeShared, plan: &EpisodePlan) -> Result<OpenTool, Fault> {
    guarded(Boundary::Tool, || {
        let session = kind.open_beside(shared, &plan.task, None)?;
        let stateful = !session.snapshot().is_null();
        Ok::<_, ToolError>(OpenTool {
            name: kind.spec().name.clone(),
            exec_kind: kind.exec_kind(),
            session,
            stateful,
        })
    })
}
