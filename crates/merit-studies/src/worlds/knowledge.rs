//! A procedural knowledge base in chunks and triplets, and four ways to fill a context under a budget of words.
//!
//! A chunk has a title entity, its facts, facts of others and words that say nothing. Triplets are extracted from chunks, and some are
//! missed. A query names an entity and a relation. Evidence is there when its triplet or a chunk that has it is in the context.

use merit_core::embedder::{Embedder as _, HashedNgrams};
use merit_core::{Seed, Stream};
use merit_search::graph::{DAMPING, Graph, pack};
use std::collections::BTreeMap;

/// How the base is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnowledgeLaw {
    pub entities: usize,
    pub relations: usize,
    /// Facts of an entity.
    pub facts: usize,
    /// The chance that a fact of a chunk is not extracted as a triplet.
    pub missed: f64,
    /// Words of a chunk that say nothing.
    pub filler: usize,
    /// Different words of names.
    pub names: usize,
}

/// A fact: head, relation, tail.
pub type Fact = (usize, usize, usize);

/// A passage with the facts it states.
#[derive(Debug, Clone)]
pub struct Chunk {
    pub title: usize,
    pub facts: Vec<usize>,
    pub words: usize,
}

/// The base with its texts as vectors.
#[derive(Debug, Clone)]
pub struct Knowledge {
    pub facts: Vec<Fact>,
    pub chunks: Vec<Chunk>,
    /// Facts that were extracted.
    pub triplets: Vec<usize>,
    names: Vec<String>,
    entity_vectors: Vec<Vec<f32>>,
    chunk_vectors: Vec<Vec<f32>>,
    triplet_vectors: Vec<Vec<f32>>,
    embedder: HashedNgrams,
}

/// How a context is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    Chunks,
    Triplets,
    /// Chunks and triplets in turn, each list best first.
    Both,
    /// What a walk over query, chunks, triplets and entities reaches first.
    Walk,
}

/// A piece of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    Chunk(usize),
    /// By its place among the triplets.
    Triplet(usize),
}

const DIMENSIONS: usize = 512;
/// Chunks and triplets that are retrieved, and entities that are recognised.
const RETRIEVED: usize = 10;
const RECOGNISED: usize = 2;
/// Pieces that a walk may take, and the likeness from which on a triplet is joined to the query.
const TAKEN: usize = 5;
const JOINED_AT: f64 = 0.3;

impl Knowledge {
    pub fn draw(law: &KnowledgeLaw, seed: &Seed) -> Self {
        let stream = &mut seed.child("knowledge", 0).stream();
        let word = |stream: &mut Stream| format!("n{}", stream.below(law.names as u64));
        let names: Vec<String> =
            (0..law.entities).map(|_| format!("{} {}", word(stream), word(stream))).collect();
        let entity = |stream: &mut Stream| stream.below(law.entities as u64) as usize;
        let mut facts: Vec<Fact> = Vec::new();
        for head in 0..law.entities {
            let mut relations: Vec<usize> = (0..law.relations).collect();
            stream.shuffle(&mut relations);
            facts.extend(relations.iter().take(law.facts).map(|relation| (head, *relation, entity(stream))));
        }
        let mut chunks = Vec::new();
        let mut texts = Vec::new();
        for title in 0..law.entities {
            let own = title * law.facts..(title + 1) * law.facts;
            let others = 1 + stream.below(3) as usize;
            let mut stated: Vec<usize> = own.collect();
            stated.extend((0..others).map(|_| stream.below(facts.len() as u64) as usize));
            let said = stated.iter().map(|fact| sentence(&names, facts[*fact]));
            let filler = (0..law.filler).map(|_| format!("w{}", stream.below(400)));
            let text = said.chain(filler).collect::<Vec<_>>().join(" ");
            chunks.push(Chunk { title, facts: stated, words: text.split(' ').count() });
            texts.push(text);
        }
        let triplets: Vec<usize> = (0..facts.len()).filter(|_| !stream.chance(law.missed)).collect();
        let embedder = HashedNgrams::new(DIMENSIONS, merit_search::words);
        let vectors = |texts: &[String]| -> Vec<Vec<f32>> {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            embedder.embed(&texts).unwrap_or_default()
        };
        let sentences: Vec<String> = triplets.iter().map(|fact| sentence(&names, facts[*fact])).collect();
        Self {
            entity_vectors: vectors(&names),
            chunk_vectors: vectors(&texts),
            triplet_vectors: vectors(&sentences),
            facts,
            chunks,
            triplets,
            names,
            embedder,
        }
    }

    /// Facts that follow each other, one to three: a question with its evidence.
    pub fn chain(&self, stream: &mut Stream) -> Vec<usize> {
        let hops = 1 + stream.below(3) as usize;
        let mut chain = vec![stream.below(self.facts.len() as u64) as usize];
        while chain.len() < hops {
            let at = self.facts[chain[chain.len() - 1]].2;
            let next: Vec<usize> = (0..self.facts.len()).filter(|fact| self.facts[*fact].0 == at).collect();
            match stream.pick(&next) {
                Some(fact) => chain.push(*fact),
                None => break,
            }
        }
        chain
    }

