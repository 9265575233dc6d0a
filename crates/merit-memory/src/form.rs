//! What is worth keeping? Lines and scored episodes become candidates.
//!
//! In: lines of text or JSON, or episodes with their rewards. Out: candidates that say who made them. Pure. Reflections are made by
//! a rule (what the best and the worst episode of a task did differently), not by a model.

use crate::{Candidate, Edge, Kind, MadeBy, MemoryError};
use merit_core::{Role, ScoredEpisode, Transcript};
use serde::Deserialize;

/// A line as people write it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    text: String,
    key: Option<String>,
    payload: Option<serde_json::Value>,
    #[serde(default)]
    about: Vec<String>,
    #[serde(default)]
    edges: Vec<Edge>,
    #[serde(default)]
    made_by: Option<MadeBy>,
    #[serde(default)]
    value: f64,
}

/// One candidate a line: plain text, or a JSON object with `text` and, if wanted, `key`, `payload`, `about` (names), `edges`
/// (`relation`, `to`), `made_by` and `value`. Empty lines are passed over.
pub fn lines(text: &str, source: &str) -> Result<Vec<Candidate>, MemoryError> {
    let mut found = Vec::new();
    // Programs of Windows begin a file with a mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let made_by = MadeBy { run: source.to_owned(), ..MadeBy::default() };
        if !line.trim_start().starts_with('{') {
            found.push(Candidate { made_by, ..Candidate::new(line.trim()) });
            continue;
        }
        let broken = |why: String| MemoryError::Line { source_name: source.to_owned(), line: at + 1, why };
        let line: Line = serde_json::from_str(line).map_err(|why| broken(format!("no item: {why}")))?;
        if line.text.trim().is_empty() {
            return Err(broken("`text` is empty; an item needs words".to_owned()));
        }
        let about = line.about.into_iter().map(|to| Edge { relation: "about".to_owned(), to });
        found.push(Candidate {
            key: line.key,
            text: line.text,
            payload: line.payload,
            edges: about.chain(line.edges).collect(),
            made_by: line.made_by.unwrap_or(made_by),
            value: line.value,
        });
    }
    Ok(found)
}

/// What of an episode is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept {
    /// The reward from which on facts and experiences are kept.
    pub stored_at: f64,
    /// Letters of an item; longer ones are not kept.
    pub longest: usize,
}

/// Candidates of a kind from the episodes of one task. A profile is not formed from episodes.
pub fn episodes(kind: Kind, group: &[ScoredEpisode], by: &MadeBy, kept: &Kept) -> Vec<Candidate> {
    let good =
        || group.iter().filter(|scored| scored.reward().is_some_and(|reward| reward >= kept.stored_at));
    match kind {
        Kind::Facts => good().flat_map(|scored| facts(scored, by, kept.longest)).collect(),
        Kind::Experiences => good().flat_map(|scored| experiences(scored, by, kept.longest)).collect(),
        Kind::Reflections => reflection(group, by, kept.longest).into_iter().collect(),
        Kind::Profile => Vec::new(),
    }
}

/// Turns of an episode, each found by everything that was said before it: `like BEFORE say TURN`. Those longer than `longest` letters
/// with what was before them are left out, and so is an episode without a reward.
pub fn experiences(scored: &ScoredEpisode, by: &MadeBy, longest: usize) -> Vec<Candidate> {
    let Some(value) = scored.reward() else { return Vec::new() };
    let short = turns(&scored.episode.transcript)
        .into_iter()
        .filter(|(before, turn)| before.len() + turn.len() <= longest);
    let candidate = |(before, turn): (String, String)| Candidate {
        text: shown(&before, &turn),
        key: Some(before),
        made_by: by.clone(),
        value,
        ..Candidate::default()
    };
    short.map(candidate).collect()
}

/// What the world and its tools said after the first turn of an episode, line by line.
pub fn facts(scored: &ScoredEpisode, by: &MadeBy, longest: usize) -> Vec<Candidate> {
    let Some(value) = scored.reward() else { return Vec::new() };
    let segments = scored.episode.transcript.segments();
    let later = segments.iter().skip_while(|segment| segment.role != Role::Policy);
    let said = later.filter(|segment| matches!(segment.role, Role::Tool | Role::Environment | Role::User));
    let lines = said.flat_map(|segment| segment.text.lines()).map(str::trim);
    lines
        .filter(|line| !line.is_empty() && line.len() <= longest)
        .map(|line| Candidate { made_by: by.clone(), value, ..Candidate::new(line) })
        .collect()
}

/// Where the best and the worst episode of a group part ways: `for PROMPT say TURN not TURN`. Nothing when they are worth the same
/// or never part.
pub fn reflection(group: &[ScoredEpisode], by: &MadeBy, longest: usize) -> Option<Candidate> {
    let valued = || group.iter().filter_map(|scored| Some((scored.reward()?, scored)));
    let best = valued().fold(None, |best: Option<(f64, &ScoredEpisode)>, one| match best {
        Some(best) if best.0 >= one.0 => Some(best),
        _ => Some(one),
    })?;
    let worst = valued().fold(best, |worst, one| if one.0 < worst.0 { one } else { worst });
    if best.0 - worst.0 <= 1e-9 {
        return None;
    }
    let (good, bad) = (turns(&best.1.episode.transcript), turns(&worst.1.episode.transcript));
    let prompt = good.first().map(|(before, _)| before.clone())?;
    let (good, bad) = good.iter().zip(&bad).find(|(good, bad)| good.1 != bad.1)?;
    let text = format!("for {prompt} say {} not {}", good.1, bad.1);
    let short = text.len() <= longest;
    short.then(|| Candidate {
        key: Some(prompt),
        text,
        made_by: by.clone(),
        value: best.0 - worst.0,
        ..Candidate::default()
    })
}

/// A turn as it is shown elsewhere.
pub fn shown(before: &str, turn: &str) -> String {
    format!("like {before} say {turn}")
}

/// Every turn of the policy with what was said before it, without instructions and hints.
pub fn turns(transcript: &Transcript) -> Vec<(String, String)> {
    let (mut before, mut found) = (Vec::new(), Vec::new());
    for segment in transcript.segments().iter().filter(|s| !matches!(s.role, Role::System | Role::Hint)) {
        let words: Vec<&str> = segment.text.split_whitespace().collect();
        if segment.role == Role::Policy && !words.is_empty() {
            found.push((before.join(" "), words.join(" ")));
        }
        before.extend(words);
    }
    found
}
