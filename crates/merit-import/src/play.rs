//! From messages to segments and turns: every assistant message is a turn, every call has its answer.
//!
//! Calls and answers are joined by id; answers without one belong to the latest turn's first unanswered call of that tool, or
//! to its only unanswered call. A call without an answer ends as unknown and an answer without a call stays as a message;
//! both are remarked on. Text is the recorder's content and nothing else: calls are in the turn.

use crate::messages::{Answers, Asked, Said};
use crate::open_calls::OpenCalls;
use crate::{ImportLimits, ItemError};
use merit_core::{Action, CallEnd, CallRecord, Cost, Provenance, Role, Segment, Transcript, Turn, TurnStop};

/// How a format tells a tool's errors from its answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errors {
    /// An answer that begins so is an error and every other is not. Empty: only marked errors are known to be such.
    pub(crate) prefixes: Vec<String>,
}

/// What was played, without a name, task or end.
#[derive(Debug, Default)]
pub(crate) struct Play {
    pub(crate) transcript: Transcript,
    pub(crate) turns: Vec<Turn>,
    pub(crate) remarks: Vec<String>,
    pub(crate) left_out: Vec<String>,
    /// The recorder's word for why the last turn stopped.
    pub(crate) finish: Option<String>,
    /// Whether anything follows the last turn.
    pub(crate) answered_back: bool,
}

impl Play {
    /// What it cost, as far as messages can tell.
    pub(crate) fn cost(&self) -> Cost {
        let tool_calls: u64 = self.turns.iter().map(|turn| turn.calls.len() as u64).sum();
        Cost {
            env_steps: self.turns.len() as u64,
            tool_calls,
            tokens_unknown: true,
            seconds_unknown: tool_calls > 0,
            ..Cost::default()
        }
    }

    /// Whether the last turn was cut by the limit on tokens.
    pub(crate) fn cut(&self) -> bool {
        self.turns.last().is_some_and(|turn| turn.stop == TurnStop::MaxTokens)
    }

    /// The last turn's words as a final answer, where they are the last of all and whole.
    pub(crate) fn take_answer(&mut self) -> bool {
        if self.answered_back || self.cut() {
            return false;
        }
        let Some(turn) = self.turns.last_mut() else { return false };
        let Action::Say { text } = &mut turn.action else { return false };
        turn.action = Action::Answer { text: std::mem::take(text) };
        true
    }

    /// Says that the last turn was cut by the limit on tokens: half an answer is no answer.
    pub(crate) fn cut_last(&mut self) {
        if let Some(turn) = self.turns.last_mut() {
            turn.stop = TurnStop::MaxTokens;
            turn.action =
                Action::Malformed { why: "cut by the limit on tokens before it was finished".into() };
        }
    }
}

pub(crate) fn play(said: Vec<Said>, errors: &Errors, limits: &ImportLimits) -> Result<Play, ItemError> {
    check_size(&said, limits)?;
    let mut play = Play::default();
    let mut open = OpenCalls::default();
    for message in said {
        play.left_out.extend(message.left_out);
        match message.role {
            Role::Policy => {
                let index = play.turns.len() as u32;
                let finish = message.finish;
                let (action, records) =
                    act(&message.text, message.calls, index, &mut open, &mut play.remarks);
                let stop = match finish.as_deref() {
                    Some("length") => TurnStop::MaxTokens,
                    _ => TurnStop::Unknown,
                };
                play.turns.push(Turn::new(index, action).with_calls(records).with_stop(stop));
                (play.finish, play.answered_back) = (finish, false);
            }
            Role::Tool => {
                play.answered_back = true;
                match open.take(&message.answers, &play.turns) {
                    Some((turn, call)) => {
                        let record = play.turns.get_mut(turn).and_then(|turn| turn.calls.get_mut(call));
                        if let Some(record) = record {
                            record.end = end(&message.text, &message.answers, errors);
                            record.output.clone_from(&message.text);
                        }
                    }
                    None => play.remarks.push(unmatched(&message.answers)),
                }
            }
            _ => play.answered_back = true,
        }
        let turn = play.turns.len().saturating_sub(1) as u32;
        append(&mut play.transcript, message.role, turn, message.text)?;
    }
    for (turn, call) in open.left() {
        let tool =
            play.turns.get(turn).and_then(|t| t.calls.get(call)).map(|record| short(&record.call.tool));
        play.remarks.push(format!("turn {turn}: the call of `{}` has no answer", tool.unwrap_or_default()));
    }
    if play.cut() {
        play.cut_last();
    }
    Ok(play)
}

fn check_size(said: &[Said], limits: &ImportLimits) -> Result<(), ItemError> {
    let calls: usize = said.iter().map(|message| message.calls.len()).sum();
    let sizes = [
        ("the number of messages", said.len(), limits.messages),
        ("the number of calls", calls, limits.calls),
    ];
    match sizes.into_iter().find(|(_, got, limit)| got > limit) {
        Some((what, got, limit)) => Err(ItemError::TooLarge { what: what.to_owned(), got, limit }),
        None => Ok(()),
    }
}

fn append(transcript: &mut Transcript, role: Role, turn: u32, text: String) -> Result<(), ItemError> {
    let segment = Segment::of_text(role, Provenance::Imported, turn, text);
    transcript.append(segment).map_err(|error| ItemError::Rules(error.to_string()))
}

fn act(
    text: &str,
    calls: Vec<Asked>,
    turn: u32,
    open: &mut OpenCalls,
    remarks: &mut Vec<String>,
) -> (Action, Vec<CallRecord>) {
    if calls.is_empty() {
        let silent = text.trim().is_empty();
        let why = || "it says nothing and calls nothing".to_owned();
        let action =
            if silent { Action::Malformed { why: why() } } else { Action::Say { text: text.to_owned() } };
        return (action, Vec::new());
    }
    let nameless = calls.iter().position(|asked| asked.call.is_none());
    let mut records: Vec<CallRecord> = Vec::new();
    for asked in calls {
        let Some(call) = asked.call else { continue };
        if let Some(id) = asked.id.as_deref().filter(|id| open.has(id)) {
            remarks.push(format!(
                "turn {turn}: the id `{}` is used by an earlier call that has no answer",
                short(id)
            ));
        }
        open.add(asked.id, turn as usize, records.len());
        records.push(CallRecord { call, end: CallEnd::Unknown, output: String::new(), seconds: None });
    }
    let action = match nameless {
        Some(at) => Action::Malformed { why: format!("call {at} names no tool") },
        None => Action::Calls { calls: records.iter().map(|record| record.call.clone()).collect() },
    };
    (action, records)
}

fn end(output: &str, answers: &Answers, errors: &Errors) -> CallEnd {
    if answers.error || errors.prefixes.iter().any(|prefix| output.starts_with(prefix.as_str())) {
        CallEnd::Refused
    } else if errors.prefixes.is_empty() {
        CallEnd::Unknown
    } else {
        CallEnd::Ok
    }
}

fn unmatched(answers: &Answers) -> String {
    match (&answers.id, &answers.tool) {
        (Some(id), _) => format!("a tool's answer belongs to no call: there is no open call `{}`", short(id)),
        (None, Some(tool)) => format!("an answer of tool `{}` belongs to no call", short(tool)),
        (None, None) => "a tool's answer does not say which call it answers".to_owned(),
    }
}

fn short(text: &str) -> String {
    merit_core::printable::beginning(text, 80)
}
