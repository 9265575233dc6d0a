//! A society on a common resource: harvest, punishment, social learning, collective choice, in this order every round.

use super::mind::{Mind, Seen};
use super::resource::Resource;
use merit_core::Stream;

/// What a society does besides harvesting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Institutions {
    pub social_learning: bool,
    pub punishment: bool,
    pub vote: bool,
}

/// The constants of the game.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Harvest of one agent with full effort at full resource.
    pub most_harvest: f64,
    pub living: f64,
    pub effort: f64,
    /// What a sanction costs who gives it.
    pub sanction: f64,
    /// What it costs who gets it.
    pub fine: f64,
    /// Peers that an agent watches in a round.
    pub watched: usize,
    /// How strongly wealth pulls imitation.
    pub imitation: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub effort: f64,
    /// The effort that the agent believes to be right.
    pub cap: f64,
    /// Overshoot that it lets pass.
    pub tolerance: f64,
    /// How far it follows a cap that was voted, in [0, 1].
    pub compliance: f64,
    pub wealth: f64,
    pub alive: bool,
    pub mind: Mind,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Society {
    pub resource: Resource,
    pub agents: Vec<Agent>,
    pub institutions: Institutions,
    pub costs: Costs,
    seen_most: f64,
}

/// What a round brought.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Round {
    pub harvest: f64,
    pub sanctions: f64,
}

impl Society {
    pub fn new(resource: Resource, agents: Vec<Agent>, institutions: Institutions, costs: Costs) -> Self {
        let seen_most = resource.level;
        Self { resource, agents, institutions, costs, seen_most }
    }

    /// The resource is gone, or more than half of the agents.
    pub fn collapsed(&self) -> bool {
        self.resource.collapsed() || 2 * self.alive().len() < self.agents.len()
    }

    pub fn alive(&self) -> Vec<usize> {
        (0..self.agents.len()).filter(|&i| self.agents[i].alive).collect()
    }

    pub fn round(&mut self, stream: &mut Stream) -> Round {
        let alive = self.alive();
        let (before, level) =
            (self.agents.iter().map(|agent| agent.wealth).collect::<Vec<_>>(), self.resource.level);
        let harvest = self.harvest(&alive);
        let sanctions =
            if self.institutions.punishment { self.punish(&alive, stream) } else { vec![0; before.len()] };
        self.seen_most = self.seen_most.max(self.resource.level);
        for &i in &alive {
            let resource = self.resource.level / self.seen_most;
            let agent = &mut self.agents[i];
            let seen = Seen { gain: agent.wealth - before[i], sanctions: sanctions[i], resource };
            agent.effort = agent.mind.revise(agent.effort, seen, stream);
            agent.alive = agent.wealth >= 0.0;
        }
        let alive = self.alive();
        if self.institutions.social_learning {
            self.imitate(&alive, stream);
        }
        if self.institutions.vote {
            self.vote(&alive, self.resource.level / level, stream);
        }
        Round { harvest, sanctions: sanctions.iter().map(|count| f64::from(*count)).sum() }
    }

    fn harvest(&mut self, alive: &[usize]) -> f64 {
        let efforts: Vec<f64> = alive.iter().map(|&i| self.agents[i].effort).collect();
        let harvests = self.resource.harvest(&efforts, self.costs.most_harvest);
        for (&i, harvest) in alive.iter().zip(&harvests) {
            let agent = &mut self.agents[i];
            agent.wealth += harvest - self.costs.living - self.costs.effort * agent.effort;
        }
        harvests.iter().sum()
    }

    /// Everybody watches some others and sanctions who oversteps the cap it believes in. Moves are simultaneous: efforts of
    /// this round are judged, fines come after all looks.
    fn punish(&mut self, alive: &[usize], stream: &mut Stream) -> Vec<u32> {
        let mut sanctions = vec![0; self.agents.len()];
        for &i in alive {
            for _ in 0..self.costs.watched {
                let Some(&j) = stream.pick(alive) else { continue };
                let limit = self.agents[i].cap + self.agents[i].tolerance;
                if i != j && self.agents[j].effort > limit {
                    self.agents[i].wealth -= self.costs.sanction;
                    sanctions[j] += 1;
                }
            }
        }
        for &j in alive {
            self.agents[j].wealth -= self.costs.fine * f64::from(sanctions[j]);
        }
        sanctions
    }

    /// Everybody looks at one other and takes over its strategy and beliefs with chance `1 / (1 + exp(−s (w_j − w_i)))`.
    fn imitate(&mut self, alive: &[usize], stream: &mut Stream) {
        let before = self.agents.clone();
        for &i in alive {
            let Some(&j) = stream.pick(alive) else { continue };
            let lead = before[j].wealth - before[i].wealth;
            if i == j || !stream.chance(1.0 / (1.0 + (-self.costs.imitation * lead).exp())) {
                continue;
            }
            let (model, agent) = (&before[j], &mut self.agents[i]);
            agent.effort = (model.effort + 0.03 * stream.normal()).clamp(0.0, 1.0);
            agent.cap = model.cap;
            agent.tolerance = model.tolerance;
            agent.mind = model.mind.clone();
        }
    }

    /// Everybody wants the cap it believes in, lowered twice as fast as the resource falls. Five of these are proposed, each
    /// agent votes for the nearest to its own, and the winner is what all believe in from now on.
    fn vote(&mut self, alive: &[usize], change: f64, stream: &mut Stream) {
        let wish = |agent: &Agent| (agent.cap * change.powi(2).clamp(0.5, 1.05)).clamp(0.0, 1.0);
        let wishes: Vec<f64> = alive.iter().map(|&i| wish(&self.agents[i])).collect();
        let proposals: Vec<f64> = (0..5).filter_map(|_| stream.pick(&wishes).copied()).collect();
        let mut votes = vec![0; proposals.len()];
        for own in &wishes {
            let near = |at: &usize| (proposals[*at] - own).abs();
            let choice = (0..proposals.len()).min_by(|a, b| near(a).total_cmp(&near(b)));
            choice.into_iter().for_each(|at| votes[at] += 1);
        }
        let Some(winner) = (0..votes.len()).rev().max_by_key(|&at| votes[at]) else { return };
        for &i in alive {
            let agent = &mut self.agents[i];
            agent.cap = proposals[winner];
            agent.effort -= agent.compliance * (agent.effort - agent.cap).max(0.0);
        }
    }
}
