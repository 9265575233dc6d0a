//! Limits and sampling of a rollout, as they stand in a recipe.

use crate::frontier::GrowSettings;
use crate::grow::TreeSettings;
use crate::rollback::RollbackSettings;
use merit_core::Window;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How episodes are run and where they are cut.
///
/// ```
/// use merit_rollout::RolloutSettings;
/// let settings: RolloutSettings = serde_json::from_str(r#"{"max_turns": 4}"#).unwrap();
/// assert_eq!((settings.max_turns, settings.in_flight), (4, 64));
/// assert!(settings.validate().is_ok());
/// assert!(serde_json::from_str::<RolloutSettings>(r#"{"max_turn": 4}"#).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RolloutSettings {
    /// Turns of the policy before the episode is cut.
    pub max_turns: u32,
    /// Turns by the size of the task: the episode is cut after this many times its size, rounded up, and never after more than
    /// `max_turns`. Absent: `max_turns` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_per_size: Option<f64>,
    /// Tokens the policy may sample in one turn; a turn that needs more cuts the episode.
    pub max_turn_tokens: usize,
    /// Tokens the policy may sample in one episode; what it reads is not counted.
    pub max_episode_tokens: usize,
    /// Wall seconds of one episode, from its opening.
    pub episode_seconds: f64,
    /// Wall seconds of one tool call; past them the agent is told so and goes on.
    pub tool_seconds: f64,
    /// Episodes that are open at the same time.
    pub in_flight: usize,
    /// Sampling temperature; 0 is greedy.
    pub temperature: f32,
    /// Nucleus sampling: the smallest set of tokens with this probability. 1 is all of them; learning by reward accepts
    /// nothing else, because the recorded log-probabilities are those of all tokens.
    pub top_p: f32,
    /// Hold every turn to the JSON Schema of the task while it is sampled, where the world has one. Not for learning by reward,
    /// for the same reason.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub grammar: bool,
    /// What the policy has in sight in a turn: the opening and the last turns. Absent: everything before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// After this many seconds without any event, a report says what everybody is waiting for.
    pub stall_seconds: f64,
    /// Grows the groups of a training step as trees. Absent: every member starts fresh, as in every evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeSettings>,
    /// Grows the groups of a training step turn by turn, several ways on from each that is kept. Absent: as `tree` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grow: Option<GrowSettings>,
    /// Writes failed calls of a training step over by the policy's own corrections. Absent: errors stay, as in every evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollback: Option<RollbackSettings>,
    /// Leave the sampler's sessions open, so that forks of these episodes find their prefix; see
    /// [`close_sessions`](crate::close_sessions). Set by code, never by a recipe.
    #[serde(skip)]
    pub keep_sessions: bool,
}

impl Default for RolloutSettings {
    fn default() -> Self {
        Self {
            max_turns: 8,
            turns_per_size: None,
            max_turn_tokens: 64,
            max_episode_tokens: 1024,
            episode_seconds: 3600.0,
            tool_seconds: 30.0,
            in_flight: 64,
            temperature: 1.0,
            top_p: 1.0,
            grammar: false,
            window: None,
            stall_seconds: 30.0,
            tree: None,
            grow: None,
            rollback: None,
            keep_sessions: false,
        }
    }
}

/// A setting that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("rollout setting `{name}` is {value}; {want}")]
pub struct SettingsError {
    /// The key in the recipe.
    pub name: &'static str,
    pub value: String,
    /// Which values would work, in words.
    pub want: &'static str,
}

