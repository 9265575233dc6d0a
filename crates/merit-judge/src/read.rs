//! Reading pairs: the shapes that people have, made into episodes.
//!
//! | an entry has | it is |
//! |---|---|
//! | `prompt`, `chosen`, `rejected` | a pair; which of them is shown first is decided by a hash of both |
//! | `prompt`, `a`, `b`, `label` (`a`, `b` or `tie`) | a pair in its own order |
//! | `prompt`, `response`, `rating` | one rated answer; those of one prompt with different ratings are paired |
//! | `conversations` in place of `prompt` | the same as ShareGPT writes it, with `from` and `value` |
//!
//! A candidate is a text, a list of messages, an episode of merit's own, or any other JSON. `prompt` may be absent where candidates
//! bring their own. `answer` and `payload` go to the task, `group` to the pair. A folder of a run or an import gives
//! pairs of episodes of one task with different rewards. Nothing is repaired: every line that cannot be read is named.

use crate::{Graded, Label, Pair};
use merit_core::{Episode, EpisodeId, Phase, Role, ScoredEpisode, hex};
use merit_import::{ImportOptions, read_rows, sharegpt_messages};
use merit_store::{EpisodeFilter, RunFolder};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most pairs of one prompt or task, so that one with many answers does not outweigh the others.
const MOST: usize = 8;
/// How many lines an error names.
const NAMED: usize = 5;

/// Why there are no pairs.
#[derive(Debug, thiserror::Error)]
pub enum PairError {
    /// The file cannot be read.
    #[error("cannot read {}: {why}", path.display())]
    Read { path: PathBuf, why: String },
    /// Some lines are no pairs.
    #[error("{}: {} of {total} entries cannot be used: {}", path.display(), bad.len(), named(bad))]
    Entries {
        path: PathBuf,
        /// Line and reason.
        bad: Vec<(usize, String)>,
        /// Entries in all.
        total: usize,
    },
    #[error("{} has no pair: {why}", path.display())]
    Empty {
        /// The file or folder.
        path: PathBuf,
        why: String,
    },
    /// The folder cannot be read.
    #[error(transparent)]
    Store(#[from] merit_store::StoreError),
}

fn named(bad: &[(usize, String)]) -> String {
    let lines: Vec<String> =
        bad.iter().take(NAMED).map(|(line, why)| format!("line {line}: {why}")).collect();
    let more = bad.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", lines.join("; "))
}

/// The pairs of a file of JSON lines or of one JSON list, or of the folder of a run or an import.
pub fn read_pairs(path: &Path) -> Result<Vec<Pair>, PairError> {
    let pairs = if path.is_dir() { of_folder(path)? } else { of_file(path)? };
    match pairs.is_empty() {
        true => {
            let why = "no task has two candidates of which one is better".to_owned();
            Err(PairError::Empty { path: path.to_owned(), why })
        }
        false => Ok(pairs),
    }
}

/// The rated answers of a file, each with its rating as the grade. None in a folder: rewards are no grades of people.
pub fn read_graded(path: &Path) -> Result<Vec<Graded>, PairError> {
    if path.is_dir() {
        return Ok(Vec::new());
    }
    let graded = |(group, answers): (String, Vec<(f64, Arc<Episode>)>)| {
        let one = move |(grade, episode)| Graded { group: group.clone(), grade, episode };
        answers.into_iter().map(one)
    };
    Ok(parsed(path)?.1.into_iter().flat_map(graded).collect())
}

fn of_file(path: &Path) -> Result<Vec<Pair>, PairError> {
    let (mut pairs, rated) = parsed(path)?;
    pairs.extend(of_ratings(rated));
    Ok(pairs)
}

/// The pairs of a file, and its rated answers by prompt.
fn parsed(path: &Path) -> Result<(Vec<Pair>, Rated), PairError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| PairError::Read { path: path.to_owned(), why: error.to_string() })?;
    let (mut pairs, mut rated, mut bad, mut total) = (Vec::new(), Rated::new(), Vec::new(), 0);
    for (at, entry) in entries(&text) {
        total += 1;
        match entry.and_then(|entry| read_entry(entry, at)) {
            Ok(Read::Pair(pair)) => pairs.push(*pair),
            Ok(Read::Rated { group, rating, episode }) => {
                rated.entry(group).or_default().push((rating, episode))
            }
            Err(why) => bad.push((at, why)),
        }
    }
    if !bad.is_empty() {
        return Err(PairError::Entries { path: path.to_owned(), bad, total });
    }
    Ok((pairs, rated))
}

