//! Deep GraphRAG: communities are searched from the top with a beam; a writer is paid by objectives that weigh by their speed.

use crate::chooser::Chooser;
use crate::copying::{Copying, Output, relative};
use crate::tabular::mean;
use crate::worlds::planted_graph::{Asked, Planted, PlantedLaw};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed};
use merit_reward::SpeedWeights;
use merit_search::graph::beam;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which part of the system is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GraphRagPart {
    /// Evidence is looked for in a graph.
    Retrieval,
    /// A writer learns under three objectives.
    Weights,
}

/// How evidence is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GraphSearch {
    /// Entities alone, each by its own text.
    Flat,
    /// Every node of the tree, each beside its parent.
    Exhaustive,
    /// From the top with `width` nodes at every level, each beside its parent.
    Beam,
}

/// A planted graph that is searched, or a writer that copies facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DeepGraphrag {
    /// Which part of the system is tested.
    pub part: GraphRagPart,
    /// How evidence is looked for.
    pub search: GraphSearch,
    /// Nodes that survive at every level of a beam.
    pub width: usize,
    /// What the likeness of the parent counts beside that of the child.
    pub parent: f64,
    /// Entities that are returned.
    pub returned: usize,
    /// Questions of one cell.
    pub questions: usize,
    /// Communities at the top, in each of them, in each of those, and entities in each of the smallest.
    pub sizes: [usize; 4],
    /// Edges that begin at an entity.
    pub degree: usize,
    /// The chance that an edge leaves the smallest community.
    pub leaves: f64,
    /// Different words of names.
    pub names: usize,
    /// The chance that a question says what its first entity's community is about, for each of the two larger levels.
    pub topical: f64,
    /// Weights of the objectives: relevance, faithfulness, conciseness. They stay, unless `dynamic`.
    pub weights: [f64; 3],
    /// Weights follow the speed of learning, from equal ones.
    pub dynamic: bool,
    /// Steps over which speed is measured.
    pub window: usize,
    /// How sharply weights follow it.
    pub temperature: f64,
    /// Facts in the context, one of them needed, and facts that are not there.
    pub facts: [usize; 2],
    /// The longest output.
    pub budget: usize,
    /// Updates of the writer.
    pub updates: usize,
    /// Groups of an update, and outputs of a group.
    pub groups: [usize; 2],
    /// The step of an update.
    pub rate: f64,
    /// What the distance from the first policy costs.
    pub kl: f64,
}

impl Default for DeepGraphrag {
    fn default() -> Self {
        Self {
            part: GraphRagPart::Retrieval,
            search: GraphSearch::Beam,
            width: 3,
            parent: 0.5,
            returned: 10,
            questions: 300,
            sizes: [10, 5, 5, 8],
            degree: 4,
            leaves: 0.2,
            names: 300,
            topical: 0.5,
            weights: [1.0 / 3.0; 3],
            dynamic: false,
            window: 20,
            temperature: 1.0,
            facts: [8, 8],
            budget: 8,
            updates: 400,
            groups: [8, 8],
            rate: 1.0,
            kl: 0.01,
        }
    }
}

/// The least weight of an objective, and the share of the old weights that stays at a step.
const FLOOR: f64 = 0.1;
const SMOOTHING: f64 = 0.9;
/// Relations of the graph, and of a question.
const RELATIONS: usize = 12;
/// Outputs that the writer is measured by at the end.
const MEASURED: usize = 500;

impl Component for DeepGraphrag {
    const ABOUT: About = About {
        name: "deep-graphrag",
        summary: "Communities searched from the top with a beam; a writer paid by objectives that weigh by their speed.",
        paper: "Deep GraphRAG: A Balanced Approach to Hierarchical Retrieval and Adaptive Integration (2026)",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.width > 0, "width", self.width, "at least 1")?;
        Refusal::unless(self.returned > 0, "returned", self.returned, "at least 1")?;
        Refusal::unless(self.questions > 0, "questions", self.questions, "at least 1")?;
        Refusal::unless((0.0..=1.0).contains(&self.leaves), "leaves", self.leaves, "between 0 and 1")?;
        Refusal::unless((0.0..=1.0).contains(&self.topical), "topical", self.topical, "between 0 and 1")?;
        Refusal::unless(self.names > 1, "names", self.names, "at least 2")?;
        Refusal::unless(self.degree > 0, "degree", self.degree, "at least 1")?;
        Refusal::unless(self.window > 1, "window", self.window, "at least 2")?;
        Refusal::unless(self.temperature > 0.0, "temperature", self.temperature, "above 0")?;
        Refusal::unless(self.budget > 0, "budget", self.budget, "at least 1")?;
        Refusal::unless(self.rate > 0.0, "rate", self.rate, "above 0")?;
        if self.sizes.iter().any(|size| *size < 2) || self.sizes.iter().product::<usize>() > 20_000 {
            return Err(Refusal::new(
                "`sizes` must be four numbers of 2 and more, together at most 20000 entities",
            ));
        }
        if self.groups.contains(&0) || self.groups[1] < 2 || self.facts[0] == 0 {
            return Err(Refusal::new(
                "`groups` needs a group of 2 outputs, and `facts` a fact in the context",
            ));
        }
        match self.weights.iter().all(|weight| *weight >= 0.0) {
            true => Ok(()),
            false => Err(Refusal::new("`weights` must be three numbers of 0 or more")),
        }
    }
}

impl Study for DeepGraphrag {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        match self.part {
            GraphRagPart::Retrieval => self.retrieve(seed, desk),
            GraphRagPart::Weights => self.write(seed, desk),
        }
    }
}

