//! One running task, in Gymnasium's words.
//!
//! The rollout engine shows what `reset` returns to the policy, reads what the policy says with the environment's own `parse`,
//! runs the tool calls in it, and hands the action with their results to `step`. An environment is a deterministic function of its
//! task, its seed and the actions it was given; it can be snapshotted.

use crate::{CallLanguage, EnvError, Tool};
use merit_core::{Action, CallRecord, Info, Message, Role};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// One running task.
pub trait Env: Send {
    /// Puts the environment at the start of its task and returns the first observations.
    fn reset(&mut self) -> Result<Vec<Message>, EnvError>;

    /// Takes an action, with the results of its tool calls if it made any.
    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError>;

    /// The state to fork from or to restore. The last one is kept in the episode.
    fn snapshot(&self) -> Value;

    /// What the policy's text means. Never fails: what cannot be understood is `Action::Malformed`.
    fn parse(&self, text: &str) -> Action;

    /// The tools of this task; the engine opens them for the episode.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// How calls are written and read, for a model whose server has calls of its own. Absent: the world does not say, so every model
    /// speaks text here.
    fn call_language(&self) -> Option<Arc<dyn CallLanguage>> {
        None
    }

    /// The JSON Schema that whatever the policy says has to fit, for sampling under a grammar; or `{ "regex": … }`, a regular expression
    /// of all of it. Absent: anything may be said.
    fn schema(&self) -> Option<Value> {
        None
    }

    /// Strings that end a turn of the policy.
    fn stops(&self) -> Vec<String> {
        vec!["\n".to_owned()]
    }
}

/// What came of an action.
///
/// ```
/// use merit_api::{StepResult, Termination};
/// let step = StepResult::saying("out").with_reward(1.0).with_info([("steps", 3.0)]).done();
/// assert_eq!(step.terminated, Some(Termination::Done));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepResult {
    /// What the policy is shown; tool answers are among them, worded by the environment.
    pub observations: Vec<Message>,
    /// The environment's own reward. Absent: it gives none. Only a reward term that asks for it pays by it.
    pub reward: Option<f64>,
    /// Why the task is over. Absent: it is not.
    pub terminated: Option<Termination>,
    /// Whether a limit of the environment's own cut the episode; the task itself is not over.
    pub truncated: bool,
    /// Named finite numbers that are true after the step. Recorded with the turn, never shown to the policy.
    pub info: Info,
}

/// Why a task is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// The policy gave its final answer.
    Answered,
    /// The environment reached its end by itself.
    Done,
}

impl StepResult {
    /// A step that shows these observations and goes on.
    pub fn observing(observations: Vec<Message>) -> Self {
        Self { observations, ..Self::default() }
    }

    /// A step on which the environment says one thing and goes on.
    pub fn saying(text: impl Into<String>) -> Self {
        Self::observing(vec![Message::new(Role::Environment, text)])
    }

    /// The same with a reward.
    #[must_use]
    pub fn with_reward(mut self, reward: f64) -> Self {
        self.reward = Some(reward);
        self
    }

    /// The same with these named numbers.
    #[must_use]
    pub fn with_info<N: Into<Cow<'static, str>>>(mut self, info: impl IntoIterator<Item = (N, f64)>) -> Self {
        self.info.extend(info);
        self
    }

    /// The same, and the policy has given its final answer.
    #[must_use]
    pub fn answered(mut self) -> Self {
        self.terminated = Some(Termination::Answered);
        self
    }

    /// The same, and the task is over by itself.
    #[must_use]
    pub fn done(mut self) -> Self {
        self.terminated = Some(Termination::Done);
        self
    }

    /// The same, cut by a limit of the environment's own.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.truncated = true;
        self
    }

    /// Whether no step may follow.
    pub fn is_last(&self) -> bool {
        self.terminated.is_some() || self.truncated
    }

    /// The name of a number that is not finite. Absent: all are.
    pub fn wild_number(&self) -> Option<&str> {
        let wild = |number: &f64| !number.is_finite();
        let named = self.info.iter().find(|(_, number)| wild(number)).map(|(name, _)| name);
        named.or_else(|| self.reward.as_ref().filter(|reward| wild(reward)).map(|_| "reward"))
    }
}
