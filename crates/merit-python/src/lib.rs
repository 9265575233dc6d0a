//! merit from Python: the extension module `merit_rl._merit`.
//!
//! In: plain Python values. Out: plain Python values, and a few classes that hold something compiled or open. Every function
//! converts, lets the interpreter go (other threads run meanwhile), calls one library function and converts back. Nothing is
//! decided here. An error is `merit_rl.InputError` where the caller can mend it and `merit_rl.MeritError` where something broke, merit
//! itself among them: a panic is one too.

mod arrays;
mod audit;
mod command;
mod credit;
mod env;
mod episodes;
mod error;
mod function;
mod judge;
mod objective;
mod plain;
mod player;
mod process;
mod reward;
mod rollout;
mod settings;
mod tool;
mod world;

use pyo3::prelude::*;

// Rows are read on one thread and their scores freed on another, which the allocator of the C library is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pymodule]
mod _merit {
    #[pymodule_export]
    use super::audit::attack;
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::credit::{advantages, credit_needs, gae, group_advantages};
    #[pymodule_export]
    use super::env::Env;
    #[pymodule_export]
    use super::episodes::{episodes, parse_episodes, write_episodes};
    #[pymodule_export]
    use super::judge::{Judgement, Verifier};
    #[pymodule_export]
    use super::objective::{Coefficients, coefficients};
    #[pymodule_export]
    use super::player::Player;
    #[pymodule_export]
    use super::reward::{Reward, Score};
    #[pymodule_export]
    use super::rollout::{Rollout, reaches_outside, rollout};
    #[pymodule_export]
    use super::settings::{names, recipe};
    #[pymodule_export]
    use super::tool::{Session, Tool};
    #[pymodule_export]
    use super::world::World;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
