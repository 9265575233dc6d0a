//! The rules, one file each, and what the group rules share.

pub(crate) mod dr_grpo;
mod flat;
pub(crate) mod gae;
pub(crate) mod grpo;
pub(crate) mod reinforce_plus_plus;
pub(crate) mod rloo;
mod within_group;

pub use dr_grpo::DrGrpoConfig;
pub use gae::GaeConfig;
pub use grpo::GrpoConfig;
pub use reinforce_plus_plus::ReinforcePlusPlusConfig;
pub use rloo::RlooConfig;
