//! How a fork gets its world back: the recorded actions are carried out again and must be answered as before.
//!
//! The world is given the recorded results of the calls. Tools that keep state run their calls again, so that their state
//! is that of the parent too, a call that timed out included; tools that keep none are not asked. Any disagreement ends the fork as a fault that names the
//! turn: an episode that continues another world would be a lie.

use crate::ChatFormat;
use crate::guard::guarded;
use crate::machine::EpisodeMachine;
use crate::open_env::OpenTool;
use crate::record::Record;
use merit_core::{Action, Boundary, CallEnd, Episode, Fault, Message, Role, ToolCall};

/// How far a fork has come in repeating its parent.
pub(crate) struct Replay {
    /// The turn to sample anew.
    until: u32,
    /// The turn being repeated.
    turn: u32,
    /// The call of that turn being repeated.
    call: usize,
}

impl Replay {
    /// Keeps what lies before turn `turn` of `of`, once the opening is known to be the same. `own`: the fork takes the place of `of`.
    pub(crate) fn begin(
        of: &Episode,
        turn: u32,
        chat: &ChatFormat,
        opening: &[Message],
        own: bool,
    ) -> Result<(Record, Self), Fault> {
        if turn as usize > of.turns.len() {
            let message = format!("cannot fork {} at turn {turn}: it has {} turns", of.id, of.turns.len());
            return Err(environment(message));
        }
        let record = Record::kept(of, turn, own)?;
        agree(&record, chat, None, opening, true)?;
        Ok((record, Self { until: turn, turn: 0, call: 0 }))
    }
}

impl EpisodeMachine {
    /// Repeats until a call has to be run again, which is returned, or until there is nothing left to repeat.
    pub(crate) fn repeat(&mut self) -> Result<Option<(OpenTool, ToolCall)>, Fault> {
        while let Some(replay) = &self.replay {
            if replay.turn == replay.until {
                self.replay = None;
            } else if let Some(call) = self.call_to_repeat() {
                return Ok(Some(call));
            } else {
                self.repeat_action()?;
            }
        }
        Ok(None)
    }

    /// Compares a repeated call with its record and goes on to the next.
    pub(crate) fn check_repeated_call(
        &mut self,
        asked: &ToolCall,
        end: CallEnd,
        output: &str,
    ) -> Result<(), Fault> {
        let Some(replay) = &mut self.replay else { return Ok(()) };
        let recorded = self.record.turns[replay.turn as usize].calls.get(replay.call);
        if !recorded.is_some_and(|call| call.end == end && call.output == output) {
            let was = recorded.map_or("", |call| call.output.as_str());
            let message = format!(
                "tool `{}` answered {output:?} when turn {} was repeated, but {was:?} before",
                asked.tool, replay.turn
            );
            return Err(Fault::new(Boundary::Tool, message));
        }
        replay.call += 1;
        Ok(())
    }

    /// The next recorded call of the present turn whose tool keeps state.
    fn call_to_repeat(&mut self) -> Option<(OpenTool, ToolCall)> {
        let replay = self.replay.as_mut()?;
        let turn = &self.record.turns[replay.turn as usize];
        while let Some(recorded) = turn.calls.get(replay.call) {
            match self.open.tool(&recorded.call.tool) {
                Ok(tool) if tool.stateful => return Some((tool, recorded.call.clone())),
                Ok(_) | Err(_) => replay.call += 1,
            }
        }
        None
    }

    fn repeat_action(&mut self) -> Result<(), Fault> {
        let Some(replay) = &mut self.replay else { return Ok(()) };
        let index = replay.turn;
        (replay.turn, replay.call) = (index + 1, 0);
        let turn = &self.record.turns[index as usize];
        let env = &mut self.open.env;
        let result = guarded(Boundary::Environment, || env.step(&turn.action, &turn.calls))
            .map_err(|fault| environment(format!("turn {index} could not be repeated: {}", fault.message)))?;
        self.record.cost.probe_steps += 1;
        if result.is_last() {
            return Err(environment(format!(
                "the world was over after turn {index} when it was repeated, after {}",
                describe(&turn.action)
            )));
        }
        let told = turn.reward.is_some() || !turn.info.is_empty();
        if told && (turn.reward, &turn.info) != (result.reward, &result.info) {
            return Err(environment(format!(
                "turn {index} gave reward {:?} and info {:?} when it was repeated, but {:?} and {:?} before",
                result.reward, result.info, turn.reward, turn.info
            )));
        }
        agree(&self.record, self.chat(), Some(index), &result.observations, true)
    }
}

/// Whether what was observed now is what was recorded.
fn agree(
    record: &Record,
    chat: &ChatFormat,
    turn: Option<u32>,
    messages: &[Message],
    hand_over: bool,
) -> Result<(), Fault> {
    let now = chat.observe(&[], messages, turn.unwrap_or(0), hand_over);
    let now: Vec<(Role, &str)> = now.iter().map(|s| (s.role, s.text.as_str())).collect();
    let before = record.observed(turn);
    if now == before {
        return Ok(());
    }
    let place = turn.map_or_else(|| "the opening".to_owned(), |turn| format!("turn {turn}"));
    Err(environment(format!(
        "{place} was observed as {now:?} when it was repeated, but as {before:?} before"
    )))
}

fn describe(action: &Action) -> &'static str {
    match action {
        Action::Answer { .. } => "an answer",
        Action::Calls { .. } => "tool calls",
        Action::Say { .. } => "something said",
        Action::Malformed { .. } => "a malformed action",
    }
}

fn environment(message: String) -> Fault {
    Fault::new(Boundary::Environment, message)
}
