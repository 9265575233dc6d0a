//! Task files and the samples that come along: read, checked, and divided into splits by what the tasks say.

use super::line;
use super::speech::Speech;
use super::{ABOUT, VERSION, demonstrate, setting};
use crate::{EnvError, fingerprint};
use merit_api::{ToolSettings, ToolSpec, WorldLook};
use merit_core::canonical;
use merit_core::registry::Chosen;
use merit_core::{Seed, Split, Task, TaskLine};
use merit_tools::formats::{CallFormat, call_format};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::Read;

/// Largest file, in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Changing it moves tasks between splits.
const SALT: u64 = 0x7461_736b_7301;

/// Tasks that come along, with what they need.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub name: &'static str,
    pub text: &'static str,
    /// The names of its tools, none of which has settings.
    pub tools: &'static [&'static str],
    /// The call format that it is shown in: a short one, so that small models can learn it.
    pub calls: &'static str,
    /// What the agent is told first.
    pub instructions: &'static str,
    /// What the final answer follows.
    pub answer_mark: &'static str,
}

/// Every sample, in `worlds/`; the first is the default.
pub const SAMPLES: &[Sample] = &[Sample {
    name: "arithmetic",
    text: include_str!("../../../../worlds/arithmetic.jsonl"),
    tools: &["calc", "lookup"],
    calls: "fenced",
    instructions: "Answer the question. Prices and sizes stand in a table that only `lookup` reads; leave sums to `calc`.",
    answer_mark: "Answer:",
}];

pub(super) fn sample(name: &str) -> Option<&'static Sample> {
    SAMPLES.iter().find(|sample| sample.name == name)
}

impl Sample {
    pub(super) fn brings(&self) -> Result<Brought, EnvError> {
        let tool = |name: &&str| merit_tools::read_tool(&format!("type = \"{name}\""));
        let tools =
            self.tools.iter().map(tool).collect::<Result<_, _>>().map_err(|e| setting(e.to_string()))?;
        let calls = call_format(self.calls).map_err(|error| setting(error.to_string()))?;
        Ok((tools, calls))
    }
}

/// The tools and the call format of a sample.
type Brought = (Vec<Chosen<dyn ToolSettings>>, Chosen<dyn CallFormat>);

/// The text of a file.
pub(super) fn read(path: &str) -> Result<String, EnvError> {
    let bad = |error: std::io::Error| {
        let samples: Vec<&str> = SAMPLES.iter().map(|sample| sample.name).collect();
        let hint = match merit_core::registry::nearest(path, samples.iter().copied()) {
            Some(name) => format!("; did you mean the sample `{name}`?"),
            None => format!("; samples are {}", samples.join(", ")),
        };
        setting(format!("cannot read `file` {path}: {error}{hint}"))
    };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(bad)?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(bad)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(setting(format!("`file` {path} is larger than {} MB; split it", MAX_BYTES >> 20)));
    }
    if text.starts_with(BOM) {
        text.drain(..BOM.len_utf8());
    }
    if text.trim_start().starts_with('[') {
        return Err(setting(format!("`file` {path} is one JSON array; write one object a line instead")));
    }
    Ok(text)
}

/// A mark that some editors put at the start of a file.
const BOM: char = '\u{feff}';

/// A task with what is shown of its solution.
pub(super) struct Entry {
    pub(super) task: Task,
    /// What to say, turn by turn. Empty: the task has no demonstration.
    pub(super) demonstration: Vec<String>,
}

/// The tasks in the text of a file, one JSON object a line. Empty lines are passed over.
pub(super) fn load(
    source: &str,
    text: &str,
    held_out: f64,
    speech: &Speech,
    cards: &[ToolSpec],
) -> Result<Vec<Entry>, EnvError> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut ids, mut contents) = (HashMap::new(), HashMap::new());
    for (number, text) in numbered(text) {
        let bad = |why: String| setting(format!("{source}, line {number}: {why}"));
        let line = checked(text).map_err(bad)?;
        let entry = entry(line, number, held_out, speech, cards).map_err(bad)?;
        if let Some(other) = ids.insert(entry.task.id.clone(), number) {
            return Err(bad(format!("its id is that of line {other}")));
        }
        let content = content_of(&entry.task);
        let first = *contents
            .entry(Seed::root(SALT).child(&content, 1).as_u64())
            .or_insert((number, entry.task.split));
        if first.1 != entry.task.split {
            return Err(bad(format!("it is the task of line {} in the other split; keep one", first.0)));
        }
        entries.push(entry);
    }
    if !entries.iter().any(|entry| entry.task.split == Split::Train) {
        return Err(nothing_to_train_on(source));
    }
    Ok(entries)
}

