//! What happens is recorded as it happens, each call in one transaction: all of it or nothing.
//!
//! Recording twice is how a resumed run proves itself: the same episode with the same content is left as it is, and any
//! other content is refused as divergence. Metrics and costs are replaced, because clocks enter into them.

use crate::wire::{Streams, WireEpisode, check_finite, term_outcome};
use crate::{CreditRow, RunFolder, StoreError, blobs};
use merit_core::{Annotation, Annotations, Cost, EpisodeId, Phase, ScoredEpisode, Task, TokenId, hex};
use rusqlite::{OptionalExtension as _, named_params, params};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

const INSERT_EPISODE: &str = "
INSERT INTO episodes (phase, step, grp, member, branch, policy_version, task, task_id, size, outcome, reward, solved, end,
    turns, policy_tokens, read_tokens, env_steps, probe_steps, tool_calls, tool_seconds, judge_calls, judge_tokens,
    discarded_samples, content_hash, record, score, tokens, logprobs, token_values)
VALUES (:phase, :step, :grp, :member, :branch, :policy_version, :task, :task_id, :size, :outcome, :reward, :solved, :end,
    :turns, :policy_tokens, :read_tokens, :env_steps, :probe_steps, :tool_calls, :tool_seconds, :judge_calls,
    :judge_tokens, :discarded_samples, :content_hash, :record, :score, :tokens, :logprobs, :token_values)";

const FIND_EPISODE: &str = "
SELECT key, content_hash FROM episodes WHERE phase = ?1 AND step = ?2 AND grp = ?3 AND member = ?4 AND branch = ?5";

impl RunFolder {
    /// Records episodes with their scores. One that is there already with the same content is left as it is; with other
    /// content, nothing of this call is recorded and the error names both.
    pub fn record_episodes(&self, episodes: &[ScoredEpisode]) -> Result<(), StoreError> {
        self.record_annotated(episodes, &Annotations::new())
    }

    /// The same with what was said of them, so that an episode is never there without it.
    pub fn record_annotated(
        &self,
        episodes: &[ScoredEpisode],
        annotations: &Annotations,
    ) -> Result<(), StoreError> {
        self.in_transaction(|| {
            let mut tasks = HashMap::new();
            episodes.iter().try_for_each(|scored| self.record_episode(scored, &mut tasks))?;
            annotations.iter().try_for_each(|(id, said)| self.record_said(id, said))
        })
    }

