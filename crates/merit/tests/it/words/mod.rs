//! What merit says: help, lists and, above all, what it says to input that cannot be used. Texts are compared whole with
//! the files under `tests/golden`; `MERIT_UPDATE=1 cargo test -p merit words::` rewrites them.

mod bad_input;
mod exporting;
mod golden;
mod good_words;
mod pipes;
mod recipes;
mod reference;
mod scoring;
mod scoring_import;
mod verify;
mod verify_feed;
mod verify_lines;
