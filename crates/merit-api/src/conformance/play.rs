//! A small turn loop for the checks: no model, no concurrency. The real one is in the rollout engine.

use crate::{
    Env, EnvError, EpisodeShared, ExpertTurn, NoAnswer, StepResult, Tool, ToolAnswer, ToolError, ToolSession,
    World, call_blocking,
};
use merit_core::{Action, CallEnd, CallRecord, Seed, Task, ToolCall};
use std::sync::Arc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(2);

/// One action with everything that came of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) calls: Vec<CallRecord>,
    pub(super) result: StepResult,
}

/// Plays until the task ends or `max_turns` have passed; `choose` says each line.
pub(super) fn play(
    world: &dyn World,
    task: &Arc<Task>,
    seed: &Seed,
    max_turns: usize,
    mut choose: impl FnMut(&[ExpertTurn]) -> Result<String, EnvError>,
) -> Result<Vec<Step>, String> {
    let text = |error: EnvError| format!("task {}: {error}", task.id);
    let mut env = world.open(task, seed, None).map_err(text)?;
    env.reset().map_err(text)?;
    let tools = open_tools(env.as_ref(), task)?;
    let (mut turns, mut steps) = (Vec::new(), Vec::new());
    for _ in 0..max_turns {
        let said = choose(&turns).map_err(text)?;
        let action = env.parse(&said);
        let calls = run_calls(&action, &tools)?;
        let result = env.step(&action, &calls).map_err(text)?;
        let last = result.is_last();
        turns.push(ExpertTurn { said, observed: result.observations.clone() });
        steps.push(Step { action, calls, result });
        if last {
            break;
        }
    }
    Ok(steps)
}

pub(super) type Opened = Vec<(String, Arc<dyn ToolSession>)>;

pub(super) fn open_tools(env: &dyn Env, task: &Task) -> Result<Opened, String> {
    let shared = EpisodeShared::default();
    let open = |tool: Arc<dyn Tool>| Ok((tool.spec().name.clone(), tool.open_beside(&shared, task, None)?));
    let opened: Result<Opened, ToolError> = env.tools().into_iter().map(open).collect();
    opened.map_err(|error| error.to_string())
}

pub(super) fn run_calls(action: &Action, tools: &Opened) -> Result<Vec<CallRecord>, String> {
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
            Err(NoAnswer::Late(_)) => (CallEnd::TimedOut, "timed out".to_owned()),
            Err(error) => return Err(format!("tool `{}`: {error}", call.tool)),
        },
    };
    Ok(CallRecord { call: call.clone(), end, output, seconds: Some(0.0) })
}
