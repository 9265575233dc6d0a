//! The two seams and the lists of what fills them.

use super::{HashedNgrams, Lexical, hashed_ngrams, lexical};
use merit_core::About;
use merit_core::registry::{UnknownName, find};

/// Turns texts into vectors whose dot product says how alike they are.
///
/// Called by [`super::LikenessVerifier`] once per verification with every text of it, response first, so that a
/// model-backed implementer can batch. The same text must give the same vector. An implementer that cannot answer says so
/// by an error, which becomes `grader-failed`; it never makes a vector up.
pub trait Embedder: Send + Sync {
    /// Name and one line.
    fn about(&self) -> About;

    /// One vector per text, all of one length, each of norm 1; a text without content may give all zeros.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, RoleError>;
}

/// Says how probable it is that a hypothesis follows from a premise.
///
/// Called by [`super::EntailmentVerifier`] with all hypotheses of one note, and by the citation check with all claims of a
/// response, pairs of one premise next to each other. The same pair must give the same number.
pub trait Entailer: Send + Sync {
    /// Name and one line.
    fn about(&self) -> About;

    /// One probability per pair of premise and hypothesis, from 0 to 1.
    fn entail(&self, pairs: &[(&str, &str)]) -> Result<Vec<f64>, RoleError>;
}

/// A role that could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{role} `{name}` could not answer: {why}")]
pub struct RoleError {
    /// `embedder` or `entailer`.
    pub role: &'static str,
    /// Its name.
    pub name: String,
    /// What went wrong.
    pub why: String,
}

/// A registered embedder.
#[derive(Debug, Clone, Copy)]
pub struct EmbedderEntry {
    /// Name and one line.
    pub about: About,
    /// Makes it.
    pub build: fn() -> Box<dyn Embedder>,
}

/// A registered entailer.
#[derive(Debug, Clone, Copy)]
pub struct EntailerEntry {
    /// Name and one line.
    pub about: About,
    /// Makes it.
    pub build: fn() -> Box<dyn Entailer>,
}

/// All embedders of this crate.
pub const EMBEDDERS: &[EmbedderEntry] =
    &[EmbedderEntry { about: hashed_ngrams::ABOUT, build: || Box::new(HashedNgrams::default()) }];

/// All entailers of this crate.
pub const ENTAILERS: &[EntailerEntry] =
    &[EntailerEntry { about: lexical::ABOUT, build: || Box::new(Lexical) }];

/// The embedder called `name`, or an error that names the nearest.
pub fn embedder(name: &str) -> Result<Box<dyn Embedder>, UnknownName> {
    find("embedder", EMBEDDERS, |entry| entry.about, name).map(|entry| (entry.build)())
}

/// The entailer called `name`, or an error that names the nearest.
pub fn entailer(name: &str) -> Result<Box<dyn Entailer>, UnknownName> {
    find("entailer", ENTAILERS, |entry| entry.about, name).map(|entry| (entry.build)())
}

/// A config that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimilarityConfigError {
    /// No such role.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A number outside its range.
    #[error("`{key}` is {got}, but it must be {want}")]
    Range {
        /// The setting.
        key: &'static str,
        /// What was given.
        got: String,
        /// What is allowed.
        want: &'static str,
    },
}

pub(super) fn check_range(
    key: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    want: &'static str,
) -> Result<(), SimilarityConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(SimilarityConfigError::Range { key, got: value.to_string(), want })
}
