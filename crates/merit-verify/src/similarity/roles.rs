//! The seam for entailers and the list of what fills it.

use super::{Lexical, lexical};
use merit_core::About;
use merit_core::registry::{UnknownName, find};

/// Says how probable it is that a hypothesis follows from a premise.
///
/// Called by [`super::EntailmentVerifier`] with all hypotheses of one note, and by the citation check with all claims of a
/// response, pairs of one premise next to each other. The same pair must give the same number.
pub trait Entailer: Send + Sync {
    /// Name and one line.
    fn about(&self) -> About;

    /// One probability per pair of premise and hypothesis, from 0 to 1.
    fn entail(&self, pairs: &[(&str, &str)]) -> Result<Vec<f64>, EntailerError>;
}

/// An entailer that could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entailer `{name}` could not answer: {why}")]
pub struct EntailerError {
    pub name: String,
    pub why: String,
}

#[derive(Debug, Clone, Copy)]
pub struct EntailerEntry {
    pub about: About,
    /// Makes a new entailer of this kind.
    pub build: fn() -> Box<dyn Entailer>,
}

/// All entailers of this crate.
pub const ENTAILERS: &[EntailerEntry] =
    &[EntailerEntry { about: lexical::ABOUT, build: || Box::new(Lexical) }];

/// The entailer called `name`, or an error that names the nearest.
pub fn entailer(name: &str) -> Result<Box<dyn Entailer>, UnknownName> {
    find("entailer", ENTAILERS, |entry| entry.about, name).map(|entry| (entry.build)())
}

/// A config that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimilarityConfigError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A number outside its range.
    #[error("`{key}` is {got}, but it must be {want}")]
    Range { key: &'static str, got: String, want: &'static str },
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