/// The entries of a list, or of lines, counted from 1.
fn entries(text: &str) -> Vec<(usize, Result<Value, String>)> {
    // Programs of Windows begin a file with a mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('[') {
        return match serde_json::from_str(text) {
            Ok(list) => (1..).zip(Vec::into_iter(list).map(Ok)).collect(),
            Err(error) => vec![(error.line(), Err(format!("no JSON list: {error}")))],
        };
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| (at, serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))))
        .collect()
}

/// Rated answers, by prompt.
type Rated = BTreeMap<String, Vec<(f64, Arc<Episode>)>>;

enum Read {
    Pair(Box<Pair>),
    Rated { group: String, rating: f64, episode: Arc<Episode> },
}

fn read_entry(entry: Value, line: usize) -> Result<Read, String> {
    let Value::Object(mut fields) = entry else { return Err("it is no object".to_owned()) };
    rename_sharegpt(&mut fields)?;
    let has = |key: &str| fields.get(key).is_some_and(|value| !value.is_null());
    if has("chosen") && has("rejected") {
        let (chosen, rejected) = (&fields["chosen"], &fields["rejected"]);
        // What is better must not always stand in the same place.
        let first = Sha256::digest(format!("{chosen}\n{rejected}").as_bytes())[0] % 2 == 0;
        let (a, b, label) = if first { (chosen, rejected, Label::A) } else { (rejected, chosen, Label::B) };
        return pair(&fields, (a, b, label), line);
    }
    if has("a") && has("b") && has("label") {
        let label = label(&fields["label"])?;
        return pair(&fields, (&fields["a"], &fields["b"], label), line);
    }
    if has("response") && has("rating") {
        let rating = fields["rating"].as_f64().filter(|rating| rating.is_finite());
        let rating =
            rating.ok_or_else(|| format!("`rating` is {}; it must be a number", fields["rating"]))?;
        let episode = episode(&fields, &fields["response"], line, 0)?;
        return Ok(Read::Rated { group: group(&fields), rating, episode: Arc::new(episode) });
    }
    let seen: Vec<&str> = fields.keys().map(String::as_str).collect();
    Err(format!(
        "it has {}; wanted are `prompt` with `chosen` and `rejected`, with `a`, `b` and `label`, or with `response` and `rating`",
        seen.join(", ")
    ))
}

/// ShareGPT's words in ours: what was said before is the prompt, and a candidate that has `from` is a message.
fn rename_sharegpt(fields: &mut Map<String, Value>) -> Result<(), String> {
    if fields.contains_key("prompt") {
        return Ok(());
    }
    let Some(before) = fields.remove("conversations") else { return Ok(()) };
    let prompt = messages(&before, fields.remove("system").as_ref())?;
    for side in ["chosen", "rejected"] {
        if let Some(said) = fields.get_mut(side).filter(|said| said.get("from").is_some()) {
            *said = messages(&json!([said]), None)?;
        }
    }
    fields.insert("prompt".to_owned(), prompt);
    Ok(())
}

fn messages(list: &Value, system: Option<&Value>) -> Result<Value, String> {
    let said = sharegpt_messages(list, system).map_err(|error| error.to_string())?;
    let named = |role: Role| if role == Role::Policy { "assistant" } else { role.name() };
    if said.iter().any(|message| !message.calls.is_empty()) {
        return Err("a call in `conversations` is not read here; give messages with `tool_calls`".to_owned());
    }
    Ok(said.iter().map(|message| json!({ "role": named(message.role), "content": message.text })).collect())
}

