//! Which recorded call answers a replayed one.

use super::miss::Wanted;
use super::{CallEntry, Fingerprint, Tape, TapeError};
use rusqlite::params;
use std::collections::BTreeSet;

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
