//! `merit model merge`: weights with a low-rank adapter added, as a folder that `transformers` loads.

use super::{convert, destination, encoding, open, wrong};
use crate::cli::models::EncodingName;
use crate::commands::{WrongInput, local};
use crate::out;
use anyhow::{Context as _, Result, bail};
use merit_formats::{HfExtras, HfOptions, save_hf};
use merit_model::{Adapter, LoadOptions, ModelError, Weights, Workers};
use std::path::Path;

pub(super) fn run(
    base: &Path,
    adapter: &Path,
    to: &Path,
    asked: Option<EncodingName>,
    threads: Option<u16>,
    force: bool,
) -> Result<()> {
    let files = open(base)?;
    let change = merit_formats::Adapter::open(adapter).map_err(wrong)?;
    let encoding = encoding(asked, &files);
    if encoding.safetensors_name().is_none() {
        bail!(WrongInput(format!("{encoding} is not written to safetensors; take f32, f16 or bf16")));
    }
    destination::check(to, &[base, files.path(), adapter], files.config(), encoding, force)?;
    let tokenizer = convert::tokenizer_json(&files, false)?;
    let misfit = |error: ModelError| WrongInput(format!("{}: {error}", adapter.display()));
    let options = LoadOptions { context: usize::MAX };
    let weights = Weights::from_files(&files, options).map_err(|error| WrongInput(error.to_string()))?;
    let change = Adapter::from_peft(&change, weights.config()).map_err(misfit)?;
    let workers = Workers::new(local::threads(threads)).context("cannot start threads")?;
    let merged = change.merge(&weights, &workers).map_err(misfit)?;
    drop(weights);
    let extras = HfExtras {
        tokenizer_json: tokenizer.as_deref(),
        chat_template: files.chat_template(),
        special: files.special(),
    };
    let options = HfOptions { encoding, ..HfOptions::default() };
    save_hf(to, merged.config(), merged.named_tensors(), &extras, options)?;
    let (rank, alpha) = (change.settings().rank, change.settings().alpha);
    out::complain(format_args!("{} is written in {encoding}: rank {rank}, alpha {alpha}", to.display()));
    Ok(())
}
