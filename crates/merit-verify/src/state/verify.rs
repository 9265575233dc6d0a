//! The verdict on a reached state: what of the goal was achieved, and what else was touched.
//!
//! With an initial state, the facts asked for are the changes from initial to goal; each is achieved when the reached
//! state agrees with the goal at its place. Every other difference between reached and goal (for a partial goal: every
//! other change from initial) is collateral. Doing nothing achieves none of them, and trashing the rest is collateral.
//! Without an initial state, the facts are those of the goal, and what a whole goal does not have is collateral.

use super::canonical::{StateHash, canonical};
use super::config::{GoalKind, StateConfig, StateError, StateScore, Which};
use super::diff::{Change, ChangeKind, StateDiff, diff, facts};
use crate::json::canonical::spell;
use merit_core::Judgement;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// Compares states. Holds nothing but its configuration; may be shared by threads.
#[derive(Debug, Clone)]
pub struct StateVerifier {
    config: StateConfig,
}

/// The verdict on a reached state; `Pass` where the goal holds and nothing else was touched.
pub type StateVerdict = Judgement<StateDetail>;

/// What was achieved, and what else was touched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateDetail {
    /// Whether the goal holds and nothing else was touched.
    pub is_goal: bool,
    /// Facts that had to become true; without an initial state, all facts of the goal.
    pub asked: usize,
    pub achieved: usize,
    /// Whether the goal held from the start: then only leaving things alone is rewarded.
    pub was_satisfied: bool,
    /// Whether nothing was changed at all. Absent without an initial state.
    pub was_idle: Option<bool>,
    /// The facts asked for that did not become true, as changes from what is to what should be.
    pub missed: Vec<Change>,
    /// Changes that were not asked for, as changes from what should be to what is.
    pub collateral: Vec<Change>,
    pub reached: StateHash,
    pub goal: StateHash,
}

impl StateVerifier {
    pub fn compile(config: StateConfig) -> Result<Self, StateError> {
        config.check()?;
        Ok(Self { config })
    }

    fn read(&self, which: Which, state: &Value) -> Result<Value, StateError> {
        self.config.limits.admit(state).map_err(|limit| StateError::TooLarge { which, limit })?;
        Ok(canonical(&self.config, state))
    }

    /// The canonical spelling of a state.
    pub fn spell(&self, state: &Value) -> Result<String, StateError> {
        Ok(spell(&self.read(Which::Given, state)?, self.config.numbers))
    }

    /// The hash of a state: the same for all spellings of the same state.
    ///
    /// ```
    /// use merit_verify::state::{StateConfig, StateVerifier};
    /// use serde_json::json;
    /// let states = StateVerifier::compile(StateConfig::default())?;
    /// assert_eq!(states.hash(&json!({"a": 1, "b": 2.0}))?, states.hash(&json!({"b": 2, "a": 1.0}))?);
    /// # Ok::<(), merit_verify::state::StateError>(())
    /// ```
    pub fn hash(&self, state: &Value) -> Result<StateHash, StateError> {
        Ok(StateHash::of(&self.spell(state)?))
    }

    /// The changes from one state to another.
    pub fn diff(&self, from: &Value, to: &Value) -> Result<StateDiff, StateError> {
        let (from, to) = (self.read(Which::Given, from)?, self.read(Which::Given, to)?);
        Ok(diff(&self.config, &from, &to, false))
    }

