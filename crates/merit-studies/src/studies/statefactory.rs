//! StateFactory: progress without training, as the likeness of a state's objects and attributes to those of the goal.

use crate::scores::pearson;
use crate::state_goal::{Form, Likeness, Thing, progress, sentences, words};
use crate::tabular::{argmax, linear, mean};
use crate::worlds::facts::{Facts, Task};
use crate::{Desk, Study, StudyError};
use merit_core::embedder::Embedder as _;
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who says how far a state is along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Critic {
    /// Likeness to the goal, sentences kept by object and attribute.
    Attributes,
    /// Likeness, sentences kept by object, each held against the nearest.
    Objects,
    /// Likeness, sentences kept by object, each held against the first, as the released code does.
    FirstOfObject,
    /// Likeness, a flat list of sentences.
    Sentences,
    /// A ridge regression on words, fitted to true progress in the other world.
    Regression,
}

/// Those that a critic is compared with on the same tasks.
const RIVALS: [(Critic, &str); 4] = [
    (Critic::Objects, "objects"),
    (Critic::FirstOfObject, "first_of_object"),
    (Critic::Sentences, "sentences"),
    (Critic::Regression, "regression"),
];

/// Tasks in a world of blocks and in a house, both in sentences that are the same for every critic. Each task has a way to its goal
/// with random steps at both ends and a random walk that fails; a critic is measured by its Pearson distance from the true
/// progress over both, and by what one step of looking ahead adds to a policy without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Statefactory {
    /// Who says how far a state is along.
    pub critic: Critic,
    /// The share of facts that a state lacks or has wrong, half each.
    pub noise: f64,
    /// Tasks of each world.
    pub tasks: u64,
    /// Other tasks of each world that the regression is fitted to.
    pub fitted: u64,
    /// Tasks of each world that are played.
    pub played: u64,
    /// The chance of the reactive policy to take a step of a shortest way, in blocks and in the house; otherwise a random one.
    pub skill: [f64; 2],
    /// Steps that may be taken, as a multiple of the shortest way.
    pub patience: f64,
    /// Steps that the reactive policy proposes where it looks ahead.
    pub candidates: usize,
}

impl Default for Statefactory {
    fn default() -> Self {
        Self {
            critic: Critic::Attributes,
            noise: 0.0,
            tasks: 100,
            fitted: 100,
            played: 100,
            skill: [0.4, 0.48],
            patience: 2.0,
            candidates: 4,
        }
    }
}

impl Component for Statefactory {
    const ABOUT: About = About {
        name: "statefactory",
        summary: "Progress without training: how alike the objects and attributes of a state and a goal are.",
        paper: "Reward Prediction with Factorized World States (2026)",
    };
    const EXAMPLE: &'static str = "tasks = 3\nfitted = 3\nplayed = 2\n";

    fn check(&self) -> Result<(), Refusal> {
        for (key, value) in [("noise", self.noise), ("skill", self.skill[0]), ("skill", self.skill[1])] {
            Refusal::unless((0.0..=1.0).contains(&value), key, value, "between 0 and 1")?;
        }
        let fewest = self.tasks.min(self.fitted).min(self.played);
        Refusal::unless(fewest > 0, "tasks, fitted or played", fewest, "at least 1")?;
        Refusal::unless(self.patience >= 1.0, "patience", self.patience, "at least 1")?;
        Refusal::unless(self.candidates > 0, "candidates", self.candidates, "at least 1")
    }
}

/// A critic at work.
struct Judge {
    critic: Critic,
    likeness: Likeness,
    /// Of the regression; of no use to the others.
    weights: Vec<f64>,
}

