//! What a rollout tells its watcher.

use crate::Waiting;
use merit_core::Episode;
use std::sync::Arc;

/// News of a running rollout.
#[derive(Debug, Clone)]
pub enum Progress {
    /// An episode is over, in whatever way. Comes once per episode, as it happens.
    Finished(Arc<Episode>),
    /// How far it has come; a few times a second.
    Tick(Tally),
    /// Nothing has happened for `stall_seconds`, or somebody asked.
    Stalled(Waiting),
}

/// How far a rollout has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Episodes of the whole rollout.
    pub planned: usize,
    pub finished: usize,
    /// Finished episodes that broke.
    pub failed: usize,
    pub in_flight: usize,
    /// Turns that finished episodes took.
    pub turns: u64,
    /// Tokens that the policy sampled in finished episodes.
    pub policy_tokens: u64,
}
