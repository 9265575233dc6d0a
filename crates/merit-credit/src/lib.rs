//! Which turn deserves it? Per-token advantages from scored groups.
//!
//! In: groups of scored episodes. Out: one `Sample` per episode, in order, with `advantages` (and `returns` where the rule
//! fits values) filled, a report, and for every sample an explanation of its numbers. A [`CreditConfig`] chooses the
//! [`Rule`]; the rules are thin layers over the flat [`kernels`]. Pure; knows nothing of models or disks.
//!
//! What holds for every rule: an episode whose outcome does not count gets an empty mask and no credit, and moves nobody
//! else's statistics; credit lies on trainable tokens only; a group with nothing to compare gets exactly 0 from rules
//! that compare within groups. [`conformance::check_rule`] checks it on any rule.
//!
//! ```
//! use merit_credit::CreditConfig;
//! let config: CreditConfig = toml::from_str("type = \"grpo\"\nscale_by_std = false")?;
//! assert_eq!(config.rule()?.about().name, "grpo");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
pub mod conformance;
mod credit;
mod derivation;
mod error;
pub mod kernels;
mod pay;
mod rule;
mod rules;

pub use config::{CreditConfig, RULES, RuleEntry};
pub use credit::{Credit, CreditReport};
pub use derivation::{Derivation, Payment};
pub use error::CreditError;
pub use rule::{Baseline, Rule};
pub use rules::{DrGrpoConfig, GaeConfig, GrpoConfig, ReinforcePlusPlusConfig, RlooConfig};
