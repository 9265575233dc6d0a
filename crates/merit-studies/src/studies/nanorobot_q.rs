//! Nanorobot Q: Q-learning of chemotaxis in a three-dimensional tissue, from local readings of a diffusing marker.

use crate::tabular::{QTable, mean, q_table::Transition};
use crate::worlds::field::{self, Field, Reading};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A robot that senses the marker and barriers around it looks for sources. It learns on random layouts and is tested on layouts
/// it has not seen, the same for every arm with this seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NanorobotQ {
    /// How the robot decides.
    pub robot: Robot,
    /// What pays a learner for climbing.
    pub pay: Pay,
    /// Cups before the sources, in which a robot that only climbs is caught.
    pub traps: bool,
    /// Sources of a layout.
    pub sources: usize,
    /// Barriers of a layout.
    pub blocks: usize,
    /// Relative error of a reading.
    pub noise: f64,
    /// Chance of a source to take a step, at each step.
    pub drift: f64,
    /// Learn on a single layout.
    pub one_layout: bool,
    /// Episodes of learning.
    pub episodes: u64,
    /// Steps of an episode.
    pub max_steps: usize,
    /// Exploration at the end of learning, and in tests, for every robot.
    pub epsilon: f64,
    /// Episodes over which exploration falls from 1 to `epsilon`.
    pub explore: u64,
    /// Step size of Q-learning.
    pub rate: f64,
    /// Discount of the Q-learner.
    pub gamma: f64,
    /// Reward for a rise of the concentration by 1.
    pub climb: f64,
    /// Reward for a step.
    pub step: f64,
    /// Reward for a collision.
    pub collision: f64,
    /// Reward for a source.
    pub hit: f64,
    /// Layouts of the test.
    pub tests: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Robot {
    /// Tabular Q-learning.
    QLearning,
    /// It moves at random; the control.
    Random,
    /// Up the steepest gradient.
    Greedy,
    /// Straight on while the reading rises, else mostly a random turn.
    RunAndTumble,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pay {
    /// `C(x') − C(x)`, before a reached source is switched off.
    Difference,
    /// `gamma · C(x') − C(x)`, with the sources that are on at each time.
    Potential,
}

impl Default for NanorobotQ {
    fn default() -> Self {
        Self {
            robot: Robot::QLearning,
            pay: Pay::Potential,
            traps: true,
            sources: 3,
            blocks: 10,
            noise: 0.02,
            drift: 0.0,
            one_layout: false,
            episodes: 1000,
            max_steps: 300,
            epsilon: 0.05,
            explore: 500,
            rate: 0.1,
            gamma: 0.95,
            climb: 10.0,
            step: -0.01,
            collision: -1.0,
            hit: 10.0,
            tests: 200,
        }
    }
}

impl Component for NanorobotQ {
    const ABOUT: About = About {
        name: "nanorobot-q",
        summary: "Q-learning of chemotaxis: a robot finds sources of a marker among barriers.",
        paper: "Simulation of Nanorobots with Artificial Intelligence and Reinforcement Learning for Advanced Cancer Cell \
                Detection and Tracking (2024)",
    };
    const EXAMPLE: &'static str = "episodes = 5\nmax_steps = 50\ntests = 2\n";

    fn check(&self) -> Result<(), Refusal> {
        let unit =
            |key, value: f64| Refusal::unless((0.0..=1.0).contains(&value), key, value, "between 0 and 1");
        unit("epsilon", self.epsilon)?;
        unit("rate", self.rate)?;
        unit("drift", self.drift)?;
        Refusal::unless((0.0..1.0).contains(&self.gamma), "gamma", self.gamma, "at least 0 and below 1")?;
        Refusal::unless(self.noise >= 0.0, "noise", self.noise, "0 or more")?;
        Refusal::unless((1..=20).contains(&self.sources), "sources", self.sources, "from 1 to 20")?;
        Refusal::unless(self.blocks <= 200, "blocks", self.blocks, "at most 200")?;
        Refusal::unless(self.max_steps > 0 && self.tests > 0, "max_steps or tests", 0, "at least 1")
    }
}

impl Study for NanorobotQ {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let mut table = QTable::new(field::STATES, field::ACTIONS);
        if self.robot == Robot::QLearning {
            self.learn(&mut table, seed, desk)?;
        }
        let runs = self.test(&table, self.tests, seed, desk)?;
        let of = |value: fn(&Outcome) -> f64| mean(&runs.iter().map(value).collect::<Vec<_>>());
        desk.measure("found", of(|run| run.found));
        desk.measure("first_source_steps", of(|run| run.first));
        desk.measure("collisions", of(|run| run.collisions));
        desk.measure("loop_gain", self.loop_gain(seed));
        for (task, run) in runs.iter().enumerate() {
            desk.paired("found", task as u64, run.found);
        }
        if self.robot != Robot::QLearning {
            desk.point("found", of(|run| run.found));
        }
        Ok(())
    }
}

/// How one test went.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    found: f64,
    first: f64,
    collisions: f64,
}

