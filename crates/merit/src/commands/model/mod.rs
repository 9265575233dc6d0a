//! `merit model`: what is in a model's files, the same in another form, and adapters merged into it.

mod convert;
mod destination;
mod info;
mod info_text;
mod merge;
mod need;
mod vocabulary;

use super::WrongInput;
use crate::cli::models::{EncodingName, Model};
use anyhow::Result;
use merit_formats::{Encoding, FormatError, ModelFiles};
use std::path::Path;

pub(crate) fn run(command: &Model) -> Result<()> {
    match command {
        Model::Info { path, context, rank, json } => {
            info::run(path, context.map(|positions| positions as usize), *rank as usize, *json)
        }
        Model::Convert { from, to, format, encoding, without_tokenizer, force } => {
            convert::run(&convert::Order {
                from,
                to,
                format: *format,
                encoding: *encoding,
                without_tokenizer: *without_tokenizer,
                force: *force,
            })
        }
        Model::Merge { base, adapter, to, encoding, threads, force } => {
            merge::run(base, adapter, to, *encoding, *threads, *force)
        }
    }
}

/// Opens a model; what is wrong with its files is wrong input.
fn open(path: &Path) -> Result<ModelFiles, WrongInput> {
    ModelFiles::open(path).map_err(wrong)
}

fn wrong(error: FormatError) -> WrongInput {
    WrongInput(error.to_string())
}

/// The encoding that was asked for, or the one that loses nothing: that of most of the model, where it is plain numbers.
fn encoding(asked: Option<EncodingName>, files: &ModelFiles) -> Encoding {
    match asked {
        Some(EncodingName::F32) => Encoding::F32,
        Some(EncodingName::F16) => Encoding::F16,
        Some(EncodingName::Bf16) => Encoding::Bf16,
        Some(EncodingName::Q8_0) => Encoding::Q8_0,
        None => match files.describe().encodings.first().map(|share| share.encoding) {
            Some(plain @ (Encoding::F16 | Encoding::Bf16)) => plain,
            _ => Encoding::F32,
        },
    }
}
