//! ExpRD, ExpAdaRD and ExploRS: rewards designed by a teacher, once or again and again, or by the agent itself.

use crate::tabular::design::Teacher;
use crate::tabular::{QTable, SoftmaxPolicy, draw, mdp::Solution, q_table::Transition};
use crate::worlds::sparse::{self, Sparse};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::rc::Rc;

/// A learner in a sparsely paid world, paid by some reward in place of the original or on top of it. What is measured is always
/// the original return, exactly, as a share of the best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExprdExplors {
    /// Where the learner acts.
    pub world: World,
    /// The learning algorithm.
    pub learner: Learner,
    /// The reward that the learner is paid.
    pub reward: Reward,
    /// How many states a designed reward may pay; 0 for all.
    pub paid_states: usize,
    /// The horizons at which gaps should show.
    pub horizons: Vec<usize>,
    /// The largest designed reward.
    pub most: f64,
    /// Episodes between two designs of the adaptive teacher.
    pub redesign_every: u64,
    /// What the distractor of the chain pays.
    pub distractor: f64,
    /// Chance that a move goes wrong.
    pub slip: f64,
    /// Episodes of one cell.
    pub episodes: u64,
    /// Q-learning: step size.
    pub rate: f64,
    /// Q-learning: exploration.
    pub epsilon: f64,
    /// REINFORCE: step size.
    pub actor_rate: f64,
    /// REINFORCE: episodes between updates.
    pub update_every: u64,
    /// REINFORCE: episodes used in an update.
    pub recent: usize,
    /// Self-shaping: step size of the reward.
    pub shape_rate: f64,
    /// Self-shaping: step size of the critic.
    pub critic_rate: f64,
    /// Self-shaping: episodes between updates.
    pub shape_every: u64,
    /// Self-shaping: episodes used in an update.
    pub buffer: usize,
    /// The bonus is `lambda / sqrt((lambda / largest)² + visits)`.
    pub bonus_lambda: f64,
    /// The largest bonus.
    pub bonus_most: f64,
    /// Episodes between two points of the curve under REINFORCE.
    pub point_every: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum World {
    /// A grid of four rooms with doors.
    Rooms,
    /// A line with a key that must be fetched first.
    KeyLine,
    /// A chain that pays at one end and distracts at the other.
    Chain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Learner {
    /// Tabular Q-learning.
    QLearning,
    /// REINFORCE with a softmax policy.
    Reinforce,
}

/// What the learner is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reward {
    /// The original reward alone.
    Original,
    /// The original, shaped by the optimal values as a potential.
    Potential,
    /// ExpRD: designed once.
    Explicable,
    /// ExpAdaRD: designed again for the learner's policy.
    Adaptive,
    /// ExploB: the original and a bonus for rare states.
    Bonus,
    /// SelfRS: the original and a reward learned from original returns.
    SelfShaped,
    /// ExploRS: the bonus of ExploB and the learned reward of SelfRS.
    Both,
    /// SORS: the original and a reward that ranks episodes as their returns do.
    Ranked,
}

impl Default for ExprdExplors {
    fn default() -> Self {
        Self {
            world: World::Chain,
            learner: Learner::Reinforce,
            reward: Reward::Both,
            paid_states: 5,
            horizons: vec![1, 4, 8, 16, 32],
            most: 10.0,
            redesign_every: 50,
            distractor: 0.01,
            slip: 0.05,
            episodes: 50_000,
            rate: 0.5,
            epsilon: 0.1,
            actor_rate: 0.1,
            update_every: 2,
            recent: 5,
            shape_rate: 0.01,
            critic_rate: 0.01,
            shape_every: 5,
            buffer: 10,
            bonus_lambda: 1.0,
            bonus_most: 1.0,
            point_every: 500,
        }
    }
}

impl Component for ExprdExplors {
    const ABOUT: About = About {
        name: "exprd-explors",
        summary: "Rewards designed by a teacher (ExpRD, ExpAdaRD) or by the agent itself (ExploRS).",
        paper: "Reward Design for Reinforcement Learning Agents (thesis, 2025)",
    };
    const EXAMPLE: &'static str = "reward = \"both\"\nepisodes = 50\n";

