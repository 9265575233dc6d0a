//! Robo-Dopamine: progress estimated from hops between states, fused from three views, and paid as a shaping potential.

use crate::tabular::{Mdp, QTable, mean, q_table::Transition};
use crate::worlds::progress::{self, Hops, after_hop};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Three experiments. `trap`: Q-learning on a chain where sitting at high progress can look better than finishing. `hops`: progress
/// along demonstrations, rebuilt from noisy hops. `guard`: Q-learning paid by a progress model that errs in a hidden region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoboDopamine {
    /// Which of the three experiments.
    pub experiment: Experiment,
    /// What is paid in `trap` and `guard`.
    pub pay: Pay,
    /// How progress is made of hops in `hops` and `guard`.
    pub view: View,
    /// Chance that the last step of the trap falls back to the start.
    pub failure: f64,
    /// Discount of the return.
    pub gamma: f64,
    /// Exploration of Q-learning.
    pub epsilon: f64,
    /// Step size in the first half of the episodes.
    pub rate: f64,
    /// Step size in the second half of the episodes.
    pub late_rate: f64,
    /// Episodes of learning.
    pub episodes: u64,
    /// Steps of an episode.
    pub max_steps: u64,
    /// Standard deviation of the error of a hop.
    pub noise: f64,
    /// Trajectories in `hops`.
    pub trajectories: u64,
    /// Length of a trajectory in `hops`.
    pub length: usize,
    /// The model calls the task done from this distance to progress 1.
    pub delta: f64,
    /// How sharply the guard answers to views that disagree.
    pub alpha: f64,
    /// Whether the hidden region also fools the view from the goal.
    pub fools_backward: bool,
}

/// Which of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// Q-learning on a chain where sitting at high progress can look better than finishing.
    Trap,
    /// Progress along demonstrations, rebuilt from noisy hops.
    Hops,
    /// Q-learning paid by a progress model that errs in a hidden region.
    Guard,
}

/// What a step is paid, with progress `phi` and 1 for arriving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pay {
    /// Only arriving at the goal is paid.
    Gold,
    /// `phi(s') − phi(s)`.
    Naive,
    /// Arriving and `phi(s') − phi(s)`.
    AddedDifference,
    /// Arriving and `gamma · phi(s') − phi(s)`, with `phi = 0` at the end.
    Pbrs,
    /// The same with `phi` as it is at the end.
    TerminalKept,
}

/// How progress is made of hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// A sum of noisy differences.
    Raw,
    /// From the state before.
    Incremental,
    /// Progress is measured from the start.
    Forward,
    /// Progress is measured back from the goal.
    Backward,
    /// The mean of the three.
    Fused,
    /// The fused estimate, held where forward and backward disagree.
    Guarded,
    /// No model: the true progress.
    Truth,
}

impl Default for RoboDopamine {
    fn default() -> Self {
        Self {
            experiment: Experiment::Trap,
            pay: Pay::Pbrs,
            view: View::Fused,
            failure: 0.5,
            gamma: 0.95,
            epsilon: 0.1,
            rate: 0.1,
            late_rate: 0.02,
            episodes: 1000,
            max_steps: 100,
            noise: 0.05,
            trajectories: 200,
            length: 100,
            delta: 0.05,
            alpha: 1.0,
            fools_backward: false,
        }
    }
}

impl Component for RoboDopamine {
    const ABOUT: About = About {
        name: "robo-dopamine",
        summary: "A progress model of hops between states, fused from three views, as a shaping potential.",
        paper: "Robo-Dopamine: General Process Reward Modeling for High-Precision Robotic Manipulation (2025)",
    };
    const EXAMPLE: &'static str = "experiment = \"trap\"\npay = \"pbrs\"\nepisodes = 20\n";

    fn check(&self) -> Result<(), Refusal> {
        let unit =
            |key, value: f64| Refusal::unless((0.0..=1.0).contains(&value), key, value, "between 0 and 1");
        unit("failure", self.failure)?;
        unit("epsilon", self.epsilon)?;
        unit("rate", self.rate)?;
        unit("late_rate", self.late_rate)?;
        unit("delta", self.delta)?;
        Refusal::unless((0.0..1.0).contains(&self.gamma), "gamma", self.gamma, "at least 0 and below 1")?;
        Refusal::unless(self.noise >= 0.0, "noise", self.noise, "0 or more")?;
        Refusal::unless(self.alpha >= 0.0, "alpha", self.alpha, "0 or more")?;
        let some = self.episodes > 0 && self.max_steps > 0 && self.trajectories > 0 && self.length > 0;
        Refusal::unless(some, "episodes, max_steps, trajectories or length", 0, "at least 1")?;
        let fits = match self.experiment {
            Experiment::Trap => true,
            Experiment::Hops => self.view != View::Truth,
            Experiment::Guard => !matches!(self.view, View::Raw),
        };
        Refusal::unless(
            fits,
            "view",
            format!("{:?}", self.view),
            "one that the experiment has: `truth` is \
             nothing to rebuild in `hops`, and `raw` is no progress in [0, 1] for `guard`",
        )
    }
}

