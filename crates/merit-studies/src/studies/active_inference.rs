//! Active inference: actions that minimise expected free energy, risk plus ambiguity, under a known or learned world model.

use crate::tabular::pomdp::{self, Lookahead, Pomdp, expected, log_normalised, novelty, risk};
use crate::tabular::{QTable, argmax, draw, mean, q_table::Transition, softmax};
use crate::worlds::{fog_grid, t_maze};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Preferences are over observations in the T-maze, `ln C(o) ∝ strength · payoff(o)`, and over states in the grid,
/// `ln C(s) ∝ −strength · distance`. What is planned is carried out one move at a time and planned again after each observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ActiveInference {
    /// Where the agent acts.
    pub world: World,
    /// What the agent minimises.
    pub agent: Agent,
    /// How often the cue is right, from 0.5 to 1.
    pub reliability: f64,
    /// What a payoff of 1 (a step to the goal in the grid) is worth in nats of preference.
    pub strength: f64,
    /// What a move that ends outside the arms costs, in units of the reward.
    pub waiting: f64,
    /// Moves per trial in the maze, and how far an agent looks ahead everywhere.
    pub horizon: usize,
    /// Inverse temperature of the choice of an action; absent: the best action, ties broken at random.
    pub precision: Option<f64>,
    /// Trials of one cell.
    pub trials: u64,
    /// Moves per trial in the grid.
    pub max_steps: usize,
    /// Chance that a move in the grid leads nowhere.
    pub slip: f64,
    /// Where the cue's meaning is learned: also seek what tells about the model.
    pub novelty: bool,
    /// Exploration of Q-learning.
    pub epsilon: f64,
    /// Step size of Q-learning.
    pub rate: f64,
}

/// Where an agent acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum World {
    /// The T-maze, whose cue has a known meaning.
    TMaze,
    /// The T-maze with unknown `P(sign | context)`, learned over the trials.
    UnknownCue,
    /// A grid of which the agent sees little.
    FogGrid,
}

/// What an agent minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// Expected free energy, recursive in the maze, along fixed sequences in the grid.
    Efe,
    /// Expected free energy along fixed sequences.
    EfeOpen,
    /// Risk alone: no ambiguity.
    Risk,
    /// Expected utility along fixed sequences.
    Utility,
    /// Expected utility, recursive: the exact optimum of the partly observed problem.
    Optimum,
    /// Information gain alone.
    Information,
    /// Q-learning over place, move and the last sign seen.
    QLearning,
}

impl Default for ActiveInference {
    fn default() -> Self {
        Self {
            world: World::TMaze,
            agent: Agent::Efe,
            reliability: 0.98,
            strength: 4.0,
            waiting: 0.02,
            horizon: 2,
            precision: None,
            trials: 1000,
            max_steps: 40,
            slip: 0.1,
            novelty: true,
            epsilon: 0.1,
            rate: 0.1,
        }
    }
}

impl Component for ActiveInference {
    const ABOUT: About = About {
        name: "active-inference",
        summary: "Acting by minimising expected free energy (risk plus ambiguity) in small partly observed worlds.",
        paper: "Active Inference as a Model of Agency (2024)",
    };
    const EXAMPLE: &'static str = "agent = \"efe\"\nreliability = 0.98\ntrials = 50\n";

