//! Folders as `transformers` writes them: `config.json`, safetensors, tokenizer.

pub(crate) mod config;
pub(crate) mod config_out;
pub(crate) mod folder;
pub(crate) mod json;
mod rope;
pub(crate) mod shards;
pub(crate) mod tokenizer;
pub(crate) mod write;
