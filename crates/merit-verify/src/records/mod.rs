//! One record a line in, one verdict a line out: whatever implements `Verifier` judges a stream, on several threads and in the
//! order of the input.
//!
//! Memory is bounded however long the stream is. A record may bring settings of its own, which are compiled once. A record that
//! cannot be judged is a line that says why, and takes no other with it.

mod judge;
mod kept;
mod lines;
mod refusal;
mod settings;

pub use judge::{Judge, StreamError, Tally};
pub use kept::Kept;
pub use lines::{Batch, Bounds, Lines, Place};
pub use refusal::words;
pub use settings::lay_over;

use serde::Deserialize;

/// A key that is there counts, also with `null`; for values where `null` is a value like any other.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
