//! Studies: published systems whose policy is no language model. Tables, simulations, statistics, exact solvers.
//!
//! A [`Study`] is a settings struct, one per arm: it runs one **cell** (an arm with a seed) and says everything by its
//! [`Desk`]: what it spent, curves against what was spent, and measures. Out comes a [`CellRecord`], plain data that claims are
//! judged by. Nothing here knows of arms, claims or files. To add a study: one file in `studies/`, and its name in the list
//! there.
//!
//! ```
//! use merit_core::Seed;
//! use merit_studies::{Desk, Study, StudyError};
//! #[derive(Debug)]
//! struct Coin(f64);
//! impl Study for Coin {
//!     fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
//!         let mut stream = seed.stream();
//!         Ok(desk.measure("heads", (0..1000).filter(|_| stream.chance(self.0)).count() as f64))
//!     }
//! }
//! let stop = false.into();
//! let mut desk = Desk::new(Default::default(), &stop);
//! Coin(0.25).run(&Seed::root(1), &mut desk)?;
//! assert!((desk.finish()?.measures["heads"] - 250.0).abs() < 50.0);
//! # Ok::<(), StudyError>(())
//! ```

pub mod axes;
pub mod bag;
pub mod bandit;
pub mod chooser;
pub mod commons;
pub mod conformal;
pub mod contrast;
pub mod copying;
pub mod critic;
pub mod cues;
mod desk;
pub mod discussion;
pub mod evidence;
pub mod frozen_judge;
pub mod gaussian_policy;
pub mod inventory;
pub mod knapsack;
pub mod linked;
pub mod pair_models;
pub mod pair_synth;
pub mod preferring;
pub mod quality;
pub mod questions;
pub mod recommending;
pub mod reflecting;
pub mod scores;
pub mod searcher;
pub mod selective;
pub mod state_goal;
pub mod studies;
pub mod tabular;
pub mod turns;
pub mod worlds;

pub use desk::{CellRecord, Desk, Point};
pub use studies::STUDIES;

use merit_core::Seed;
use merit_core::registry::Kind;

/// A published system as a simulation.
pub trait Study: Send + Sync + std::fmt::Debug {
    /// One cell: these settings with one seed, until the study is done or [`Desk::left`] says that the budget is spent. Pure
    /// in settings and seed; everything it finds goes to the desk.
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError>;
}

impl Kind for dyn Study {
    const KIND: &'static str = "study";
}

/// Why a cell has no result. Settings that cannot work are refused by `check` before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StudyError {
    /// Somebody asked it to stop.
    #[error("stopped from outside")]
    Stopped,
    /// It broke; nothing is known of the arm.
    #[error("{0}")]
    Broken(String),
}
