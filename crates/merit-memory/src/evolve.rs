//! How a memory changes: candidates are admitted, merged or refused; items gain wins and losses; too many are forgotten.

use crate::shelf::name_of;
use crate::{Candidate, Forgetting, Kind, Memory, MemoryError};
use merit_core::gate::{GateRule, gate};
use merit_core::stats::mean;
use merit_core::{Role, ScoredEpisode};
use rusqlite::{OptionalExtension as _, params};
use serde::Serialize;

/// What came of candidates.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Evolved {
    /// Items that are new.
    pub added: usize,
    /// Candidates that were known already.
    pub merged: usize,
    /// Texts of a profile that took the place of earlier ones.
    pub replaced: usize,
    /// Candidates that the gate refused.
    pub refused: usize,
    /// Items that were forgotten to make room.
    pub forgotten: usize,
}

/// Which items are to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    /// As many as are above this number, by the memory's own rule.
    Above(usize),
    /// Those that lost more often than they won, and at least so often.
    Losing { at_least: u64 },
    /// The item with this id.
    One(i64),
}

impl Evolved {
    fn count(&mut self, became: Became, replaced: &mut Vec<String>) {
        match became {
            Became::New(_) => self.added += 1,
            Became::Known => self.merged += 1,
            Became::Other(before) => {
                self.replaced += 1;
                replaced.push(before);
            }
        }
    }
}

enum Became {
    New(i64),
    Known,
    /// With what was there before, in words.
    Other(String),
}

impl Memory {
    /// Takes candidates in: what is known already is merged, and more than the capacity are forgotten. One change.
    pub fn evolve(&mut self, candidates: Vec<Candidate>) -> Result<Evolved, MemoryError> {
        self.changing(|memory| {
            let version = memory.version()? + 1;
            let (mut evolved, mut replaced) = (Evolved::default(), Vec::new());
            for candidate in candidates {
                evolved.count(memory.take(&candidate, version)?, &mut replaced);
            }
            memory.end(evolved, &replaced)
        })
    }

    /// The same through a gate: each candidate is taken in only if `judge`, asked about the same things without it and with it, says
    /// that the rule is met. Candidates are tried in order, each beside those that were admitted before.
    pub fn evolve_through(
        &mut self,
        candidates: Vec<Candidate>,
        rule: &GateRule,
        mut judge: impl FnMut(&mut Self) -> Result<Vec<f64>, MemoryError>,
    ) -> Result<Evolved, MemoryError> {
        self.changing(|memory| {
            let version = memory.version()? + 1;
            let (mut evolved, mut replaced) = (Evolved::default(), Vec::new());
            let mut before = judge(memory)?;
            for (turn, candidate) in candidates.into_iter().enumerate() {
                memory.db.execute_batch("SAVEPOINT candidate")?;
                let became = memory.take(&candidate, version)?;
                let after = judge(memory)?;
                match gate(&before, &after, rule, turn)?.keep {
                    true => {
                        memory.db.execute_batch("RELEASE candidate")?;
                        evolved.count(became, &mut replaced);
                        before = after;
                    }
                    false => {
                        memory.db.execute_batch("ROLLBACK TO candidate; RELEASE candidate")?;
                        memory.untake(&became);
                        evolved.refused += 1;
                    }
                }
            }
            memory.end(evolved, &replaced)
        })
    }

    /// Items that were shown, and whether what followed was better than usual (`true`), worse (`false`) or neither.
    pub fn feedback(&mut self, shown: &[(i64, Option<bool>)]) -> Result<(), MemoryError> {
        self.changing(|memory| {
            let sql =
                "UPDATE items SET uses = uses + 1, wins = wins + ?2, losses = losses + ?3 WHERE id = ?1";
            for (id, won) in shown {
                let (win, loss) = (i64::from(*won == Some(true)), i64::from(*won == Some(false)));
                memory.db.prepare_cached(sql)?.execute(params![id, win, loss])?;
            }
            memory.note(&format!("{} shown", shown.len())).map(drop)
        })
    }

    /// What groups of episodes say of the items they were shown as hints: those of a group above the mean of all groups win, those
    /// below it lose. How many items were shown.
    pub fn learn_from(&mut self, groups: &[&[ScoredEpisode]]) -> Result<usize, MemoryError> {
        let worth: Vec<Option<f64>> = groups
            .iter()
            .map(|group| mean(&group.iter().filter_map(ScoredEpisode::reward).collect::<Vec<_>>()))
            .collect();
        let Some(usual) = mean(&worth.iter().copied().flatten().collect::<Vec<_>>()) else { return Ok(0) };
        let mut shown = Vec::new();
        for (group, worth) in groups.iter().zip(worth) {
            let (Some(first), Some(worth)) = (group.first(), worth) else { continue };
            let better = ((worth - usual).abs() > 1e-9).then_some(worth > usual);
            let hints = first.episode.transcript.segments().iter().filter(|s| s.role == Role::Hint);
            for hint in hints {
                let mut row = self.db.prepare_cached("SELECT id FROM items WHERE text = ?1")?;
                let found: Option<i64> = row.query_row([&hint.text], |row| row.get(0)).optional()?;
                shown.extend(found.map(|id| (id, better)));
            }
        }
        if !shown.is_empty() {
            self.feedback(&shown)?;
        }
        Ok(shown.len())
    }

