//! Reading a run back: whole episodes, their heads, terms, metrics, events and costs, always in the order of their names.

use crate::wire::{Streams, WireEpisode};
use crate::{
    CreditRow, EpisodeFilter, EpisodeRow, Event, Metric, RunFolder, StoreError, StoredEpisode, TermRow, blobs,
};
use merit_core::{
    Annotations, Cost, Episode, EpisodeId, Outcome, Phase, PolicyVersion, ScoredEpisode, Task, TokenId,
};
use rusqlite::types::Value;
use rusqlite::{Row, ToSql};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

const MATCHING: &str = "
WHERE (:phase IS NULL OR e.phase = :phase) AND (:step IS NULL OR e.step = :step)
  AND (:grp IS NULL OR e.grp = :grp) AND (:task_id IS NULL OR e.task_id = :task_id)";
const IN_ORDER: &str = "ORDER BY e.phase, e.step, e.grp, e.member, e.branch";
const ID: &str = "e.phase, e.step, e.grp, e.member, e.branch";

impl RunFolder {
    /// One whole episode. Absent: it is not recorded.
    pub fn episode(&self, id: &EpisodeId) -> Result<Option<StoredEpisode>, StoreError> {
        let group = self.episodes(&EpisodeFilter::group(&id.phase, id.step, id.group))?;
        Ok(group.into_iter().find(|stored| stored.scored.episode.id == *id))
    }

    /// Whole episodes, in the order of their names.
    pub fn episodes(&self, filter: &EpisodeFilter) -> Result<Vec<StoredEpisode>, StoreError> {
        let mut found = Vec::new();
        self.each_episode(filter, |stored| {
            found.push(stored);
            Ok::<_, StoreError>(())
        })?;
        Ok(found)
    }

    /// Whole episodes one after the other, in the order of their names: of a long run, only one is in memory.
    pub fn each_episode<E: From<StoreError>>(
        &self,
        filter: &EpisodeFilter,
        mut with: impl FnMut(StoredEpisode) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = format!(
            "SELECT {ID}, e.policy_version, e.policy_tokens, e.read_tokens, e.env_steps, e.probe_steps, e.tool_calls,
                e.tool_seconds, e.judge_calls, e.judge_tokens, e.discarded_samples, e.record, e.score, e.tokens,
                e.logprobs, e.token_values, e.task, t.record, c.advantages, c.note
             FROM episodes e JOIN tasks t ON t.key = e.task LEFT JOIN credits c ON c.episode = e.key {MATCHING} {IN_ORDER}"
        );
        let failed = |why: rusqlite::Error| self.failed(&why);
        let mut statement = self.db.prepare_cached(&sql).map_err(failed)?;
        let values = values(filter);
        let mut rows = statement.query(&named(&values)).map_err(failed)?;
        let mut tasks = HashMap::new();
        while let Some(row) = rows.next().map_err(failed)? {
            with(self.episode_of(whole(row).map_err(failed)?, &mut tasks)?)?;
        }
        Ok(())
    }

    /// Heads of episodes, in the order of their names.
    pub fn episode_rows(&self, filter: &EpisodeFilter) -> Result<Vec<EpisodeRow>, StoreError> {
        let sql = format!(
            "SELECT {ID}, e.policy_version, e.task_id, e.size, e.outcome, e.reward, e.solved, e.end, e.turns,
                e.tool_calls, e.policy_tokens, coalesce(e.record ->> '$.tokens_unknown', 0)
             FROM episodes e {MATCHING} {IN_ORDER}"
        );
        self.matching(&sql, filter, head)
    }

