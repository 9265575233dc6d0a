//! Why a text could not be read, and where.

use crate::Exhausted;

/// A text that is no answer anybody could compare.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("there is nothing to read")]
    Empty,
    /// Something else was needed at this place.
    #[error("expected {expected} at byte {at}, found {found}")]
    Unexpected {
        /// Byte offset in the text.
        at: usize,
        /// What would have been right.
        expected: &'static str,
        /// What stands there, cut to a few characters.
        found: Box<str>,
    },
    /// Words at length, among which nothing says what the answer is.
    #[error("it is {bytes} bytes of prose; mark the answer with `\\boxed{{…}}`, `####` or `the answer is`")]
    Prose { bytes: usize },
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

impl ParseError {
    /// The same error with its place translated by `places`, the original offset of each byte.
    pub(super) fn moved(self, places: &[u32]) -> Self {
        match self {
            Self::Unexpected { at, expected, found } => {
                let at = places.get(at).or(places.last()).map_or(0, |&place| place as usize);
                Self::Unexpected { at, expected, found }
            }
            other => other,
        }
    }
}