impl RolloutSettings {
    /// Refuses what cannot work, naming the first offender.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let counts = [
            ("max_turns", self.max_turns as usize),
            ("max_turn_tokens", self.max_turn_tokens),
            ("max_episode_tokens", self.max_episode_tokens),
            ("in_flight", self.in_flight),
        ];
        let seconds = [
            ("episode_seconds", self.episode_seconds),
            ("tool_seconds", self.tool_seconds),
            ("stall_seconds", self.stall_seconds),
        ];
        for (name, value) in counts {
            refuse_unless(value > 0, name, value, "it must be at least 1")?;
        }
        for (name, value) in seconds {
            let fits = value > 0.0 && value <= LONGEST_SECONDS;
            refuse_unless(fits, name, value, "it must be above 0 and at most 1e9 seconds")?;
        }
        if let Some(turns) = self.turns_per_size {
            let fits = turns > 0.0 && turns <= 1000.0;
            refuse_unless(fits, "turns_per_size", turns, "it must be above 0 and at most 1000")?;
        }
        if let Some(tree) = &self.tree {
            refuse_unless(tree.roots > 0, "tree.roots", tree.roots, "it must be at least 1")?;
            refuse_unless(tree.rounds > 0, "tree.rounds", tree.rounds, "it must be at least 1")?;
        }
        if let Some(grow) = &self.grow {
            grow.check()?;
            let alone = self.tree.is_none() && self.rollback.is_none() && self.window.is_none();
            refuse_unless(
                alone,
                "grow",
                "set",
                "it forks what is played whole and in sight; leave `tree`, `rollback` and `window` out",
            )?;
        }
        if let Some(window) = &self.window {
            refuse_unless(window.turns > 0, "window.turns", window.turns, "it must be at least 1")?;
            let alone = self.rollback.is_none();
            refuse_unless(
                alone,
                "window",
                "set",
                "a rollback scores turns in the whole of their episode; leave one of them out",
            )?;
        }
        if let Some(rollback) = &self.rollback {
            let (retries, most) = (rollback.retries, rollback.most);
            refuse_unless(retries > 0, "rollback.retries", retries, "it must be at least 1")?;
            refuse_unless(most > 0, "rollback.most", most, "it must be at least 1")?;
        }
        let warm = self.temperature == 0.0 || (COLDEST..=HOTTEST).contains(&self.temperature);
        refuse_unless(
            warm,
            "temperature",
            self.temperature,
            "it must be 0 (greedy) or between 0.001 and 1000",
        )?;
        let share = self.top_p > 0.0 && self.top_p <= 1.0;
        refuse_unless(share, "top_p", self.top_p, "it must be above 0 and at most 1")
    }
}

impl RolloutSettings {
    /// Turns that an episode of a task of this size may have; at least one.
    pub fn turns_of(&self, size: u32) -> u32 {
        let by_size = self.turns_per_size.map(|turns| (turns * f64::from(size)).ceil().max(1.0) as u32);
        by_size.map_or(self.max_turns, |turns| turns.min(self.max_turns))
    }
}

/// About thirty years, which every clock can add.
const LONGEST_SECONDS: f64 = 1e9;
/// Beyond these, scaled scores leave the range of a 32-bit float.
const COLDEST: f32 = 1e-3;
const HOTTEST: f32 = 1e3;

/// Seconds of a setting as a span that every clock can add; what is no number of seconds is the longest.
pub(crate) fn span(seconds: f64) -> Duration {
    let longest = Duration::from_secs_f64(LONGEST_SECONDS);
    Duration::try_from_secs_f64(seconds).unwrap_or(longest).min(longest)
}

pub(crate) fn refuse_unless(
    fits: bool,
    name: &'static str,
    value: impl ToString,
    want: &'static str,
) -> Result<(), SettingsError> {
    if fits { Ok(()) } else { Err(SettingsError { name, value: value.to_string(), want }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl Fn(&mut RolloutSettings)) -> &'static str {
        let mut settings = RolloutSettings::default();
        change(&mut settings);
        settings.validate().unwrap_err().name
    }

    #[test]
    fn what_cannot_work_is_refused_by_name() {
        assert_eq!(RolloutSettings::default().validate(), Ok(()));
        assert_eq!(refused(|s| s.max_turns = 0), "max_turns");
        assert_eq!(refused(|s| s.turns_per_size = Some(0.0)), "turns_per_size");
        assert_eq!(refused(|s| s.turns_per_size = Some(f64::NAN)), "turns_per_size");
        assert_eq!(refused(|s| s.in_flight = 0), "in_flight");
        assert_eq!(refused(|s| s.tool_seconds = f64::NAN), "tool_seconds");
        assert_eq!(refused(|s| s.episode_seconds = f64::INFINITY), "episode_seconds");
        assert_eq!(refused(|s| s.temperature = -1.0), "temperature");
        assert_eq!(refused(|s| s.top_p = 1.5), "top_p");
    }

    #[test]
    fn turns_by_size_are_rounded_up_and_never_more_than_the_limit() {
        let turns = |per_size: Option<f64>, size: u32| {
            RolloutSettings { max_turns: 12, turns_per_size: per_size, ..RolloutSettings::default() }
                .turns_of(size)
        };
        assert_eq!(turns(None, 3), 12);
        assert_eq!((turns(Some(1.5), 3), turns(Some(2.0), 3), turns(Some(4.0), 4)), (5, 6, 12));
        assert_eq!(turns(Some(0.1), 1), 1);
    }

    #[test]
    fn a_recipe_cannot_leave_sessions_open() {
        let error = serde_json::from_str::<RolloutSettings>(r#"{"keep_sessions": true}"#).unwrap_err();
        assert!(error.to_string().starts_with("unknown field `keep_sessions`"), "{error}");
    }
}
