//! The tasks a reward is tried on: from a file of lines, from a folder of recorded episodes, or the ones that come along.

mod folder;
mod line;
mod samples;

use crate::error::AttackError;
use crate::subject::Subject;
use merit_core::{Task, TaskLine};
use std::path::Path;
use std::sync::Arc;

pub use samples::{SAMPLES, Sample, general, sample_of};

/// A task as the scorer and as the attacker see it.
pub type Given = (Arc<Task>, Subject);

/// The tasks in `path`: a file of JSON lines, or the folder of a run or an import, of which at most `most` are taken.
pub fn load(path: &Path, most: usize) -> Result<Vec<Given>, AttackError> {
    let file = path.display().to_string();
    let tasks = if path.is_dir() {
        folder::read(path, most)?
    } else {
        let text = std::fs::read_to_string(path)
            .map_err(|e| AttackError::Read { file: file.clone(), why: e.to_string() })?;
        parse(&file, &text)?
    };
    if tasks.is_empty() { Err(AttackError::EmptyTasks { file }) } else { Ok(tasks) }
}

/// The tasks in the text of a file, one JSON object a line. Empty lines are passed over.
///
/// ```
/// let tasks = merit_attack::tasks::parse("t.jsonl", r#"{"prompt": "2 + 2?", "answer": "4"}"#)?;
/// assert_eq!(tasks[0].1.gold.as_deref(), Some("4"));
/// let wrong = merit_attack::tasks::parse("t.jsonl", r#"{"promt": "2 + 2?"}"#).unwrap_err();
/// assert!(wrong.to_string().starts_with("t.jsonl, line 1: unknown field `promt`"));
/// # Ok::<(), merit_attack::AttackError>(())
/// ```
pub fn parse(file: &str, text: &str) -> Result<Vec<Given>, AttackError> {
    let mut lines = Vec::new();
    // Programs of Windows begin a file with a mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (at, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let bad = |why: String| AttackError::TaskLine { file: file.to_owned(), line: at + 1, why };
        let line = TaskLine::read(text).map_err(bad)?;
        line::check(&line).map_err(bad)?;
        lines.push(line);
    }
    Ok(with_others(lines.into_iter().enumerate().map(|(at, line)| line::given(line, file, at)).collect()))
}

/// Right answers of other tasks stand for plausible wrong ones, where a task names none itself.
fn with_others(mut tasks: Vec<Given>) -> Vec<Given> {
    const MOST: usize = 30;
    let answers: Vec<String> = tasks.iter().filter_map(|(_, subject)| subject.gold.clone()).collect();
    for (_, subject) in &mut tasks {
        if subject.others.is_empty() {
            let mut others: Vec<String> =
                answers.iter().filter(|answer| !subject.is_right(answer)).cloned().collect();
            others.dedup();
            others.truncate(MOST);
            subject.others = others;
        }
    }
    tasks
}