    /// The context for the query that asks for a fact by its head and relation.
    pub fn context(&self, asked: usize, by: Filling, budget: usize) -> Vec<Piece> {
        let (head, relation, _) = self.facts[asked];
        let query = format!("{} {}", self.names[head], relation_word(relation));
        let query = self
            .embedder
            .embed(&[query.as_str()])
            .ok()
            .and_then(|v| v.into_iter().next())
            .unwrap_or_default();
        let chunks = best(&query, &self.chunk_vectors, 0..self.chunks.len(), RETRIEVED);
        let seen = best(&query, &self.entity_vectors, 0..self.names.len(), RECOGNISED);
        let near = (0..self.triplets.len()).filter(|at| {
            let (head, _, tail) = self.facts[self.triplets[*at]];
            seen.iter().any(|(entity, _)| *entity == head || *entity == tail)
        });
        let triplets = best(&query, &self.triplet_vectors, near, RETRIEVED);
        let as_chunks = || chunks.iter().map(|(at, _)| Piece::Chunk(*at));
        let as_triplets = || triplets.iter().map(|(at, _)| Piece::Triplet(*at));
        let cost = |piece: Piece| self.words(piece);
        match by {
            Filling::Chunks => pack(as_chunks(), RETRIEVED, budget, cost),
            Filling::Triplets => pack(as_triplets(), RETRIEVED, budget, cost),
            Filling::Both => {
                let (mut chunks, mut triplets) = (as_chunks(), as_triplets());
                let turns = (0..RETRIEVED).flat_map(|_| [chunks.next(), triplets.next()]).flatten();
                pack(turns.collect::<Vec<_>>(), 2 * RETRIEVED, budget, cost)
            }
            Filling::Walk => pack(self.walk(&chunks, &triplets, &seen), TAKEN, budget, cost),
        }
    }

    /// Pieces by personalised PageRank over the knowledge association graph of one query.
    fn walk(&self, chunks: &[(usize, f64)], triplets: &[(usize, f64)], seen: &[(usize, f64)]) -> Vec<Piece> {
        let mut graph = Graph::new(1);
        let mut entities: BTreeMap<usize, usize> = BTreeMap::new();
        let mut entity =
            |graph: &mut Graph, name: usize| *entities.entry(name).or_insert_with(|| graph.add());
        let mut pieces: Vec<(Piece, usize)> = Vec::new();
        for (at, likeness) in chunks {
            let node = graph.add();
            graph.join(0, node, *likeness);
            let title = entity(&mut graph, self.chunks[*at].title);
            graph.join(node, title, 1.0);
            pieces.push((Piece::Chunk(*at), node));
        }
        for (at, likeness) in triplets {
            let (node, fact) = (graph.add(), self.triplets[*at]);
            if *likeness >= JOINED_AT {
                graph.join(0, node, *likeness);
            }
            let (head, _, tail) = self.facts[fact];
            for name in [head, tail] {
                let other = entity(&mut graph, name);
                graph.join(node, other, 1.0);
            }
            for (piece, source) in &pieces {
                if let Piece::Chunk(chunk) = piece
                    && self.chunks[*chunk].facts.contains(&fact)
                {
                    graph.join(node, *source, 1.0);
                    for name in [head, tail] {
                        let other = entity(&mut graph, name);
                        graph.join(*source, other, 1.0);
                    }
                }
            }
            pieces.push((Piece::Triplet(*at), node));
        }
        let mut seeds = vec![(0, 1.0)];
        seeds.extend(seen.iter().filter_map(|(name, _)| Some((*entities.get(name)?, 0.5))));
        let mass = graph.pagerank(&seeds, DAMPING);
        pieces.sort_by(|a, b| mass[b.1].total_cmp(&mass[a.1]).then(a.0.cmp(&b.0)));
        pieces.into_iter().map(|(piece, _)| piece).collect()
    }

    /// Whether a fact stands in a context.
    pub fn has(&self, context: &[Piece], fact: usize) -> bool {
        context.iter().any(|piece| match piece {
            Piece::Chunk(at) => self.chunks[*at].facts.contains(&fact),
            Piece::Triplet(at) => self.triplets[*at] == fact,
        })
    }

    pub fn words(&self, piece: Piece) -> usize {
        match piece {
            Piece::Chunk(at) => self.chunks[at].words,
            Piece::Triplet(at) => sentence(&self.names, self.facts[self.triplets[at]]).split(' ').count(),
        }
    }
}

fn sentence(names: &[String], (head, relation, tail): Fact) -> String {
    format!("{} {} {}", names[head], relation_word(relation), names[tail])
}

fn relation_word(relation: usize) -> String {
    format!("relation{relation}")
}

/// The most alike of these places, best first.
fn best(
    query: &[f32],
    vectors: &[Vec<f32>],
    places: impl Iterator<Item = usize>,
    count: usize,
) -> Vec<(usize, f64)> {
    let alike = |at: usize| query.iter().zip(&vectors[at]).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    let mut found: Vec<(usize, f64)> = places.map(|at| (at, alike(at))).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(count);
    found
}