    /// Terms of scores, in the order of episodes and of the reward's file.
    pub fn term_rows(&self, filter: &EpisodeFilter) -> Result<Vec<TermRow>, StoreError> {
        let sql = format!(
            "SELECT {ID}, s.term, s.value, s.outcome, s.weight FROM scores s JOIN episodes e ON e.key = s.episode
             {MATCHING} {IN_ORDER}, s.place"
        );
        self.matching(&sql, filter, |row| {
            let (term, value, outcome) = (row.get(5)?, row.get(6)?, row.get(7)?);
            Ok(TermRow { episode: id(row)?, term, value, outcome, weight: row.get(8)? })
        })
    }

    /// The phases that have episodes or metrics, sorted.
    pub fn phases(&self) -> Result<Vec<Phase>, StoreError> {
        let sql = "SELECT phase FROM episodes UNION SELECT phase FROM metrics ORDER BY 1";
        self.all(sql, [], |row| text_phase(row, 0))
    }

    /// Every metric, by phase, step and name.
    pub fn metrics(&self) -> Result<Vec<Metric>, StoreError> {
        let sql = "SELECT phase, step, name, value FROM metrics ORDER BY phase, step, name";
        self.all(sql, [], |row| {
            let name = row.get(2)?;
            Ok(Metric {
                phase: text_phase(row, 0)?,
                step: row.get::<_, i64>(1)? as u64,
                name,
                value: number(row, 3)?,
            })
        })
    }

    /// One metric over the steps of a phase.
    pub fn metric(&self, phase: impl Into<Phase>, name: &str) -> Result<Vec<(u64, f64)>, StoreError> {
        let sql = "SELECT step, value FROM metrics WHERE phase = ?1 AND name = ?2 ORDER BY step";
        self.all(sql, [phase.into().to_string().as_str(), name], |row| {
            Ok((row.get::<_, i64>(0)? as u64, number(row, 1)?))
        })
    }

    /// Every event, in the order recorded.
    pub fn events(&self) -> Result<Vec<Event>, StoreError> {
        self.all("SELECT time_ms, kind, text FROM events ORDER BY key", [], |row| {
            Ok(Event { time_ms: row.get::<_, i64>(0)? as u64, kind: row.get(1)?, text: row.get(2)? })
        })
    }

    /// What each phase has cost: its episodes and what was recorded beside them.
    pub fn costs(&self) -> Result<BTreeMap<Phase, Cost>, StoreError> {
        let sql = "SELECT phase, sum(policy_tokens), sum(read_tokens), sum(env_steps), sum(probe_steps), sum(tool_calls),
            total(tool_seconds), sum(judge_calls), sum(judge_tokens), sum(discarded_samples),
            max(coalesce(record ->> '$.tokens_unknown', 0)), max(coalesce(record ->> '$.seconds_unknown', 0))
            FROM episodes GROUP BY phase";
        let of_episodes = self.all(sql, [], |row| {
            let unknown = (row.get(10)?, row.get(11)?);
            let cost = Cost { tokens_unknown: unknown.0, seconds_unknown: unknown.1, ..cost(row, 1)? };
            Ok((text_phase(row, 0)?, cost))
        })?;
        let sql = "SELECT phase, record FROM costs ORDER BY phase, step";
        let beside = self.all(sql, [], |row| Ok((text_phase(row, 0)?, row.get::<_, String>(1)?)))?;
        let mut totals: BTreeMap<Phase, Cost> = of_episodes.into_iter().collect();
        for (phase, record) in beside {
            *totals.entry(phase).or_default() += self.parse::<Cost>(&record)?;
        }
        Ok(totals)
    }

    /// What each step of a phase has cost beside its episodes.
    pub fn costs_beside(&self, phase: impl Into<Phase>) -> Result<Vec<(u64, Cost)>, StoreError> {
        let sql = "SELECT step, record FROM costs WHERE phase = ?1 ORDER BY step";
        let rows = self.all(sql, [phase.into().to_string()], |row| {
            Ok((row.get::<_, i64>(0)? as u64, row.get::<_, String>(1)?))
        })?;
        rows.into_iter().map(|(step, record)| Ok((step, self.parse(&record)?))).collect()
    }

