//! Members of groups, and batches of them.

use crate::episodes::{Did, episode};
use merit_core::{CallEnd, Episode};
use merit_reward::{RewardConfig, Scorer};
use serde_json::Value;
use std::sync::Arc;

/// An episode with n calls is worth n to it.
pub const CALLS: &str = "{ type = 'cost', name = 'calls', per_call = 1.0, weight = -1.0 }";
pub const EXACT: &str = "{ type = 'exact-answer' }";

pub fn scorer(toml: &str) -> Scorer {
    let config: RewardConfig = RewardConfig::from_toml(toml).unwrap_or_else(|why| panic!("{toml}: {why}"));
    Scorer::compile(&config).unwrap()
}

/// Member `member` of `group`, with `calls` calls.
pub fn member(group: u32, member: u32, calls: usize) -> Episode {
    let ends = vec![CallEnd::Ok; calls];
    let mut did = if calls > 0 { vec![Did::Calls(&ends)] } else { Vec::new() };
    did.push(Did::Answers("7"));
    let mut made = episode(Some("7"), 1, &did);
    made.id.group = group;
    made.id.member = member;
    let task = Arc::make_mut(&mut made.task);
    task.id = format!("test/{group}");
    made
}

pub fn saying(mut episode: Episode, payload: Value) -> Episode {
    Arc::make_mut(&mut episode.task).payload = payload;
    episode
}

pub fn batch(episodes: Vec<Episode>) -> Vec<Arc<Episode>> {
    episodes.into_iter().map(Arc::new).collect()
}
