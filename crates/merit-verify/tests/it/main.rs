//! The tests of `merit-verify` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod calls;
mod citations;
mod code;
mod code_forged;
mod code_honest;
mod code_impostors;
mod code_limits;
mod code_ordinary;
mod code_problems;
mod code_tamper;
mod code_tests;
mod json_hostile;
mod json_layers;
mod schema_suite;
mod similarity;
mod sql_hostile;
mod sql_results;
mod sql_scratch;
mod state;
mod text_hostile;
mod text_match_rate;
mod text_metrics;
