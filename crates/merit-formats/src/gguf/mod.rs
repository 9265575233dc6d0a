//! GGUF: one file with metadata, tokenizer and tensors.

pub(crate) mod config;
mod cursor;
pub(crate) mod file;
pub(crate) mod names;
mod out;
pub(crate) mod value;
pub(crate) mod vocabulary;
pub(crate) mod write;