fn nothing_to_train_on(source: &str) -> EnvError {
    setting(format!("{source} has no task to train on; one JSON object with `prompt` a line"))
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()).map(|(at, text)| (at + 1, text))
}

fn checked(text: &str) -> Result<TaskLine, String> {
    let line = TaskLine::read(text)?;
    line::check(&line)?;
    Ok(line)
}

/// What the lines alone tell: how many distinct tasks are held out, and whether any line shows its solution.
pub(super) fn look(source: &str, text: &str, held_out: f64, has_tools: bool) -> Result<WorldLook, EnvError> {
    let (mut distinct, mut shown, mut trains) = (HashSet::new(), false, false);
    for (number, text) in numbered(text) {
        let line = checked(text).map_err(|why| setting(format!("{source}, line {number}: {why}")))?;
        shown |= line.shows_solution() || (!has_tools && line.answer.is_some());
        let content = content(&line::payload(&line), line.answer.as_deref());
        match line.split.unwrap_or_else(|| split_of(&content, held_out)) {
            Split::HeldOut => drop(distinct.insert(content)),
            Split::Train => trains = true,
        }
    }
    if !trains {
        return Err(nothing_to_train_on(source));
    }
    Ok(WorldLook { held_out: Some(distinct.len()), expert: Some(shown) })
}

fn entry(
    line: TaskLine,
    number: usize,
    held_out: f64,
    speech: &Speech,
    cards: &[ToolSpec],
) -> Result<Entry, String> {
    if let Some(unknown) = line.tools.iter().find(|name| !cards.iter().any(|card| card.name == **name)) {
        let known: Vec<&str> = cards.iter().map(|card| card.name.as_str()).collect();
        return Err(format!(
            "`tools` names `{unknown}`, which the recipe does not have; known: {}",
            known.join(", ")
        ));
    }
    let demonstration = demonstrate::turns(&line, speech, cards)?;
    let payload = line::payload(&line);
    let content = content(&payload, line.answer.as_deref());
    let split = line.split.unwrap_or_else(|| split_of(&content, held_out));
    let name = line.id.unwrap_or_else(|| format!("{number:05}"));
    let shown = u32::try_from(demonstration.len()).unwrap_or(u32::MAX).max(1);
    let task = Task {
        id: format!("{}/{}/{name}-{}", ABOUT.name, split.name(), fingerprint(&content)),
        world: ABOUT.name.to_owned(),
        version: VERSION,
        split,
        size: line.size.unwrap_or(shown),
        payload,
        answer: line.answer,
    };
    Ok(Entry { task, demonstration })
}

/// What makes this task what it is.
pub(super) fn content_of(task: &Task) -> String {
    content(&task.payload, task.answer.as_deref())
}

/// What makes a task what it is.
fn content(payload: &Value, answer: Option<&str>) -> String {
    canonical(&json!([payload, answer]))
}

/// The split that content belongs to, where its line says none.
fn split_of(content: &str, held_out: f64) -> Split {
    let share = Seed::root(SALT).child(content, 0).stream().unit();
    if share < held_out { Split::HeldOut } else { Split::Train }
}

/// Refuses a task whose payload or answer is not what its id was made of: tasks travel through files and other people's hands.
pub(super) fn check(task: &Task) -> Result<(), EnvError> {
    let bad = |why: String| EnvError::Task { world: ABOUT.name, task: task.id.clone(), why };
    if task.world != ABOUT.name || task.version != VERSION {
        return Err(bad(format!(
            "it is of world `{}` version {}, wanted version {VERSION}",
            task.world, task.version
        )));
    }
    let mark = fingerprint(&content_of(task));
    if !task.id.ends_with(&format!("-{mark}")) {
        return Err(bad(format!("its payload or answer was changed; its id should end in {mark}")));
    }
    Ok(())
}