fn label(value: &Value) -> Result<Label, String> {
    match value.as_str().map(str::to_lowercase).as_deref() {
        Some("a") => Ok(Label::A),
        Some("b") => Ok(Label::B),
        Some("tie") => Ok(Label::Tie),
        _ => Err(format!("`label` is {value}; it must be \"a\", \"b\" or \"tie\"")),
    }
}

fn pair(
    fields: &Map<String, Value>,
    (a, b, label): (&Value, &Value, Label),
    line: usize,
) -> Result<Read, String> {
    Ok(Read::Pair(Box::new(Pair {
        id: format!("line {line}"),
        group: group(fields),
        a: Arc::new(episode(fields, a, line, 0)?),
        b: Arc::new(episode(fields, b, line, 1)?),
        label,
    })))
}

/// What is never parted: the group that the entry names, or everything with the same prompt; where candidates bring their own, each
/// entry is a group.
fn group(fields: &Map<String, Value>) -> String {
    let named = fields.get("group").and_then(Value::as_str).map(str::to_owned);
    named.unwrap_or_else(|| match fields.get("prompt") {
        Some(prompt) => short(&prompt.to_string()),
        None => short(&Value::Object(fields.clone()).to_string()),
    })
}

fn short(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))[..16].to_owned()
}

/// A candidate as an episode.
fn episode(
    fields: &Map<String, Value>,
    candidate: &Value,
    line: usize,
    member: u32,
) -> Result<Episode, String> {
    let row = row(fields.get("prompt"), candidate)?;
    let read = read_rows(vec![row], merit_import::AUTO, &ImportOptions::default());
    let read = read.map_err(|error| error.to_string())?.episodes.into_iter().next();
    let mut episode =
        read.map(|scored| Episode::clone(&scored.episode)).ok_or("nothing can be read of it")?;
    let (answer, payload) = (fields.get("answer"), fields.get("payload"));
    if answer.is_some() || payload.is_some() {
        let mut task = (*episode.task).clone();
        if let Some(answer) = answer.and_then(Value::as_str) {
            task.answer = Some(answer.to_owned());
        }
        task.payload = payload.cloned().unwrap_or(task.payload);
        episode.task = Arc::new(task);
    }
    episode.id = EpisodeId { phase: Phase::Import, step: 0, group: line as u32, member, branch: 0 };
    Ok(episode)
}

