//! A model in this process, opened as the command line asks: files, tokenizer, sampler.

use super::WrongInput;
use crate::cli::models::{EngineFlags, PrecisionName, SamplingFlags};
use anyhow::{Result, bail};
use merit_core::TokenId;
use merit_model::{
    Generator, GeneratorSettings, Held, LanguageModel, LoadOptions, Precision, SamplingParams, Tokenizer,
};
use merit_rollout::ChatFormat;
use merit_text::TemplateContext;
use std::sync::Arc;

/// A model ready to be sampled from.
pub(crate) struct Local {
    pub(crate) model: LanguageModel,
    pub(crate) generator: Generator,
}

impl Local {
    /// Opens a file or folder; at most `batch` completions are written together.
    pub(crate) fn open(path: &str, flags: &EngineFlags, batch: usize) -> Result<Self> {
        let wrong = |error: merit_model::ModelError| WrongInput(error.to_string());
        let model = LanguageModel::open(path).map_err(wrong)?;
        let longest = model.files().config().max_context;
        if let Some(asked) = flags.context.filter(|asked| *asked as usize > longest) {
            bail!(WrongInput(format!("--context {asked}: {path} holds {longest} tokens at most")));
        }
        let options =
            flags.context.map_or_else(LoadOptions::default, |c| LoadOptions { context: c as usize });
        let held = match flags.precision.unwrap_or(PrecisionName::Stored) {
            PrecisionName::Stored | PrecisionName::StoredBf16 => Held::AsStored,
            PrecisionName::F32 => Held::Decoded(Precision::F32),
            PrecisionName::Bf16 => Held::Decoded(Precision::Bf16),
        };
        let mut ready = model.packed(options, held).map_err(wrong)?;
        if flags.precision == Some(PrecisionName::StoredBf16) {
            ready = ready.with_activations(Precision::Bf16);
        }
        let settings = GeneratorSettings {
            max_batch: batch,
            threads: threads(flags.threads),
            ..GeneratorSettings::default()
        };
        let generator =
            Generator::over(Arc::new(ready), Arc::clone(model.tokenizer()), settings).map_err(wrong)?;
        Ok(Self { model, generator })
    }

    pub(crate) fn tokenizer(&self) -> &Arc<Tokenizer> {
        self.model.tokenizer()
    }

    /// How many tokens the model chooses from.
    pub(crate) fn vocab(&self) -> usize {
        self.generator.packed().config().vocab
    }
}

/// How conversations are laid out in this setting; the error is in words.
pub(crate) fn chat_format(model: &LanguageModel, setting: &TemplateContext) -> Result<ChatFormat, String> {
    let path = model.files().path().display();
    ChatFormat::of_model(model, setting).map_err(|error| format!("{path}: {error}"))
}

/// Every token that ends an answer: those of the files and those of the layout.
pub(crate) fn ends(model: &LanguageModel, format: &ChatFormat) -> Vec<TokenId> {
    let mut ends = model.ends().to_vec();
    ends.extend(format.ends().iter().filter(|end| !model.ends().contains(end)));
    ends
}

/// As many as asked for, or all cores.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from)
}

/// The parameters that the flags describe, over these defaults.
pub(crate) fn params(flags: &SamplingFlags, temperature: f32, max_tokens: usize) -> SamplingParams {
    let usual = SamplingParams::default();
    SamplingParams {
        temperature: flags.temperature.unwrap_or(temperature),
        top_p: flags.top_p.unwrap_or(usual.top_p),
        top_k: flags.top_k.map_or(usual.top_k, |k| k as usize),
        min_p: flags.min_p.unwrap_or(usual.min_p),
        max_tokens: flags.max_tokens.map_or(max_tokens, |most| most as usize),
        ..usual
    }
}
