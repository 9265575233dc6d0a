//! Small tasks first.

use super::{Ask, TaskSource, TaskState};
use crate::RunError;
use merit_core::registry::{About, Component, Refusal};
use merit_core::stats::mean;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tasks of at most a size that grows by one at a time. Larger ones are passed over.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Curriculum {
    /// The largest size at the beginning.
    pub start: u32,
    /// The largest size in the end.
    pub end: u32,
    /// It grows after so many steps. Exactly one of `every` and `plateau`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// It grows when success does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau: Option<Plateau>,
}

/// Success over the last `steps` steps is not `gain` above that over as many before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plateau {
    /// The length of both windows, in steps.
    pub steps: usize,
    /// The least growth of success that counts.
    pub gain: f64,
}

/// So many tasks in a row may be too large before it counts as certain that there is no other.
const MOST_PASSED: u64 = 10_000;

impl Component for Curriculum {
    const ABOUT: About = About {
        name: "curriculum",
        summary: "Tasks of at most a size that grows with the steps or when success stays where it is.",
        paper: "",
    };
    const EXAMPLE: &'static str = "start = 1\nend = 3\nevery = 10\n";

    fn check(&self) -> Result<(), Refusal> {
        let (start, end) = (self.start, self.end);
        if start >= end {
            return Err(Refusal::new(format!(
                "`end` is {end}; it must be above `start`, {start}, or nothing would grow"
            )));
        }
        match (self.every, self.plateau) {
            (Some(every), None) => Refusal::unless(every > 0, "every", every, "at least 1"),
            (None, Some(plateau)) => {
                Refusal::unless(plateau.steps > 0, "plateau.steps", plateau.steps, "at least 1")?;
                Refusal::unless(plateau.gain.is_finite(), "plateau.gain", plateau.gain, "a number")
            }
            _ => Err(Refusal::new("give exactly one of `every` and `plateau`: when the size grows")),
        }
    }
}

impl TaskSource for Curriculum {
    fn draw(&self, ask: &Ask<'_>, state: &mut TaskState, count: usize) -> Result<Vec<u64>, RunError> {
        let largest = self.largest(state);
        let (mut drawn, mut passed) = (Vec::with_capacity(count), 0);
        while drawn.len() < count {
            let at = state.next;
            state.next += 1;
            if (ask.size)(at)? <= largest {
                drawn.push(at);
                passed = 0;
                continue;
            }
            passed += 1;
            if passed > MOST_PASSED {
                return Err(RunError::Tasks(format!(
                    "none of {MOST_PASSED} training tasks in a row has a size of at most {largest}; raise `tasks.source.start`, or \
                     let the world make smaller tasks"
                )));
            }
        }
        Ok(drawn)
    }

    fn observe(&self, success: Option<f64>, state: &mut TaskState) {
        let largest = self.largest(state);
        if largest >= self.end {
            return;
        }
        state.recent.push(success);
        if self.grows(&state.recent) {
            state.level = Some(largest + 1);
            state.recent.clear();
        }
    }

    fn numbers(&self, state: &TaskState) -> Vec<(&'static str, f64)> {
        vec![("largest_size", f64::from(self.largest(state)))]
    }
}

impl Curriculum {
    fn largest(&self, state: &TaskState) -> u32 {
        state.level.unwrap_or(self.start)
    }

    fn grows(&self, recent: &[Option<f64>]) -> bool {
        let Some(plateau) = self.plateau else {
            return self.every.is_some_and(|every| recent.len() as u64 >= every);
        };
        let told: Vec<f64> = recent.iter().copied().flatten().collect();
        let Some(before) = told.len().checked_sub(2 * plateau.steps) else { return false };
        let (earlier, later) = told[before..].split_at(plateau.steps);
        matches!((mean(earlier), mean(later)), (Some(then), Some(now)) if now - then < plateau.gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(curriculum: &Curriculum, successes: &[f64]) -> Vec<u32> {
        let mut state = TaskState::default();
        let after = |success: &f64| {
            curriculum.observe(Some(*success), &mut state);
            curriculum.largest(&state)
        };
        successes.iter().map(after).collect()
    }

    #[test]
    fn it_grows_with_the_steps_up_to_its_end() {
        let by_step: Curriculum = toml::from_str("start = 1\nend = 3\nevery = 2").unwrap();
        assert_eq!(sizes(&by_step, &[0.0; 7]), [1, 2, 2, 3, 3, 3, 3]);
    }

    #[test]
    fn it_grows_when_success_does_not() {
        let plateau: Curriculum =
            toml::from_str("start = 1\nend = 3\nplateau = { steps = 2, gain = 0.1 }").unwrap();
        // It rises up to the fifth step; the fifth and sixth are no better than the two before.
        assert_eq!(sizes(&plateau, &[0.1, 0.2, 0.5, 0.7, 0.7, 0.5, 0.1]), [1, 1, 1, 1, 1, 2, 2]);
    }
}