/// A candidate as merit-import reads one.
fn row(prompt: Option<&Value>, candidate: &Value) -> Result<Value, String> {
    let messages = candidate.as_array().filter(|list| list.iter().all(|one| one.get("role").is_some()));
    if let Some(messages) = messages {
        let before = match prompt {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => vec![json!({ "role": "user", "content": text })],
            Some(Value::Array(list)) => list.clone(),
            Some(other) => {
                return Err(format!("`prompt` is {other}; it must be a text or a list of messages"));
            }
        };
        let messages = [before, messages.clone()].concat();
        return Ok(json!({ "messages": messages }));
    }
    if candidate.get("transcript").is_some() && candidate.get("turns").is_some() {
        return Ok(json!({ "episode": candidate }));
    }
    let prompt =
        prompt.filter(|prompt| !prompt.is_null()).ok_or("there is no `prompt` before the candidates")?;
    let response = match candidate {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Ok(json!({ "prompt": prompt, "response": response }))
}

/// The pairs of one prompt with different ratings, those farthest apart first and no more than [`MOST`], in an order that a hash decides.
fn of_ratings(rated: Rated) -> Vec<Pair> {
    let mut all = Vec::new();
    for (group, answers) in rated {
        let mut pairs: Vec<(f64, Pair)> = Vec::new();
        for (i, (one, a)) in answers.iter().enumerate() {
            for (j, (other, b)) in
                answers.iter().enumerate().skip(i + 1).filter(|(_, (other, _))| other != one)
            {
                let (better, worse) = if one > other { (a, b) } else { (b, a) };
                let id = format!("{group}/{i}-{j}");
                let pair = Pair::ranked(id, group.clone(), Arc::clone(better), Arc::clone(worse));
                pairs.push(((one - other).abs(), pair));
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.extend(pairs.into_iter().take(MOST).map(|(_, pair)| pair));
    }
    all
}

fn of_folder(path: &Path) -> Result<Vec<Pair>, PairError> {
    let stored = RunFolder::open_read_only(path)?.episodes(&EpisodeFilter::default())?;
    let mut by_task = Rated::new();
    for stored in stored {
        if let Some(worth) = worth(&stored.scored) {
            let episode = Arc::clone(&stored.scored.episode);
            by_task.entry(episode.task.id.clone()).or_default().push((worth, episode));
        }
    }
    Ok(of_ratings(by_task))
}

/// What an episode was worth: by our score, or by the reward that its recorder gave it.
fn worth(scored: &ScoredEpisode) -> Option<f64> {
    scored.reward().or_else(|| scored.episode.reported.as_ref().map(|reported| reported.reward))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn read(lines: &str) -> Result<Vec<Pair>, PairError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        read_pairs(file.path())
    }

    #[test]
    fn a_list_as_sharegpt_writes_it_is_read() {
        let said = |from: &str, value: &str| json!({ "from": from, "value": value });
        let entry = json!({ "conversations": [said("human", "Capital of Peru?")], "chosen": said("gpt", "Lima."),
                            "rejected": said("gpt", "Cuzco.") });
        let list = json!([entry, entry]);
        let pairs = read(&serde_json::to_string_pretty(&list).unwrap()).unwrap();
        let [one, other] = pairs.as_slice() else { panic!("{} pairs", pairs.len()) };
        assert_eq!(one.group, other.group);
        let better = if one.label == Label::A { &one.a } else { &one.b };
        let said: Vec<&str> =
            better.transcript.segments().iter().map(|segment| segment.text.as_str()).collect();
        assert_eq!(said, ["Capital of Peru?", "Lima."]);
        let wrong = |text: &str| read(text).unwrap_err().to_string();
        assert!(wrong(r#"[{"conversations": [{"from": "ghost", "value": "?"}]}]"#).contains("`ghost`"));
        assert!(wrong("[{}").contains("no JSON list"));
    }

    #[test]
    fn what_is_better_does_not_always_stand_first() {
        let line = |n: u32| {
            format!("{{\"prompt\": \"p{n}\", \"chosen\": \"good {n}\", \"rejected\": \"bad {n}\"}}\n")
        };
        let pairs = read(&(0..40).map(line).collect::<String>()).unwrap();
        let first = pairs.iter().filter(|pair| pair.label == Label::A).count();
        assert!((10..=30).contains(&first), "{first} of 40");
        for pair in &pairs {
            let better = if pair.label == Label::A { &pair.a } else { &pair.b };
            assert!(better.answer().unwrap().starts_with("good"));
        }
    }

    #[test]
    fn texts_documents_and_conversations_are_episodes_alike() {
        let lines = r#"{"prompt": "colour?", "a": {"colour": "red"}, "b": "red", "label": "a"}
{"prompt": "hi", "a": [{"role": "assistant", "content": "hello"}], "b": [{"role": "assistant", "content": "go away"}], "label": "TIE"}
{"prompt": "2+2", "response": "4", "rating": 5}
{"prompt": "2+2", "response": "5", "rating": 1}
{"prompt": "2+2", "response": "vier", "rating": 5}
"#;
        let pairs = read(lines).unwrap();
        assert_eq!(pairs[0].a.answer(), Some(r#"{"colour":"red"}"#));
        assert_eq!((pairs[1].label, pairs[1].b.turns.len()), (Label::Tie, 1));
        // Of three ratings 5, 1, 5 two pairs differ.
        assert_eq!(pairs.len(), 4);
        assert_eq!(pairs[2].group, pairs[3].group);
    }

    #[test]
    fn every_line_that_is_no_pair_is_named() {
        let error = read(
            "{\"prompt\": \"p\", \"a\": \"x\", \"b\": \"y\", \"label\": \"c\"}\n{\"chosn\": 1}\nnonsense\n",
        );
        let text = error.unwrap_err().to_string();
        for part in ["3 of 3", "line 1: `label` is \"c\"", "line 2: it has chosn", "line 3: no JSON"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
