//! The tests of `merit` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod annotations;
mod attacking;
mod completions;
mod credit;
mod documented_paths;
mod documents;
mod eval;
mod evolving;
mod export;
mod extending;
mod finished;
mod init;
mod judges;
mod lab;
mod memory;
mod models;
mod on_ray;
mod own_data;
mod own_parts;
mod own_program;
mod playing;
mod python_parts;
mod sameness;
mod soon;
mod starts;
mod stopping;
mod survival;
mod tapes;
mod tiny;
mod tools;
mod trainers;
mod tutorial;
mod words;
