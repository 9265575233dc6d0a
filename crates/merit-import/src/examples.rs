//! A person's own data: what to imitate, and what to prefer to what.
//!
//! In: a file of JSON lines, a JSON array or Parquet, in one of the shapes below. Out: [`Examples`], or every line that cannot be read
//! with the reason. Nothing is repaired and nothing dropped; fields that no shape reads are counted.
//!
//! | an entry has | it is |
//! |---|---|
//! | `messages`, or is a list of messages | a conversation to imitate |
//! | `conversations` (`from`, `value`), perhaps `system` | the same, as ShareGPT writes it |
//! | `prompt`, `completion` | an answer to imitate |
//! | `prompt`, `chosen`, `rejected` | a pair |
//! | `prompt`, `completion`, `label` | an answer that is good or not |
//!
//! Prompts and completions are texts or lists of messages. `tools` beside them are schemas, as a list or as its JSON.

use crate::fields::{required, seen, wrong};
use crate::imported::Skipped;
use crate::messages::{Said, messages};
use crate::{ImportError, ImportLimits, ItemError, parquet, read, sharegpt};
use merit_core::{Role, ToolCall, hex};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Every example is to be imitated.
    Imitation,
    /// Every example is a better completion and a worse one.
    Pairs,
    /// Every example is a completion that is good or not.
    Labels,
}

/// The examples of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    pub purpose: Purpose,
    pub examples: Vec<Example>,
    /// Fields that no shape reads, with how many entries have them.
    pub unread: BTreeMap<String, usize>,
    /// Of the file.
    pub sha256: String,
}

/// An example to imitate or to prefer by: a prompt, and what was said to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The line it begins on, or its row, from 1.
    pub line: usize,
    /// The schemas of the tools that the agent is told of.
    pub tools: Vec<Value>,
    /// What comes before anything that is learned.
    pub prompt: Vec<ExampleMessage>,
    /// One; of a pair the better one and the worse one.
    pub completions: Vec<Completion>,
}

/// What was said to a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// At least one of them is the policy's.
    pub messages: Vec<ExampleMessage>,
    /// 1 of what is to be imitated or preferred, else 0.
    pub reward: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExampleMessage {
    pub role: Role,
    pub text: String,
    /// The calls of the policy, with the ids that answers name.
    pub calls: Vec<(Option<String>, ToolCall)>,
    /// The call that a tool answers.
    pub call_id: Option<String>,
    /// Name of the tool that answers. Absent: the file does not say.
    pub tool: Option<String>,
}

impl ExampleMessage {
    pub(crate) fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), calls: Vec::new(), call_id: None, tool: None }
    }
}

/// Reads a person's own data.
pub fn read_examples(path: &Path) -> Result<Examples, ImportError> {
    let limits = ImportLimits::default();
    let file = read::file(path, limits.file_bytes)?;
    let entries = match parquet::is_parquet(&file) {
        true => parquet::rows(&file)?,
        false => read::values(&file, &limits)?,
    };
    let total = entries.len();
    let (mut examples, mut unread, mut bad) = (Vec::new(), BTreeMap::new(), Vec::new());
    let mut first: Option<(usize, Purpose)> = None;
    for (item, (line, entry)) in entries.into_iter().enumerate() {
        let read =
            entry.and_then(|entry| example(entry, line, &mut unread)).and_then(|(purpose, example)| {
                let (other, known) = *first.get_or_insert((line, purpose));
                if known == purpose { Ok(example) } else { Err(mixed(purpose, other, known)) }
            });
        match read {
            Ok(example) => examples.push(example),
            Err(why) => bad.push(Skipped { line, item, why }),
        }
    }
    match first {
        Some((_, purpose)) if bad.is_empty() => {
            Ok(Examples { purpose, examples, unread, sha256: hex(&Sha256::digest(&file)) })
        }
        _ => Err(ImportError::Examples { bad, total }),
    }
}

fn mixed(this: Purpose, line: usize, known: Purpose) -> ItemError {
    let what = |purpose| match purpose {
        Purpose::Imitation => "to be imitated",
        Purpose::Pairs => "a pair",
        Purpose::Labels => "an answer with a label",
    };
    ItemError::Example(format!(
        "it is {}, and line {line} is {}; keep them in files of their own",
        what(this),
        what(known)
    ))
}

const SHAPES: &str = "`messages`, `conversations`, `prompt` with `completion` (and `label`), or `prompt` with `chosen` and `rejected`";

fn shapeless(entry: &Value) -> ItemError {
    ItemError::Example(format!("it has {}; wanted are {SHAPES}", seen(entry)))
}

