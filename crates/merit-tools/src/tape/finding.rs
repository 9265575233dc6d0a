//! Which recorded call answers a replayed one; where none does, words that say what was asked, what comes nearest and what to do.

use super::{CallEntry, Fingerprint, Tape, TapeError};
use rusqlite::params;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

/// Longest piece of an input that is shown, in characters.
const SHOWN: usize = 80;
/// Recorded calls that are compared with the missing one.
const COMPARED: u32 = 64;

/// How alike a recorded call must be to answer a replayed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Match {
    /// The same tool with the same settings, task, past and input. The replay is the recorded run or fails.
    #[default]
    Strict,
    /// Failing that, a tool of the same name and the same input but for JSON order and idle white space: of the same task
    /// the call that comes nearest in number; of other tasks only where all of them agree.
    Loose,
}

/// The call that was asked for.
pub(super) struct Wanted<'a> {
    pub(super) tool: &'a str,
    pub(super) digest: Fingerprint,
    pub(super) task: &'a str,
    pub(super) number: u64,
    pub(super) input: &'a str,
}

impl Tape {
    /// The recorded call that answers `wanted`, or why there is none.
    pub(super) fn answer_to(
        &self,
        wanted: &Wanted<'_>,
        strict: Fingerprint,
        loose: Fingerprint,
        matching: Match,
    ) -> Result<CallEntry, TapeError> {
        if let Some(found) = self.find(strict)? {
            return Ok(found);
        }
        match matching {
            Match::Strict => Err(self.miss(wanted, None)),
            Match::Loose => self.loosely(wanted, loose),
        }
    }

    fn loosely(&self, wanted: &Wanted<'_>, loose: Fingerprint) -> Result<CallEntry, TapeError> {
        let number = i64::try_from(wanted.number).unwrap_or(i64::MAX);
        let of_task = "WHERE loose = ?1 AND task = ?2 ORDER BY abs(number - ?3), number, strict LIMIT 1";
        if let Some(found) = self.select(of_task, params![&loose.0[..], wanted.task, number])?.pop() {
            return Ok(found);
        }
        let one_of_each = "WHERE loose = ?1 GROUP BY answer, output ORDER BY min(strict) LIMIT 2";
        let mut found = self.select(one_of_each, params![&loose.0[..]])?;
        if found.len() > 1 {
            let tasks: BTreeSet<&str> = found.iter().map(|call| call.task.as_str()).collect();
            let tasks: Vec<&str> = tasks.into_iter().collect();
            let why = format!(
                "other tasks asked it and were answered differently ({}): the answer depends on the task",
                tasks.join(", ")
            );
            return Err(self.miss(wanted, Some(why)));
        }
        found.pop().ok_or_else(|| self.miss(wanted, None))
    }
}

/// A call that is not on the tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    pub tape: PathBuf,
    pub tool: String,
    pub task: String,
    /// How many calls its episode had made of this source before.
    pub number: u64,
    /// The input of the call.
    pub input: String,
    /// What the tape has instead.
    pub nearest: String,
}

impl std::error::Error for Miss {}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tape, tool, task, nearest, .. } = self;
        let (number, input) = (self.number.saturating_add(1), shown(&self.input));
        write!(
            f,
            "call {number} of `{tool}` for task {task}, with input {input}, is not on the tape {}: {nearest}",
            tape.display()
        )
    }
}

impl Miss {
    /// Whether `one` comes before `other`, whatever the order in which they happened.
    pub(super) fn before(one: &Self, other: &Self) -> bool {
        let place = |miss: &Self| (miss.task.clone(), miss.number, miss.tool.clone(), miss.input.clone());
        place(one) < place(other)
    }
}

impl Tape {
    /// The miss of `wanted`, because of `why` where there is more to say than that it was not recorded.
    fn miss(&self, wanted: &Wanted<'_>, why: Option<String>) -> TapeError {
        let nearest = match why.map_or_else(|| self.nearest(wanted), Ok) {
            Ok(nearest) => nearest,
            Err(error) => return error,
        };
        TapeError::Missed(Box::new(Miss {
            tape: self.path().to_owned(),
            tool: wanted.tool.to_owned(),
            task: wanted.task.to_owned(),
            number: wanted.number,
            input: wanted.input.to_owned(),
            nearest,
        }))
    }

    fn nearest(&self, wanted: &Wanted<'_>) -> Result<String, TapeError> {
        let number = i64::try_from(wanted.number).unwrap_or(i64::MAX);
        let clause = "WHERE tool = ?1 AND task = ?2 ORDER BY abs(number - ?3), strict LIMIT ?4";
        let known = self.select(clause, params![wanted.tool, wanted.task, number, COMPARED])?;
        let alike = |call: &CallEntry| {
            let common = call.input.chars().zip(wanted.input.chars()).take_while(|(a, b)| a == b).count();
            (call.input == wanted.input, std::cmp::Reverse(call.number.abs_diff(wanted.number)), common)
        };
        let Some(best) = known.iter().max_by_key(|call| alike(call)) else {
            return self.nothing_for(wanted);
        };
        let (place, input) = (best.number.saturating_add(1), shown(&best.input));
        Ok(if best.digest != wanted.digest {
            format!("it was recorded with other settings of the tool; nearest is call {place}, {input}")
        } else if best.input == wanted.input && best.number == wanted.number {
            "the same call was recorded after other calls or answers; record again, or match loosely"
                .to_owned()
        } else {
            format!("nearest for this task is call {place} with input {input}")
        })
    }

    fn nothing_for(&self, wanted: &Wanted<'_>) -> Result<String, TapeError> {
        let sql = "SELECT count(*), count(DISTINCT task), min(task) FROM calls WHERE tool = ?1";
        let found = self.db().query_row(sql, [wanted.tool], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<String>>(2)?))
        });
        Ok(match found.map_err(|error| self.failed(&error))? {
            (calls, tasks, Some(first)) => format!(
                "nothing of this task is, but {calls} calls of {tasks} other tasks, such as {first}; was it recorded with \
                 another recipe or seed?"
            ),
            _ => "it has no call of this tool at all; was it recorded with another recipe?".to_owned(),
        })
    }
}

/// The beginning of an input, in quotes.
fn shown(input: &str) -> String {
    let start: String = input.chars().take(SHOWN).collect();
    let cut = if start.len() < input.len() { "…" } else { "" };
    format!("{start:?}{cut}")
}
