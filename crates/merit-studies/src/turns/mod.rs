//! A tabular world of turns with text and tool actions, exact to the last digit: returns, gradients, optima.

pub mod advantages;
pub mod ascents;
pub mod fits;
pub mod grpo;
pub mod targets;
pub mod tool_mdp;
pub mod transfer;
