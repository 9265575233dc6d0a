//! What happens when the agent acts on the outside? Tools with typed outcomes.

mod tool;

pub use tool::{Pace, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession};
