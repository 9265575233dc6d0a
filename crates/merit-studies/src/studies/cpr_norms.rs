//! CPR norms: a commons where norms come from imitation, punishment and votes.

use crate::commons::mind::{Mind, Table};
use crate::commons::resource::Resource;
use crate::commons::society::{Agent, Costs, Institutions, Society};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How agents choose their effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Minds {
    /// Hill climbing on their own gain.
    Climbers,
    /// Tabular Q-learning, by self-play over many lives of the society.
    Learners,
    /// All hold the effort that keeps the resource at its most fertile.
    Planned,
}

/// Societies in four conditions: selfish or altruistic, scarce or rich.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CprNorms {
    /// How agents decide.
    pub minds: Minds,
    /// Whether agents imitate others.
    pub social_learning: bool,
    /// Whether agents may punish others.
    pub punishment: bool,
    /// Propose and vote a cap every round.
    pub vote: bool,
    /// Agents of a society.
    pub agents: usize,
    /// Rounds of a life.
    pub horizon: usize,
    /// Worlds per condition.
    pub worlds: usize,
    /// Learners: lives of each society; the last tenth is measured.
    pub episodes: usize,
    /// The most that one agent takes in a round.
    pub most_harvest: f64,
    /// What a round costs every agent.
    pub living_cost: f64,
    /// What a unit of effort costs.
    pub effort_cost: f64,
    /// What a sanction costs who gives it.
    pub sanction_cost: f64,
    /// What it costs who gets it, in units of `sanction_cost`.
    pub fine_ratio: f64,
    /// Others that an agent watches in a round.
    pub watched: usize,
    /// How strongly wealth pulls imitation.
    pub imitation: f64,
    /// Regrowth is multiplied by these in a sweep of the selfish and scarce condition.
    pub growth_factors: Vec<f64>,
    /// And `fine_ratio` is set to these.
    pub fine_ratios: Vec<f64>,
}

impl Default for CprNorms {
    fn default() -> Self {
        Self {
            minds: Minds::Climbers,
            social_learning: false,
            punishment: false,
            vote: false,
            agents: 20,
            horizon: 100,
            worlds: 50,
            episodes: 200,
            most_harvest: 2.0,
            living_cost: 0.1,
            effort_cost: 0.05,
            sanction_cost: 0.2,
            fine_ratio: 3.0,
            watched: 3,
            imitation: 1.0,
            growth_factors: vec![0.8, 1.2],
            fine_ratios: vec![1.5, 6.0],
        }
    }
}

impl Component for CprNorms {
    const ABOUT: About = About {
        name: "cpr-norms",
        summary: "A commons where norms come from imitation, punishment and votes.",
        paper: "The Role of Social Learning and Collective Norm Formation in Fostering Cooperation in LLM Multi-Agent Systems (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.agents >= 2, "agents", self.agents, "at least 2")?;
        Refusal::unless(self.horizon > 0, "horizon", self.horizon, "at least 1")?;
        Refusal::unless(self.worlds > 0, "worlds", self.worlds, "at least 1")?;
        Refusal::unless(self.episodes > 0, "episodes", self.episodes, "at least 1")?;
        let positive = [("most_harvest", self.most_harvest), ("fine_ratio", self.fine_ratio)];
        let factors = self.growth_factors.iter().map(|factor| ("growth_factors", *factor));
        let ratios = self.fine_ratios.iter().map(|ratio| ("fine_ratios", *ratio));
        for (key, value) in positive.into_iter().chain(factors).chain(ratios) {
            Refusal::unless(value > 0.0 && value.is_finite(), key, value, "above 0")?;
        }
        let costs = [
            ("living_cost", self.living_cost),
            ("effort_cost", self.effort_cost),
            ("sanction_cost", self.sanction_cost),
            ("imitation", self.imitation),
        ];
        costs.into_iter().try_for_each(|(key, cost)| Refusal::unless(cost >= 0.0, key, cost, "0 or more"))?;
        if self.vote && !self.punishment {
            return Err(Refusal::new(
                "`vote` needs `punishment`: a cap that nobody enforces is no arm of this system",
            ));
        }
        Ok(())
    }
}

/// A cell of the 2 x 2 grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Condition {
    name: &'static str,
    selfish: bool,
    scarce: bool,
}

const CONDITIONS: [Condition; 4] = [
    Condition { name: "selfish_scarce", selfish: true, scarce: true },
    Condition { name: "selfish_rich", selfish: true, scarce: false },
    Condition { name: "altruistic_scarce", selfish: false, scarce: true },
    Condition { name: "altruistic_rich", selfish: false, scarce: false },
];

/// One life of a society.
#[derive(Debug, Clone, Default, PartialEq)]
struct Life {
    survival: f64,
    /// Harvests over the horizon, in units of the sustainable yield.
    efficiency: f64,
    /// The caps believed in at the end: mean, and deviation between agents.
    cap: f64,
    cap_spread: f64,
    sanctions: f64,
    /// R / K after every round, the last one kept after a collapse.
    resource: Vec<f64>,
}

impl Study for CprNorms {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        for condition in CONDITIONS {
            let lives = self.condition(condition, seed, desk)?;
            let of = |part: fn(&Life) -> f64| mean(lives.iter().map(part));
            let mut tell = |name: &str, value| desk.measure(&format!("{name}_{}", condition.name), value);
            tell("survival", of(|life| life.survival));
            tell("efficiency", of(|life| life.efficiency));
            tell("cap", of(|life| life.cap));
            tell("cap_spread_within", of(|life| life.cap_spread));
            tell("cap_spread_between", deviation(&lives.iter().map(|life| life.cap).collect::<Vec<_>>()));
            tell("sanctions", of(|life| life.sanctions));
            if condition == CONDITIONS[0] && self.minds != Minds::Learners {
                for round in 0..self.horizon {
                    desk.spend("rounds", 1.0);
                    desk.point("resource", mean(lives.iter().map(|life| life.resource[round])));
                }
            }
        }
        self.sweep(seed, desk)
    }
}

