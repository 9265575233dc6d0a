//! `merit model convert`: the same model in another format or encoding.

use super::{destination, encoding, open, vocabulary};
use crate::cli::models::{EncodingName, FormatName};
use crate::commands::WrongInput;
use crate::out;
use anyhow::{Result, bail};
use merit_formats::{
    Encoding, GgufExtras, HfExtras, HfOptions, ModelFiles, TokenizerSource, save_gguf, save_hf,
};
use merit_text::Tokenizer;
use std::path::Path;

pub(super) struct Order<'a> {
    pub(super) from: &'a Path,
    pub(super) to: &'a Path,
    pub(super) format: Option<FormatName>,
    pub(super) encoding: Option<EncodingName>,
    pub(super) without_tokenizer: bool,
    pub(super) force: bool,
}

pub(super) fn run(order: &Order<'_>) -> Result<()> {
    let files = open(order.from)?;
    let format = format(order)?;
    let encoding = encoding(order.encoding, &files);
    if format == FormatName::Safetensors && encoding.safetensors_name().is_none() {
        bail!(WrongInput(format!("{encoding} is not written to safetensors; take f32, f16 or bf16")));
    }
    destination::check(order.to, &[order.from, files.path()], files.config(), encoding, order.force)?;
    match format {
        FormatName::Safetensors => to_folder(&files, order, encoding)?,
        FormatName::Gguf => to_gguf(&files, order, encoding)?,
    }
    out::complain(format_args!("{} is written in {encoding}", order.to.display()));
    Ok(())
}

fn format(order: &Order<'_>) -> Result<FormatName> {
    let named = order.to.extension().is_some_and(|ending| ending == "gguf");
    match (order.format, named) {
        (Some(FormatName::Safetensors), true) => bail!(WrongInput(format!(
            "--to safetensors writes a folder, and {} is named like a GGUF file; name it otherwise",
            order.to.display()
        ))),
        (Some(format), _) => Ok(format),
        (None, true) => Ok(FormatName::Gguf),
        (None, false) => Ok(FormatName::Safetensors),
    }
}

fn to_folder(files: &ModelFiles, order: &Order<'_>, encoding: Encoding) -> Result<()> {
    let tokenizer = tokenizer_json(files, order.without_tokenizer)?;
    let extras = HfExtras {
        tokenizer_json: tokenizer.as_deref(),
        chat_template: files.chat_template(),
        special: files.special(),
    };
    let options = HfOptions { encoding, ..HfOptions::default() };
    Ok(save_hf(order.to, files.config(), files.named_tensors(), &extras, options)?)
}

/// The tokenizer as a `tokenizer.json`; absent where the model has none.
pub(super) fn tokenizer_json(files: &ModelFiles, leave_out: bool) -> Result<Option<String>> {
    let found = match files.tokenizer() {
        TokenizerSource::HfJson { text, .. } => return Ok(Some(text.to_owned())),
        TokenizerSource::Missing => return Ok(None),
        TokenizerSource::Gguf(vocabulary) => Tokenizer::from_gguf(vocabulary),
    };
    match found {
        Ok(tokenizer) => Ok(Some(tokenizer.to_json())),
        Err(_) if leave_out => Ok(None),
        Err(error) => {
            bail!(WrongInput(format!(
                "{}: {error}; --without-tokenizer leaves it out",
                files.path().display()
            )))
        }
    }
}

fn to_gguf(files: &ModelFiles, order: &Order<'_>, encoding: Encoding) -> Result<()> {
    if order.to.is_dir() {
        bail!(WrongInput(format!("{} is a folder; a GGUF model is one file", order.to.display())));
    }
    let made = match files.tokenizer() {
        TokenizerSource::HfJson { text, .. } => match vocabulary::from_json(text, files.special()) {
            Ok(vocabulary) => Some(vocabulary),
            Err(_) if order.without_tokenizer => None,
            Err(why) => bail!(WrongInput(format!(
                "{}: the tokenizer cannot be said in GGUF: {why}; --without-tokenizer leaves it out",
                files.path().display()
            ))),
        },
        TokenizerSource::Gguf(vocabulary) => Some(vocabulary.clone()),
        TokenizerSource::Missing => None,
    };
    let about = files.describe();
    let extras = GgufExtras {
        name: about.name.as_deref(),
        licence: about.licence.as_deref(),
        vocabulary: made.as_ref(),
        chat_template: files.chat_template(),
    };
    Ok(save_gguf(order.to, files.config(), files.named_tensors(), &extras, encoding)?)
}