    fn check(&self) -> Result<(), Refusal> {
        let unit =
            |key, value: f64| Refusal::unless((0.0..=1.0).contains(&value), key, value, "between 0 and 1");
        unit("slip", self.slip)?;
        unit("epsilon", self.epsilon)?;
        unit("rate", self.rate)?;
        let positive =
            |key, value: f64| Refusal::unless(value > 0.0 && value.is_finite(), key, value, "above 0");
        positive("most", self.most)?;
        positive("actor_rate", self.actor_rate)?;
        positive("bonus_lambda", self.bonus_lambda)?;
        positive("bonus_most", self.bonus_most)?;
        Refusal::unless(!self.horizons.is_empty(), "horizons", "empty", "a list of horizons")?;
        let every =
            [self.redesign_every, self.update_every, self.shape_every, self.point_every, self.episodes];
        Refusal::unless(every.iter().all(|n| *n > 0), "episodes or an interval", 0, "at least 1")?;
        let some = self.recent > 0 && self.buffer >= self.recent;
        Refusal::unless(some, "buffer", self.buffer, "at least `recent`, which is at least 1")?;
        let fits = match self.reward {
            Reward::Original | Reward::Potential | Reward::Explicable => true,
            _ => self.learner == Learner::Reinforce,
        };
        Refusal::unless(fits, "learner", "q-learning", "`reinforce` for this reward")
    }
}

impl Study for ExprdExplors {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let world = match self.world {
            World::Rooms => sparse::rooms(self.slip),
            World::KeyLine => sparse::key_line(self.slip),
            World::Chain => sparse::chain(self.distractor, self.slip),
        };
        let teacher = Teacher::new(&world.mdp, &world.rewards, self.most, &self.horizons);
        let first = self.first_reward(&world, &teacher)?;
        desk.measure("policy_kept", teacher.agreement(&first));
        match self.learner {
            Learner::QLearning => self.q_learning(&world, &first, &teacher.optimum, seed, desk),
            Learner::Reinforce => self.reinforce(&world, first, &teacher, seed, desk),
        }
    }
}

/// One step of an episode.
#[derive(Debug, Clone, Copy)]
struct Step {
    state: usize,
    action: usize,
    next: usize,
}

/// One episode as the agent keeps it.
#[derive(Debug)]
struct Episode {
    steps: Vec<Step>,
    /// What the agent was paid.
    rewards: Vec<f64>,
    /// The policy that acted, by state and action.
    policy: Rc<Vec<f64>>,
}

/// The agent's own additions to the reward.
#[derive(Debug)]
struct Additions {
    /// By state and action.
    shape: Vec<f64>,
    values: Vec<f64>,
    visits: Vec<f64>,
}

impl ExprdExplors {
    fn first_reward(&self, world: &Sparse, teacher: &Teacher<'_>) -> Result<Vec<f64>, StudyError> {
        let optimal = &teacher.optimum.values;
        match self.reward {
            Reward::Potential => {
                let shaping = world.mdp.rewards(|s, _, next| world.mdp.gamma * optimal[next] - optimal[s]);
                Ok(world.rewards.iter().zip(&shaping).map(|(r, f)| r + f).collect())
            }
            Reward::Explicable => {
                let all: Vec<usize> = (0..world.mdp.states).filter(|&s| !world.mdp.terminal[s]).collect();
                let design = match self.paid_states {
                    0 => teacher.explicable(&all),
                    size => teacher.grow(&world.goals, size),
                };
                let none = || StudyError::Broken("no reward keeps the best policy".into());
                design.map(|design| design.rewards).ok_or_else(none)
            }
            _ => Ok(world.rewards.clone()),
        }
    }

