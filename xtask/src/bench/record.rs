//! The raw lines of one subject.
//!
//! While the measurement runs, lines go to `NAME.jsonl.tmp`, so that an interrupted run leaves what it had; the end puts the
//! header first and replaces `NAME.jsonl`.

use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Everything that was measured so far.
pub(super) struct Record {
    pub(super) lines: Vec<Value>,
    path: PathBuf,
    growing: PathBuf,
    file: File,
}

impl Record {
    /// Starts anew; the last complete file stays until [`Record::close`].
    pub(super) fn open(folder: &Path, name: &str) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let growing = folder.join(format!("{name}.jsonl.tmp"));
        let file = File::create(&growing).with_context(|| format!("cannot write {}", growing.display()))?;
        Ok(Self { lines: Vec::new(), path: folder.join(format!("{name}.jsonl")), growing, file })
    }

    /// Keeps one line.
    pub(super) fn add(&mut self, line: Value) -> Result<()> {
        writeln!(self.file, "{line}").with_context(|| format!("cannot write {}", self.growing.display()))?;
        self.lines.push(line);
        Ok(())
    }

    /// Puts the header first and replaces the last complete file.
    pub(super) fn close(self, header: &Value) -> Result<()> {
        let lines: String =
            std::iter::once(header).chain(&self.lines).map(|line| format!("{line}\n")).collect();
        std::fs::write(&self.growing, lines)
            .and_then(|()| std::fs::rename(&self.growing, &self.path))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_closed_record_has_its_header_first_and_leaves_no_temporary_file() {
        let folder = std::env::temp_dir().join(format!("merit-record-{}", std::process::id()));
        let mut record = Record::open(&folder, "x").unwrap();
        record.add(json!({"round": 1})).unwrap();
        assert_eq!(std::fs::read_to_string(folder.join("x.jsonl.tmp")).unwrap(), "{\"round\":1}\n");
        record.close(&json!({"header": true})).unwrap();
        assert_eq!(
            std::fs::read_to_string(folder.join("x.jsonl")).unwrap(),
            "{\"header\":true}\n{\"round\":1}\n"
        );
        assert!(!folder.join("x.jsonl.tmp").exists());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
