//! VerlTool's rollout: what trajectories gain when none waits for the tools of another.
//!
//! On a virtual clock, so that a second run gives the same numbers: a policy decodes with a fixed rate in a fixed number of slots,
//! tools answer after log-normal times, and any number of them at once. The same trajectories are run twice, with a barrier after
//! every turn and without.

use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Trajectories of several turns over tools that answer late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VerlTool {
    /// Trajectories of one cell.
    pub trajectories: usize,
    /// Tool calls of each; after the last one an answer is decoded.
    pub turns: usize,
    /// Sequences that are decoded at once.
    pub slots: usize,
    /// Tokens of a turn, drawn evenly between the two.
    pub tokens: [i64; 2],
    /// Of one sequence.
    pub tokens_per_second: f64,
    /// Mean time of a tool call, in seconds.
    pub latency: f64,
    /// The deviation of its logarithm; the mean stays.
    pub latency_deviation: f64,
}

impl Default for VerlTool {
    fn default() -> Self {
        Self {
            trajectories: 256,
            turns: 3,
            slots: 64,
            tokens: [20, 60],
            tokens_per_second: 50.0,
            latency: 1.0,
            latency_deviation: 1.0,
        }
    }
}

impl Component for VerlTool {
    const ABOUT: About = About {
        name: "verl-tool",
        summary: "Rollouts over slow tools on a virtual clock, with and without a barrier after every turn.",
        paper: "VerlTool: Towards Holistic Agentic Reinforcement Learning with Tool Use (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.trajectories > 0, "trajectories", self.trajectories, "at least 1")?;
        Refusal::unless(self.slots > 0, "slots", self.slots, "at least 1")?;
        let [low, high] = self.tokens;
        if !(0 < low && low <= high) {
            return Err(Refusal::new("`tokens` must be two positive numbers, the lower first"));
        }
        let positive =
            |key, value: f64| Refusal::unless(value.is_finite() && value > 0.0, key, value, "above 0");
        positive("tokens_per_second", self.tokens_per_second)?;
        positive("latency", self.latency)?;
        let spread = self.latency_deviation;
        Refusal::unless(spread.is_finite() && spread >= 0.0, "latency_deviation", spread, "at least 0")
    }
}

/// One turn: seconds to decode it, and seconds until its tool has answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    pub decode: f64,
    pub tool: f64,
}

impl Study for VerlTool {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let drawn = (0..self.trajectories as u64).map(|at| self.draw(&seed.child("trajectory", at)));
        let drawn: Vec<Vec<Turn>> = drawn.collect();
        let (without, with) = (independent(&drawn, self.slots), barrier(&drawn, self.slots));
        desk.spend("episodes", self.trajectories as f64);
        desk.measure("seconds", without);
        desk.measure("seconds_with_barrier", with);
        desk.measure("speed_up", with / without);
        desk.point("speed_up", with / without);
        Ok(())
    }
}

impl VerlTool {
    /// A trajectory by its own seed alone, so that it does not depend on when its turn comes.
    fn draw(&self, seed: &Seed) -> Vec<Turn> {
        let mut rng = seed.stream();
        let deviation = self.latency_deviation;
        let turn = |at: usize| {
            let decode = rng.between(self.tokens[0], self.tokens[1]) as f64 / self.tokens_per_second;
            let late = (rng.normal() * deviation - deviation * deviation / 2.0).exp();
            Turn { decode, tool: if at < self.turns { self.latency * late } else { 0.0 } }
        };
        (0..=self.turns).map(turn).collect()
    }
}

/// When the last trajectory ends if each goes on as soon as its own tool has answered and a slot is free.
pub fn independent(trajectories: &[Vec<Turn>], slots: usize) -> f64 {
    // Who can be decoded from when, first come first served; and when slots come free.
    let mut ready: BinaryHeap<Reverse<(Moment, usize, usize)>> =
        (0..trajectories.len()).map(|at| Reverse((Moment(0.0), at, 0))).collect();
    let mut free: BinaryHeap<Reverse<Moment>> = (0..slots).map(|_| Reverse(Moment(0.0))).collect();
    let mut last: f64 = 0.0;
    while let Some(Reverse((Moment(from), at, turn))) = ready.pop() {
        let Some(Reverse(Moment(slot))) = free.pop() else { break };
        let decoded = from.max(slot) + trajectories[at][turn].decode;
        free.push(Reverse(Moment(decoded)));
        let answered = decoded + trajectories[at][turn].tool;
        if turn + 1 < trajectories[at].len() {
            ready.push(Reverse((Moment(answered), at, turn + 1)));
        } else {
            last = last.max(answered);
        }
    }
    last
}

/// The same if all are decoded, then all wait for all tools, turn by turn.
pub fn barrier(trajectories: &[Vec<Turn>], slots: usize) -> f64 {
    let turns = trajectories.iter().map(Vec::len).max().unwrap_or(0);
    (0..turns)
        .map(|turn| {
            let now: Vec<Turn> = trajectories.iter().filter_map(|one| one.get(turn).copied()).collect();
            let alone: Vec<Vec<Turn>> = now.iter().map(|one| vec![Turn { tool: 0.0, ..*one }]).collect();
            independent(&alone, slots) + now.iter().map(|one| one.tool).fold(0.0, f64::max)
        })
        .sum()
}

/// A time, ordered.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moment(f64);

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