impl Study for Statefactory {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let worlds = [Facts::blocks(), Facts::house()];
        let names = ["blocks", "house"];
        let mut fits = Vec::new();
        for (world, name) in worlds.iter().zip(names) {
            fits.push(fit(world, &world.tasks(self.fitted, &seed.child(name, 1)))?);
        }
        let mut worst = BTreeMap::new();
        let mut least = |name: String, value: f64| {
            worst.entry(name).and_modify(|least: &mut f64| *least = least.min(value)).or_insert(value);
        };
        let (mut played, mut high) = ([0.0; 2], Vec::new());
        for at in 0..2 {
            desk.left()?;
            let (world, name) = (&worlds[at], names[at]);
            let tasks = world.tasks(self.tasks, &seed.child(name, 2));
            let judge = |critic, fit: usize| Judge::new(critic, fits[fit].clone());
            let noisy = &mut seed.child("noise", at as u64).stream();
            let mut own = judge(self.critic, 1 - at);
            let told = tell(world, &tasks, 0, &mut own, self.noise, noisy);
            high.extend(told.high);
            desk.measure(&format!("distance_{name}"), told.distance);
            let strange = tell(world, &tasks, 1, &mut own, self.noise, noisy).distance;
            least("goal_matters".into(), strange - told.distance);
            for (critic, rival) in RIVALS {
                let distance = tell(world, &tasks, 0, &mut judge(critic, 1 - at), 0.0, noisy).distance;
                least(format!("lead_over_{rival}"), distance - told.distance);
            }
            let fitted = tell(world, &tasks, 0, &mut judge(Critic::Regression, at), 0.0, noisy).distance;
            desk.measure(&format!("regression_at_home_{name}"), fitted);
            let won = self.play_all(world, at, &tasks, &mut own, seed);
            desk.measure(&format!("reactive_{name}"), won[0]);
            desk.measure(&format!("lookahead_gain_{name}"), won[1] - won[0]);
            played = [played[0] + won[0] / 2.0, played[1] + won[1] / 2.0];
        }
        worst.iter().for_each(|(name, value)| desk.measure(name, *value));
        desk.measure("false_positives", mean(&high));
        desk.measure("reactive", played[0]);
        desk.measure("lookahead_gain", played[1] - played[0]);
        Ok(())
    }
}

/// `sqrt((1 − rho) / 2)`, rho Pearson's correlation of what is said and what is true. No canonicalised EPIC distance: a constant
/// or a factor changes nothing, but a potential does.
pub fn pearson_distance(said: &[f64], truth: &[f64]) -> f64 {
    ((1.0 - pearson(said, truth)) / 2.0).sqrt()
}

/// What a critic says of all tasks of a world.
struct Told {
    /// Mean over the tasks.
    distance: f64,
    /// For each step of a failure, 1 where it is held for success.
    high: Vec<f64>,
}

/// With the goal of the task that stands `shift` places further on.
fn tell(
    world: &Facts,
    tasks: &[Task],
    shift: usize,
    judge: &mut Judge,
    noise: f64,
    stream: &mut Stream,
) -> Told {
    let mut told = Told { distance: 0.0, high: Vec::new() };
    for (at, task) in tasks.iter().enumerate() {
        let goal = &tasks[(at + shift) % tasks.len()].goal;
        let steps = || task.positive.iter().chain(&task.negative);
        let said: Vec<f64> =
            steps().map(|state| judge.progress(goal, &seen(world, *state, noise, stream))).collect();
        let truth: Vec<f64> = steps().map(|state| task.progress(*state)).collect();
        told.distance += pearson_distance(&said, &truth) / tasks.len() as f64;
        told.high.extend(said[task.positive.len()..].iter().map(|said| f64::from(*said > 0.9)));
    }
    told
}

impl Statefactory {
    /// The share of tasks that the reactive policy solves alone, and with one step of looking ahead.
    fn play_all(&self, world: &Facts, at: usize, tasks: &[Task], judge: &mut Judge, seed: &Seed) -> [f64; 2] {
        let mut won = [0.0; 2];
        let tasks = &tasks[..tasks.len().min(self.played as usize)];
        for (number, task) in tasks.iter().enumerate() {
            let stream = |name| seed.child(name, (2 * number + at) as u64).stream();
            won[0] += f64::from(self.play(world, at, task, None, &mut stream("reactive")));
            won[1] += f64::from(self.play(world, at, task, Some(judge), &mut stream("look ahead")));
        }
        won.map(|won| won / tasks.len() as f64)
    }

