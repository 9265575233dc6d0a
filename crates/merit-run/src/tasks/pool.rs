//! Tasks that come again, the uncertain ones more often.

use super::{Ask, Known, TaskSource, TaskState};
use crate::RunError;
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fixed number of tasks that come again. One with standard deviation `s` and pass rate `m` has the weight
/// `s / s_max * (1 + lambda * (1 - m))`; one that was never played, that of `s_max` and a pass rate of a half.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Tasks: the first ones of the world.
    pub size: u64,
    /// How much more a task weighs the more rarely it is solved.
    #[serde(default = "one")]
    pub lambda: f64,
    /// Share of draws that look at no weight, so that no task is lost for good.
    #[serde(default = "tenth")]
    pub explore: f64,
}

fn one() -> f64 {
    1.0
}

fn tenth() -> f64 {
    0.1
}

impl Component for Pool {
    const ABOUT: About = About {
        name: "pool",
        summary: "A fixed number of tasks that come again, those whose rewards vary most more often.",
        paper: "VSPO",
    };
    const EXAMPLE: &'static str = "size = 256\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.size > 0, "size", self.size, "at least 1")?;
        let fine = self.lambda.is_finite() && self.lambda >= 0.0;
        Refusal::unless(fine, "lambda", self.lambda, "0 or above")?;
        Refusal::unless((0.0..=1.0).contains(&self.explore), "explore", self.explore, "between 0 and 1")
    }
}

impl TaskSource for Pool {
    fn draw(&self, ask: &Ask<'_>, state: &mut TaskState, count: usize) -> Result<Vec<u64>, RunError> {
        let most = state.known.values().map(Known::deviation).fold(0.0, f64::max);
        let free = (0..self.size).filter(|at| !ask.taken.contains(at));
        let mut free: Vec<(u64, f64)> =
            free.map(|at| (at, self.weight(state.known.get(&at), most))).collect();
        let mut stream = ask.seed.stream();
        let mut drawn = Vec::new();
        while drawn.len() < count && !free.is_empty() {
            let explores = stream.chance(self.explore);
            let total: f64 = free.iter().map(|(_, weight)| weight).sum();
            let place = match total > 0.0 && !explores {
                true => place_of(&free, stream.unit() * total),
                false => stream.below(free.len() as u64) as usize,
            };
            drawn.push(free.remove(place).0);
        }
        Ok(drawn)
    }

    fn returns(&self) -> bool {
        true
    }

    fn check_for(&self, groups: u32) -> Result<(), String> {
        if self.size >= u64::from(groups) {
            return Ok(());
        }
        Err(format!(
            "`tasks.source.size` is {}, and a step plays {groups} different tasks (`budget.groups`); raise the one or lower the other",
            self.size
        ))
    }

    fn numbers(&self, state: &TaskState) -> Vec<(&'static str, f64)> {
        vec![("pool_visited", state.known.len() as f64)]
    }
}

impl Pool {
    fn weight(&self, known: Option<&Known>, most: f64) -> f64 {
        let (share, rate) = match known.and_then(|known| Some((known.deviation(), known.pass_rate()?))) {
            None => (1.0, 0.5),
            Some((deviation, rate)) => (if most > 0.0 { deviation / most } else { 0.0 }, rate),
        };
        share * (1.0 + self.lambda * (1.0 - rate))
    }
}

/// Where a point falls when the weights are laid one behind another.
fn place_of(weighed: &[(u64, f64)], mut point: f64) -> usize {
    for (place, (_, weight)) in weighed.iter().enumerate() {
        if point < *weight {
            return place;
        }
        point -= weight;
    }
    // Rounding may leave a little over: the last that has any weight.
    weighed.iter().rposition(|(_, weight)| *weight > 0.0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::Seen;
    use merit_core::Seed;
    use std::collections::BTreeSet;

    fn drawn(pool: &Pool, state: &TaskState) -> Vec<usize> {
        let mut counts = vec![0; pool.size as usize];
        for step in 0..2000 {
            let seed = Seed::root(1).child("draw", step);
            let ask = Ask { step, groups: 1, taken: &BTreeSet::from([3]), seed, size: &|_| Ok(1) };
            for at in pool.draw(&ask, &mut state.clone(), 1).unwrap() {
                counts[at as usize] += 1;
            }
        }
        counts
    }

    #[test]
    fn uncertain_and_hard_tasks_come_more_often_and_none_is_lost() {
        let pool: Pool = toml::from_str("size = 4\nexplore = 0.1").unwrap();
        let mut state = TaskState::default();
        let rewards = [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]];
        for (at, rewards) in (0..).zip(rewards) {
            let solved = rewards.iter().sum::<f64>() as u32;
            state.known.entry(at).or_default().see(&Seen { solved, rewards: rewards.to_vec() }, 0, 0.9);
        }
        // Nine draws in ten go by weight, 0 : 1.25 : 1.75; the others are even; the fourth task is taken already.
        let want = [0.1 / 3.0, 0.9 * 1.25 / 3.0 + 0.1 / 3.0, 0.9 * 1.75 / 3.0 + 0.1 / 3.0, 0.0];
        for (count, want) in drawn(&pool, &state).into_iter().zip(want) {
            assert!((count as f64 / 2000.0 - want).abs() < 0.03, "{count} of 2000, not {want}");
        }
    }

    #[test]
    fn a_pool_that_is_used_up_gives_what_it_has() {
        let pool: Pool = toml::from_str("size = 4").unwrap();
        let ask =
            Ask { step: 0, groups: 1, taken: &BTreeSet::from([3]), seed: Seed::root(1), size: &|_| Ok(1) };
        let mut drawn = pool.draw(&ask, &mut TaskState::default(), 9).unwrap();
        drawn.sort_unstable();
        assert_eq!(drawn, [0, 1, 2]);
    }
}
