//! Factored similarity: how close a state of objects and attributes is to a goal of the same form (StateFactory).
//!
//!   score(g, o) = sim(desc_g, desc_o) · mean_k sim(value_k, value of o's attribute whose name is closest to name_k)
//!   r           = clip(mean_g max_o score(g, o), 0, 1)
//!
//! An object without attributes scores 0 against a goal that has some, and by its description alone against one that
//! has none. The object gates its attributes: the right value on the wrong object scores low. The similarity of strings
//! comes from outside (an embedder, or [`trigram_similarity`](super::trigram_similarity)).

use serde::{Deserialize, Serialize};

/// An object of a factored state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactoredObject {
    /// What it is.
    pub description: String,
    /// What is true of it.
    pub attributes: Vec<Attribute>,
}

/// A fact about an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// Which property.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// How close a state is to its goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactoredSimilarity {
    /// From 0 to 1; 0 when either side is empty.
    pub score: f64,
    /// For each object of the goal, what was taken for it; empty when the state has no object.
    pub matches: Vec<ObjectMatch>,
}

/// The object of the state that is closest to one of the goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectMatch {
    /// Index in the goal.
    pub goal: usize,
    /// Index in the state.
    pub object: usize,
    /// How close.
    pub score: f64,
}

/// Compares a state with a goal. `similarity` gives values up to 1 for equal strings; what is not finite counts as 0.
pub fn factored_similarity(
    goal: &[FactoredObject],
    state: &[FactoredObject],
    similarity: &dyn Fn(&str, &str) -> f64,
) -> FactoredSimilarity {
    let alike = |a: &str, b: &str| Some(similarity(a, b)).filter(|s| s.is_finite()).unwrap_or(0.0);
    let best_of = |(g, wanted): (usize, &FactoredObject)| {
        let scored = state.iter().enumerate().map(|(o, object)| (o, closeness(wanted, object, &alike)));
        // The first of equals, so that the evidence does not depend on anything else.
        let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        Some(ObjectMatch { goal: g, object: best.0, score: best.1 })
    };
    let matches: Vec<ObjectMatch> = goal.iter().enumerate().filter_map(best_of).collect();
    let sum: f64 = matches.iter().map(|found| found.score).sum();
    let score = if matches.is_empty() { 0.0 } else { (sum / goal.len() as f64).clamp(0.0, 1.0) };
    FactoredSimilarity { score, matches }
}

fn closeness(wanted: &FactoredObject, object: &FactoredObject, alike: &dyn Fn(&str, &str) -> f64) -> f64 {
    let identity = alike(&wanted.description, &object.description);
    if wanted.attributes.is_empty() {
        return identity;
    }
    let value_of = |attribute: &Attribute| {
        let named = object.attributes.iter().map(|other| (alike(&attribute.name, &other.name), other));
        let closest = named.reduce(|best, next| if next.0 > best.0 { next } else { best });
        closest.map_or(0.0, |(_, other)| alike(&attribute.value, &other.value))
    };
    let sum: f64 = wanted.attributes.iter().map(value_of).sum();
    identity * sum / wanted.attributes.len() as f64
}