    /// Forgets items; how many. What is forgotten is named in the record of changes.
    pub fn prune(&mut self, which: Forgotten) -> Result<usize, MemoryError> {
        self.changing(|memory| {
            let gone = match which {
                Forgotten::Above(room) => memory.forget_above(room)?,
                Forgotten::Losing { at_least } => {
                    let sql = "SELECT id FROM items WHERE losses > wins AND losses >= ?1";
                    memory.forget(sql, at_least as i64)?
                }
                Forgotten::One(id) => memory.forget("SELECT id FROM items WHERE id = ?1", id)?,
            };
            if gone > 0 {
                memory.note(&format!("forgot {gone}"))?;
            }
            Ok(gone)
        })
    }

    /// One transaction; when it fails, nothing of it stays.
    fn changing<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        self.db.execute_batch("BEGIN IMMEDIATE")?;
        let done = change(self).and_then(|done| {
            self.db.execute_batch("COMMIT")?;
            Ok(done)
        });
        if done.is_err() {
            // What is searched is read again from what stayed.
            self.shelf = None;
            _ = self.db.execute_batch("ROLLBACK");
        }
        done
    }

    fn take(&mut self, candidate: &Candidate, version: u64) -> Result<Became, MemoryError> {
        let (key, name) = (candidate.found_by(), name_of(candidate.found_by()));
        let known = match self.settings.kind {
            Kind::Profile => "SELECT id, text FROM items WHERE name = ?1",
            _ => "SELECT id, text FROM items WHERE name = ?1 AND text = ?2",
        };
        let bound: &[&dyn rusqlite::ToSql] = match self.settings.kind {
            Kind::Profile => &[&name],
            _ => &[&name, &candidate.text],
        };
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        let known = self.db.prepare_cached(known)?.query_row(bound, row).optional()?;
        match known {
            Some((id, text)) if text == candidate.text => {
                let sql = "UPDATE items SET repeats = repeats + 1, value = max(value, ?2) WHERE id = ?1";
                self.db.prepare_cached(sql)?.execute(params![id, candidate.value])?;
                Ok(Became::Known)
            }
            Some((id, text)) => {
                let sql = "UPDATE items SET text = ?2, run = ?3, policy_version = ?4, task = ?5, version = ?6, value = ?7 WHERE id = ?1";
                let by = &candidate.made_by;
                self.db.prepare_cached(sql)?.execute(params![
                    id,
                    candidate.text,
                    by.run,
                    by.policy_version as i64,
                    by.task,
                    version as i64,
                    candidate.value
                ])?;
                Ok(Became::Other(format!("item {id} was: {text}")))
            }
            None => self.insert(candidate, key, &name, version).map(Became::New),
        }
    }

    fn insert(
        &mut self,
        candidate: &Candidate,
        key: &str,
        name: &str,
        version: u64,
    ) -> Result<i64, MemoryError> {
        let sql = "INSERT INTO items (name, key, text, payload, run, policy_version, task, version, value)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let by = &candidate.made_by;
        self.db.prepare_cached(sql)?.execute(params![
            name,
            key,
            candidate.text,
            candidate.payload.as_ref().map(ToString::to_string),
            by.run,
            by.policy_version as i64,
            by.task,
            version as i64,
            candidate.value
        ])?;
        let id = self.db.last_insert_rowid();
        for edge in &candidate.edges {
            let sql = "INSERT OR IGNORE INTO edges VALUES (?1, ?2, ?3)";
            self.db.prepare_cached(sql)?.execute(params![id, edge.relation, name_of(&edge.to)])?;
        }
        if let Some(shelf) = &mut self.shelf {
            shelf.push(id, key)?;
        }
        Ok(id)
    }

    /// The shelf without a candidate whose rows were rolled back. Its number is given again.
    fn untake(&mut self, became: &Became) {
        if let (Became::New(id), Some(shelf)) = (became, &mut self.shelf) {
            shelf.void(*id);
        }
    }

    fn forget_above(&mut self, room: usize) -> Result<usize, MemoryError> {
        let surplus = self.len()?.saturating_sub(room);
        if surplus == 0 {
            return Ok(0);
        }
        let order = match self.settings.forgetting {
            Forgetting::Oldest => "id",
            Forgetting::LeastUsed => "uses, id",
            Forgetting::LeastWorth => "(wins + 1.0) / (wins + losses + 2.0), value, id",
        };
        self.forget(&format!("SELECT id FROM items ORDER BY {order} LIMIT ?1"), surplus as i64)
    }

    fn forget(&mut self, which: &str, bound: i64) -> Result<usize, MemoryError> {
        let ids: Vec<i64> =
            self.db.prepare(which)?.query_map([bound], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for id in &ids {
            self.db.prepare_cached("DELETE FROM edges WHERE item = ?1")?.execute([id])?;
            self.db.prepare_cached("DELETE FROM items WHERE id = ?1")?.execute([id])?;
            if let Some(shelf) = &mut self.shelf {
                shelf.remove(*id);
            }
        }
        Ok(ids.len())
    }

    /// Makes room, and notes what was done as one change.
    fn end(&mut self, mut evolved: Evolved, replaced: &[String]) -> Result<Evolved, MemoryError> {
        evolved.forgotten = self.forget_above(self.settings.capacity)?;
        let Evolved { added, merged, replaced: _, refused, forgotten } = evolved;
        let mut what = format!("added {added}, merged {merged}, refused {refused}, forgot {forgotten}");
        replaced.iter().for_each(|before| what += &format!("; {before}"));
        self.note(&what)?;
        Ok(evolved)
    }
}
