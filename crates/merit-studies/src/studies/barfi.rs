//! BARFI: learning how to blend a heuristic reward with the true one, so that the policy it leads to earns most of the true one.

use crate::tabular::bilevel::{Blend, Inner, Seen, Trace};
use crate::tabular::{SoftmaxPolicy, mean};
use crate::worlds::door_grid;
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A softmax policy in the grid with a door. Every arm climbs the same inner objective on the same kind of data; they differ in
/// the reward. Measured is the true discounted return, exactly, as a share of the best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Barfi {
    /// The heuristic reward.
    pub heuristic: Heuristic,
    /// What the inner policy is paid.
    pub reward: Reward,
    /// Discount of the true return.
    pub gamma: f64,
    /// Weight of the entropy in the inner objective.
    pub lambda_entropy: f64,
    /// Weight that keeps the inner discount small.
    pub lambda_gamma: f64,
    /// Rounds of new episodes and inner steps.
    pub iterations: u64,
    /// New episodes per iteration.
    pub batch: u64,
    /// How many episodes are kept for the inner problem, old ones uncorrected.
    pub buffer: usize,
    /// Steps of an episode.
    pub max_steps: usize,
    /// Inner steps per iteration.
    pub inner_steps: usize,
    /// Size of an inner step.
    pub inner_rate: f64,
    /// Iterations before the blend moves.
    pub warm_up: u64,
    /// Size of a step of the blend; there is one in each iteration.
    pub outer_rate: f64,
    /// Terms of the Neumann series.
    pub terms: usize,
    /// Step of the Neumann series.
    pub eta: f64,
    /// Standard deviation of the useless heuristic.
    pub noise: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Heuristic {
    /// Progress along the true shortest path.
    Helpful,
    /// Random numbers, of which `noise` is the standard deviation.
    Useless,
    /// Straight-line progress into a dead end, farmable.
    Harmful,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reward {
    /// The true reward alone.
    Primary,
    /// The true reward and the heuristic.
    Sum,
    /// The true reward, shaped by the heuristic's potential.
    Potential,
    /// BARFI with `H = −I`.
    Identity,
    /// BARFI with a Neumann series.
    Neumann,
}

impl Default for Barfi {
    fn default() -> Self {
        Self {
            heuristic: Heuristic::Harmful,
            reward: Reward::Neumann,
            gamma: 0.99,
            lambda_entropy: 0.01,
            lambda_gamma: 0.01,
            iterations: 300,
            batch: 8,
            buffer: 24,
            max_steps: 100,
            inner_steps: 3,
            inner_rate: 0.5,
            warm_up: 10,
            outer_rate: 0.5,
            terms: 10,
            eta: 0.1,
            noise: 0.1,
        }
    }
}

impl Component for Barfi {
    const ABOUT: About = About {
        name: "barfi",
        summary: "Bi-level learning of how to blend a heuristic reward with the true one.",
        paper: "Behavior Alignment via Reward Function Optimization (NeurIPS 2023)",
    };
    const EXAMPLE: &'static str = "iterations = 2\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.gamma > 0.0 && self.gamma < 1.0, "gamma", self.gamma, "above 0 and below 1")?;
        let weights = [("lambda_entropy", self.lambda_entropy), ("lambda_gamma", self.lambda_gamma)];
        for (key, value) in weights.into_iter().chain([("noise", self.noise)]) {
            Refusal::unless(value >= 0.0, key, value, "0 or more")?;
        }
        for (key, value) in
            [("inner_rate", self.inner_rate), ("outer_rate", self.outer_rate), ("eta", self.eta)]
        {
            Refusal::unless(value > 0.0, key, value, "above 0")?;
        }
        let some = self.batch > 0 && self.iterations > 0 && self.max_steps > 0 && self.inner_steps > 0;
        Refusal::unless(some, "iterations, batch, max_steps or inner_steps", 0, "at least 1")?;
        Refusal::unless(self.buffer as u64 >= self.batch, "buffer", self.buffer, "at least `batch`")
    }
}

