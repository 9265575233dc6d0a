//! Kept answers: what was said and paid for, one JSON line each, written as soon as it is heard.
//!
//! In: a file that may not exist yet. Out: what was said under a key, without asking again. A process that is killed loses at most what
//! is under way; a line that was cut in the middle is cut off when the file is next opened.

use crate::asked::Said;
use merit_core::Cost;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Why kept answers cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// The file cannot be read or written.
    #[error("{}: {why}", file.display())]
    File { file: PathBuf, why: io::Error },
    /// A line is none of ours.
    #[error("{} line {line} is no kept answer: {why}", file.display())]
    Line {
        file: PathBuf,
        /// Counted from 1.
        line: usize,
        why: serde_json::Error,
    },
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    /// Who said it; the budget of a judge counts its own lines only.
    by: String,
    text: String,
    #[serde(default)]
    cost: Cost,
}

/// What was said, by key.
#[derive(Default)]
pub struct Kept {
    said: HashMap<String, (String, Said)>,
    file: Option<(PathBuf, File)>,
}

impl Kept {
    /// Answers that are kept for as long as the judge is.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Answers that are kept in a file.
    pub fn open(path: &Path) -> Result<Self, KeptError> {
        let failed = |why| KeptError::File { file: path.to_owned(), why };
        let text = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut said = HashMap::new();
        let lines = text[..whole].split(|byte| *byte == b'\n').enumerate();
        for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
            let line: Line = serde_json::from_slice(line).map_err(|why| KeptError::Line {
                file: path.to_owned(),
                line: at + 1,
                why,
            })?;
            said.insert(line.key, (line.by, Said { text: line.text, cost: line.cost }));
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        Ok(Self { said, file: Some((path.to_owned(), file)) })
    }

    /// What was said under this key.
    pub fn get(&self, key: &str) -> Option<&Said> {
        self.said.get(key).map(|(_, said)| said)
    }

    /// How many answers of this judge there are: each was paid for once.
    pub fn paid_by(&self, judge: &str) -> u64 {
        self.said.values().filter(|(by, _)| by == judge).count() as u64
    }

    /// Keeps one more. It is in the file when this returns.
    pub fn keep(&mut self, key: String, by: &str, said: Said) -> Result<(), KeptError> {
        let line = Line { key: key.clone(), by: by.to_owned(), text: said.text.clone(), cost: said.cost };
        let written = match &mut self.file {
            Some((path, file)) => {
                let failed = |why| KeptError::File { file: path.clone(), why };
                let mut text = serde_json::to_vec(&line).map_err(|error| failed(error.into()))?;
                text.push(b'\n');
                file.write_all(&text).map_err(failed)
            }
            None => Ok(()),
        };
        self.said.insert(key, (line.by, said));
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Said {
        Said { text: text.into(), cost: Cost { judge_calls: 1, ..Cost::default() } }
    }

    #[test]
    fn answers_are_found_again_and_a_cut_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/answers.jsonl");
        let mut kept = Kept::open(&path).unwrap();
        kept.keep("a".into(), "judge", said("one\nline")).unwrap();
        kept.keep("b".into(), "other", said("two")).unwrap();
        drop(kept);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"{\"key\": \"c\", \"by\": \"jud"].concat()).unwrap();
        let mut kept = Kept::open(&path).unwrap();
        assert_eq!(kept.get("a").map(|said| said.text.as_str()), Some("one\nline"));
        assert_eq!((kept.get("c").is_none(), kept.paid_by("judge")), (true, 1));
        kept.keep("c".into(), "judge", said("three")).unwrap();
        assert_eq!(Kept::open(&path).unwrap().paid_by("judge"), 2);
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        std::fs::write(&path, "hello\n").unwrap();
        assert!(matches!(Kept::open(&path), Err(KeptError::Line { line: 1, .. })));
    }
}
