//! Who turns texts into vectors? The seam for embedders, the list of those that need no model, and the check of what they give.
//!
//! A model-backed embedder is built elsewhere and handed in; one that needs no model is one file here and one line in
//! [`EMBEDDERS`].

mod hashed_ngrams;

pub use hashed_ngrams::HashedNgrams;

use crate::About;
use crate::registry::{UnknownName, find};

/// Turns texts into vectors that point the same way when the texts are alike.
///
/// Called with texts in batches, possibly from several threads at once. The same text must give the same vector. An implementer
/// that cannot answer says so by an error; it never makes a vector up.
pub trait Embedder: Send + Sync {
    /// The name that configs call it by.
    fn name(&self) -> &str;

    /// Length of every vector.
    fn dimensions(&self) -> usize;

    /// One finite vector per text, of any norm; all zeros for a text without content.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String>;
}

/// Calls the given function with every word of a text, in the form in which words are compared.
pub type Words = fn(&str, &mut dyn FnMut(&str));

/// An embedder that recipes can name, and how it is made.
#[derive(Debug, Clone, Copy)]
pub struct EmbedderEntry {
    /// Its name in recipes, and one line for lists.
    pub about: About,
    /// Makes it with vectors of this length, over words as its user reads them.
    pub build: fn(usize, Words) -> Box<dyn Embedder>,
}

/// All embedders that need no model.
pub const EMBEDDERS: &[EmbedderEntry] = &[EmbedderEntry {
    about: hashed_ngrams::ABOUT,
    build: |dimensions, words| Box::new(HashedNgrams::new(dimensions, words)),
}];

/// The embedder called `name`, or an error that names the nearest.
pub fn embedder(name: &str, dimensions: usize, words: Words) -> Result<Box<dyn Embedder>, UnknownName> {
    find("embedder", EMBEDDERS, |entry| entry.about, name).map(|entry| (entry.build)(dimensions, words))
}

/// The embedder failed or broke its contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("embedder `{name}` could not answer: {why}")]
pub struct EmbedderError {
    /// The name that recipes use.
    pub name: String,
    /// What failed, in words.
    pub why: String,
}

/// Asks an embedder and checks its answer: unit vectors of the right length, or zeros.
pub fn unit_vectors(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
    let broken = |why: String| EmbedderError { name: embedder.name().to_owned(), why };
    let mut vectors = embedder.embed(texts).map_err(broken)?;
    if vectors.len() != texts.len() {
        return Err(broken(format!("it gave {} vectors for {} texts", vectors.len(), texts.len())));
    }
    for vector in &mut vectors {
        if vector.len() != embedder.dimensions() {
            return Err(broken(format!(
                "it gave a vector of {} dimensions instead of {}",
                vector.len(),
                embedder.dimensions()
            )));
        }
        let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
        if !norm.is_finite() {
            return Err(broken("it gave a vector with a value that is no number".to_owned()));
        }
        if norm > 0.0 {
            vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
        }
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, each: &mut dyn FnMut(&str)) {
        text.split_whitespace().for_each(each);
    }

    #[test]
    fn every_listed_embedder_keeps_its_contract() {
        for entry in EMBEDDERS {
            let embedder = embedder(entry.about.name, 300, words).unwrap();
            assert_eq!((embedder.name(), embedder.dimensions()), (entry.about.name, 300));
            let vectors = unit_vectors(embedder.as_ref(), &["a red door", "", "a red door", "北京"]).unwrap();
            assert_eq!(vectors[0], vectors[2]);
            let norms = vectors.iter().map(|vector| vector.iter().map(|x| x * x).sum::<f32>().sqrt());
            for (norm, want) in norms.zip([1.0, 0.0, 1.0, 1.0]) {
                assert!((norm - want).abs() < 1e-4, "{norm}");
            }
        }
        let unknown = embedder("hashed-ngram", 300, words).err().unwrap();
        assert!(unknown.to_string().contains("did you mean `hashed-ngrams`?"), "{unknown}");
    }
}