impl Study for RoboDopamine {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        match self.experiment {
            Experiment::Trap => self.trap(seed, desk),
            Experiment::Hops => self.hops(seed, desk),
            Experiment::Guard => self.guard(seed, desk),
        }
    }
}

/// The progress after a step, from the estimate before it.
pub fn estimate(view: View, before: f64, hops: Hops, alpha: f64) -> f64 {
    let incremental = after_hop(before, hops.step);
    // From the start nothing can be lost and from the goal nothing gained, so that these two are H and 1 + H held in [0, 1].
    let (forward, backward) = (after_hop(0.0, hops.from_start), after_hop(1.0, hops.from_goal));
    match view {
        View::Incremental | View::Raw | View::Truth => incremental,
        View::Forward => forward,
        View::Backward => backward,
        View::Fused => (incremental + forward + backward) / 3.0,
        View::Guarded => {
            let middle = (forward + backward) / 2.0;
            let apart = (backward - forward).abs() / (middle + 1e-6);
            let trust = (-alpha * apart * apart).exp();
            before + 0.5 * trust * (middle - before + (incremental - before))
        }
    }
}

impl RoboDopamine {
    /// What a step is paid; `gold` says whether it arrived and `end` whether the episode ends there.
    pub fn paid(&self, gold: bool, end: bool, before: f64, after: f64) -> f64 {
        let gold = f64::from(gold);
        match self.pay {
            Pay::Gold => gold,
            Pay::Naive => after - before,
            Pay::AddedDifference => gold + after - before,
            Pay::Pbrs => gold + self.gamma * if end { 0.0 } else { after } - before,
            Pay::TerminalKept => gold + self.gamma * after - before,
        }
    }

    fn rate(&self, episode: u64) -> f64 {
        if 2 * episode < self.episodes { self.rate } else { self.late_rate }
    }

    fn trap(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let (mdp, phi) = progress::trap(self.failure, self.gamma);
        let gold = mdp.solve(&mdp.rewards(|_, _, next| f64::from(mdp.terminal[next])));
        let own = mdp.solve(
            &mdp.rewards(|s, _, next| self.paid(mdp.terminal[next], mdp.terminal[next], phi[s], phi[next])),
        );
        let moving: Vec<usize> = (0..mdp.states).filter(|&s| !mdp.terminal[s]).collect();
        let same = moving.iter().filter(|&&s| gold.greedy(s, 1e-9) == own.greedy(s, 1e-9)).count();
        desk.measure("exact_agreement", same as f64 / moving.len() as f64);
        let margin = own.values[18] - own.q[18 * 3 + progress::RIGHT];
        desk.measure("margin_of_staying", margin);

        let mut table = QTable::new(mdp.states, mdp.actions);
        let mut arrived = Vec::new();
        for episode in 0..self.episodes {
            if !desk.left()? {
                break;
            }
            let mut stream = seed.child("episode", episode).stream();
            let (mut state, mut steps) = (0, 0);
            while steps < self.max_steps && !mdp.terminal[state] {
                let action = table.act(state, self.epsilon, &mut stream);
                let next = mdp.step(state, action, &mut stream);
                let end = mdp.terminal[next];
                let reward = self.paid(end, end, phi[state], phi[next]);
                let step = Transition { state, action, reward, next, terminated: end };
                table.update(step, self.rate(episode), self.gamma);
                (state, steps) = (next, steps + 1);
            }
            arrived.push(f64::from(mdp.terminal[state]));
            desk.spend("episodes", 1.0);
            desk.spend("env_steps", steps as f64);
            desk.point("success", mean(&arrived[arrived.len().saturating_sub(WINDOW)..]) * filled(&arrived));
        }
        let learned = |s: usize| gold.greedy(s, 1e-9).contains(&table.greedy(s, &mut seed.stream()));
        let visited = moving.iter().filter(|&&s| learned(s)).count();
        desk.measure("learned_agreement", visited as f64 / moving.len() as f64);
        desk.measure("greedy_success", self.greedy_success(&mdp, 0, &table, seed));
        Ok(())
    }