impl DeepGraphrag {
    fn law(&self) -> PlantedLaw {
        PlantedLaw {
            sizes: self.sizes,
            degree: self.degree,
            leaves: self.leaves,
            names: self.names,
            relations: RELATIONS,
            topical: self.topical,
        }
    }

    fn retrieve(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let planted = Planted::draw(&self.law(), seed);
        let (mut recall, mut scored) = (Vec::new(), Vec::new());
        for question in 0..self.questions as u64 {
            if !desk.left()? {
                break;
            }
            let asked = planted.ask(&mut seed.child("question", question).stream());
            let (found, nodes) = self.find(&planted, &asked);
            let hits = asked.evidence.iter().filter(|entity| found.contains(entity)).count();
            recall.push(hits as f64 / asked.evidence.len() as f64);
            scored.push(nodes as f64);
            desk.spend("questions", 1.0);
            desk.paired("recall", question, hits as f64 / asked.evidence.len() as f64);
        }
        desk.measure("recall", mean(&recall));
        desk.measure("scored_nodes", mean(&scored));
        desk.measure("scored_share", mean(&scored) / planted.tree.len() as f64);
        desk.measure("communities_recovered", planted.recovered());
        Ok(())
    }

    /// The entities that are returned, and how many nodes were scored.
    fn find(&self, planted: &Planted, asked: &Asked) -> (Vec<usize>, usize) {
        let (parent, width) = match self.search {
            GraphSearch::Flat => (0.0, usize::MAX),
            GraphSearch::Exhaustive => (self.parent, usize::MAX),
            GraphSearch::Beam => (self.parent, self.width),
        };
        let found = beam(&planted.tree, width, |above, child| {
            let context = above.filter(|_| parent > 0.0).map_or(0.0, |above| planted.cosine(asked, above));
            planted.cosine(asked, child) + parent * context
        });
        // A flat search scores entities alone; the tree above them costs it nothing.
        let nodes = if self.search == GraphSearch::Flat { found.leaves.len() } else { found.scored };
        let best = found.leaves.iter().take(self.returned).filter_map(|(node, _)| planted.tree.leaf(*node));
        (best.collect(), nodes)
    }

    fn write(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let task = Copying { context: self.facts[0], absent: self.facts[1], budget: self.budget };
        let first = Chooser::new(task.features());
        let (mut policy, mut history, mut weights) = (first.clone(), Vec::new(), self.weights);
        let by = SpeedWeights { temperature: self.temperature, floor: FLOOR, smoothing: SMOOTHING };
        if self.dynamic {
            weights = [1.0 / 3.0; 3];
        }
        let mut track = Vec::new();
        for update in 0..self.updates as u64 {
            if !desk.left()? {
                break;
            }
            let stream = &mut seed.child("update", update).stream();
            let outputs: Vec<Vec<Output>> = (0..self.groups[0])
                .map(|_| (0..self.groups[1]).map(|_| task.write(&policy, stream)).collect())
                .collect();
            let mut paths = Vec::new();
            for group in &outputs {
                let paid = |output: &Output| output.rewards.iter().zip(weights).map(|(r, w)| r * w).sum();
                let rewards: Vec<f64> = group.iter().map(paid).collect();
                paths.extend(group.iter().zip(relative(&rewards)).map(|(o, a)| (o.choices.as_slice(), a)));
            }
            policy.climb(&paths, Some((&first, self.kl)), self.rate);
            let all: Vec<&Output> = outputs.iter().flatten().collect();
            let row = [0, 1, 2].map(|k| mean(&all.iter().map(|o| o.rewards[k]).collect::<Vec<_>>()));
            history.extend(row);
            let surplus = history.len().saturating_sub(3 * self.window);
            history.drain(..surplus);
            if self.dynamic {
                let next = by.next(&weights, &history);
                weights = [next[0], next[1], next[2]];
            }
            track.push(weights[0]);
            desk.spend("updates", 1.0);
            desk.spend("outputs", all.len() as f64);
            for (name, value) in ["relevance", "faithfulness", "conciseness"].iter().zip(row) {
                desk.point(name, value);
            }
        }
        self.measure(&task, &policy, &track, seed, desk);
        Ok(())
    }

    fn measure(&self, task: &Copying, policy: &Chooser, track: &[f64], seed: &Seed, desk: &mut Desk<'_>) {
        let stream = &mut seed.child("measured", 0).stream();
        let outputs: Vec<Output> = (0..MEASURED).map(|_| task.write(policy, stream)).collect();
        let of = |k: usize| mean(&outputs.iter().map(|output| output.rewards[k]).collect::<Vec<_>>());
        let (r1, r2, r3) = (of(0), of(1), of(2));
        let length = mean(&outputs.iter().map(|output| output.length as f64).collect::<Vec<_>>());
        for (name, value) in
            [("relevance", r1), ("faithfulness", r2), ("conciseness", r3), ("length", length)]
        {
            desk.measure(name, value);
        }
        desk.measure("least", r1.min(r2).min(r3));
        desk.measure("collapsed", f64::from(u8::from(length < 0.5 && r1 < 0.2)));
        desk.measure("weight_turns", turns(track) as f64 / (track.len().max(1) as f64 / self.window as f64));
    }
}

/// How often the weight of the first objective crosses its mean.
fn turns(track: &[f64]) -> usize {
    let middle = mean(track);
    track.windows(2).filter(|pair| (pair[0] - middle) * (pair[1] - middle) < 0.0).count()
}
