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

pub(crate) use error::TabularError;
pub(crate) use invariance::{ShapingRule, check_invariance, shaped};
pub(crate) use policies::{Policy, deterministic_policies};
pub(crate) use roll::{Step, episode, roll_out};
pub(crate) use solve::{Solution, evaluate_policy, solve};
pub(crate) use trap::trap_world;
pub(crate) use world::{Arrow, TabularWorld};
