//! The rows of a tape: tools, openings and calls, written once and never changed.

use super::entry::{CallEntry, TapedTool, card_from_json, card_to_json, pace_from, pace_name};
use super::key::{self, Fingerprint};
use super::{Tape, TapeCounts, TapeError};
use crate::{Tool, ToolAnswer};
use merit_core::canonical;
use rusqlite::{OptionalExtension as _, Row, params};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A row of `tools`: digest, place, card, pace.
type ToolRow = (Vec<u8>, i64, String, String);

/// What came of opening a tool for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opening {
    /// Whether its sessions keep state.
    pub(super) stateful: bool,
    /// Why it could not be opened. Absent: it could.
    pub(super) error: Option<String>,
}

/// The columns of a call, in the order [`entry`] reads them.
pub(super) const CALL: &str = "strict, loose, tool, digest, task, number, input, answer, text, hash, seconds, recorded_ms, seal \
     FROM calls JOIN texts ON hash = output";

impl Tape {
    /// Notes the tools that settings describe. Other tools under the same settings are refused: their calls would mix.
    pub(super) fn note_tools(&self, digest: Fingerprint, tools: &[Arc<dyn Tool>]) -> Result<(), TapeError> {
        let known: Vec<TapedTool> = self.tools()?.into_iter().filter(|tool| tool.digest == digest).collect();
        let cards = tools.iter().zip(0..).map(|(tool, place)| TapedTool {
            digest,
            place,
            card: tool.spec().clone(),
            pace: tool.exec_kind(),
        });
        let cards: Vec<TapedTool> = cards.collect();
        if known.is_empty() {
            return self.write_tools(&cards).map_err(|error| self.failed(&error));
        }
        let same = known.len() == cards.len() && known.iter().zip(&cards).all(|(a, b)| a.card == b.card);
        if same {
            return Ok(());
        }
        let names = |tools: &[TapedTool]| {
            let names: Vec<&str> = tools.iter().map(|tool| tool.card.name.as_str()).collect();
            names.join(", ")
        };
        let why = format!(
            "these settings described the tools {} before and describe {} now, or their cards changed; use another file",
            names(&known),
            names(&cards)
        );
        Err(TapeError::Device { path: self.path().to_owned(), why })
    }

    pub(super) fn write_tools(&self, tools: &[TapedTool]) -> rusqlite::Result<()> {
        let db = self.db();
        let transaction = db.unchecked_transaction()?;
        for tool in tools {
            let place = i64::try_from(tool.place).unwrap_or(i64::MAX);
            let card = canonical(&card_to_json(&tool.card));
            transaction.execute(
                "INSERT INTO tools (digest, place, name, card, pace) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![&tool.digest.0[..], place, tool.card.name, card, pace_name(tool.pace)],
            )?;
        }
        transaction.commit()
    }

    /// The tools it knows, in order of settings and place.
    pub fn tools(&self) -> Result<Vec<TapedTool>, TapeError> {
        let rows = || -> rusqlite::Result<Vec<ToolRow>> {
            let db = self.db();
            let mut select =
                db.prepare_cached("SELECT digest, place, card, pace FROM tools ORDER BY digest, place")?;
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            select.query_map([], read)?.collect()
        };
        let rows = rows().map_err(|error| self.failed(&error))?;
        rows.into_iter()
            .map(|(digest, place, card, pace)| taped_tool(&digest, place, &card, &pace))
            .collect::<Result<_, String>>()
            .map_err(|why| self.damaged(why))
    }

    /// Notes what came of opening a tool for a task, and returns what stands: the first that was noted.
    pub(super) fn note_opening(
        &self,
        digest: Fingerprint,
        tool: &str,
        task: &str,
        opening: &Opening,
    ) -> Result<Opening, TapeError> {
        if let Some(standing) = self.opening(digest, tool, task)? {
            return Ok(standing);
        }
        let sql = "INSERT OR IGNORE INTO openings (digest, tool, task, stateful, error) VALUES (?1, ?2, ?3, ?4, ?5)";
        let written = self.db().prepare_cached(sql).and_then(|mut insert| {
            insert.execute(params![&digest.0[..], tool, task, opening.stateful, opening.error])
        });
        written.map_err(|error| self.failed(&error))?;
        Ok(self.opening(digest, tool, task)?.unwrap_or_else(|| opening.clone()))
    }

    /// What came of opening a tool for a task. Absent: it was never opened.
    pub(super) fn opening(
        &self,
        digest: Fingerprint,
        tool: &str,
        task: &str,
    ) -> Result<Option<Opening>, TapeError> {
        let sql = "SELECT stateful, error FROM openings WHERE digest = ?1 AND tool = ?2 AND task = ?3";
        let found = self.db().prepare_cached(sql).and_then(|mut select| {
            let read = |row: &Row<'_>| Ok(Opening { stateful: row.get(0)?, error: row.get(1)? });
            select.query_row(params![&digest.0[..], tool, task], read).optional()
        });
        found.map_err(|error| self.failed(&error))
    }

