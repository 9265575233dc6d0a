//! The fields that several formats share: reported reward, answer, name of the task, finish and error.

use crate::ItemError;
use crate::draft::{Key, TaskDraft};
use crate::fields::{optional_text, wrong};
use crate::play::Play;
use merit_core::{Boundary, End, Fault, Limit, Reported, Role, canonical, hex};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// The first of `keys` that is there and a number (or a truth value, as 1 and 0), as what `by` reported.
pub(crate) fn reported(map: &mut Map<String, Value>, keys: &[&str]) -> Result<Option<Reported>, ItemError> {
    for key in keys {
        let reward = match map.get(*key) {
            None | Some(Value::Null) => continue,
            Some(Value::Bool(right)) => f64::from(u8::from(*right)),
            Some(value) => match value.as_f64().filter(|number| number.is_finite()) {
                Some(number) => number,
                None => return Err(wrong(key, "a number", value)),
            },
        };
        map.remove(*key);
        return Ok(Some(Reported { reward, by: format!("`{key}` of the file") }));
    }
    Ok(None)
}

/// The right answer, where the entry gives one as text or number; anything else stays a field.
pub(crate) fn answer(map: &mut Map<String, Value>) -> Option<String> {
    match map.get("answer")? {
        Value::String(_) | Value::Number(_) => {}
        _ => return None,
    }
    match map.remove("answer")? {
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// A name given as text or number; absent where the field is neither.
pub(crate) fn name(map: &mut Map<String, Value>, key: &str) -> Option<String> {
    const LONGEST: usize = 200;
    let name = match map.get(key)? {
        Value::String(text) if !text.is_empty() && text.len() <= LONGEST => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    map.remove(key);
    Some(name)
}

/// A small number that counts from 0; absent where the field is none.
pub(crate) fn place(map: &mut Map<String, Value>, key: &str) -> Option<u32> {
    let place = u32::try_from(map.get(key)?.as_u64()?).ok()?;
    map.remove(key);
    Some(place)
}

/// The task's own name, or else a hash of what the agent was given: the same prompt is the same task.
pub(crate) fn key(named: Option<String>, play: &Play, task: &TaskDraft) -> Key {
    if let Some(name) = named {
        return Key::Named(name);
    }
    let mut hash = Sha256::new();
    let mut feed = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for segment in play.transcript.segments().iter().take_while(|s| s.role != Role::Policy) {
        feed(segment.role.name());
        feed(&segment.text);
    }
    feed(&canonical(&Value::Object(task.payload.clone())));
    feed(task.answer.as_deref().unwrap_or_default());
    Key::Opening(hex(&hash.finalize()[..6]))
}

/// How an episode ended that no world has closed: the recorder's error, a cut turn, or a last word. Anything else is
/// unknown. Takes `finish_reason` and `error` from the entry.
pub(crate) fn end(map: &mut Map<String, Value>, play: &mut Play) -> Result<End, ItemError> {
    let finish = optional_text(map, "finish_reason", "finish_reason")?.map(str::to_owned);
    if finish.is_some() {
        map.remove("finish_reason");
    }
    if let Some(message) = error(map) {
        return Ok(End::Failed { fault: Fault::new(Boundary::Unknown, message) });
    }
    if finish.as_deref() == Some("length") && !play.answered_back {
        play.cut_last();
    }
    if play.cut() && !play.answered_back {
        return Ok(End::Truncated { limit: Limit::Tokens });
    }
    let whole = |word: &str| matches!(word, "stop" | "eos" | "end_turn" | "stop_sequence");
    let said = finish.or_else(|| play.finish.clone());
    if said.as_deref().is_none_or(whole) && play.take_answer() {
        return Ok(End::Answered);
    }
    Ok(End::Unknown)
}

/// Without an action there is no episode, unless something broke before the first one.
pub(crate) fn check_acted(play: &Play, end: &End) -> Result<(), ItemError> {
    match end {
        End::Failed { .. } => Ok(()),
        _ if play.turns.is_empty() => Err(ItemError::NoTurn),
        _ => Ok(()),
    }
}

fn error(map: &mut Map<String, Value>) -> Option<String> {
    let message = match map.get("error")? {
        Value::Null | Value::Bool(false) => return None,
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    map.remove("error");
    Some(message)
}