/// A robot that moves without learning: its last move and reading.
#[derive(Debug, Default)]
struct Run {
    action: usize,
    reading: f64,
    collided: bool,
}

impl NanorobotQ {
    fn layout(&self, stream: &mut Stream) -> Field {
        Field::random(self.sources, self.blocks, self.traps, self.noise, stream)
    }

    /// What a step is paid, from the noiseless concentrations before it, on arrival, and after reached sources went off.
    pub fn paid(&self, before: f64, arrived: f64, after: f64, collided: bool, found: usize) -> f64 {
        let climbed = match self.pay {
            Pay::Difference => arrived - before,
            Pay::Potential => self.gamma * after - before,
        };
        self.climb * climbed + self.step + self.collision * f64::from(collided) + self.hit * found as f64
    }

    fn learn(&self, table: &mut QTable, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        for episode in 0..self.episodes {
            if !desk.left()? {
                break;
            }
            let layout = if self.one_layout { 0 } else { episode };
            let mut world = self.layout(&mut seed.child("layout", layout).stream());
            let mut stream = seed.child("episode", episode).stream();
            let share = (episode as f64 / self.explore.max(1) as f64).min(1.0);
            let epsilon = 1.0 + share * (self.epsilon - 1.0);
            let mut state = world.sense(&mut stream).state();
            let mut steps = 0;
            while steps < self.max_steps && !world.sources.is_empty() {
                let action = table.act(state, epsilon, &mut stream);
                let before = world.concentration(world.robot);
                let moved = world.go(action);
                let after = world.concentration(world.robot);
                let reward = self.paid(before, moved.arrived, after, moved.collided, moved.found);
                world.drift(self.drift, &mut stream);
                let next = world.sense(&mut stream).state();
                let terminated = world.sources.is_empty();
                table.update(Transition { state, action, reward, next, terminated }, self.rate, self.gamma);
                (state, steps) = (next, steps + 1);
            }
            desk.spend("episodes", 1.0);
            desk.spend("env_steps", steps as f64);
            if (episode + 1).is_multiple_of(100) {
                let found: Vec<f64> = self.test(table, 20, seed, desk)?.iter().map(|run| run.found).collect();
                desk.point("found", mean(&found));
            }
        }
        Ok(())
    }

    /// Plays unseen layouts; not counted as steps of the environment.
    fn test(
        &self,
        table: &QTable,
        tests: u64,
        seed: &Seed,
        desk: &Desk<'_>,
    ) -> Result<Vec<Outcome>, StudyError> {
        let mut outcomes = Vec::new();
        for test in 0..tests {
            desk.left()?;
            let mut world = self.layout(&mut seed.child("test layout", test).stream());
            let mut stream = seed.child("test", test).stream();
            let mut outcome = Outcome { found: 0.0, first: self.max_steps as f64, collisions: 0.0 };
            let mut run = Run::default();
            for step in 1..=self.max_steps {
                let reading = world.sense(&mut stream);
                run.action = self.act(table, &reading, &run, &mut stream);
                run.reading = reading.here;
                let moved = world.go(run.action);
                run.collided = moved.collided;
                if moved.found > 0 && outcome.found == 0.0 {
                    outcome.first = step as f64;
                }
                outcome.found += moved.found as f64;
                outcome.collisions += f64::from(moved.collided);
                if world.sources.is_empty() {
                    break;
                }
                world.drift(self.drift, &mut stream);
            }
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    fn act(&self, table: &QTable, reading: &Reading, run: &Run, stream: &mut Stream) -> usize {
        if stream.chance(self.epsilon) {
            return stream.below(field::ACTIONS as u64) as usize;
        }
        match self.robot {
            Robot::QLearning => table.greedy(reading.state(), stream),
            Robot::Random => stream.below(field::ACTIONS as u64) as usize,
            Robot::Greedy => reading.steepest(),
            Robot::RunAndTumble => {
                let rising = reading.here > run.reading && !run.collided;
                if rising || (!run.collided && stream.chance(0.2)) {
                    run.action
                } else {
                    stream.below(field::ACTIONS as u64) as usize
                }
            }
        }
    }

    /// The most that going back and forth between two cells earns in discounted pay for climbing, over 300 moves and 100 pairs of
    /// cells of a layout without barriers.
    fn loop_gain(&self, seed: &Seed) -> f64 {
        let mut stream = seed.child("loop", 0).stream();
        let mut most = f64::NEG_INFINITY;
        for _ in 0..100 {
            let world = Field::random(self.sources, 0, false, 0.0, &mut stream);
            let other = field::neighbour(world.robot, stream.below(6) as usize);
            let (a, b) = (world.concentration(world.robot), world.concentration(other));
            let pure = Self { step: 0.0, ..self.clone() };
            let forth = pure.paid(a, b, b, false, 0);
            let back = pure.paid(b, a, a, false, 0);
            let earned: f64 = (0..150).map(|i| self.gamma.powi(2 * i) * (forth + self.gamma * back)).sum();
            most = most.max(earned);
        }
        most
    }
}