    fn record_said(&self, id: &EpisodeId, said: &[Annotation]) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO annotations (episode, place, record)
            SELECT key, ?6, ?7 FROM episodes WHERE phase = ?1 AND step = ?2 AND grp = ?3 AND member = ?4 AND branch = ?5";
        for (place, annotation) in said.iter().enumerate() {
            let record = self.json(annotation)?;
            let (phase, step, place) = (id.phase.to_string(), id.step as i64, place as i64);
            self.execute(sql, params![phase, step, id.group, id.member, id.branch, place, record])?;
        }
        Ok(())
    }

    /// Records what a credit rule gave. The same credit again is left as it is; another is divergence.
    pub fn record_credits(&self, credits: &[CreditRow]) -> Result<(), StoreError> {
        self.in_transaction(|| credits.iter().try_for_each(|credit| self.record_credit(credit)))
    }

    /// Records numbers of one step; a number that is there already is replaced.
    pub fn record_metrics(
        &self,
        phase: impl Into<Phase>,
        step: u64,
        metrics: &[(impl AsRef<str>, f64)],
    ) -> Result<(), StoreError> {
        let phase = phase.into().to_string();
        let sql = "INSERT OR REPLACE INTO metrics (phase, step, name, value) VALUES (?1, ?2, ?3, ?4)";
        self.in_transaction(|| {
            let mut insert = self.db.prepare_cached(sql).map_err(|e| self.failed(&e))?;
            metrics.iter().try_for_each(|(name, value)| {
                let done = insert.execute(params![phase, step as i64, name.as_ref(), value]);
                done.map(drop).map_err(|e| self.failed(&e))
            })
        })
    }

    /// Records what one step of a phase cost beyond its episodes' own cost; replaces what was said before.
    pub fn record_cost(&self, phase: impl Into<Phase>, step: u64, cost: &Cost) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO costs (phase, step, record) VALUES (?1, ?2, ?3)";
        let (phase, record) = (phase.into().to_string(), self.json(cost)?);
        self.in_transaction(|| self.execute(sql, params![phase, step as i64, record]))
    }

    /// Records that something happened at `time_ms`, Unix time in milliseconds.
    pub fn record_event(&self, time_ms: u64, kind: &str, text: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO events (time_ms, kind, text) VALUES (?1, ?2, ?3)";
        self.in_transaction(|| self.execute(sql, params![time_ms as i64, kind, text]))
    }

    /// Records how tokens read, so that a page can show them one by one. Known tokens are left as they are.
    pub fn record_vocabulary<'a>(
        &self,
        tokens: impl IntoIterator<Item = (TokenId, &'a str)>,
    ) -> Result<(), StoreError> {
        let sql = "INSERT OR IGNORE INTO vocabulary (token, text) VALUES (?1, ?2)";
        self.in_transaction(|| {
            tokens.into_iter().try_for_each(|(token, text)| self.execute(sql, params![token.0, text]))
        })
    }

    pub(crate) fn in_transaction<T>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.writable()?;
        let transaction = self.db.unchecked_transaction().map_err(|e| self.failed(&e))?;
        let done = work()?;
        transaction.commit().map_err(|e| self.failed(&e))?;
        Ok(done)
    }

    pub(crate) fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        let run = || self.db.prepare_cached(sql)?.execute(values);
        run().map(drop).map_err(|e| self.failed(&e))
    }

    pub(crate) fn json(&self, value: &impl Serialize) -> Result<String, StoreError> {
        serde_json::to_string(value)
            .map_err(|e| StoreError::Sqlite { path: self.path.clone(), why: e.to_string() })
    }

    /// The row of an episode and the hash of its content.
    fn find_episode(&self, id: &EpisodeId) -> Result<Option<(i64, String)>, StoreError> {
        let key = params![id.phase.to_string(), id.step as i64, id.group, id.member, id.branch];
        let find = || {
            let mut query = self.db.prepare_cached(FIND_EPISODE)?;
            query.query_row(key, |row| Ok((row.get(0)?, row.get(1)?))).optional()
        };
        find().map_err(|e| self.failed(&e))
    }

    /// The score of an episode as it was recorded; empty when it has none.
    fn recorded_score(&self, key: i64) -> Result<String, StoreError> {
        let find = || {
            let mut query =
                self.db.prepare_cached("SELECT coalesce(score, '') FROM episodes WHERE key = ?1")?;
            query.query_row([key], |row| row.get(0))
        };
        find().map_err(|e| self.failed(&e))
    }

    fn record_episode(
        &self,
        scored: &ScoredEpisode,
        tasks: &mut HashMap<*const Task, i64>,
    ) -> Result<(), StoreError> {
        let (episode, id) = (&scored.episode, &scored.episode.id);
        check_finite(episode, scored.score.as_ref())?;
        let content_hash = episode.content_hash();
        let score = scored.score.as_ref().map(|score| self.json(score)).transpose()?;
        if let Some((key, recorded)) = self.find_episode(id)? {
            same("episode", id, &recorded, &content_hash)?;
            let (recorded, now) = (self.recorded_score(key)?, score.unwrap_or_default());
            return same("score", id, &short_hash(recorded.as_bytes()), &short_hash(now.as_bytes()));
        }
        let task = match tasks.get(&Arc::as_ptr(&episode.task)) {
            Some(key) => *key,
            None => {
                let key = self.record_task(&episode.task)?;
                tasks.insert(Arc::as_ptr(&episode.task), key);
                key
            }
        };
        let streams = Streams::of(episode);
        let cost = &episode.cost;
        self.execute(
            INSERT_EPISODE,
            named_params! {
                ":phase": id.phase.to_string(), ":step": id.step as i64, ":grp": id.group, ":member": id.member,
                ":branch": id.branch, ":policy_version": episode.policy_version.0 as i64, ":task": task,
                ":task_id": episode.task.id, ":size": episode.task.size, ":outcome": scored.outcome().name(),
                ":reward": scored.reward(), ":solved": scored.score.as_ref().and_then(|s| s.solved),
                ":end": episode.end.label(), ":turns": episode.turns.len() as i64,
                ":policy_tokens": cost.policy_tokens as i64, ":read_tokens": cost.read_tokens as i64,
                ":env_steps": cost.env_steps as i64, ":probe_steps": cost.probe_steps as i64,
                ":tool_calls": cost.tool_calls as i64, ":tool_seconds": cost.tool_seconds,
                ":judge_calls": cost.judge_calls as i64, ":judge_tokens": cost.judge_tokens as i64,
                ":discarded_samples": cost.discarded_samples as i64, ":content_hash": content_hash,
                ":record": self.json(&WireEpisode::of(episode))?,
                ":score": score,
                ":tokens": streams.tokens, ":logprobs": streams.logprobs, ":token_values": streams.values,
            },
        )?;
        self.record_terms(self.db.last_insert_rowid(), scored)
    }

    fn record_terms(&self, episode: i64, scored: &ScoredEpisode) -> Result<(), StoreError> {
        let sql = "INSERT INTO scores (episode, place, term, value, outcome, weight) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let terms = scored.score.iter().flat_map(|score| &score.terms).enumerate();
        for (place, term) in terms {
            let outcome = term_outcome(&term.outcome);
            let value = term.outcome.value();
            self.execute(sql, params![episode, place as i64, term.name, value, outcome, term.weight])?;
        }
        Ok(())
    }

    fn record_task(&self, task: &Task) -> Result<i64, StoreError> {
        let record = self.json(task)?;
        let hash = hex(&Sha256::digest(&record));
        let insert = "INSERT OR IGNORE INTO tasks (hash, id, world, split, size, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.execute(insert, params![hash, task.id, task.world, task.split.name(), task.size, record])?;
        let find = || {
            self.db.prepare_cached("SELECT key FROM tasks WHERE hash = ?1")?.query_row([&hash], |r| r.get(0))
        };
        find().map_err(|e| self.failed(&e))
    }

    fn record_credit(&self, credit: &CreditRow) -> Result<(), StoreError> {
        let id = &credit.episode;
        let unknown = || StoreError::UnknownEpisode { episode: id.to_string() };
        let (episode, _) = self.find_episode(id)?.ok_or_else(unknown)?;
        let advantages = blobs::from_floats(&credit.advantages);
        let find = || {
            let mut query = self.db.prepare_cached("SELECT advantages FROM credits WHERE episode = ?1")?;
            query.query_row([episode], |row| row.get::<_, Vec<u8>>(0)).optional()
        };
        if let Some(recorded) = find().map_err(|e| self.failed(&e))? {
            return same("credit", id, &short_hash(&recorded), &short_hash(&advantages));
        }
        let insert = "INSERT INTO credits (episode, advantages, note) VALUES (?1, ?2, ?3)";
        self.execute(insert, params![episode, advantages, credit.note])
    }
}

fn same(what: &'static str, id: &EpisodeId, recorded: &str, now: &str) -> Result<(), StoreError> {
    if recorded == now {
        return Ok(());
    }
    Err(StoreError::Diverged { what, episode: id.to_string(), recorded: recorded.into(), now: now.into() })
}

fn short_hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..8])
}
