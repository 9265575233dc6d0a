//! The terms, one file each.

pub(crate) mod cost;
pub(crate) mod distinct;
pub(crate) mod exact_answer;
pub(crate) mod format;
pub(crate) mod majority;
mod number;
mod reading;
pub(crate) mod reported;
pub(crate) mod tool_success;

pub use cost::CostConfig;
pub use distinct::DistinctConfig;
pub use exact_answer::ExactAnswerConfig;
pub use format::FormatConfig;
pub use majority::MajorityConfig;
pub use reading::{Reading, Reference};
pub use reported::ReportedConfig;
pub use tool_success::ToolSuccessConfig;
