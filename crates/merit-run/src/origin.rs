//! A model's files as the origin of a policy: opened, known by their content, and the base of what is trained.

use crate::RunError;
use crate::model::{FileModel, Trained};
use merit_core::Seed;
use merit_formats::{HfExtras, HfOptions, save_hf};
use merit_model::{Adapter, LanguageModel, LoadOptions, TrainerSettings, Weights};
use merit_rollout::ChatFormat;
use merit_text::TemplateContext;
use sha2::{Digest as _, Sha256};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// Shards of large models: enough rows that each pass over the weights is worth it.
const SHARD_TOKENS: usize = 1024;

/// A model from its files.
pub(crate) struct Origin {
    model: LanguageModel,
    base: Arc<Weights>,
    settings: FileModel,
    /// Hash of the weights' file.
    pub(crate) fingerprint: String,
}

impl Origin {
    pub(crate) fn open(settings: &FileModel) -> Result<Self, RunError> {
        let model = LanguageModel::open(&settings.file)?;
        let mut base = model.weights(LoadOptions { context: settings.context })?;
        if settings.value_head {
            base = base.with_value_head();
        }
        let fingerprint = fingerprint(model.files().path())?;
        Ok(Self { base: Arc::new(base), settings: settings.clone(), fingerprint, model })
    }

    pub(crate) fn base(&self) -> &Arc<Weights> {
        &self.base
    }

    pub(crate) fn settings(&self) -> &FileModel {
        &self.settings
    }

    /// How conversations with it are laid out.
    pub(crate) fn chat(&self) -> Result<ChatFormat, RunError> {
        chat_format(&self.model)
    }

    /// The adapter that training begins with; `None` where all weights are trained.
    pub(crate) fn adapter(&self, seed: Seed) -> Result<Option<Adapter>, RunError> {
        match &self.settings.train {
            Trained::Full => Ok(None),
            Trained::Lora(settings) => Ok(Some(Adapter::init(&self.base, settings.clone(), seed)?)),
        }
    }

    pub(crate) fn trainer_settings(&self, threads: usize) -> TrainerSettings {
        TrainerSettings {
            threads,
            shard_tokens: SHARD_TOKENS,
            precision: self.settings.precision,
            recompute: self.settings.recompute,
            ..TrainerSettings::default()
        }
    }

    /// Leaves the policy as a folder that other programs load.
    pub(crate) fn export(&self, weights: &Weights, folder: &Path) -> Result<(), RunError> {
        let files = self.model.files();
        let tokenizer = self.model.tokenizer().to_json();
        let extras = HfExtras {
            tokenizer_json: Some(&tokenizer),
            chat_template: files.chat_template(),
            special: files.special(),
        };
        // Only as much context as was trained would be a shape of its own; the model keeps what it was made for.
        let config = merit_model::DecoderConfig { value_head: false, ..files.config().clone() };
        Ok(save_hf(folder, &config, weights.named_tensors(), &extras, HfOptions::default())?)
    }
}

/// How conversations with a model are laid out.
pub(crate) fn chat_format(model: &LanguageModel) -> Result<ChatFormat, RunError> {
    let file = || model.files().path().display().to_string();
    ChatFormat::of_model(model, &TemplateContext::default())
        .map_err(|why| RunError::ChatFormat { file: file(), why })
}

/// The hash of a model's weights: of the file, or of the folder's safetensors files in the order of their names.
pub(crate) fn fingerprint(path: &Path) -> Result<String, RunError> {
    let mut files = vec![path.to_path_buf()];
    if path.is_dir() {
        let entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
        files = entries.into_iter().map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "safetensors" || end == "gguf"));
        files.sort();
    }
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    for file in files {
        let mut file = std::fs::File::open(file)?;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
        }
    }
    Ok(merit_core::hex(&hash.finalize())[..32].to_owned())
}