    /// What was said of the episodes when they were recorded. Empty for a run of a version without annotators.
    pub fn annotations(&self) -> Result<Annotations, StoreError> {
        let known = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'annotations'";
        if self.all(known, [], |row| row.get::<_, String>(0))?.is_empty() {
            return Ok(Annotations::new());
        }
        let sql = format!(
            "SELECT {ID}, a.record FROM annotations a JOIN episodes e ON e.key = a.episode {IN_ORDER}, a.place"
        );
        let mut annotations = Annotations::new();
        for (episode, record) in self.all(&sql, [], |row| Ok((id(row)?, row.get::<_, String>(5)?)))? {
            annotations.entry(episode).or_default().push(self.parse(&record)?);
        }
        Ok(annotations)
    }

    /// What was said of the recorded episodes of one step. One of which nothing was said has an empty list.
    pub fn annotations_of(&self, phase: &Phase, step: u64) -> Result<Annotations, StoreError> {
        let values = (phase.to_string(), step as i64);
        let sql = format!("SELECT {ID} FROM episodes e WHERE e.phase = ?1 AND e.step = ?2");
        let recorded = self.all(&sql, values.clone(), id)?;
        let mut annotations: Annotations = recorded.into_iter().map(|id| (id, Vec::new())).collect();
        let sql = format!(
            "SELECT {ID}, a.record FROM annotations a JOIN episodes e ON e.key = a.episode \
             WHERE e.phase = ?1 AND e.step = ?2 {IN_ORDER}, a.place"
        );
        for (episode, record) in self.all(&sql, values, |row| Ok((id(row)?, row.get::<_, String>(5)?)))? {
            annotations.entry(episode).or_default().push(self.parse(&record)?);
        }
        Ok(annotations)
    }

