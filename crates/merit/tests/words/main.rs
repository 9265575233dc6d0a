//! What merit says: help, lists and, above all, what it says to input that cannot be used. Texts are compared whole with
//! the files under `tests/golden`; `MERIT_UPDATE=1 cargo test -p merit --test words` rewrites them.
#![allow(clippy::unwrap_used)] // A helper that fails is a test that fails.

mod bad_input;
mod golden;
mod good_words;
mod pipes;
mod recipes;
mod scoring;
mod scoring_import;
#[path = "../tiny/mod.rs"]
mod tiny;
mod verify;
mod verify_feed;
mod verify_lines;