    fn check(&self) -> Result<(), Refusal> {
        let ActiveInference { reliability, strength, waiting, horizon, slip, epsilon, rate, .. } = *self;
        Refusal::unless((0.5..=1.0).contains(&reliability), "reliability", reliability, "between 0.5 and 1")?;
        Refusal::unless(strength >= 0.0 && strength.is_finite(), "strength", strength, "0 or more")?;
        Refusal::unless((0.0..=1.0).contains(&waiting), "waiting", waiting, "between 0 and 1")?;
        let most = if self.world == World::FogGrid { 6 } else { 4 };
        Refusal::unless((1..=most).contains(&horizon), "horizon", horizon, "from 1 to 4 (6 in the grid)")?;
        Refusal::unless(self.precision.is_none_or(|p| p > 0.0), "precision", "0 or less", "above 0")?;
        Refusal::unless(self.trials > 0, "trials", self.trials, "at least 1")?;
        Refusal::unless((0.0..=1.0).contains(&slip), "slip", slip, "between 0 and 1")?;
        Refusal::unless((0.0..=1.0).contains(&epsilon), "epsilon", epsilon, "between 0 and 1")?;
        Refusal::unless(rate > 0.0 && rate <= 1.0, "rate", rate, "above 0 and at most 1")?;
        let fits = match self.world {
            World::TMaze => self.agent != Agent::QLearning,
            World::UnknownCue => matches!(self.agent, Agent::Efe | Agent::Utility | Agent::QLearning),
            World::FogGrid => matches!(self.agent, Agent::Efe | Agent::Risk | Agent::Utility),
        };
        let agent = format!("{:?}", self.agent);
        Refusal::unless(
            fits,
            "agent",
            agent,
            "one that is defined in this world: any but q-learning in \
             t-maze; efe, utility or q-learning in unknown-cue; efe, risk or utility in fog-grid",
        )
    }
}

impl Study for ActiveInference {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        match (self.world, self.agent) {
            (World::FogGrid, _) => self.grid(seed, desk),
            (_, Agent::QLearning) => self.q_learning(seed, desk),
            _ => self.maze(seed, desk),
        }
    }
}

/// What is kept of the trials of a maze.
#[derive(Debug, Default)]
struct Tally {
    reward: Vec<f64>,
    first: [f64; t_maze::PLACES],
    arms: f64,
    right: f64,
}

impl Tally {
    fn add(&mut self, path: &[usize], rewards: f64, rewarded_arm: usize, desk: &mut Desk<'_>) {
        self.reward.push(rewards);
        self.first[path[0]] += 1.0;
        let last = path[path.len() - 1];
        self.arms += f64::from(matches!(last, t_maze::LEFT | t_maze::RIGHT));
        self.right += f64::from(last == rewarded_arm);
        desk.spend("episodes", 1.0);
        desk.spend("env_steps", path.len() as f64);
        if self.reward.len().is_multiple_of(25) {
            desk.point("reward", mean(&self.reward[self.reward.len() - 25..]));
            desk.point("cue_first", self.first[t_maze::CUE] / self.reward.len() as f64);
        }
    }

    fn report(&self, desk: &mut Desk<'_>) {
        let trials = self.reward.len().max(1) as f64;
        let share = |place: usize| self.first[place] / trials;
        desk.measure("reward", mean(&self.reward));
        desk.measure("late_reward", mean(&self.reward[self.reward.len() / 2..]));
        desk.measure("cue_first", share(t_maze::CUE));
        desk.measure("blank_first", share(t_maze::BLANK));
        desk.measure("cue_over_blank", share(t_maze::CUE) - share(t_maze::BLANK));
        desk.measure("enters_arm", self.arms / trials);
        // Of those that entered an arm; 0.5 where none did, since nothing was chosen.
        desk.measure("correct", if self.arms > 0.0 { self.right / self.arms } else { 0.5 });
    }
}

impl ActiveInference {
    fn choose(&self, costs: &[f64], stream: &mut Stream) -> usize {
        let value: Vec<f64> = costs.iter().map(|g| -g).collect();
        match self.precision {
            Some(precision) => {
                draw(&softmax(&value.iter().map(|v| v * precision).collect::<Vec<_>>()), stream)
            }
            None => argmax(&value, 1e-9, stream),
        }
    }

    /// What a predicted belief costs the agent in the maze; `learned` is what observing there tells about the model.
    fn cost(&self, model: &Pomdp, log_c: &[f64], belief: &[f64], learned: f64) -> f64 {
        let seen = model.observations(belief);
        match self.agent {
            Agent::Risk => risk(&seen, log_c),
            Agent::Utility | Agent::Optimum | Agent::QLearning => -expected(&seen, log_c),
            Agent::Information => -model.information(belief),
            Agent::Efe | Agent::EfeOpen => risk(&seen, log_c) + model.ambiguity(belief) - learned,
        }
    }

