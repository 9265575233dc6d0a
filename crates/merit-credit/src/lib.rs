//! Which turn deserves it? Per-token advantages from scored groups.
//!
//! In: a [`CreditBatch`], groups of scored episodes and whatever a rule declares that it needs. Out: one `Sample` per episode,
//! in order, with `advantages` (and `returns` where the rule fits values) filled, a report, and for every sample a [`Note`]
//! that says where its numbers come from. Rules are settings structs listed in [`RULES`], thin layers over the flat
//! [`kernels`]. Pure; knows nothing of models or disks.
//!
//! What holds for every rule: an episode whose outcome is not valid gets an empty mask and no credit, and moves nobody
//! else's statistics; credit lies on trainable tokens only; a group with nothing to compare gets exactly 0 from rules
//! that compare within groups. What else holds a rule says itself, as [`Properties`]. [`conformance::check_rule`] checks all of it on any rule.
//!
//! ```
//! use merit_core::{Chosen, Components};
//! use merit_credit::CreditRule;
//! let components = merit_credit::register(Components::default());
//! let rule: Chosen<dyn CreditRule> =
//!     components.reading(|| toml::from_str("type = \"grpo\"\nscale_by_std = false"))?;
//! assert_eq!(rule.about().name, "grpo");
//! # Ok::<(), toml::de::Error>(())
//! ```

mod batch;
pub mod conformance;
mod credit;
mod error;
mod flat;
pub mod kernels;
mod properties;
mod rule;
pub mod rules;
mod token_rewards;
mod tree;

pub use batch::{CreditBatch, Probe};
pub use credit::{Credit, CreditReport, Note};
pub use error::CreditError;
pub use properties::{Differs, Grain, Properties, ZeroSum};
pub use rule::{AnnotationNeed, CreditRule, Needs};
pub use rules::RULES;
pub use token_rewards::TokenReward;
pub use tree::{Tree, TreeNode};

use merit_core::Components;

/// Adds every rule of this crate.
pub fn register(components: Components) -> Components {
    components.with_all(RULES)
}
