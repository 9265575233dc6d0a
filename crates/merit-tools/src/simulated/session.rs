//! One tool of a set in one episode: recorded, remembered, or played.

use super::declared::{Declared, Recorded, key};
use super::memory::Memory;
use super::player::{PlayedCall, ToolPlayer};
use crate::excerpt::refused;
use crate::{ToolAnswer, ToolFuture, ToolSession};
use serde_json::Value;
use std::sync::Arc;

struct Session {
    tool: Arc<Declared>,
    recorded: Arc<Recorded>,
    player: Arc<dyn ToolPlayer>,
    memory: Arc<Memory>,
}

pub(super) fn open(
    tool: &Arc<Declared>,
    recorded: Recorded,
    player: Arc<dyn ToolPlayer>,
    memory: Arc<Memory>,
) -> Arc<dyn ToolSession> {
    Arc::new(Session { tool: Arc::clone(tool), recorded: Arc::new(recorded), player, memory })
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(async move {
            let arguments = match self.tool.arguments(&input) {
                Ok(arguments) => arguments,
                Err(answer) => return answer,
            };
            let (name, spelling) = (&self.tool.declaration.name, key(&arguments));
            if let Some(answer) = self.memory.answer(name, &spelling) {
                return answer;
            }
            if self.memory.is_full() {
                return refused("this episode has made too many calls");
            }
            let answer = match self.recorded.0.get(&spelling) {
                Some(output) => ToolAnswer::Ok(output.clone()),
                None => self.player.play(self.played(arguments.clone())).await,
            };
            self.memory.keep(name, &arguments, &answer);
            answer
        })
    }

    fn snapshot(&self) -> Value {
        self.memory.snapshot()
    }
}

impl Session {
    fn played(&self, arguments: Value) -> PlayedCall {
        PlayedCall {
            tool: Arc::clone(&self.tool),
            recorded: Arc::clone(&self.recorded),
            arguments,
            history: self.memory.told(),
        }
    }
}