    fn lookahead(&self) -> Lookahead {
        match self.agent {
            Agent::EfeOpen | Agent::Utility => Lookahead::OpenLoop,
            _ => Lookahead::Recursive,
        }
    }

    fn maze(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let truth = t_maze::t_maze(self.reliability);
        let payoff = t_maze::payoffs(self.waiting);
        let log_c = log_normalised(&payoff.iter().map(|p| self.strength * p).collect::<Vec<_>>());
        let learns = self.world == World::UnknownCue;
        // Dirichlet counts of the cue's two signs in each context: at first it may mean anything.
        let mut counts = [[1.0; 2]; 2];
        let mut model = truth.clone();
        let (mut tally, mut terms) = (Tally::default(), Terms::default());
        for trial in 0..self.trials {
            if !desk.left()? {
                break;
            }
            if learns {
                set_cue(&mut model, &counts);
            }
            let tells = if learns && self.novelty { counts.map(|c| novelty(&c)) } else { [0.0; 2] };
            let learned = |belief: &[f64]| -> f64 {
                (0..2).map(|c| belief[t_maze::state(t_maze::CUE, c)] * tells[c]).sum()
            };
            let cost = |belief: &[f64]| self.cost(&model, &log_c, belief, learned(belief));
            // Context and signs are the same for every agent with this seed.
            let mut luck = seed.child("world", trial).stream();
            let mut stream = seed.child("agent", trial).stream();
            let context = luck.below(2) as usize;
            let mut state = t_maze::state(t_maze::CENTRE, context);
            let mut belief = model.start.clone();
            let (mut path, mut rewards, mut sign) = (Vec::new(), 0.0, None);
            for step in 0..self.horizon {
                let costs = pomdp::plan(&model, &belief, self.horizon - step, self.lookahead(), &cost);
                let action = self.choose(&costs, &mut stream);
                belief = model.predict(&belief, action);
                terms.add(&model, &log_c, &belief, step);
                state = truth.moves[action][state][0].0;
                let seen = draw(&truth.likelihood[state], &mut luck);
                belief = model.update(&belief, seen);
                rewards += payoff[seen];
                path.push(t_maze::place(state));
                if t_maze::place(state) == t_maze::CUE {
                    sign = Some(seen - t_maze::SIGN);
                }
            }
            // Each sign is counted for the contexts as the agent believes in them at the end of the trial.
            for (context, row) in counts.iter_mut().enumerate() {
                let believed: f64 = belief[context * t_maze::PLACES..][..t_maze::PLACES].iter().sum();
                sign.into_iter().for_each(|sign| row[sign] += believed);
            }
            tally.add(&path, rewards, t_maze::LEFT + context, desk);
        }
        tally.report(desk);
        terms.report(desk);
        Ok(())
    }

    fn q_learning(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let truth = t_maze::t_maze(self.reliability);
        let payoff = t_maze::payoffs(self.waiting);
        let index = |step: usize, place: usize, memory: usize| (step * t_maze::PLACES + place) * 3 + memory;
        let mut table = QTable::new(index(self.horizon + 1, 0, 0), t_maze::PLACES);
        let mut tally = Tally::default();
        for trial in 0..self.trials {
            if !desk.left()? {
                break;
            }
            let mut luck = seed.child("world", trial).stream();
            let mut stream = seed.child("agent", trial).stream();
            let context = luck.below(2) as usize;
            let (mut state, mut memory) = (t_maze::state(t_maze::CENTRE, context), 0);
            let (mut path, mut rewards) = (Vec::new(), 0.0);
            for step in 0..self.horizon {
                let from = index(step, t_maze::place(state), memory);
                let action = table.act(from, self.epsilon, &mut stream);
                state = truth.moves[action][state][0].0;
                let seen = draw(&truth.likelihood[state], &mut luck);
                if t_maze::place(state) == t_maze::CUE {
                    memory = 1 + seen - t_maze::SIGN;
                }
                let (reward, next) = (payoff[seen], index(step + 1, t_maze::place(state), memory));
                let terminated = step + 1 == self.horizon;
                table.update(Transition { state: from, action, reward, next, terminated }, self.rate, 1.0);
                rewards += reward;
                path.push(t_maze::place(state));
            }
            tally.add(&path, rewards, t_maze::LEFT + context, desk);
        }
        tally.report(desk);
        Ok(())
    }

