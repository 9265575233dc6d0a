//! A cache that fills itself: the same question gets the same answer, in every episode and at any time.
//!
//! The first to ask makes the one live call, however many ask meanwhile; entries never change, so all members of a group
//! meet the same world. What timed out or broke is told to those who waited for it and is not kept. Only tools without
//! state can be cached: with state, the same question need not mean the same.

use super::store::held;
use super::strand::now_ms;
use super::{CallEntry, Fingerprint, Scope, Tape, TapeError, key};
use crate::{
    EpisodeShared, ExecKind, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSpec, no_state,
};
use merit_core::Task;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The live calls under way, by key. The holder of a lock is the one that asks.
#[derive(Default)]
pub(super) struct Flights(Mutex<HashMap<Fingerprint, Arc<Flight>>>);

/// A live call for all who want its answer. Absent: there is none yet; the next to hold the lock asks.
type Flight = tokio::sync::Mutex<Option<ToolAnswer>>;

/// Answers from a cache, and from the tool where the cache has nothing.
pub(super) struct Cached {
    pub(super) inner: Arc<dyn Tool>,
    pub(super) tape: Arc<Tape>,
    pub(super) digest: Fingerprint,
    pub(super) scope: Scope,
}

struct Session {
    inner: Arc<dyn ToolSession>,
    tape: Arc<Tape>,
    card: ToolSpec,
    digest: Fingerprint,
    scope: Scope,
    task: String,
}

impl Tool for Cached {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn exec_kind(&self) -> ExecKind {
        self.inner.exec_kind()
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        self.open_beside(&EpisodeShared::default(), task, state)
    }

    fn open_beside(
        &self,
        shared: &EpisodeShared,
        task: &Task,
        state: Option<&Value>,
    ) -> Result<Arc<dyn ToolSession>, ToolError> {
        let name = &self.spec().name;
        no_state(name, state)?;
        let inner = self.inner.open_beside(shared, task, None)?;
        if !inner.snapshot().is_null() {
            let error = TapeError::Stateful { tool: name.clone() };
            return Err(super::record::unusable(&self.tape, name, error));
        }
        Ok(Arc::new(Session {
            inner,
            tape: Arc::clone(&self.tape),
            card: self.spec().clone(),
            digest: self.digest,
            scope: self.scope,
            task: task.id.clone(),
        }))
    }
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(async move {
            match self.answer(&input).await {
                Ok(answer) => answer,
                Err(error) => self.tape.broken(error),
            }
        })
    }
}

impl Session {
    async fn answer(&self, input: &str) -> Result<ToolAnswer, TapeError> {
        let loose = key::loose(&self.card, input);
        let task = match self.scope {
            Scope::Task => self.task.as_str(),
            Scope::Everywhere => "",
        };
        let key = Fingerprint::of("cache", &[&loose.0, &self.digest.0, task.as_bytes()]);
        if let Some(call) = self.tape.find(key)? {
            return Ok(self.hit(call.answer));
        }
        let flight = Arc::clone(held(&self.tape.flights.0).entry(key).or_default());
        let mut landed = flight.lock().await;
        if let Some(answer) = &*landed {
            return Ok(self.hit(answer.clone()));
        }
        // It may have landed between the look at the tape and the look at the flights.
        if let Some(call) = self.tape.find(key)? {
            return Ok(self.hit(call.answer));
        }
        let answer = self.ask(key, loose, input).await?;
        *landed = Some(answer.clone());
        // Those who wait hold the flight themselves; those who come later look at the tape.
        held(&self.tape.flights.0).remove(&key);
        Ok(answer)
    }

    fn hit(&self, answer: ToolAnswer) -> ToolAnswer {
        self.tape.hits.fetch_add(1, Ordering::Relaxed);
        answer
    }

    async fn ask(
        &self,
        strict: Fingerprint,
        loose: Fingerprint,
        input: &str,
    ) -> Result<ToolAnswer, TapeError> {
        self.tape.live.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        let answer = Arc::clone(&self.inner).call(input.to_owned()).await;
        if matches!(answer, ToolAnswer::TimedOut(_) | ToolAnswer::Broken(_)) {
            return Ok(answer);
        }
        self.tape.keep(&CallEntry {
            strict,
            loose,
            tool: self.card.name.clone(),
            digest: self.digest,
            task: self.task.clone(),
            number: 0,
            input: input.to_owned(),
            answer,
            seconds: begun.elapsed().as_secs_f64(),
            recorded_ms: now_ms(),
        })
    }
}
