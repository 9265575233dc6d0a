//! A knowledge graph with planted communities within communities, and questions over two or three of its edges.
//!
//! Every entity has a name of two words, every fact is a sentence about two entities and what its head's two larger communities are about. Edges mostly stay inside the smallest
//! communities. A community is told by the words of its facts. Texts are hashed bags of words; nothing else is known of them.

use merit_core::embedder::{Embedder as _, HashedNgrams};
use merit_core::{Seed, Stream};
use merit_search::graph::{Graph, Tree, hierarchy};
use std::collections::{BTreeMap, BTreeSet};

/// How the graph is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlantedLaw {
    /// Communities at the top, in each of them, in each of those, and entities in each of the smallest.
    pub sizes: [usize; 4],
    /// Edges that begin at an entity.
    pub degree: usize,
    /// The chance that an edge leaves the smallest community, and that such an edge also leaves the next larger one.
    pub leaves: f64,
    /// Different words of names; the fewer, the more entities share one.
    pub names: usize,
    /// Different relations.
    pub relations: usize,
    /// The chance that a question says what its first entity's community is about, for each of the two larger levels.
    pub topical: f64,
}

/// The graph, its texts as vectors, and the communities that were found in it.
#[derive(Debug, Clone)]
pub struct Planted {
    /// The entity at the other end of every fact of an entity, and the relation.
    pub facts: Vec<Vec<(usize, usize)>>,
    /// Communities within communities down to the entities, by Louvain.
    pub tree: Tree,
    /// The vector of every node of the tree.
    pub vectors: Vec<Vec<f32>>,
    names: Vec<String>,
    law: PlantedLaw,
    embedder: HashedNgrams,
}

/// A question: its vector, and the entities that it takes to answer it.
#[derive(Debug, Clone)]
pub struct Asked {
    pub vector: Vec<f32>,
    pub evidence: Vec<usize>,
}

/// Length of vectors.
const DIMENSIONS: usize = 1024;
/// Levels of communities.
const LEVELS: usize = 3;

impl Planted {
    pub fn draw(law: &PlantedLaw, seed: &Seed) -> Self {
        let count: usize = law.sizes.iter().product();
        let stream = &mut seed.child("graph", 0).stream();
        let word = |stream: &mut Stream| syllables(stream.below(law.names as u64) as usize);
        let names: Vec<String> = (0..count).map(|_| format!("{} {}", word(stream), word(stream))).collect();
        let [_, middle, small, size] = law.sizes;
        let mut facts = vec![Vec::new(); count];
        let mut graph = Graph::new(count);
        for (from, facts) in facts.iter_mut().enumerate() {
            for _ in 0..law.degree {
                let span = match (stream.chance(law.leaves), stream.chance(law.leaves)) {
                    (false, _) => size,
                    (true, false) => size * small,
                    (true, true) => size * small * middle,
                };
                let to = from / span * span + stream.below(span as u64) as usize;
                if to != from {
                    facts.push((to, stream.below(law.relations as u64) as usize));
                    graph.join(from, to, 1.0);
                }
            }
        }
        let tree = hierarchy(&graph, LEVELS);
        let embedder = HashedNgrams::new(DIMENSIONS, merit_search::words);
        let mut planted = Self { facts, tree, vectors: Vec::new(), names, law: *law, embedder };
        planted.vectors = planted.texts().iter().map(|text| planted.vector(text)).collect();
        planted
    }

    /// The text of every node of the tree: an entity's facts, or those of everything below.
    fn texts(&self) -> Vec<String> {
        let mut told: Vec<Vec<String>> = vec![Vec::new(); self.names.len()];
        for (from, facts) in self.facts.iter().enumerate() {
            for (to, relation) in facts {
                let [large, middle] = self.topics(from);
                let fact = format!(
                    "{} {} {} {large} {middle}",
                    self.names[from],
                    relation_word(*relation),
                    self.names[*to]
                );
                told[*to].push(fact.clone());
                told[from].push(fact);
            }
        }
        (0..self.tree.len())
            .map(|node| {
                let facts: BTreeSet<&str> = self
                    .below(node)
                    .iter()
                    .flat_map(|entity| told[*entity].iter().map(String::as_str))
                    .collect();
                facts.into_iter().collect::<Vec<_>>().join(" ")
            })
            .collect()
    }

    /// The entities below a node, itself where it is one.
    fn below(&self, node: usize) -> Vec<usize> {
        match self.tree.leaf(node) {
            Some(entity) => vec![entity],
            None => self.tree.children(Some(node)).iter().flat_map(|child| self.below(*child)).collect(),
        }
    }

    /// What the two larger communities of an entity are about.
    fn topics(&self, entity: usize) -> [String; 2] {
        let [_, middle, small, size] = self.law.sizes;
        let at = [entity / (size * small * middle), entity / (size * small)];
        [format!("about{}", syllables(at[0])), format!("on{}", syllables(at[1]))]
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        self.embedder.embed(&[text]).ok().and_then(|found| found.into_iter().next()).unwrap_or_default()
    }

    /// A question that follows two or three facts from an entity. It names the entity and the relations.
    pub fn ask(&self, stream: &mut Stream) -> Asked {
        loop {
            let hops = 2 + stream.below(2) as usize;
            let first = stream.below(self.names.len() as u64) as usize;
            let (mut evidence, mut text, mut at) = (vec![first], self.names[first].clone(), first);
            for _ in 0..hops {
                let Some((to, relation)) = stream.pick(&self.facts[at]).copied() else { break };
                text = format!("{} {text}", relation_word(relation));
                evidence.push(to);
                at = to;
            }
            let different: BTreeSet<usize> = evidence.iter().copied().collect();
            for topic in self.topics(first) {
                if stream.chance(self.law.topical) {
                    text = format!("{text} {topic}");
                }
            }
            if evidence.len() == hops + 1 && different.len() == evidence.len() {
                return Asked { vector: self.vector(&text), evidence };
            }
        }
    }

    /// How alike a question and a node are.
    pub fn cosine(&self, asked: &Asked, node: usize) -> f64 {
        asked.vector.iter().zip(&self.vectors[node]).map(|(a, b)| f64::from(a * b)).sum()
    }

    /// The share of neighbours in the smallest planted communities that share their top community.
    pub fn recovered(&self) -> f64 {
        let size = self.law.sizes[3];
        let mut home: BTreeMap<usize, usize> = BTreeMap::new();
        for top in self.tree.children(None) {
            for entity in self.below(*top) {
                home.insert(entity, *top);
            }
        }
        let pairs = (0..self.names.len()).filter(|at| at % size != 0).map(|at| (at - 1, at));
        let together: Vec<f64> = pairs.map(|(a, b)| f64::from(u8::from(home[&a] == home[&b]))).collect();
        crate::tabular::mean(&together)
    }
}

fn relation_word(relation: usize) -> String {
    format!("r{}", syllables(relation))
}

fn syllables(mut left: usize) -> String {
    const PARTS: [&str; 16] =
        ["ba", "de", "fo", "gu", "ka", "li", "mo", "nu", "pa", "ri", "so", "ta", "ve", "zo", "chi", "wu"];
    let mut word = String::new();
    left += PARTS.len();
    while left > 0 {
        word.push_str(PARTS[left % PARTS.len()]);
        left /= PARTS.len();
    }
    word
}
