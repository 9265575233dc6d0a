//! The tests of `merit-reward` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod algebra;
mod checking;
mod checklist;
mod combinators_mixing;
mod combinators_order;
mod combinators_scope;
mod combinators_state;
mod compiling;
mod episodes;
mod error_rates;
mod groups;
mod invariance;
mod optimum;
mod parts;
mod plain;
mod scoring;
mod shaping;
mod tabular;
mod terms_airline;
mod terms_answers;
mod terms_code;
mod terms_evidence;
mod terms_form;
mod terms_settings;
mod terms_shipped;
mod terms_state;
mod terms_support;
mod terms_tools;