    /// Whether the goal is reached. With a judge, the step is taken that leads to the best of several proposals; the first of those
    /// that are as good.
    fn play(
        &self,
        world: &Facts,
        at: usize,
        task: &Task,
        judge: Option<&mut Judge>,
        stream: &mut Stream,
    ) -> bool {
        let (mut state, mut judge) = (task.start, judge);
        let away = |state: usize| task.distances[state].unwrap_or(u32::MAX);
        for _ in 0..(self.patience * f64::from(away(task.start))).round() as usize {
            let propose = |stream: &mut Stream| {
                let moves = &world.moves[state];
                let near: Vec<f64> = moves.iter().map(|to| -f64::from(away(*to))).collect();
                let random = stream.below(moves.len() as u64) as usize;
                moves[if stream.chance(self.skill[at]) { argmax(&near, 0.0, stream) } else { random }]
            };
            state = match &mut judge {
                None => propose(stream),
                Some(judge) => {
                    let mut best: Option<(f64, usize)> = None;
                    for _ in 0..self.candidates {
                        let to = propose(stream);
                        let said = judge.progress(&task.goal, &seen(world, to, self.noise, stream));
                        if best.is_none_or(|(most, _)| said > most) {
                            best = Some((said, to));
                        }
                    }
                    best.map_or(state, |(_, to)| to)
                }
            };
            if away(state) == 0 {
                return true;
            }
        }
        false
    }
}

impl Judge {
    fn new(critic: Critic, weights: Vec<f64>) -> Self {
        Self { critic, likeness: Likeness::default(), weights }
    }

    fn progress(&mut self, goal: &[Thing], state: &[Thing]) -> f64 {
        let form = match self.critic {
            Critic::Attributes => Form::Attributes,
            Critic::Objects => Form::Objects,
            Critic::FirstOfObject => Form::FirstOfObject,
            Critic::Sentences => Form::Sentences,
            Critic::Regression => {
                return features(goal, state).iter().zip(&self.weights).map(|(x, w)| x * w).sum();
            }
        };
        progress(&form.of(goal), &form.of(state), &mut self.likeness)
    }
}

/// A state as it is read: of the facts that are not read right, half are lacking and half are those of another state.
fn seen(world: &Facts, state: usize, noise: f64, stream: &mut Stream) -> Vec<Thing> {
    let mut things = world.states[state].clone();
    if noise > 0.0 {
        for (at, thing) in things.iter_mut().enumerate() {
            for place in (0..thing.facts.len()).rev() {
                if !stream.chance(noise) {
                    continue;
                }
                let other = stream.pick(&world.states).map(|other| other[at].facts[place].clone());
                match other.filter(|_| stream.chance(0.5)) {
                    Some(wrong) => thing.facts[place] = wrong,
                    None => drop(thing.facts.remove(place)),
                }
            }
        }
    }
    things
}

const WORDS: usize = 128;

/// What the regression sees: the product of the hashed words of goal and state, number by number, their cosine, and 1.
fn features(goal: &[Thing], state: &[Thing]) -> Vec<f64> {
    let text = |things: &[Thing]| sentences(things).map(String::as_str).collect::<Vec<_>>().join(" ");
    let vectors = words(WORDS).embed(&[&text(goal), &text(state)]).unwrap_or_default();
    let mut products = match vectors.as_slice() {
        [a, b] => a.iter().zip(b).map(|(x, y)| f64::from(x * y)).collect(),
        _ => vec![0.0; WORDS],
    };
    products.push(products.iter().sum());
    products.push(1.0);
    products
}

/// Least squares of true progress over every step of the tasks, with a ridge of a hundredth of a row for each number.
fn fit(world: &Facts, tasks: &[Task]) -> Result<Vec<f64>, StudyError> {
    let n = WORDS + 2;
    let (mut a, mut b, mut rows) = (vec![0.0; n * n], vec![0.0; n], 0.0);
    for task in tasks {
        for state in task.positive.iter().chain(&task.negative) {
            let x = features(&task.goal, &world.states[*state]);
            let y = task.progress(*state);
            rows += 1.0;
            for (i, xi) in x.iter().enumerate() {
                b[i] += xi * y;
                a[i * n..(i + 1) * n].iter_mut().zip(&x).for_each(|(sum, xj)| *sum += xi * xj);
            }
        }
    }
    (0..n).for_each(|i| a[i * n + i] += 0.01 * rows / n as f64);
    linear::solve(&a, &b).ok_or_else(|| StudyError::Broken("the regression has no solution".into()))
}
