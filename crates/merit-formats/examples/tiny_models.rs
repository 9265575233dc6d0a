//! Writes tiny models of every family with made-up weights as folders: `tiny_models OUT`.
//!
//! They are what `benchmarks/agreement` compares families on for which there are no real weights.

#[path = "../tests/it/support/mod.rs"]
mod support;

use merit_formats::{HfExtras, HfOptions, Special, save_hf};
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let out: PathBuf = std::env::args().nth(1).ok_or("usage: tiny_models OUT")?.into();
    std::fs::create_dir_all(&out)?;
    let special = Special::default();
    let extras = HfExtras { tokenizer_json: None, chat_template: None, special: &special };
    for (name, config) in support::all_tiny() {
        save_hf(out.join(name), &config, support::weights(&config), &extras, HfOptions::default())?;
    }
    Ok(())
}
