//! The role as a program of its own: one JSON line per question, one per answer, in order.
//!
//! A question is `{"tool": "…", "arguments": {…}, "history": […]}`, where `history` holds the last calls of the episode with
//! their `output` or `refused`. The answer is `{"output": …}`, a text or JSON that fits `returns`, or `{"refused": "…"}`. The
//! program is started with the first question and serves all episodes; it may answer late questions later, but in order. A
//! program that is late, dies or writes something else breaks the call, and is started anew with the next.

mod program;
mod running;

use super::declared::shown;
use super::player::{PlayedCall, ToolPlayer};
use crate::excerpt::{excerpt, refused};
use crate::{ToolAnswer, ToolFuture};
use merit_core::canonical;
use program::Program;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub(super) struct CommandPlayer {
    program: Arc<Program>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default, deserialize_with = "given")]
    output: Option<Value>,
    refused: Option<String>,
}

/// A null that is written down is an output too.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl CommandPlayer {
    pub(super) fn new(command: Vec<String>, deadline: Duration) -> Self {
        Self { program: Arc::new(Program::new(command, deadline)) }
    }
}

impl ToolPlayer for CommandPlayer {
    fn play(&self, call: PlayedCall) -> ToolFuture {
        let program = Arc::clone(&self.program);
        Box::pin(async move {
            let question = json!({
                "tool": call.declaration().name,
                "arguments": call.arguments,
                "history": call.history,
            });
            let broken = |why: String| ToolAnswer::Broken(format!("the program that plays the tool: {why}"));
            let (line, running) = match program.ask(canonical(&question)).await {
                Ok(answered) => answered,
                Err(why) => return broken(why),
            };
            match read(&line, &call) {
                Ok(answer) => answer,
                Err(why) => {
                    // Whatever it says from now on may belong to something else.
                    program.discard(&running, "it had written an answer that cannot be used");
                    broken(why)
                }
            }
        })
    }
}

fn read(line: &str, call: &PlayedCall) -> Result<ToolAnswer, String> {
    let answer: Answer =
        serde_json::from_str(line).map_err(|error| format!("it wrote `{}`: {error}", excerpt(line, 80)))?;
    match answer {
        Answer { output: Some(output), refused: None } => {
            call.admit_output(&output)?;
            Ok(ToolAnswer::Ok(shown(&output)))
        }
        Answer { output: None, refused: Some(why) } if !why.trim().is_empty() => Ok(refused(why)),
        _ => Err("its answer must have either `output` or a `refused` that says why".to_owned()),
    }
}