    fn grid(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let model = fog_grid::fog_grid(self.slip);
        let far: Vec<f64> = (0..model.start.len()).map(|s| fog_grid::distance(s) as f64).collect();
        let log_c = log_normalised(&far.iter().map(|d| -self.strength * d).collect::<Vec<_>>());
        let blur: Vec<f64> = model.likelihood.iter().map(|row| pomdp::entropy(row)).collect();
        let cost = |belief: &[f64]| match self.agent {
            Agent::Utility => -expected(belief, &log_c),
            Agent::Risk => risk(belief, &log_c),
            _ => risk(belief, &log_c) + expected(belief, &blur),
        };
        let (mut in_fog, mut reached, mut trials) = (0.0, 0.0, 0.0_f64);
        for trial in 0..self.trials {
            if !desk.left()? {
                break;
            }
            let mut luck = seed.child("world", trial).stream();
            let mut stream = seed.child("agent", trial).stream();
            let (mut cell, mut belief) = (0, model.start.clone());
            for _ in 0..self.max_steps {
                let costs = pomdp::plan(&model, &belief, self.horizon, Lookahead::OpenLoop, &cost);
                let action = self.choose(&costs, &mut stream);
                let ways = &model.moves[action][cell];
                cell = ways[draw(&ways.iter().map(|w| w.1).collect::<Vec<_>>(), &mut luck)].0;
                let seen = draw(&model.likelihood[cell], &mut luck);
                belief = model.update(&model.predict(&belief, action), seen);
                desk.spend("env_steps", 1.0);
                in_fog += f64::from(fog_grid::in_fog(cell));
                if cell == fog_grid::GOAL {
                    reached += 1.0;
                    break;
                }
            }
            trials += 1.0;
            desk.spend("episodes", 1.0);
            desk.point("in_fog", in_fog / desk.spent("env_steps"));
        }
        let steps = desk.spent("env_steps").max(1.0);
        desk.measure("in_fog", in_fog / steps);
        desk.measure("reached", reached / trials.max(1.0));
        desk.measure("steps", steps / trials.max(1.0));
        Ok(())
    }
}

/// The model's expectation of the cue from its counts.
fn set_cue(model: &mut Pomdp, counts: &[[f64; 2]; 2]) {
    for (context, row) in counts.iter().enumerate() {
        for sign in 0..2 {
            let p = row[sign] / (row[0] + row[1]);
            model.likelihood[t_maze::state(t_maze::CUE, context)][t_maze::SIGN + sign] = p;
        }
    }
}

/// The terms of the free energy of what was chosen first, and how far the two forms of it lie apart.
#[derive(Debug, Default)]
struct Terms {
    first: Vec<[f64; 3]>,
    identity_error: f64,
}

impl Terms {
    fn add(&mut self, model: &Pomdp, log_c: &[f64], predicted: &[f64], step: usize) {
        let seen = model.observations(predicted);
        let (risk, ambiguity) = (risk(&seen, log_c), model.ambiguity(predicted));
        // The mutual information the long way, as the expected change of the belief.
        let gain: f64 = (0..seen.len())
            .filter(|&o| seen[o] > 0.0)
            .map(|o| {
                let after = model.update(predicted, o);
                let moved = after.iter().zip(predicted).filter(|(q, _)| **q > 0.0);
                seen[o] * moved.map(|(q, p)| q * (q / p).ln()).sum::<f64>()
            })
            .sum();
        let apart = (risk + ambiguity) - (-expected(&seen, log_c) - gain);
        self.identity_error = self.identity_error.max(apart.abs());
        if step == 0 {
            self.first.push([risk, ambiguity, gain]);
        }
    }

    fn report(&self, desk: &mut Desk<'_>) {
        for (i, name) in ["risk", "ambiguity", "info_gain"].into_iter().enumerate() {
            desk.measure(name, mean(&self.first.iter().map(|t| t[i]).collect::<Vec<_>>()));
        }
        desk.measure("identity_error", self.identity_error);
    }
}