    /// The share of 200 greedy episodes that arrive.
    fn greedy_success(&self, mdp: &Mdp, start: usize, table: &QTable, seed: &Seed) -> f64 {
        let one = |test: u64| {
            let mut stream = seed.child("test", test).stream();
            let mut state = start;
            for _ in 0..self.max_steps {
                if mdp.terminal[state] {
                    break;
                }
                state = mdp.step(state, table.greedy(state, &mut stream), &mut stream);
            }
            f64::from(mdp.terminal[state])
        };
        mean(&(0..200).map(one).collect::<Vec<_>>())
    }

    fn hops(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let (mut inside, mut errors) = (0.0, Vec::new());
        for run in 0..self.trajectories {
            if !desk.left()? {
                break;
            }
            // Trajectories and errors of the hops are the same for every view.
            let truth = progress::trajectory(self.length, &mut seed.child("trajectory", run).stream());
            let mut stream = seed.child("noise", run).stream();
            let (mut phi, mut in_range, mut squares) = (0.0_f64, true, Vec::new());
            for pair in truth.windows(2) {
                let hops = Hops::noisy(pair[0], pair[1], self.noise, &mut stream);
                phi = match self.view {
                    View::Raw => phi + (pair[1] - pair[0]) + self.noise * stream.normal(),
                    view => estimate(view, phi, hops, self.alpha),
                };
                in_range &= (0.0..=1.0).contains(&phi);
                squares.push((phi - pair[1]).powi(2));
            }
            inside += f64::from(in_range);
            errors.push(mean(&squares).sqrt());
            desk.spend("episodes", 1.0);
            desk.spend("model_calls", 3.0 * self.length as f64);
            desk.point("error", mean(&errors));
        }
        desk.measure("in_range", inside / errors.len().max(1) as f64);
        desk.measure("error", mean(&errors));
        Ok(())
    }

    /// The model's hops from `state` to `next`; in the hidden region it sees the task as nearly done.
    fn read(&self, phi: &[f64], state: usize, next: usize, stream: &mut Stream) -> Hops {
        let mut hops = Hops::noisy(phi[state], phi[next], self.noise, stream);
        if next < progress::HIDDEN {
            (hops.step, hops.from_start) = (0.9, 1.0);
            if self.fools_backward {
                hops.from_goal = 0.0;
            }
        }
        hops
    }

    fn guard(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let (mdp, truth) = progress::corridor(self.gamma);
        let mut table = QTable::new(mdp.states, mdp.actions);
        let (mut hidden, mut claimed) = (0.0, 0.0);
        for episode in 0..self.episodes {
            if !desk.left()? {
                break;
            }
            let mut stream = seed.child("episode", episode).stream();
            let mut noise = seed.child("noise", episode).stream();
            let (mut state, mut phi, mut steps) = (progress::CORRIDOR_START, 0.0, 0);
            while steps < self.max_steps && !mdp.terminal[state] {
                let action = table.act(state, self.epsilon, &mut stream);
                let next = mdp.step(state, action, &mut stream);
                let hops = self.read(&truth, state, next, &mut noise);
                let after = match self.view {
                    View::Truth => truth[next],
                    view => estimate(view, phi, hops, self.alpha),
                };
                // The model, not the world, says whether the task is done; only the world ends the episode.
                let gold = after >= 1.0 - self.delta;
                let end = mdp.terminal[next];
                let reward = self.paid(gold, end, phi, after);
                let step = Transition { state, action, reward, next, terminated: end };
                table.update(step, self.rate(episode), self.gamma);
                hidden += f64::from(next < progress::HIDDEN);
                claimed += f64::from(gold && !end);
                (state, phi, steps) = (next, after, steps + 1);
            }
            desk.spend("episodes", 1.0);
            desk.spend("env_steps", steps as f64);
            if (episode + 1).is_multiple_of(10) {
                desk.point("gold_return", self.greedy_success(&mdp, progress::CORRIDOR_START, &table, seed));
            }
        }
        let steps = desk.spent("env_steps").max(1.0);
        desk.measure("gold_return", self.greedy_success(&mdp, progress::CORRIDOR_START, &table, seed));
        desk.measure("in_hidden", hidden / steps);
        desk.measure("false_gold", claimed / steps);
        Ok(())
    }
}

/// Episodes in the rolling success.
const WINDOW: usize = 20;

/// A window that is not yet full counts what is missing as failures.
fn filled(arrived: &[f64]) -> f64 {
    (arrived.len() as f64 / WINDOW as f64).min(1.0)
}