    /// Writes a call unless its key is there, and returns the answer that stands: the first that was written.
    pub(super) fn keep(&self, call: &CallEntry) -> Result<ToolAnswer, TapeError> {
        let new = self.write(call).map_err(|error| self.failed(&error))?;
        if new {
            return Ok(call.answer.clone());
        }
        let standing = self.find(call.strict)?.map(|standing| standing.answer);
        standing.ok_or_else(|| self.damaged("a call is there and not there".to_owned()))
    }

    fn write(&self, call: &CallEntry) -> rusqlite::Result<bool> {
        let (kind, text) = key::parts(&call.answer);
        let output = Fingerprint::of_text(text);
        let db = self.db();
        let transaction = db.unchecked_transaction()?;
        transaction
            .prepare_cached("INSERT OR IGNORE INTO texts (hash, text) VALUES (?1, ?2)")?
            .execute(params![&output.0[..], text])?;
        let written = transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO calls (strict, loose, tool, digest, task, number, input, answer, output, seconds, \
                 recorded_ms, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                &call.strict.0[..],
                &call.loose.0[..],
                call.tool,
                &call.digest.0[..],
                call.task,
                i64::try_from(call.number).unwrap_or(i64::MAX),
                call.input,
                kind,
                &output.0[..],
                call.seconds,
                i64::try_from(call.recorded_ms).unwrap_or(i64::MAX),
                &call.seal().0[..],
            ])?;
        // An answer that does not stand leaves nothing behind.
        if written == 1 {
            transaction.commit()?
        } else {
            transaction.rollback()?
        }
        Ok(written == 1)
    }

    /// The call with this strict key.
    pub(super) fn find(&self, strict: Fingerprint) -> Result<Option<CallEntry>, TapeError> {
        Ok(self.select("WHERE strict = ?1", params![&strict.0[..]])?.pop())
    }

    /// All calls, by task, tool and number.
    pub fn entries(&self) -> Result<Vec<CallEntry>, TapeError> {
        self.select("ORDER BY task, tool, number, strict", [])
    }

    /// The calls that `clause` chooses, each checked against its seal.
    pub(super) fn select(
        &self,
        clause: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<CallEntry>, TapeError> {
        let rows = || -> rusqlite::Result<Vec<Result<CallEntry, String>>> {
            let db = self.db();
            let mut select = db.prepare_cached(&format!("SELECT {CALL} {clause}"))?;
            select.query_map(parameters, entry)?.collect()
        };
        let rows = rows().map_err(|error| self.failed(&error))?;
        rows.into_iter().collect::<Result<_, String>>().map_err(|why| self.damaged(why))
    }

    /// What it holds, and what became of the calls made through it.
    pub fn counts(&self) -> Result<TapeCounts, TapeError> {
        let count = |sql: &str| -> Result<u64, TapeError> {
            let found: Result<i64, _> = self.db().query_row(sql, [], |row| row.get(0));
            found.map(i64::unsigned_abs).map_err(|error| self.failed(&error))
        };
        Ok(TapeCounts {
            calls: count("SELECT count(*) FROM calls")?,
            outputs: count("SELECT count(*) FROM texts")?,
            hits: self.hits.load(Ordering::Relaxed),
            live: self.live.load(Ordering::Relaxed),
            differing: self.differing.load(Ordering::Relaxed),
        })
    }

    pub(super) fn damaged(&self, why: String) -> TapeError {
        TapeError::Damaged { path: self.path().to_owned(), why }
    }
}

fn taped_tool(digest: &[u8], place: i64, card: &str, pace: &str) -> Result<TapedTool, String> {
    let card = serde_json::from_str(card).map_err(|error| format!("a card is no JSON: {error}"))?;
    Ok(TapedTool {
        digest: Fingerprint::from_slice(digest).ok_or("the settings of a tool have no hash")?,
        place: place.unsigned_abs(),
        card: card_from_json(&card)?,
        pace: pace_from(pace).ok_or_else(|| format!("a tool has the pace `{pace}`"))?,
    })
}

/// A row of [`CALL`]. The inner error is a row that something else changed.
fn entry(row: &Row<'_>) -> rusqlite::Result<Result<CallEntry, String>> {
    let print = |column: usize| -> rusqlite::Result<Fingerprint> {
        let bytes: Vec<u8> = row.get(column)?;
        Ok(Fingerprint::from_slice(&bytes).unwrap_or(Fingerprint([0; 32])))
    };
    let (kind, text): (String, String) = (row.get(7)?, row.get(8)?);
    let (hash, seal) = (print(9)?, print(12)?);
    let (number, recorded_ms): (i64, i64) = (row.get(5)?, row.get(11)?);
    let intact = Fingerprint::of_text(&text) == hash;
    let call = CallEntry {
        strict: print(0)?,
        loose: print(1)?,
        tool: row.get(2)?,
        digest: print(3)?,
        task: row.get(4)?,
        number: number.unsigned_abs(),
        input: row.get(6)?,
        answer: key::answer(&kind, text).unwrap_or(ToolAnswer::Broken(String::new())),
        seconds: row.get(10)?,
        recorded_ms: recorded_ms.unsigned_abs(),
    };
    Ok(if intact && call.seal() == seal {
        Ok(call)
    } else {
        let CallEntry { tool, task, number, .. } = call;
        let number = number.saturating_add(1);
        Err(format!("call {number} of `{tool}` for task {task} is not what was recorded"))
    })
}