    /// How tokens read, where it was recorded.
    pub fn vocabulary(&self) -> Result<HashMap<TokenId, String>, StoreError> {
        let rows = self
            .all("SELECT token, text FROM vocabulary", [], |row| Ok((TokenId(row.get(0)?), row.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }

    pub(crate) fn all<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let run = || -> rusqlite::Result<Vec<T>> {
            self.db.prepare_cached(sql)?.query_map(values, read)?.collect()
        };
        run().map_err(|e| self.failed(&e))
    }

    pub(crate) fn parse<T: serde::de::DeserializeOwned>(&self, json: &str) -> Result<T, StoreError> {
        serde_json::from_str(json).map_err(|e| self.damaged(e.to_string()))
    }

    fn matching<T>(
        &self,
        sql: &str,
        filter: &EpisodeFilter,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let values = values(filter);
        self.all(sql, &named(&values), read)
    }

    fn episode_of(
        &self,
        raw: RawEpisode,
        tasks: &mut HashMap<i64, Arc<Task>>,
    ) -> Result<StoredEpisode, StoreError> {
        let task = match tasks.get(&raw.task) {
            Some(task) => Arc::clone(task),
            None => {
                let task = Arc::new(self.parse(&raw.task_record)?);
                tasks.insert(raw.task, Arc::clone(&task));
                task
            }
        };
        let wire: WireEpisode<'_> = self.parse(&raw.record)?;
        let credit = raw.credit.map(|(blob, note)| {
            let cut = || self.damaged(format!("the credit of episode {} is cut short", raw.id));
            blobs::to_floats(&blob)
                .map(|advantages| CreditRow { episode: raw.id.clone(), advantages, note })
                .ok_or_else(cut)
        });
        let credit = credit.transpose()?;
        let score = raw.score.map(|json| self.parse(&json)).transpose()?;
        let episode: Episode = wire
            .into_episode(raw.id, task, raw.policy_version, raw.cost, &raw.streams)
            .map_err(|why| self.damaged(why))?;
        Ok(StoredEpisode { scored: ScoredEpisode { episode: Arc::new(episode), score }, credit })
    }
}

/// What stands in [`MATCHING`] for a filter.
fn values(filter: &EpisodeFilter) -> [(&'static str, Value); 4] {
    let number = |number: u64| Value::Integer(number as i64);
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    [
        (":phase", or_null(filter.phase.as_ref().map(|phase| Value::Text(phase.to_string())))),
        (":step", or_null(filter.step.map(number))),
        (":grp", or_null(filter.group.map(|group| number(group.into())))),
        (":task_id", or_null(filter.task_id.clone().map(Value::Text))),
    ]
}

fn named<'a>(values: &'a [(&'static str, Value); 4]) -> [(&'a str, &'a dyn ToSql); 4] {
    values.each_ref().map(|(name, value)| (*name, value as &dyn ToSql))
}

struct RawEpisode {
    id: EpisodeId,
    policy_version: PolicyVersion,
    cost: Cost,
    record: String,
    score: Option<String>,
    streams: Streams,
    task: i64,
    task_record: String,
    credit: Option<(Vec<u8>, String)>,
}

fn whole(row: &Row<'_>) -> rusqlite::Result<RawEpisode> {
    Ok(RawEpisode {
        id: id(row)?,
        policy_version: PolicyVersion(row.get::<_, i64>(5)? as u64),
        cost: cost(row, 6)?,
        record: row.get(15)?,
        score: row.get(16)?,
        streams: Streams { tokens: row.get(17)?, logprobs: row.get(18)?, values: row.get(19)? },
        task: row.get(20)?,
        task_record: row.get(21)?,
        credit: row.get::<_, Option<Vec<u8>>>(22)?.zip(row.get(23)?),
    })
}

fn head(row: &Row<'_>) -> rusqlite::Result<EpisodeRow> {
    let name: String = row.get(8)?;
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == name);
    let strange = || {
        let why = format!("`{name}` is no outcome").into();
        rusqlite::Error::FromSqlConversionFailure(8, rusqlite::types::Type::Text, why)
    };
    Ok(EpisodeRow {
        id: id(row)?,
        policy_version: PolicyVersion(row.get::<_, i64>(5)? as u64),
        task_id: row.get(6)?,
        size: row.get(7)?,
        outcome: outcome.ok_or_else(strange)?,
        reward: row.get(9)?,
        solved: row.get(10)?,
        end: row.get(11)?,
        turns: row.get(12)?,
        tool_calls: row.get::<_, i64>(13)? as u64,
        policy_tokens: (!row.get::<_, bool>(15)?).then_some(row.get::<_, i64>(14)? as u64),
    })
}

fn text_phase(row: &Row<'_>, at: usize) -> rusqlite::Result<Phase> {
    Ok(row.get::<_, String>(at)?.into())
}

fn id(row: &Row<'_>) -> rusqlite::Result<EpisodeId> {
    let step = row.get::<_, i64>(1)? as u64;
    Ok(EpisodeId {
        phase: text_phase(row, 0)?,
        step,
        group: row.get(2)?,
        member: row.get(3)?,
        branch: row.get(4)?,
    })
}

fn cost(row: &Row<'_>, at: usize) -> rusqlite::Result<Cost> {
    let count = |offset: usize| row.get::<_, i64>(at + offset).map(|bits| bits as u64);
    Ok(Cost {
        policy_tokens: count(0)?,
        read_tokens: count(1)?,
        env_steps: count(2)?,
        probe_steps: count(3)?,
        tool_calls: count(4)?,
        tool_seconds: row.get(at + 5)?,
        judge_calls: count(6)?,
        judge_tokens: count(7)?,
        discarded_samples: count(8)?,
        // Not in columns: see the record.
        ..Cost::default()
    })
}

fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<f64> {
    // SQLite keeps NaN as NULL.
    Ok(row.get::<_, Option<f64>>(at)?.unwrap_or(f64::NAN))
}
