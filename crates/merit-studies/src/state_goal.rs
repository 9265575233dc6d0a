//! How far a state is along to a goal, without learning: how alike their objects and attributes are.
//!
//! In: two factored states, the goal's with fewer facts. Out: a number from 0 to 1. Pure but for the memory of likenesses.
//! After <https://github.com/yijunshens/StateFactory>.

use merit_core::embedder::{Embedder, HashedNgrams};
use std::collections::HashMap;

/// An object and what is true of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thing {
    pub name: String,
    pub facts: Vec<Fact>,
}

/// One sentence about an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Which attribute it is about; empty where the form does not say.
    pub attribute: String,
    pub says: String,
}

/// How the same sentences are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// By object and attribute.
    Attributes,
    /// By object.
    Objects,
    /// By object, as the released code reads it: all sentences bear one attribute's name, so that the first is always taken.
    FirstOfObject,
    /// In a flat list.
    Sentences,
}

impl Form {
    pub fn of(self, things: &[Thing]) -> Vec<Thing> {
        let named = |attribute: &str| {
            let fact = |fact: &Fact| Fact { attribute: attribute.to_owned(), says: fact.says.clone() };
            let thing = |thing: &Thing| Thing {
                name: thing.name.clone(),
                facts: thing.facts.iter().map(fact).collect(),
            };
            things.iter().map(thing).collect()
        };
        let alone = |says: &String| {
            let fact = Fact { attribute: String::new(), says: says.clone() };
            Thing { name: says.clone(), facts: vec![fact] }
        };
        match self {
            Self::Attributes => things.to_vec(),
            Self::Objects => named(""),
            Self::FirstOfObject => named("state"),
            Self::Sentences => sentences(things).map(alone).collect(),
        }
    }
}

pub fn sentences(things: &[Thing]) -> impl Iterator<Item = &String> {
    things.iter().flat_map(|thing| thing.facts.iter().map(|fact| &fact.says))
}

/// The cosine of two texts' hashed words and letters.
#[derive(Debug)]
pub struct Likeness {
    embedder: HashedNgrams,
    known: HashMap<String, HashMap<String, f64>>,
}

impl Default for Likeness {
    fn default() -> Self {
        Self { embedder: words(1024), known: HashMap::new() }
    }
}

/// Hashed words and letters with this many numbers for a text.
pub fn words(dimensions: usize) -> HashedNgrams {
    HashedNgrams::new(dimensions, |text, each| text.split_whitespace().for_each(each))
}

impl Likeness {
    pub fn of(&mut self, a: &str, b: &str) -> f64 {
        if let Some(found) = self.known.get(a).and_then(|row| row.get(b)) {
            return *found;
        }
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum();
        let found = match self.embedder.embed(&[a, b]).as_deref() {
            Ok([x, y]) => dot(x, y),
            _ => 0.0,
        };
        self.known.entry(a.to_owned()).or_default().insert(b.to_owned(), found);
        found
    }
}

/// Over the goal's objects the mean of the best score of an object of the state, within 0 and 1 and cut to two decimals; 0
/// where either side is empty:
///   `score(g, o) = sim(name_g, name_o) · mean_k sim(fact_k of g, the fact of o whose attribute is nearest)`
/// A fact without an attribute is held against the nearest fact.
pub fn progress(goal: &[Thing], state: &[Thing], likeness: &mut Likeness) -> f64 {
    if goal.is_empty() {
        return 0.0;
    }
    let mut sum = 0.0;
    for wanted in goal {
        let scores = state.iter().map(|thing| score(wanted, thing, likeness));
        sum += scores.fold(0.0, f64::max);
    }
    // A hair is added before cutting: a perfect match may be a rounding error below 1.
    ((sum / goal.len() as f64 + 1e-6).clamp(0.0, 1.0) * 100.0).floor() / 100.0
}

fn score(wanted: &Thing, thing: &Thing, likeness: &mut Likeness) -> f64 {
    let named = likeness.of(&wanted.name, &thing.name);
    if wanted.facts.is_empty() {
        return named;
    }
    let met: f64 = wanted.facts.iter().map(|fact| met(fact, &thing.facts, likeness)).sum();
    named * met / wanted.facts.len() as f64
}

fn met(wanted: &Fact, facts: &[Fact], likeness: &mut Likeness) -> f64 {
    let mut best: Option<(f64, f64)> = None;
    for fact in facts {
        let says = likeness.of(&wanted.says, &fact.says);
        let near =
            if wanted.attribute.is_empty() { says } else { likeness.of(&wanted.attribute, &fact.attribute) };
        if best.is_none_or(|(nearest, _)| near > nearest) {
            best = Some((near, says));
        }
    }
    best.map_or(0.0, |(_, says)| says)
}
