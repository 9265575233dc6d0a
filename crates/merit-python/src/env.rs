//! One running task, stepped by text: the world reads the text, its tools are run, and what comes of it is told.

use crate::process::Here;
use crate::{error, plain};
use merit_api::{
    EpisodeShared, NoAnswer, StepResult, Termination, ToolAnswer, ToolSession, World, call_blocking,
};
use merit_core::{
    Action, Boundary, CallEnd, CallRecord, Cost, End, Episode, EpisodeId, Fault, Limit, Message, Phase,
    Provenance, Role, Seed, Segment, Task, ToolCall, Transcript, Turn,
};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a tool may take where nobody says.
const TOOL_SECONDS: Duration = Duration::from_secs(30);

/// An open task with what was said in it so far.
pub(crate) struct Running {
    task: Arc<Task>,
    env: Box<dyn merit_api::Env>,
    tools: Vec<(String, Arc<dyn ToolSession>)>,
    transcript: Transcript,
    turns: Vec<Turn>,
    /// Whether it may be stepped: after a reset, or where it continues from a snapshot.
    begun: bool,
    end: Option<End>,
    max_turns: Option<u32>,
    tool_deadline: Duration,
}

impl Running {
    pub(crate) fn open(
        world: &dyn World,
        task: &Arc<Task>,
        seed: &Seed,
        state: Option<&Value>,
    ) -> Result<Self, String> {
        let env = world.open(task, seed, state).map_err(|why| why.to_string())?;
        let mut running = Self {
            task: Arc::clone(task),
            env,
            tools: Vec::new(),
            transcript: Transcript::default(),
            turns: Vec::new(),
            begun: state.is_some(),
            end: None,
            max_turns: None,
            tool_deadline: TOOL_SECONDS,
        };
        if running.begun {
            running.open_tools()?;
        }
        Ok(running)
    }

    pub(crate) fn limit(&mut self, max_turns: Option<u32>, tool_deadline: Duration) {
        (self.max_turns, self.tool_deadline) = (max_turns, tool_deadline);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some()
    }

    pub(crate) fn reset(&mut self) -> Result<Vec<Message>, String> {
        let seen = self.env.reset().map_err(|why| why.to_string())?;
        self.open_tools()?;
        (self.transcript, self.turns, self.end, self.begun) = (Transcript::default(), Vec::new(), None, true);
        self.tell(&seen, 0)?;
        Ok(seen)
    }

    fn open_tools(&mut self) -> Result<(), String> {
        let shared = EpisodeShared::default();
        let opened = self.env.tools().into_iter().map(|tool| {
            let session = tool.open_beside(&shared, &self.task, None).map_err(|why| why.to_string())?;
            Ok((tool.spec().name.clone(), session))
        });
        self.tools = opened.collect::<Result<_, String>>()?;
        Ok(())
    }

    /// Says `text`. The error is ours, never the policy's; the episode has failed then, and says at which side.
    pub(crate) fn step(&mut self, text: &str) -> Result<StepResult, String> {
        if !self.begun {
            return Err("call `reset` before the first step".to_owned());
        }
        if let Some(end) = &self.end {
            return Err(format!("the episode is over ({}); call `reset`", end.label()));
        }
        let index = self.turns.len() as u32;
        let action = self.env.parse(text);
        self.append(Role::Policy, text.to_owned(), index)?;
        let calls = match &action {
            Action::Calls { calls } => {
                calls.iter().map(|call| self.call(call)).collect::<Result<Vec<_>, _>>()
            }
            Action::Answer { .. } | Action::Say { .. } | Action::Malformed { .. } => Ok(Vec::new()),
        };
        let mut turn = Turn::new(index, action);
        let stepped = calls.and_then(|calls| {
            turn.calls = calls;
            let stepped = self.env.step(&turn.action, &turn.calls);
            stepped.map_err(|why| Fault::new(Boundary::Environment, why.to_string()))
        });
        let step = match stepped {
            Ok(step) => step,
            Err(fault) => {
                let why = fault.message.clone();
                self.turns.push(turn);
                self.end = Some(End::Failed { fault });
                return Err(why);
            }
        };
        turn.reward = step.reward;
        turn.info.clone_from(&step.info);
        self.turns.push(turn);
        self.tell(&step.observations, index + 1)?;
        let full = self.max_turns.is_some_and(|most| self.turns.len() as u32 >= most);
        self.end = match step.terminated {
            Some(Termination::Answered) => Some(End::Answered),
            Some(Termination::Done) => Some(End::EnvironmentDone),
            None if step.truncated => Some(End::Truncated { limit: Limit::Environment }),
            None if full => Some(End::Truncated { limit: Limit::Turns }),
            None => None,
        };
        Ok(step)
    }

