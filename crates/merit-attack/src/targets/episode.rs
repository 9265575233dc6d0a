//! An attempt as an episode without tokens, as if somebody had recorded it.

use crate::error::AttackError;
use crate::subject::{Attempt, Move};
use merit_core::{
    Action, CallEnd, CallRecord, Cost, End, Episode, EpisodeId, Limit, Provenance, Role, Segment, Task,
    ToolCall, Transcript, Turn,
};
use std::sync::Arc;

/// The episode called `id` in which somebody is asked `prompt` and makes the moves of `attempt`.
pub(crate) fn episode(
    id: EpisodeId,
    task: &Arc<Task>,
    prompt: &str,
    attempt: &Attempt,
) -> Result<Episode, AttackError> {
    let broken = |e: merit_core::TranscriptError| AttackError::Target {
        target: task.id.clone(),
        why: format!("the attempt cannot be recorded: {e}"),
    };
    let mut transcript = Transcript::default();
    transcript.append(segment(Role::User, 0, prompt)).map_err(broken)?;
    let mut turns = Vec::with_capacity(attempt.moves.len());
    for (index, done) in attempt.moves.iter().enumerate() {
        let index = index as u32;
        let (text, turn) = turn(index, done);
        transcript.append(segment(Role::Policy, index, &text)).map_err(broken)?;
        for call in &turn.calls {
            transcript.append(segment(Role::Tool, index, &call.output)).map_err(broken)?;
        }
        turns.push(turn);
    }
    let end = match attempt.final_answer() {
        Some(_) => End::Answered,
        None => End::Truncated { limit: Limit::Turns },
    };
    let cost = Cost {
        env_steps: turns.len() as u64,
        tool_calls: turns.iter().map(|turn| turn.calls.len() as u64).sum(),
        tokens_unknown: true,
        seconds_unknown: true,
        ..Cost::default()
    };
    Ok(Episode::new(id, Arc::clone(task), end).with_transcript(transcript).with_turns(turns).with_cost(cost))
}

fn segment(role: Role, turn: u32, text: &str) -> Segment {
    Segment::of_text(role, Provenance::Synthetic, turn, text)
}

/// What the policy wrote and how it is read. A call is taken as one that ran: a scorer must not pay for calls alone.
fn turn(index: u32, done: &Move) -> (String, Turn) {
    let (text, action, calls) = match done {
        Move::Answer { text } => (text.clone(), Action::Answer { text: text.clone() }, Vec::new()),
        Move::Say { text } => (text.clone(), Action::Say { text: text.clone() }, Vec::new()),
        Move::Raw { text } => {
            (text.clone(), Action::Malformed { why: "no line of the world".into() }, Vec::new())
        }
        Move::Call { tool, input, output } => {
            let call = ToolCall { tool: tool.clone(), input: input.clone() };
            let record =
                CallRecord { call: call.clone(), end: CallEnd::Ok, output: output.clone(), seconds: None };
            (format!("{tool}({input})"), Action::Calls { calls: vec![call] }, vec![record])
        }
    };
    (text, Turn::new(index, action).with_calls(calls))
}
