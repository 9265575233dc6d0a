//! The tests of `merit-learn` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod choosing;
mod coefficients;
mod config;
mod derivatives;
mod model_gradients;
mod observations;
mod refusals;
mod rescored;
mod sequence_objectives;
mod support;
mod training;
mod windows;
