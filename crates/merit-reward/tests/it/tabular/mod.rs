//! Small worlds that can be solved exactly: the ground on which claims about rewards are proved rather than measured.
//!
//! In: a [`TabularWorld`], a table of states, actions and arrows. Out: its values and greedy policies by value iteration, the
//! episodes its policies would record (so that a reward *file* can score them), and a verdict on a shaping rule
//! ([`check_invariance`]). Pure and deterministic.

mod error;
mod invariance;
mod policies;
mod roll;
mod solve;
mod trap;
mod world;

pub use error::TabularError;
pub use invariance::{ShapingRule, check_invariance, shaped};
pub use policies::{Policy, deterministic_policies};
pub use roll::{Step, episode, roll_out};
pub use solve::{Solution, evaluate_policy, solve};
pub use trap::trap_world;
pub use world::{Arrow, TabularWorld};
