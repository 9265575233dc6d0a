//! A small turn loop for the checks: no model, no concurrency. The real one is in the rollout engine.

use crate::{DemoTurn, Env, EnvError, Reaction, World, WorldEnd};
use merit_core::{Action, CallEnd, CallRecord, Seed, Task, ToolCall};
use merit_tools::{ToolAnswer, ToolSession, call_blocking};
use std::sync::Arc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(2);

/// One action with everything that came of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) calls: Vec<CallRecord>,
    pub(super) reaction: Reaction,
}

/// Plays until the world ends or `max_turns` have passed; `choose` says each line.
pub(super) fn play(
    env: &dyn Env,
    task: &Arc<Task>,
    seed: &Seed,
    max_turns: usize,
    mut choose: impl FnMut(&[DemoTurn]) -> Result<String, EnvError>,
) -> Result<Vec<Step>, String> {
    let text = |error: EnvError| format!("task {}: {error}", task.id);
    let mut world = env.open(task, seed, None).map_err(text)?;
    let tools = open_tools(world.as_ref(), task)?;
    let (mut turns, mut steps) = (Vec::new(), Vec::new());
    for _ in 0..max_turns {
        let said = choose(&turns).map_err(text)?;
        let action = world.parse(&said);
        let calls = run_calls(&action, &tools)?;
        let reaction = world.act(&action, &calls).map_err(text)?;
        let end = reaction.end;
        turns.push(DemoTurn { said, observed: reaction.observations.clone() });
        steps.push(Step { action, calls, reaction });
        if end != WorldEnd::Open {
            break;
        }
    }
    Ok(steps)
}

type Opened = Vec<(String, Arc<dyn ToolSession>)>;

fn open_tools(world: &dyn World, task: &Task) -> Result<Opened, String> {
    let commons = merit_tools::Commons::default();
    let open = |tool: Arc<dyn merit_tools::Tool>| {
        Ok((tool.card().name.clone(), tool.open_beside(&commons, task, None)?))
    };
    let opened: Result<Opened, merit_tools::ToolError> = world.tools().into_iter().map(open).collect();
    opened.map_err(|error| error.to_string())
}

fn run_calls(action: &Action, tools: &Opened) -> Result<Vec<CallRecord>, String> {
    match action {
        Action::Calls { calls } => calls.iter().map(|call| run_call(call, tools)).collect(),
        Action::Answer { .. } | Action::Say { .. } | Action::Malformed { .. } => Ok(Vec::new()),
    }
}

fn run_call(call: &ToolCall, tools: &Opened) -> Result<CallRecord, String> {
    let (end, output) = match tools.iter().find(|(name, _)| *name == call.tool) {
        None => (CallEnd::Refused, format!("no tool `{}`", call.tool)),
        Some((_, session)) => match call_blocking(session, &call.input, DEADLINE) {
            Ok(ToolAnswer::Ok(text)) => (CallEnd::Ok, text),
            Ok(ToolAnswer::Refused(text)) => (CallEnd::Refused, text),
            Ok(ToolAnswer::TimedOut(text)) => (CallEnd::TimedOut, text),
            Ok(ToolAnswer::Broken(why)) => return Err(format!("tool `{}` broke: {why}", call.tool)),
            Err(merit_tools::NoAnswer::Late(_)) => (CallEnd::TimedOut, "timed out".to_owned()),
            Err(error) => return Err(format!("tool `{}`: {error}", call.tool)),
        },
    };
    Ok(CallRecord { call: call.clone(), end, output, seconds: Some(0.0) })
}
