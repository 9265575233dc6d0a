//! What is wrong with a reward that compiles: parts that can never matter, scales that do not go together, pay for nothing.
//!
//! Two ways of looking. Interval reasoning takes the values each term can give and asks of every part what it can come to
//! ([`crate::Range`]); what it finds is certain, and what it cannot decide it leaves alone. Probes are made-up episodes in
//! which an agent does nothing, or tries and fails, or is right; they find combinations that pay the wrong one. Neither needs
//! a model or a world. Sample episodes sharpen both: their tasks are probed, and what never moves in them is pointed out.

mod advice;
mod observed;
mod probe;
mod probe_episodes;
mod reach;
mod scales;
mod tree;
mod vain;
mod warning;

pub use advice::{Advice, Bound, Threshold};
pub(crate) use probe_episodes::made_up_task;
pub(crate) use vain::telling_term;
pub use warning::{Severity, Warning, WarningKind};

use crate::{RewardConfig, RewardError, Scorer};
use merit_core::Episode;
use tree::Tree;

/// Every finding about a reward, the most severe first, then in the order of the file. An error where the reward does not
/// compile at all.
pub fn check(config: &RewardConfig) -> Result<Vec<Warning>, RewardError> {
    check_with(config, &[])
}

/// The same, sharpened by sample episodes.
pub fn check_with(config: &RewardConfig, episodes: &[Episode]) -> Result<Vec<Warning>, RewardError> {
    let scorer = Scorer::compile(config)?;
    let tree = Tree::of(config, &scorer);
    let mut found = reach::check(&tree);
    found.extend(vain::check(&tree));
    found.extend(scales::check(&tree));
    found.extend(probe::check(&tree, episodes));
    found.extend(observed::check(&tree, episodes));
    found.sort_by_key(|warning| warning.severity);
    Ok(found)
}