    pub fn verify(
        &self,
        initial: Option<&Value>,
        reached: &Value,
        goal: &Value,
    ) -> Result<StateVerdict, StateError> {
        let initial = initial.map(|state| self.read(Which::Initial, state)).transpose()?;
        let (reached, goal) = (self.read(Which::Reached, reached)?, self.read(Which::Goal, goal)?);
        let is_part = self.config.goal == GoalKind::Part;
        let remaining = diff(&self.config, &reached, &goal, is_part);
        let (asked, missed, collateral) = match &initial {
            Some(initial) => self.since(initial, &reached, &goal, &remaining),
            None => {
                let (collateral, missed) = split(&remaining.changes, is_surplus);
                (facts(&self.config, &goal), missed, invert(collateral))
            }
        };
        let achieved = asked.saturating_sub(missed.len());
        let is_goal = remaining.is_empty() && collateral.is_empty();
        let was_idle = initial
            .as_ref()
            .map(|initial| spell(initial, self.config.numbers) == spell(&reached, self.config.numbers));
        let score = self.score(asked, achieved, collateral.len(), is_goal);
        let detail = StateDetail {
            is_goal,
            asked,
            achieved,
            was_satisfied: initial.is_some() && asked == 0,
            was_idle,
            missed,
            collateral,
            reached: StateHash::of(&spell(&reached, self.config.numbers)),
            goal: StateHash::of(&spell(&goal, self.config.numbers)),
        };
        Ok(Judgement::scored(is_goal, score, detail))
    }

    /// With an initial state: facts asked for, those missed, and collateral changes.
    fn since(
        &self,
        initial: &Value,
        reached: &Value,
        goal: &Value,
        remaining: &StateDiff,
    ) -> (usize, Vec<Change>, Vec<Change>) {
        let is_part = self.config.goal == GoalKind::Part;
        let asked = diff(&self.config, initial, goal, is_part);
        let asked_places: BTreeSet<&str> = asked.changes.iter().map(|change| change.path.as_str()).collect();
        let open_places: BTreeSet<&str> =
            remaining.changes.iter().map(|change| change.path.as_str()).collect();
        let missed: Vec<Change> =
            asked.changes.iter().filter(|change| is_related(&open_places, &change.path)).cloned().collect();
        let other = |change: &&Change| !is_related(&asked_places, &change.path);
        // Against a whole goal every unasked difference is collateral; a partial goal says nothing of the rest, so
        // there the rest is held against the initial state.
        let collateral = if is_part {
            diff(&self.config, initial, reached, false).changes.iter().filter(other).cloned().collect()
        } else {
            invert(remaining.changes.iter().filter(other).cloned().collect())
        };
        (asked.changes.len(), missed, collateral)
    }

    fn score(&self, asked: usize, achieved: usize, collateral: usize, is_goal: bool) -> f64 {
        match self.config.score {
            StateScore::Exact => f64::from(u8::from(is_goal)),
            StateScore::Facts { collateral_weight } => {
                let harm = collateral_weight * collateral as f64;
                // Where nothing was asked for, leaving things alone is the whole task.
                let (done, of) = if asked == 0 { (1.0, 1.0) } else { (achieved as f64, asked as f64) };
                ((done - harm) / of).clamp(0.0, 1.0)
            }
        }
    }
}

/// Whether a difference from reached to goal means that the reached state has too much.
fn is_surplus(change: &Change) -> bool {
    matches!(change.kind, ChangeKind::Removed { .. })
}

fn split(changes: &[Change], first: impl Fn(&Change) -> bool) -> (Vec<Change>, Vec<Change>) {
    changes.iter().cloned().partition(|change| first(change))
}

/// The same changes seen from the other side.
fn invert(changes: Vec<Change>) -> Vec<Change> {
    let turned = |kind| match kind {
        ChangeKind::Added { value } => ChangeKind::Removed { value },
        ChangeKind::Removed { value } => ChangeKind::Added { value },
        ChangeKind::Changed { from, to } => ChangeKind::Changed { from: to, to: from },
    };
    changes.into_iter().map(|change| Change { kind: turned(change.kind), ..change }).collect()
}

/// Whether `path`, a place above it or a place below it is in the set.
fn is_related(places: &BTreeSet<&str>, path: &str) -> bool {
    let above = path.match_indices('/').map(|(at, _)| path.get(..at).unwrap_or_default());
    if places.contains(path) || above.into_iter().any(|place| places.contains(place)) {
        return true;
    }
    let below = format!("{path}/");
    places.range(below.as_str()..).next().is_some_and(|place| place.starts_with(&below))
}
