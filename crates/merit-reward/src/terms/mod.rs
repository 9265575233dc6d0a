//! The terms, one file each.

pub(crate) mod cost;
pub(crate) mod exact_answer;
pub(crate) mod format;
mod number;
pub(crate) mod tool_success;

pub use cost::CostConfig;
pub use exact_answer::ExactAnswerConfig;
pub use format::FormatConfig;
pub use tool_success::ToolSuccessConfig;