    fn q_learning(
        &self,
        world: &Sparse,
        paid: &[f64],
        optimum: &Solution,
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<(), StudyError> {
        let mdp = &world.mdp;
        let mut table = QTable::new(mdp.states, mdp.actions);
        let mut share = 0.0;
        for episode in 0..self.episodes {
            if !desk.left()? {
                break;
            }
            let mut stream = seed.child("episode", episode).stream();
            let (mut state, mut steps) = (world.start, 0);
            while steps < world.max_steps && !mdp.terminal[state] {
                let action = table.act(state, self.epsilon, &mut stream);
                let next = mdp.step(state, action, &mut stream);
                let reward = paid[state * mdp.actions + action];
                let step = Transition { state, action, reward, next, terminated: mdp.terminal[next] };
                table.update(step, self.rate, mdp.gamma);
                (state, steps) = (next, steps + 1);
            }
            desk.spend("episodes", 1.0);
            desk.spend("env_steps", steps as f64);
            // The greedy policy, evenly among ties, judged exactly by the original reward.
            let greedy = Solution { values: vec![0.0; mdp.states], q: table.q.clone() }.policy(1e-12);
            let values = mdp.evaluate(&greedy, &world.rewards);
            share = values.map_or(0.0, |v| v[world.start] / optimum.values[world.start]);
            desk.point("share", share);
        }
        desk.measure("share", share);
        Ok(())
    }

    fn reinforce(
        &self,
        world: &Sparse,
        mut paid: Vec<f64>,
        teacher: &Teacher<'_>,
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<(), StudyError> {
        let mdp = &world.mdp;
        let mut policy = SoftmaxPolicy::new(mdp.states, mdp.actions);
        let mut own = Additions {
            shape: vec![0.0; paid.len()],
            values: vec![0.0; mdp.states],
            visits: vec![0.0; mdp.states],
        };
        let mut kept: VecDeque<Episode> = VecDeque::new();
        let mut table = Rc::new(policy.table());
        let mut start = vec![0.0; mdp.states];
        start[world.start] = 1.0;
        let (optimum, mut least_kept, mut reached) = (world.optimum(), 1.0_f64, 0.0);
        for episode in 0..self.episodes {
            if !desk.left()? {
                break;
            }
            if self.reward == Reward::Adaptive && episode.is_multiple_of(self.redesign_every) {
                let design = teacher.adaptive(&table, &start, &world.goals, self.paid_states);
                paid = design.map_or(paid, |design| design.rewards);
                least_kept = least_kept.min(teacher.agreement(&paid));
            }
            let mut stream = seed.child("episode", episode).stream();
            let (mut steps, mut rewards, mut state) = (Vec::new(), Vec::new(), world.start);
            while steps.len() < world.max_steps && !mdp.terminal[state] {
                let row = state * mdp.actions;
                let action = draw(&table[row..row + mdp.actions], &mut stream);
                let next = mdp.step(state, action, &mut stream);
                let at = row + action;
                rewards.push(paid[at] + self.added(&own, at, next, mdp.terminal[next]));
                own.visits[state] += 1.0;
                steps.push(Step { state, action, next });
                state = next;
            }
            reached += f64::from(steps.iter().any(|step| world.goals.contains(&step.next)));
            desk.spend("episodes", 1.0);
            desk.spend("env_steps", steps.len() as f64);
            kept.push_back(Episode { steps, rewards, policy: Rc::clone(&table) });
            if kept.len() > self.buffer {
                kept.pop_front();
            }
            if (episode + 1).is_multiple_of(self.shape_every) {
                match self.reward {
                    Reward::SelfShaped | Reward::Both => self.shape(&mut own, world, &kept),
                    Reward::Ranked => self.rank(&mut own, world, &kept, seed, episode),
                    _ => {}
                }
            }
            if (episode + 1).is_multiple_of(self.update_every) {
                let recent = kept.iter().skip(kept.len().saturating_sub(self.recent));
                let (mut gradient, mut count) = (vec![0.0; policy.theta.len()], 0.0_f64);
                for episode in recent {
                    for (step, after) in episode.steps.iter().zip(returns(&episode.rewards, mdp.gamma)) {
                        push(&mut gradient, &table, mdp.actions, *step, after);
                        count += 1.0;
                    }
                }
                policy.climb(&gradient, self.actor_rate / count.max(1.0));
                table = Rc::new(policy.table());
                desk.spend("updates", 1.0);
            }
            if (episode + 1).is_multiple_of(self.point_every) {
                desk.point("share", world.expected(&table) / optimum);
            }
        }
        desk.measure("share", world.expected(&table) / optimum);
        desk.measure("goal_visits", reached);
        if self.reward == Reward::Adaptive {
            desk.measure("policy_kept", least_kept);
        }
        Ok(())
    }

    fn added(&self, own: &Additions, at: usize, next: usize, ended: bool) -> f64 {
        let floor = (self.bonus_lambda / self.bonus_most).powi(2);
        let bonus = if ended { 0.0 } else { self.bonus_lambda / (floor + own.visits[next]).sqrt() };
        match self.reward {
            Reward::Bonus => bonus,
            Reward::Both => bonus + own.shape[at],
            Reward::SelfShaped | Reward::Ranked => own.shape[at],
            _ => 0.0,
        }
    }

    /// `phi(s, ·) += eta · pi(a|s) · (G − V(s)) · (onehot(a) − pi(·|s))` with the original return `G`, summed over the buffer.
    fn shape(&self, own: &mut Additions, world: &Sparse, kept: &VecDeque<Episode>) {
        let actions = world.mdp.actions;
        let (mut change, mut count) = (vec![0.0; own.values.len()], 0.0_f64);
        let mut shape = vec![0.0; own.shape.len()];
        for Episode { steps, policy, .. } in kept {
            for (step, after) in steps.iter().zip(returns(&original(world, steps), world.mdp.gamma)) {
                let ahead = after - own.values[step.state];
                let chance = policy[step.state * actions + step.action];
                push(&mut shape, policy, actions, *step, self.shape_rate * chance * ahead);
                change[step.state] += ahead;
                count += 1.0;
            }
        }
        own.shape.iter_mut().zip(&shape).for_each(|(phi, c)| *phi += c);
        own.values.iter_mut().zip(&change).for_each(|(v, c)| *v += self.critic_rate * c / count.max(1.0));
    }

    /// Bradley-Terry on summed rewards: ten pairs of episodes, the better by original return.
    fn rank(&self, own: &mut Additions, world: &Sparse, kept: &VecDeque<Episode>, seed: &Seed, episode: u64) {
        let gamma = world.mdp.gamma;
        let at = |step: &Step| step.state * world.mdp.actions + step.action;
        let result: Vec<f64> = kept.iter().map(|e| discounted(&original(world, &e.steps), gamma)).collect();
        let every = (0..result.len()).flat_map(|i| (0..result.len()).map(move |j| (i, j)));
        let mut pairs: Vec<(usize, usize)> = every.filter(|&(i, j)| result[i] > result[j]).collect();
        seed.child("pairs", episode).stream().shuffle(&mut pairs);
        pairs.truncate(10);
        let worth = |i: usize| -> f64 {
            kept[i].steps.iter().rev().fold(0.0, |sum, step| own.shape[at(step)] + gamma * sum)
        };
        let mut gradient = vec![0.0; own.shape.len()];
        for &(better, worse) in &pairs {
            let wrong = 1.0 - 1.0 / (1.0 + (worth(worse) - worth(better)).exp());
            for (episode, sign) in [(better, 1.0), (worse, -1.0)] {
                let mut discount = sign * wrong / pairs.len() as f64;
                for step in &kept[episode].steps {
                    gradient[at(step)] += discount;
                    discount *= gamma;
                }
            }
        }
        own.shape.iter_mut().zip(&gradient).for_each(|(phi, g)| *phi += self.shape_rate * g);
    }
}

fn original(world: &Sparse, steps: &[Step]) -> Vec<f64> {
    steps.iter().map(|step| world.rewards[step.state * world.mdp.actions + step.action]).collect()
}

/// `G_t = r_t + gamma · G_{t+1}`.
fn returns(rewards: &[f64], gamma: f64) -> Vec<f64> {
    let mut after = rewards.to_vec();
    for t in (0..after.len().saturating_sub(1)).rev() {
        after[t] += gamma * after[t + 1];
    }
    after
}

/// The return of a whole episode.
fn discounted(rewards: &[f64], gamma: f64) -> f64 {
    rewards.iter().rev().fold(0.0, |after, reward| reward + gamma * after)
}

/// Adds `weight · (onehot(a) − pi(·|s))` to the row of the step's state.
fn push(to: &mut [f64], policy: &[f64], actions: usize, step: Step, weight: f64) {
    let row = step.state * actions..(step.state + 1) * actions;
    to[row.start + step.action] += weight;
    to[row.clone()].iter_mut().zip(&policy[row]).for_each(|(t, p)| *t -= weight * p);
}
