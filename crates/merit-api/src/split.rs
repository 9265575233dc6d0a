//! Splits that cannot share a task: what a task says decides the split it belongs to.
//!
//! A generator draws until the content falls into the split it was asked for. Two tasks of different splits then differ in
//! content whatever the seeds, indices and settings that made them: equal content would have one split.

use merit_core::{Seed, Split};

/// Changing it moves tasks between splits.
const SALT: u64 = 0x6d65_7269_7401;

fn digest(content: &str) -> u64 {
    Seed::root(SALT).child(content, 0).as_u64()
}

/// The one split that content may appear in; each has half of all content.
///
/// ```
/// use merit_api::split_of;
/// assert_eq!(split_of("buy 3 mug at 47"), split_of("buy 3 mug at 47"));
/// ```
pub fn split_of(content: &str) -> Split {
    if digest(content) & 1 == 0 { Split::Train } else { Split::HeldOut }
}

/// A short name for content, so that tasks made by different seeds do not share an id.
pub fn fingerprint(content: &str) -> String {
    format!("{:08x}", digest(content) >> 32)
}
