//! The tests of `merit-run` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod annotators;
mod bank;
mod by_hand;
mod elsewhere;
mod everything;
mod evolving;
mod grown;
mod guests;
mod interleaved;
mod judges;
mod judges_flaky;
mod memory;
mod merging;
mod mistakes;
mod models;
mod models_refused;
mod observations;
mod outcomes;
mod own_judges;
mod recipes;
mod rounded;
mod searching;
mod shelf;
mod staged;
mod stages;
mod stages_refused;
mod starts;
mod tasks;
mod weather;
mod whole;
mod windows;
