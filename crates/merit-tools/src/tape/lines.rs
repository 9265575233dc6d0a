//! A tape as JSON lines, one fact a line in a fixed order, so that people can review it and programs compare it.
//!
//! The first line says what it is; then come tools, openings and calls. Reading it back makes a tape with the same content:
//! what was edited by hand is taken at its word, and only what cannot be read is refused.

use super::book::Opening;
use super::entry::{card_from_json, card_to_json, pace_from, pace_name};
use super::file::{self, FORMAT, TapeKind};
use super::{CallEntry, Fingerprint, Tape, TapeError, TapedTool, key};
use rusqlite::Row;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{BufRead, Read as _, Write};
use std::path::Path;
use std::sync::Arc;

/// Longest line that is read.
const LONGEST: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Line {
    Tape { format: i64, kind: String },
    Tool { digest: String, place: u64, pace: String, card: Value },
    Opening { digest: String, tool: String, task: String, stateful: bool, error: Option<String> },
    Call(CallLine),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    task: String,
    tool: String,
    number: u64,
    input: String,
    answer: String,
    output: String,
    seconds: f64,
    recorded_ms: u64,
    strict: String,
    loose: String,
    digest: String,
}

impl Tape {
    /// Writes everything as JSON lines.
    pub fn export(&self, out: &mut dyn Write) -> Result<(), TapeError> {
        let mut lines = vec![Line::Tape { format: FORMAT, kind: self.kind().name().to_owned() }];
        lines.extend(self.tools()?.into_iter().map(|tool| Line::Tool {
            digest: tool.digest.to_string(),
            place: tool.place,
            pace: pace_name(tool.pace).to_owned(),
            card: card_to_json(&tool.card),
        }));
        lines.extend(self.openings()?);
        lines.extend(self.entries()?.into_iter().map(|call| Line::Call(call_line(call))));
        for line in lines {
            let written = serde_json::to_writer(&mut *out, &line).map_err(std::io::Error::from);
            written.and_then(|()| out.write_all(b"\n")).map_err(|error| TapeError::Device {
                path: self.path().to_owned(),
                why: format!("its export: {error}"),
            })?;
        }
        Ok(())
    }

    fn openings(&self) -> Result<Vec<Line>, TapeError> {
        let rows = || -> rusqlite::Result<Vec<Line>> {
            let db = self.db();
            let sql =
                "SELECT hex(digest), tool, task, stateful, error FROM openings ORDER BY task, tool, digest";
            let read = |row: &Row<'_>| {
                let digest: String = row.get(0)?;
                Ok(Line::Opening {
                    digest: digest.to_lowercase(),
                    tool: row.get(1)?,
                    task: row.get(2)?,
                    stateful: row.get(3)?,
                    error: row.get(4)?,
                })
            };
            db.prepare(sql)?.query_map([], read)?.collect()
        };
        rows().map_err(|error| self.failed(&error))
    }

    /// Makes a new tape at `path` from what [`Tape::export`] wrote.
    pub fn import(path: &Path, lines: &mut dyn BufRead) -> Result<Arc<Self>, TapeError> {
        if !file::is_free(path)? {
            return Err(TapeError::Exists { path: path.to_owned() });
        }
        let bad = |line: usize, why: &str| TapeError::Line { line, why: why.to_owned() };
        let Some(Line::Tape { format, kind }) = read_line(lines, 1)? else {
            return Err(bad(
                1,
                "it must say what the tape is: {\"tape\":{\"format\":1,\"kind\":\"recording\"}}",
            ));
        };
        if format > FORMAT {
            return Err(TapeError::Newer { path: path.to_owned(), found: format, known: FORMAT });
        }
        let kind = TapeKind::parse(&kind).ok_or_else(|| bad(1, "its `kind` is `recording` or `cache`"))?;
        let tape = Self::made(path, kind)?;
        if let Err(error) = tape.take_all(lines) {
            // Half a tape would pass for a whole one.
            drop(tape);
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(tape)
    }

    /// Takes in what follows the first line.
    fn take_all(&self, lines: &mut dyn BufRead) -> Result<(), TapeError> {
        let mut number = 2;
        while let Some(line) = read_line(lines, number)? {
            self.take_in(line, number)?;
            number += 1;
        }
        Ok(())
    }

    fn take_in(&self, line: Line, number: usize) -> Result<(), TapeError> {
        let bad = |why: String| TapeError::Line { line: number, why };
        let print = |hex: &str| Fingerprint::parse(hex).ok_or_else(|| bad(format!("`{hex}` is no hash")));
        match line {
            Line::Tape { .. } => Err(bad("only the first line says what the tape is".to_owned())),
            Line::Tool { digest, place, pace, card } => {
                let tool = TapedTool {
                    digest: print(&digest)?,
                    place,
                    card: card_from_json(&card).map_err(bad)?,
                    pace: pace_from(&pace).ok_or_else(|| bad(format!("no pace `{pace}`")))?,
                };
                self.write_tools(&[tool]).map_err(|error| self.failed(&error))
            }
            Line::Opening { digest, tool, task, stateful, error } => {
                let opening = Opening { stateful, error };
                self.note_opening(print(&digest)?, &tool, &task, &opening).map(|_| ())
            }
            Line::Call(call) => {
                let answer = key::answer(&call.answer, call.output);
                let call = CallEntry {
                    strict: print(&call.strict)?,
                    loose: print(&call.loose)?,
                    digest: print(&call.digest)?,
                    answer: answer.ok_or_else(|| bad(format!("no kind of answer `{}`", call.answer)))?,
                    tool: call.tool,
                    task: call.task,
                    number: call.number,
                    input: call.input,
                    seconds: call.seconds,
                    recorded_ms: call.recorded_ms,
                };
                self.keep(&call).map(|_| ())
            }
        }
    }
}

fn call_line(call: CallEntry) -> CallLine {
    let (answer, output) = key::parts(&call.answer);
    CallLine {
        answer: answer.to_owned(),
        output: output.to_owned(),
        strict: call.strict.to_string(),
        loose: call.loose.to_string(),
        digest: call.digest.to_string(),
        task: call.task,
        tool: call.tool,
        number: call.number,
        input: call.input,
        seconds: call.seconds,
        recorded_ms: call.recorded_ms,
    }
}

/// The next line. Absent: there is none.
fn read_line(lines: &mut dyn BufRead, number: usize) -> Result<Option<Line>, TapeError> {
    let bad = |why: String| TapeError::Line { line: number, why };
    let mut text = String::new();
    let read = lines.take(LONGEST).read_line(&mut text).map_err(|error| bad(error.to_string()))?;
    if read == 0 {
        return Ok(None);
    }
    serde_json::from_str(&text).map(Some).map_err(|error| bad(error.to_string()))
}
