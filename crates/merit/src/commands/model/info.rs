//! `merit model info`: a decoder, an adapter or an encoder, as its files describe it.

use super::need::{Need, need};
use super::{info_text, open, wrong};
use crate::commands::WrongInput;
use crate::out;
use anyhow::Result;
use merit_formats::{Adapter, Description, EncoderConfig, EncoderFiles, Encoding, encoder_tensors};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Contexts are counted up to this unless one is asked for.
const USUAL_CONTEXT: usize = 8192;

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Found {
    /// A model that writes.
    Decoder {
        #[serde(flatten)]
        about: Description,
        layers: usize,
        width: usize,
        vocabulary: usize,
        memory: Need,
    },
    /// A model that turns texts into vectors.
    Encoder(EncoderAbout),
    /// Low-rank changes of another model.
    Adapter(AdapterAbout),
}

#[derive(Debug, Serialize)]
pub(super) struct EncoderAbout {
    pub(super) architecture: &'static str,
    pub(super) name: Option<String>,
    pub(super) parameters: usize,
    #[serde(flatten)]
    pub(super) shape: EncoderConfig,
    pub(super) encodings: Vec<EncoderShare>,
    pub(super) tokenizer: &'static str,
    /// Weights in 32 bits, as they are held.
    pub(super) embed_bytes: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct EncoderShare {
    pub(super) encoding: Encoding,
    pub(super) tensors: usize,
    pub(super) bytes: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct AdapterAbout {
    pub(super) base: Option<String>,
    pub(super) rank: usize,
    pub(super) alpha: f32,
    pub(super) targets: Vec<String>,
    pub(super) modules: usize,
    pub(super) parameters: usize,
}

pub(super) fn run(path: &Path, context: Option<usize>, rank: usize, json: bool) -> Result<()> {
    let found = look(path, context, rank)?;
    if json {
        return Ok(out::line(serde_json::to_string(&found)?)?);
    }
    Ok(out::text(info_text::in_words(&found))?)
}

fn look(path: &Path, context: Option<usize>, rank: usize) -> Result<Found, WrongInput> {
    if path.join("adapter_config.json").exists() {
        return adapter(path);
    }
    if is_encoder(path) {
        return encoder(path);
    }
    let files = open(path)?;
    let (config, about) = (files.config(), files.describe());
    let context = context.unwrap_or(about.context.min(USUAL_CONTEXT));
    let memory = need(config, &about, context, rank);
    let (layers, width, vocabulary) = (config.layers, config.d_model, config.vocab);
    Ok(Found::Decoder { about, layers, width, vocabulary, memory })
}

/// Whether the folder says of itself that it holds an encoder; what is wrong with it is told when it is opened.
fn is_encoder(path: &Path) -> bool {
    let text = std::fs::read_to_string(path.join("config.json")).unwrap_or_default();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    settings.get("model_type").is_some_and(|kind| kind == "bert")
}

fn encoder(path: &Path) -> Result<Found, WrongInput> {
    let files = EncoderFiles::open(path).map_err(wrong)?;
    let shape = files.config().clone();
    let mut shares: BTreeMap<Encoding, EncoderShare> = BTreeMap::new();
    let mut parameters = 0;
    for (name, _) in encoder_tensors(&shape) {
        let tensor = files.tensor(&name).map_err(wrong)?;
        let encoding = tensor.encoding;
        let share = shares.entry(encoding).or_insert(EncoderShare { encoding, tensors: 0, bytes: 0 });
        share.tensors += 1;
        share.bytes += tensor.bytes.len();
        parameters += tensor.values();
    }
    Ok(Found::Encoder(EncoderAbout {
        architecture: "bert",
        name: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        parameters,
        shape,
        encodings: shares.into_values().collect(),
        tokenizer: "tokenizer.json",
        embed_bytes: 4 * parameters as u64,
    }))
}

fn adapter(path: &Path) -> Result<Found, WrongInput> {
    let adapter = Adapter::open(path).map_err(wrong)?;
    let values = adapter.tensors.values().map(|pair| pair.a.len() + pair.b.len());
    Ok(Found::Adapter(AdapterAbout {
        parameters: values.sum(),
        modules: adapter.tensors.len(),
        base: adapter.base,
        rank: adapter.rank,
        alpha: adapter.alpha,
        targets: adapter.targets,
    }))
}
