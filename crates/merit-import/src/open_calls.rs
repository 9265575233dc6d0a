//! Calls that wait for their answer, as positions of turn and call.

use crate::messages::Answers;
use merit_core::Turn;
use std::collections::{BTreeSet, HashMap};

#[derive(Default)]
pub(crate) struct OpenCalls {
    open: BTreeSet<(usize, usize)>,
    /// Everything that ever had the id, open or not.
    by_id: HashMap<String, Vec<(usize, usize)>>,
}

impl OpenCalls {
    /// Whether a call with this id waits.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.by_id.get(id).is_some_and(|places| places.iter().any(|place| self.open.contains(place)))
    }

    pub(crate) fn add(&mut self, id: Option<String>, turn: usize, call: usize) {
        self.open.insert((turn, call));
        if let Some(id) = id {
            self.by_id.entry(id).or_default().push((turn, call));
        }
    }

    /// The call that an answer belongs to, which then no longer waits.
    pub(crate) fn take(&mut self, answers: &Answers, turns: &[Turn]) -> Option<(usize, usize)> {
        let found = match &answers.id {
            Some(id) => self.with_id(id)?,
            None => self.in_latest_turn(answers.tool.as_deref(), turns)?,
        };
        self.open.remove(&found);
        Some(found)
    }

    /// The calls that still wait.
    pub(crate) fn left(self) -> impl Iterator<Item = (usize, usize)> {
        self.open.into_iter()
    }

    /// Of waiting calls that share an id, the first of the latest turn.
    fn with_id(&self, id: &str) -> Option<(usize, usize)> {
        let waiting = self.by_id.get(id)?.iter().copied().filter(|place| self.open.contains(place));
        waiting.min_by_key(|&(turn, call)| (std::cmp::Reverse(turn), call))
    }

    /// The first waiting call of that tool in the latest turn; where no tool is named, the only waiting one.
    fn in_latest_turn(&self, tool: Option<&str>, turns: &[Turn]) -> Option<(usize, usize)> {
        let latest = turns.len().checked_sub(1)?;
        let mut waiting = self.open.range((latest, 0)..).copied();
        let Some(tool) = tool else {
            let only = waiting.next()?;
            return waiting.next().is_none().then_some(only);
        };
        let calls = &turns.get(latest)?.calls;
        waiting.find(|&(_, call)| calls.get(call).is_some_and(|record| record.call.tool == tool))
    }
}
