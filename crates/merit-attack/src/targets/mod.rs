//! The targets: what can be audited.

mod command;
pub(crate) mod episode;
mod open;
mod reward;
mod world;

pub use command::{CommandTarget, Limits, split_words};
pub use open::{open, open_with};
pub use reward::RewardTarget;
pub use world::WorldTarget;