impl CprNorms {
    fn sweep(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let mut survival = |name: String, swept: Self, growth: f64| -> Result<(), StudyError> {
            let lives: Result<Vec<Life>, StudyError> = (0..self.worlds as u64)
                .map(|world| {
                    desk.left()?;
                    let seed = seed.child(CONDITIONS[0].name, world);
                    Ok(swept.life(&mut swept.society(CONDITIONS[0], growth, &seed), &seed, 0))
                })
                .collect();
            desk.measure(&name, mean(lives?.iter().map(|life| life.survival)));
            Ok(())
        };
        if self.minds == Minds::Learners {
            return Ok(());
        }
        for &factor in &self.growth_factors {
            survival(format!("survival_growth_{factor}"), self.clone(), factor)?;
        }
        for &ratio in &self.fine_ratios {
            survival(format!("survival_fine_{ratio}"), Self { fine_ratio: ratio, ..self.clone() }, 1.0)?;
        }
        Ok(())
    }

    /// The lives that are measured, of every world of a condition.
    fn condition(
        &self,
        condition: Condition,
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<Vec<Life>, StudyError> {
        let seeds: Vec<Seed> =
            (0..self.worlds as u64).map(|world| seed.child(condition.name, world)).collect();
        let mut societies: Vec<Society> =
            seeds.iter().map(|seed| self.society(condition, 1.0, seed)).collect();
        let episodes = if self.minds == Minds::Learners { self.episodes } else { 1 };
        let mut measured = Vec::new();
        for episode in 0..episodes {
            desk.left()?;
            let mut lives = Vec::with_capacity(seeds.len());
            for (society, seed) in societies.iter_mut().zip(&seeds) {
                let minds: Vec<Mind> = society.agents.iter().map(|agent| agent.mind.clone()).collect();
                *society = self.society(condition, 1.0, seed);
                society.agents.iter_mut().zip(minds).for_each(|(agent, mind)| agent.mind = mind);
                lives.push(self.life(society, seed, episode as u64));
            }
            if self.minds == Minds::Learners && condition == CONDITIONS[0] {
                desk.spend("episodes", 1.0);
                desk.point("survival", mean(lives.iter().map(|life| life.survival)));
            }
            if episode + episodes.div_ceil(10) >= episodes {
                measured.extend(lives);
            }
        }
        Ok(measured)
    }

    fn society(&self, condition: Condition, growth_factor: f64, seed: &Seed) -> Society {
        let mut stream = seed.child("world", 0).stream();
        let (capacity, growth, share) = if condition.scarce { (100.0, 0.25, 0.6) } else { (200.0, 0.5, 1.0) };
        let capacity = capacity * (0.8 + 0.4 * stream.unit());
        let growth = growth_factor * growth * (0.8 + 0.4 * stream.unit());
        let resource = Resource { level: share * capacity, capacity, growth };
        let agents =
            (0..self.agents).map(|_| self.agent(condition.selfish, &resource, &mut stream)).collect();
        let institutions = Institutions {
            social_learning: self.social_learning,
            punishment: self.punishment,
            vote: self.vote,
        };
        let costs = Costs {
            most_harvest: self.most_harvest,
            living: self.living_cost,
            effort: self.effort_cost,
            sanction: self.sanction_cost,
            fine: self.sanction_cost * self.fine_ratio,
            watched: self.watched,
            imitation: self.imitation,
        };
        Society::new(resource, agents, institutions, costs)
    }

    fn agent(&self, selfish: bool, resource: &Resource, stream: &mut Stream) -> Agent {
        let mut between = |low: f64, high: f64| low + (high - low) * stream.unit();
        let (mut effort, compliance) = match selfish {
            true => (between(0.6, 1.0), between(0.1, 0.3)),
            false => (between(0.1, 0.3), between(0.4, 0.8)),
        };
        let tolerance = between(0.0, 0.2);
        let mind = match self.minds {
            Minds::Climbers => Mind::Climber { upward: between(0.0, 1.0) < 0.5, last_gain: 0.0 },
            Minds::Learners => Mind::Learner(Box::new(Table::new(effort, 0.1, 0.9, 0.1))),
            Minds::Planned => Mind::Constant,
        };
        if self.minds == Minds::Planned {
            // Harvests then equal the sustainable yield at half of the capacity.
            let most = self.agents as f64 * self.most_harvest;
            effort = (2.0 * resource.sustainable_yield() / most).min(1.0);
        }
        Agent { effort, cap: effort, tolerance, compliance, wealth: 3.0, alive: true, mind }
    }

    fn life(&self, society: &mut Society, seed: &Seed, episode: u64) -> Life {
        let mut stream = seed.child("rounds", episode).stream();
        let mut life = Life::default();
        for _ in 0..self.horizon {
            if !society.collapsed() {
                let round = society.round(&mut stream);
                life.survival += 1.0;
                life.efficiency +=
                    round.harvest / (society.resource.sustainable_yield() * self.horizon as f64);
                life.sanctions += round.sanctions / self.agents as f64;
            }
            life.resource.push(society.resource.level / society.resource.capacity);
        }
        life.sanctions /= life.survival.max(1.0);
        let caps: Vec<f64> = society.agents.iter().map(|agent| agent.cap).collect();
        life.cap = mean(caps.iter().copied());
        life.cap_spread = deviation(&caps);
        life
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values.iter().copied());
    mean(values.iter().map(|value| (value - centre).powi(2))).sqrt()
}
