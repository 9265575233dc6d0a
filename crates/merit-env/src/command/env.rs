//! One running task of a program.

use super::Programs;
use super::protocol::{self, Request, ResetReply, StepReply};
use crate::{Env, EnvError, StepResult};
use merit_command::Channel;
use merit_core::{Action, CallRecord, Message, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

const HINT: &str = "say one line";

pub(super) struct CommandEnv {
    programs: Arc<Programs>,
    /// Absent until the first request, and after a failure.
    channel: Option<Channel>,
    task: Value,
    seed: u64,
    play: Play,
}

/// The snapshot: what was done, which a restored environment repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Play {
    /// The task the snapshot belongs to.
    task: String,
    /// What was said so far that reached the program; absent for a turn that did not.
    log: Vec<Option<String>>,
    /// Whether no action may follow.
    over: bool,
    /// What the program last said of its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<Value>,
}

impl CommandEnv {
    pub(super) fn new(programs: &Arc<Programs>, id: &str, task: Value, seed: u64) -> Self {
        let play = Play { task: id.to_owned(), log: Vec::new(), over: false, state: None };
        Self { programs: Arc::clone(programs), channel: None, task, seed, play }
    }

    /// Repeats what a snapshot says was done, and holds the result against it.
    pub(super) fn restore(&mut self, state: &Value) -> Result<(), EnvError> {
        let name = self.programs.about.name;
        let bad = |why: String| EnvError::Snapshot { world: name, why };
        let wanted = Play::deserialize(state).map_err(|error| bad(error.to_string()))?;
        if wanted.task != self.play.task {
            return Err(bad(format!("it is of task {}, not {}", wanted.task, self.play.task)));
        }
        if wanted.log.is_empty() && wanted.state.is_none() && !wanted.over {
            return Ok(());
        }
        self.reset()?;
        for said in &wanted.log {
            if self.play.over {
                return Err(bad("its actions go on after the end".to_owned()));
            }
            match said {
                Some(text) => self.send(text).map(drop)?,
                None => self.play.log.push(None),
            }
        }
        if self.play == wanted {
            Ok(())
        } else {
            Err(bad("its actions, repeated, lead to another state".to_owned()))
        }
    }

    fn ask<R: serde::de::DeserializeOwned>(&mut self, request: &Request<'_>) -> Result<R, EnvError> {
        let mut channel = self.channel.take().unwrap_or_else(|| self.programs.pool.take());
        let answer = protocol::ask(&mut channel, request);
        match &answer {
            Ok(_) => self.channel = Some(channel),
            // The copy starts anew with its next request, so the next user finds it fresh.
            Err(_) => self.programs.pool.give_back(channel),
        }
        answer.map_err(|why| self.programs.broken(why))
    }

    /// The answer in a text, where it has the mark.
    fn answer<'a>(&self, text: &'a str) -> Option<&'a str> {
        let mark = &self.programs.answer_mark;
        let answer = text.strip_prefix(mark.as_str()).filter(|_| !mark.is_empty())?.trim();
        (!answer.is_empty()).then_some(answer)
    }

    fn send(&mut self, text: &str) -> Result<StepResult, EnvError> {
        let answer = self.answer(text).map(str::to_owned);
        let request = Request::Step { action: text, answer: answer.as_deref() };
        let reply: StepReply = self.ask(&request)?;
        let observations = reply.observations.into_iter().map(|o| o.message(Role::Environment)).collect();
        let mut result =
            StepResult { reward: reply.reward, info: reply.info, ..StepResult::observing(observations) };
        result.truncated = reply.truncated;
        if answer.is_some() {
            result = result.answered();
        } else if reply.terminated {
            result = result.done();
        }
        self.play.log.push(Some(text.to_owned()));
        self.play.over = result.is_last();
        self.play.state = reply.state;
        Ok(result)
    }
}

impl Drop for CommandEnv {
    fn drop(&mut self) {
        if let Some(channel) = self.channel.take() {
            self.programs.pool.give_back(channel);
        }
    }
}

impl Env for CommandEnv {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        let (task, seed) = (self.task.clone(), self.seed);
        let reply: ResetReply = self.ask(&Request::Reset { task: &task, seed })?;
        self.play = Play { log: Vec::new(), over: false, state: reply.state, task: self.play.task.clone() };
        let instructions = &self.programs.instructions;
        let told = (!instructions.is_empty()).then(|| Message::new(Role::System, instructions.clone()));
        Ok(told.into_iter().chain(reply.observations.into_iter().map(|o| o.message(Role::User))).collect())
    }

    fn step(&mut self, action: &Action, _calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        if self.play.over {
            return Err(self.programs.broken("it was given an action after its end".to_owned()));
        }
        if self.channel.is_none() {
            self.resume()?;
        }
        match action {
            Action::Say { text } => self.send(text),
            Action::Answer { text } => {
                let text = format!("{}{text}", self.programs.answer_mark);
                self.send(&text)
            }
            Action::Malformed { why } => {
                self.play.log.push(None);
                Ok(StepResult::saying(why.clone()))
            }
            Action::Calls { .. } => {
                self.play.log.push(None);
                Ok(StepResult::saying(HINT))
            }
        }
    }

    fn snapshot(&self) -> Value {
        json!(self.play)
    }

    fn parse(&self, text: &str) -> Action {
        let stops = &self.programs.stops;
        let said = stops.iter().find_map(|stop| text.strip_suffix(stop.as_str())).unwrap_or(text);
        let said = said.trim_matches(' ');
        let one_line = stops.iter().any(|stop| stop == "\n");
        if said.is_empty() || (one_line && said.contains(['\n', '\r'])) {
            return Action::Malformed { why: HINT.to_owned() };
        }
        match self.answer(said) {
            Some(answer) => Action::Answer { text: answer.to_owned() },
            None => Action::Say { text: said.to_owned() },
        }
    }

    fn stops(&self) -> Vec<String> {
        self.programs.stops.clone()
    }
}

impl CommandEnv {
    /// An environment that was opened and never reset is at its start.
    fn resume(&mut self) -> Result<(), EnvError> {
        if self.play.log.is_empty() && !self.play.over {
            return self.reset().map(drop);
        }
        Err(self.programs.broken("the program was lost in an earlier step of this episode".to_owned()))
    }
}
