//! Who turns texts into vectors? The seam for embedders and the list of those made here.
//!
//! A model-backed embedder is built elsewhere and handed to [`crate::Index::build_with_embedder`]; one that needs no model is
//! one file here and one line in [`EMBEDDERS`].

use crate::{HashedNgrams, SearchError, hashed_ngrams};
use merit_core::About;
use merit_core::registry::find;

/// Turns texts into vectors that point the same way when the texts are alike.
///
/// Called by [`crate::Index::build`] with the documents in batches, possibly from several threads at once, and by every dense
/// or hybrid search with the query. The same text must give the same vector. An implementer that cannot answer says so by an
/// error; it never makes a vector up.
pub trait Embedder: Send + Sync {
    /// The name that configs call it by.
    fn name(&self) -> &str;

    /// Length of every vector.
    fn dimensions(&self) -> usize;

    /// One finite vector per text, of any norm; all zeros for a text without content.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String>;
}

/// A registered embedder.
#[derive(Debug, Clone, Copy)]
pub struct EmbedderEntry {
    /// Name and one line.
    pub about: About,
    /// Makes it with vectors of this length.
    pub build: fn(usize) -> Box<dyn Embedder>,
}

/// All embedders of this crate.
pub const EMBEDDERS: &[EmbedderEntry] = &[EmbedderEntry {
    about: hashed_ngrams::ABOUT,
    build: |dimensions| Box::new(HashedNgrams::new(dimensions)),
}];

/// The embedder called `name`, or an error that names the nearest.
pub fn embedder(name: &str, dimensions: usize) -> Result<Box<dyn Embedder>, SearchError> {
    let entry = find("embedder", EMBEDDERS, |entry| entry.about, name)?;
    Ok((entry.build)(dimensions))
}

/// Asks an embedder and checks its answer: unit vectors of the right length, or zeros.
pub(crate) fn unit_vectors(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Vec<f32>>, SearchError> {
    let broken = |why: String| SearchError::Embedder { name: embedder.name().to_owned(), why };
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