    fn call(&self, call: &ToolCall) -> Result<CallRecord, Fault> {
        let begun = Instant::now();
        let broke = |why: String| Fault::new(Boundary::Tool, format!("tool `{}`: {why}", call.tool));
        let (end, output) = match self.tools.iter().find(|(name, _)| *name == call.tool) {
            None => (CallEnd::Refused, format!("no tool `{}`", call.tool)),
            Some((_, session)) => match call_blocking(session, &call.input, self.tool_deadline) {
                Ok(ToolAnswer::Ok(text)) => (CallEnd::Ok, text),
                Ok(ToolAnswer::Refused(text)) => (CallEnd::Refused, text),
                Ok(ToolAnswer::TimedOut(text)) => (CallEnd::TimedOut, text),
                Ok(ToolAnswer::Broken(why)) => return Err(broke(why)),
                Err(late @ NoAnswer::Late(_)) => (CallEnd::TimedOut, late.to_string()),
                Err(why) => return Err(broke(why.to_string())),
            },
        };
        let seconds = Some(begun.elapsed().as_secs_f64());
        Ok(CallRecord { call: call.clone(), end, output, seconds })
    }

    fn tell(&mut self, messages: &[Message], turn: u32) -> Result<(), String> {
        messages.iter().try_for_each(|message| self.append(message.role, message.text.clone(), turn))
    }

    fn append(&mut self, role: Role, text: String, turn: u32) -> Result<(), String> {
        let segment = Segment::of_text(role, Provenance::Imported, turn, text);
        self.transcript.append(segment).map_err(|why| why.to_string())
    }

    /// What it took. Tokens are those of whoever says the texts, and nobody counted them here.
    fn cost(&self) -> Cost {
        let calls = || self.turns.iter().flat_map(|turn| &turn.calls);
        Cost {
            env_steps: self.turns.len() as u64,
            tool_calls: calls().count() as u64,
            tool_seconds: calls().filter_map(|call| call.seconds).sum(),
            tokens_unknown: true,
            ..Cost::default()
        }
    }

    /// The episode so far. One that is not over was cut by whoever stopped stepping it.
    fn episode(&self, group: u32, member: u32) -> Episode {
        let id = EpisodeId { phase: Phase::Import, step: 0, group, member, branch: 0 };
        let end = self.end.clone().unwrap_or(End::Truncated { limit: Limit::Turns });
        let mut episode = Episode::new(id, Arc::clone(&self.task), end)
            .with_transcript(self.transcript.clone())
            .with_turns(self.turns.clone())
            .with_cost(self.cost());
        episode.state = Some(self.env.snapshot());
        episode
    }
}

/// A running task. `reset()` gives the first messages, `step(text)` what comes of a text. It belongs to the process that opened it.
///
/// >>> import merit_rl
/// >>> world = merit_rl.World("sums")
/// >>> task = world.task()
/// >>> env = world.open(task)
/// >>> _ = env.reset()
/// >>> for text in world.demonstrate(task):
/// ...     step = env.step(text)
/// >>> step["terminated"]
/// True
#[pyclass(frozen, module = "merit_rl", name = "Env")]
pub(crate) struct Env {
    running: Here<Running>,
}

impl Env {
    pub(crate) fn new(running: Running) -> Self {
        Self { running: Here::new(running) }
    }

    fn with<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Running) -> R + Send) -> PyResult<R> {
        self.running.with(py, work)
    }

    /// What was played, in the place that `place` gives to its task.
    pub(crate) fn played(
        &self,
        py: Python<'_>,
        place: impl FnOnce(&Task) -> (u32, u32) + Send,
    ) -> PyResult<Episode> {
        self.with(py, |running| {
            let (group, member) = place(&running.task);
            running.episode(group, member)
        })
    }
}

#[pymethods]
impl Env {
    /// Puts the task at its start and gives the first messages.
    fn reset<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let seen = self.with(py, Running::reset)?;
        plain::messages(py, &seen.map_err(|why| error::broke(py, why))?)
    }

    /// Says a text. Gives a dict of `messages`, `reward`, `terminated`, `truncated`, `info`, `action` and `calls`.
    fn step<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let (stepped, turn, cut) = self.with(py, |running| {
            let stepped = running.step(text);
            let cut = matches!(running.end, Some(End::Truncated { .. }));
            (stepped, running.turns.last().cloned(), cut)
        })?;
        let step = stepped.map_err(|why| error::broke(py, why))?;
        let said: Vec<Value> = step
            .observations
            .iter()
            .map(|message| json!({"role": plain::role(message.role), "content": message.text}))
            .collect();
        let turn = turn.ok_or_else(|| error::broke(py, "no turn was recorded"))?;
        plain::give(
            py,
            &json!({
                "messages": said, "reward": step.reward, "terminated": step.terminated.is_some(),
                "truncated": cut && step.terminated.is_none(), "info": step.info, "action": turn.action,
                "calls": turn.calls,
            }),
        )
    }

    /// The state to fork from or to restore with `World.open(task, state=…)`.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.with(py, |running| running.env.snapshot())?;
        plain::give(py, &state)
    }

    /// The names and descriptions of its tools, with the JSON Schema of their input.
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let tools = self.with(py, |running| running.env.tools())?;
        plain::give(py, &tools.iter().map(|tool| crate::tool::spec(tool.spec())).collect::<Vec<Value>>())
    }

    /// Strings that end a turn of the policy.
    #[getter]
    fn stops(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |running| running.env.stops())
    }

    /// The task, as plain values.
    #[getter]
    fn task<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let task = self.with(py, |running| Arc::clone(&running.task))?;
        plain::give(py, &task)
    }

    /// Whether no step may follow.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |running| running.is_over())
    }

    /// Everything that happened, as merit records it.
    fn episode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::give(py, &self.played(py, |_| (0, 0))?)
    }
}
