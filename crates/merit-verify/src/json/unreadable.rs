//! Why the equality grader cannot read a text.

use super::limits::TooLarge;

/// Why a text has no tape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is not strict JSON.
    #[error("not JSON: {what} at byte {at}")]
    Syntax {
        /// Byte position.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// A key occurs twice in one object.
    #[error("the object at byte {at} has the key `{key}` twice")]
    DuplicateKey {
        /// Byte position of the object.
        at: usize,
        /// The key.
        key: String,
    },
    /// It passes a size limit.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}
