//! What an agent can ask of its folder.

use super::files::Files;
use super::path;
use crate::excerpt::{excerpt, head};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Longest line that a search shows, in bytes.
const LINE_BYTES: usize = 160;

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Op {
    Write { path: String, text: String },
    Append { path: String, text: String },
    Read { path: String, from: Option<usize>, to: Option<usize> },
    List { path: Option<String> },
    Delete { path: String },
    Replace { path: String, old: String, new: String },
    Search { text: String, path: Option<String> },
}

pub(super) fn schema() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let line = |about: &str| json!({ "type": "integer", "minimum": 1, "description": about });
    json!({
        "type": "object",
        "properties": {
            "op": { "enum": ["write", "append", "read", "list", "delete", "replace", "search"] },
            "path": text("a file, such as notes/plan.txt; for list and search a file or folder, or left out for all"),
            "text": text("what to write or append, or to search for, letter by letter"),
            "from": line("read: first line, counted from 1"),
            "to": line("read: last line"),
            "old": text("replace: a text that occurs exactly once in the file"),
            "new": text("replace: what to put in its place"),
        },
        "required": ["op"],
        "additionalProperties": false,
    })
}

impl Op {
    /// Reads a request of at most `most` bytes.
    pub(super) fn read(input: &str, most: usize) -> Result<Self, String> {
        if input.len() > most {
            return Err("the request is larger than the workspace".to_owned());
        }
        if !input.trim_start().starts_with('{') {
            return Err(r#"write JSON, as in {"op":"read","path":"notes.txt"}"#.to_owned());
        }
        serde_json::from_str(input).map_err(|error| error.to_string())
    }

    pub(super) fn run(self, files: &mut Files) -> Result<String, String> {
        match self {
            Self::Write { path, text } => {
                let (path, size) = (path::of_file(&path)?, text.len());
                let done = if files.put(&path, text)? { "overwrote" } else { "wrote" };
                Ok(format!("{done} {path}: {size} bytes"))
            }
            Self::Append { path, text } => {
                let path = path::of_file(&path)?;
                let mut whole = files.all().get(&path).cloned().unwrap_or_default();
                whole.push_str(&text);
                let size = whole.len();
                files.put(&path, whole)?;
                Ok(format!("appended to {path}: now {size} bytes"))
            }
            Self::Read { path, from, to } => {
                let path = path::of_file(&path)?;
                read(files.get(&path)?, from, to, files.shown_bytes())
            }
            Self::List { path } => list(files, &path::normal(&path.unwrap_or_default())?),
            Self::Delete { path } => {
                let path = path::of_file(&path)?;
                files.delete(&path)?;
                Ok(format!("deleted {path}"))
            }
            Self::Replace { path, old, new } => replace(files, &path::of_file(&path)?, &old, &new),
            Self::Search { text, path } => search(files, &text, &path::normal(&path.unwrap_or_default())?),
        }
    }
}

/// Lines `from` to `to`, as many as can be shown.
fn read(text: &str, from: Option<usize>, to: Option<usize>, bytes: usize) -> Result<String, String> {
    if text.is_empty() {
        return Ok("(empty)".to_owned());
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let count = lines.len();
    let (first, last) = (from.unwrap_or(1), to.unwrap_or(count).min(count));
    if first == 0 || first > count || first > last {
        return Err(format!("the file has lines 1 to {count}; `from` and `to` must be among them, in order"));
    }
    let wanted = lines.get(first - 1..last).unwrap_or_default();
    let mut shown = String::new();
    let mut next = first;
    for line in wanted {
        if shown.len() + line.len() > bytes {
            break;
        }
        shown.push_str(line);
        next += 1;
    }
    if next == first {
        // A line that is too long by itself is shown in part; the rest of it cannot be had by lines.
        let line = wanted.first().copied().unwrap_or_default();
        let part = head(line, bytes);
        return Ok(format!(
            "{part}\n… line {first} of {count} goes on for {} bytes",
            line.len() - part.len()
        ));
    }
    if next <= last {
        let _ = write!(shown, "… cut: read on from line {next} of {count}");
    }
    Ok(shown)
}

fn list(files: &Files, path: &str) -> Result<String, String> {
    let mut shown = String::new();
    let all: Vec<(&str, &str)> = files.below(path).collect();
    if all.is_empty() && !path.is_empty() {
        files.get(path)?;
    }
    for (i, (name, text)) in all.iter().enumerate() {
        let line = format!("{name} ({} bytes)\n", text.len());
        if shown.len() + line.len() > files.shown_bytes() {
            let _ = write!(shown, "… {} more files; list a folder", all.len() - i);
            return Ok(shown);
        }
        shown.push_str(&line);
    }
    Ok(if shown.is_empty() { "(no files)".to_owned() } else { shown.trim_end().to_owned() })
}

fn replace(files: &mut Files, path: &str, old: &str, new: &str) -> Result<String, String> {
    let text = files.get(path)?;
    if old.is_empty() {
        return Err("`old` is empty; give a text of the file".to_owned());
    }
    let Some(at) = text.find(old) else {
        return Err(format!("`{}` is not in {}", excerpt(old, 60), excerpt(path, 60)));
    };
    // From the next character on, so that places that overlap count too.
    let step = old.chars().next().map_or(1, char::len_utf8);
    if text.get(at + step..).is_some_and(|rest| rest.contains(old)) {
        return Err(format!("`{}` occurs more than once; give more of the text around it", excerpt(old, 60)));
    }
    let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    let replaced = text.replacen(old, new, 1);
    files.put(path, replaced)?;
    Ok(format!("replaced in {path}, line {line}"))
}

fn search(files: &Files, text: &str, path: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("`text` is empty; give what to search for".to_owned());
    }
    if text.contains('\n') {
        return Err("search looks within lines; leave the line break out".to_owned());
    }
    if !path.is_empty() && files.below(path).next().is_none() {
        files.get(path)?;
    }
    let lines = files.below(path).flat_map(|(name, whole)| {
        whole
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains(text))
            .map(move |(at, line)| (name, at, line))
    });
    let (mut shown, mut hidden) = (String::new(), 0_usize);
    for (name, at, line) in lines {
        let found = format!("{name}:{}: {}\n", at + 1, excerpt(line, LINE_BYTES));
        if hidden > 0 || shown.len() + found.len() > files.shown_bytes() {
            hidden += 1;
        } else {
            shown.push_str(&found);
        }
    }
    if hidden > 0 {
        let _ = write!(shown, "… {hidden} more lines");
    }
    Ok(if shown.is_empty() { "not found".to_owned() } else { shown.trim_end().to_owned() })
}
