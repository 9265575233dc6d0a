//! Behaviour of the terms that need a verifier, and of the shipped rewards.
#![allow(clippy::print_stdout, clippy::unwrap_used, dead_code, unreachable_pub)]

mod airline;
mod answers;
mod code;
mod evidence;
mod form;
mod layered;
mod settings;
mod shipped;
mod state;
mod support;
mod systems;
mod tools;
