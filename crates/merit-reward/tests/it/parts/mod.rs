//! Parts with chosen numbers, and checks of what a reward over them comes to.

use crate::episodes::{Did, episode};
use merit_core::{Episode, Reward};
use merit_reward::{RewardConfig, ScoreContext, Scorer};

/// A part that comes to `value`: `format` is 1 where every turn is understood.
pub fn part(name: &str, value: f64) -> String {
    format!("{{ type = 'format', name = '{name}', weight = {value:?} }}")
}

/// A part that does not apply where no tool was called.
pub const SILENT: &str = "{ type = 'tool-success', name = 'silent' }";

pub fn scorer(toml: &str) -> Scorer {
    let config: RewardConfig = RewardConfig::from_toml(toml).unwrap_or_else(|why| panic!("{toml}: {why}"));
    Scorer::compile(&config).unwrap()
}

pub fn refusal(toml: &str) -> String {
    match RewardConfig::from_toml(toml) {
        Ok(config) => Scorer::compile(&config).err().unwrap_or_else(|| panic!("{toml} compiles")).to_string(),
        Err(why) => why.to_string(),
    }
}

pub fn right() -> Episode {
    episode(Some("7"), 1, &[Did::Answers("7")])
}

pub fn reward_at(toml: &str, episode: &Episode, step: u64) -> Reward {
    scorer(toml).score(episode, &ScoreContext::at_step(step)).reward
}

pub fn check_at(step: u64, toml: &str, episode: &Episode, want: f64) {
    let reward = reward_at(toml, episode, step);
    let value = reward.value().unwrap_or_else(|| panic!("{toml}: {reward:?}"));
    assert!((value - want).abs() < 1e-12, "{toml}: {value}, not {want}");
}

pub fn check(toml: &str, episode: &Episode, want: f64) {
    check_at(0, toml, episode, want);
}

pub fn check_says(toml: &str, episode: &Episode, text: &str) {
    let explained = scorer(toml).explain(episode, &ScoreContext::default());
    assert!(explained.contains(text), "{explained}");
}