impl Study for Barfi {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let (mdp, rewards) = door_grid::door_grid(self.gamma);
        let steps = door_grid::steps_to_end(&mdp);
        let best = mdp.solve(&rewards).values[door_grid::START];
        let places = mdp.states * mdp.actions;
        let mut policy = SoftmaxPolicy::new(mdp.states, mdp.actions);
        let learns = matches!(self.reward, Reward::Identity | Reward::Neumann);
        let weights = if self.reward == Reward::Primary { [0.0, 1.0, 0.0] } else { [0.0, 1.0, 1.0] };
        let mut blend = Blend::constant(places, weights, self.gamma);
        let mut kept: VecDeque<Trace> = VecDeque::new();
        let share = |policy: &SoftmaxPolicy| {
            mdp.evaluate(&policy.table(), &rewards).map_or(0.0, |v| v[door_grid::START] / best)
        };
        let wander: Vec<f64> = {
            let mut stream = seed.child("wander", 0).stream();
            (0..mdp.states).map(|_| self.noise * stream.normal()).collect()
        };
        for iteration in 0..self.iterations {
            if !desk.left()? {
                break;
            }
            for i in 0..self.batch {
                let mut stream = seed.child("episode", iteration * self.batch + i).stream();
                let (mut trace, mut state) = (Trace::new(), door_grid::START);
                while trace.len() < self.max_steps && !mdp.terminal[state] {
                    let action = policy.act(state, &mut stream);
                    let next = mdp.step(state, action, &mut stream);
                    let noise = self.noise * stream.normal();
                    let auxiliary = self.auxiliary(&steps, &wander, noise, state, next);
                    trace.push(Seen { state, action, primary: f64::from(mdp.terminal[next]), auxiliary });
                    state = next;
                }
                desk.spend("env_steps", trace.len() as f64);
                desk.spend("episodes", 1.0);
                kept.push_back(trace);
                if kept.len() > self.buffer {
                    kept.pop_front();
                }
            }
            let traces: Vec<&Trace> = kept.iter().collect();
            if learns && iteration >= self.warm_up {
                let fresh = &traces[traces.len() - self.batch as usize..];
                self.move_blend(&policy, &traces, fresh, &mut blend);
            }
            for _ in 0..self.inner_steps {
                let delta = Inner::new(&policy, &traces, &blend, self.lambda_entropy).delta();
                policy.climb(&delta, self.inner_rate);
                desk.spend("updates", 1.0);
            }
            desk.point("share", share(&policy));
            let newest = traces.iter().rev().take(self.batch as usize);
            let learned: Vec<f64> = newest.map(|trace| blend.total(mdp.actions, trace)).collect();
            desk.point("learned_return", mean(&learned));
            desk.measure("learned_return", mean(&learned));
        }
        // Above 0, so that arms can be compared by ratio.
        desk.measure("share", share(&policy).max(1e-6));
        desk.measure("inner_gamma", blend.gamma());
        desk.measure("largest_phi1", blend.phi[0].iter().map(|phi| phi.abs()).fold(0.0, f64::max));
        let lured = (0..places).filter(|i| {
            let (s, next) = (i / mdp.actions, mdp.outcomes[*i][0].0);
            door_grid::dead_end(s) && door_grid::harmful(s, next) > 0.0
        });
        desk.measure("phi3_in_dead_end", mean(&lured.map(|i| blend.phi[2][i]).collect::<Vec<_>>()));
        Ok(())
    }
}

impl Barfi {
    /// What the heuristic pays for a step; as a potential, `gamma Phi(s') − Phi(s)` with 0 at the end.
    fn auxiliary(&self, steps: &[f64], wander: &[f64], noise: f64, state: usize, next: usize) -> f64 {
        if self.reward == Reward::Potential {
            let potential = |s: usize| match self.heuristic {
                _ if s == door_grid::END => 0.0,
                Heuristic::Helpful => -0.1 * steps[s],
                Heuristic::Useless => wander[s],
                Heuristic::Harmful => -0.1 * door_grid::straight(s),
            };
            return self.gamma * potential(next) - potential(state);
        }
        match self.heuristic {
            Heuristic::Helpful => door_grid::helpful(steps, state, next),
            Heuristic::Useless => noise,
            Heuristic::Harmful => door_grid::harmful(state, next),
        }
    }

    fn move_blend(&self, policy: &SoftmaxPolicy, traces: &[&Trace], fresh: &[&Trace], blend: &mut Blend) {
        // dJ/dtheta: on-policy, the true reward and discount, no entropy.
        let truth = Blend::constant(policy.theta.len(), [0.0, 1.0, 0.0], self.gamma);
        let g = Inner::new(policy, fresh, &truth, 0.0).delta();
        let inner = Inner::new(policy, traces, blend, self.lambda_entropy);
        let u = if self.reward == Reward::Neumann { inner.neumann(&g, self.terms, self.eta) } else { g };
        let (phi, slope) = inner.outer(&u);
        let gamma = blend.gamma();
        let slope = slope - self.lambda_gamma * gamma * (1.0 - gamma);
        for (row, up) in blend.phi.iter_mut().zip(&phi) {
            row.iter_mut().zip(up).for_each(|(phi, up)| *phi += self.outer_rate * up);
        }
        blend.v += self.outer_rate * slope;
    }
}
