//! Writes a model in another format: `convert MODEL OUT`, where OUT ends in `.gguf` (Q8_0) or is a folder (f32).
//!
//! The tokenizer goes along where the formats agree; a folder made from a GGUF file has none.

use merit_formats::{
    Encoding, GgufExtras, HfExtras, HfOptions, ModelFiles, TokenizerSource, save_gguf, save_hf,
};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, out] = arguments.as_slice() else { return Err("usage: convert MODEL OUT".into()) };
    let files = ModelFiles::open(model)?;
    eprintln!("{:#?}", files.describe());
    if Path::new(out).extension().is_some_and(|ending| ending == "gguf") {
        let vocabulary = match files.tokenizer() {
            TokenizerSource::Gguf(vocabulary) => Some(vocabulary),
            TokenizerSource::HfJson { .. } | TokenizerSource::Missing => None,
        };
        let extras = GgufExtras { vocabulary, chat_template: files.chat_template(), ..GgufExtras::default() };
        save_gguf(out, files.config(), files.named_tensors(), &extras, Encoding::Q8_0)?;
    } else {
        let tokenizer_json = match files.tokenizer() {
            TokenizerSource::HfJson { text, .. } => Some(text),
            TokenizerSource::Gguf(_) | TokenizerSource::Missing => None,
        };
        let extras =
            HfExtras { tokenizer_json, chat_template: files.chat_template(), special: files.special() };
        save_hf(out, files.config(), files.named_tensors(), &extras, HfOptions::default())?;
    }
    Ok(())
}
