//! Sessions that are not at work, with what they have read, oldest first.

use crate::cache::KvCache;
use crate::prefix::PrefixIndex;
use merit_api::sampler::SessionId;
use merit_core::TokenId;
use std::collections::{BTreeMap, HashMap};

/// Idle sessions: found by name, by beginning of their contexts, and dropped by age.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_id: HashMap<SessionId, (u64, KvCache)>,
    by_age: BTreeMap<u64, SessionId>,
    clock: u64,
    index: PrefixIndex,
}

impl Sessions {
    /// Keeps what a session has read; it is now the youngest.
    pub(crate) fn insert(&mut self, session: SessionId, mut memory: KvCache) {
        self.remove(session);
        if memory.len() == 0 {
            return;
        }
        self.index.list(&mut memory);
        self.clock += 1;
        self.by_age.insert(self.clock, session);
        self.by_id.insert(session, (self.clock, memory));
    }

    pub(crate) fn remove(&mut self, session: SessionId) -> Option<KvCache> {
        let (age, memory) = self.by_id.remove(&session)?;
        self.by_age.remove(&age);
        Some(memory)
    }

    pub(crate) fn get(&self, session: SessionId) -> Option<&KvCache> {
        self.by_id.get(&session).map(|(_, memory)| memory)
    }

    /// Forgets the session that has been idle for longest; false when there is none.
    pub(crate) fn drop_oldest(&mut self) -> bool {
        let oldest = self.by_age.pop_first();
        oldest.is_some_and(|(_, session)| self.by_id.remove(&session).is_some())
    }

    /// Pages that hold the beginning of `context`, whichever session read them.
    pub(crate) fn find(&self, context: &[TokenId]) -> KvCache {
        self.index.find(context)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