fn example(
    entry: Value,
    line: usize,
    unread: &mut BTreeMap<String, usize>,
) -> Result<(Purpose, Example), ItemError> {
    let mut fields = match entry {
        list @ Value::Array(_) => Map::from_iter([("messages".to_owned(), list)]),
        Value::Object(map) => map,
        other => return Err(shapeless(&other)),
    };
    // Columns of Parquet are there in every row.
    fields.retain(|_, value| !value.is_null());
    let tools = tools(&mut fields)?;
    let has = |key: &str| fields.contains_key(key);
    let (purpose, prompt, completions) = if has("chosen") || has("rejected") {
        let (prompt, [chosen, rejected]) = pair(&mut fields)?;
        (Purpose::Pairs, prompt, vec![(chosen, 1.0), (rejected, 0.0)])
    } else if has("completion") {
        let prompt = said(&mut fields, "prompt", Role::User)?;
        let completion = said(&mut fields, "completion", Role::Policy)?;
        match fields.remove("label") {
            None => (Purpose::Imitation, prompt, vec![(completion, 1.0)]),
            Some(label) => (Purpose::Labels, prompt, vec![(completion, reward(&label)?)]),
        }
    } else {
        let whole = match (fields.remove("messages"), fields.remove("conversations")) {
            (Some(list), None) => own(messages(&list, "messages")?, "messages")?,
            (None, Some(list)) => sharegpt::messages(&list, fields.remove("system").as_ref())?,
            _ => return Err(shapeless(&Value::Object(fields))),
        };
        let begins = whole.iter().position(|message| message.role == Role::Policy).unwrap_or(whole.len());
        let (prompt, completion) = whole.split_at(begins);
        (Purpose::Imitation, prompt.to_vec(), vec![(completion.to_vec(), 1.0)])
    };
    let mut checked = Vec::new();
    for (messages, reward) in completions {
        let messages = messages
            .strip_prefix(prompt.as_slice())
            .filter(|_| !prompt.is_empty())
            .map(<[_]>::to_vec)
            .unwrap_or(messages);
        if !messages.iter().any(|message| message.role == Role::Policy) {
            return Err(ItemError::Example("no message of the assistant is there to learn from".into()));
        }
        checked.push(Completion { messages, reward });
    }
    if prompt.is_empty() {
        return Err(ItemError::Example(
            "nothing is said before the assistant, so that there is nothing to answer".into(),
        ));
    }
    for (name, _) in fields {
        *unread.entry(name).or_default() += 1;
    }
    Ok((purpose, Example { line, tools, prompt, completions: checked }))
}

type Messages = Vec<ExampleMessage>;

/// The prompt of a pair and its two completions. Where no prompt is given it is what both begin with.
fn pair(fields: &mut Map<String, Value>) -> Result<(Messages, [Messages; 2]), ItemError> {
    let chosen = said(fields, "chosen", Role::Policy)?;
    let rejected = said(fields, "rejected", Role::Policy)?;
    if fields.contains_key("prompt") {
        return Ok((said(fields, "prompt", Role::User)?, [chosen, rejected]));
    }
    let same = chosen.iter().zip(&rejected).take_while(|(one, other)| one == other).count();
    if same == 0 {
        return Err(ItemError::Missing { field: "prompt".into() });
    }
    let rest = |all: &Messages| all[same..].to_vec();
    Ok((chosen[..same].to_vec(), [rest(&chosen), rest(&rejected)]))
}

/// A text of `role`, or a list of messages.
fn said(fields: &mut Map<String, Value>, field: &str, role: Role) -> Result<Messages, ItemError> {
    required(fields, field, field)?;
    match fields.remove(field) {
        Some(Value::String(text)) => Ok(vec![ExampleMessage::new(role, text)]),
        Some(list @ Value::Array(_)) => own(messages(&list, field)?, field),
        other => Err(wrong(field, "a string or a list of messages", &other.unwrap_or_default())),
    }
}

fn own(said: Vec<Said>, field: &str) -> Result<Messages, ItemError> {
    let each = said.into_iter().enumerate();
    each.map(|(at, said)| {
        let nameless = || ItemError::Missing { field: format!("{field}[{at}].tool_calls[].function.name") };
        let calls = said.calls.into_iter().map(|asked| Ok((asked.id, asked.call.ok_or_else(nameless)?)));
        let calls = calls.collect::<Result<_, ItemError>>()?;
        let (call_id, tool) = (said.answers.id, said.answers.tool);
        Ok(ExampleMessage { role: said.role, text: said.text, calls, call_id, tool })
    })
    .collect()
}

/// The schemas: a list, or its JSON.
fn tools(fields: &mut Map<String, Value>) -> Result<Vec<Value>, ItemError> {
    let list = match fields.remove("tools") {
        None => return Ok(Vec::new()),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(Vec::new()),
        Some(Value::String(text)) => serde_json::from_str(&text)
            .map_err(|error| ItemError::Example(format!("`tools` is a text that is not JSON: {error}")))?,
        Some(other) => other,
    };
    let Value::Array(tools) = list else { return Err(wrong("tools", "a list, or its JSON", &list)) };
    Ok(tools)
}

fn reward(label: &Value) -> Result<f64, ItemError> {
    match label {
        Value::Bool(good) => Ok(f64::from(u8::from(*good))),
        Value::Number(number) if number.as_i64() == Some(0) => Ok(0.0),
        Value::Number(number) if number.as_i64() == Some(1) => Ok(1.0),
        other => Err(wrong("label", "true or false", other)),
    }
}
