//! A folder (or a single safetensors file with its `config.json` beside it) as one model.

use super::config::HfConfig;
use super::tokenizer::HfTokenizer;
use super::{config, json, shards::Shards, tokenizer};
use crate::FormatError;
use crate::expected::{EMBEDDING, HEAD};
use crate::settings::Settings;
use std::path::{Path, PathBuf};

/// An open folder.
pub(crate) struct HfFolder {
    pub(crate) folder: PathBuf,
    pub(crate) config: HfConfig,
    pub(crate) tokenizer: HfTokenizer,
    pub(crate) shards: Shards,
    /// Stands where `model.` stands in the plain names.
    prefix: &'static str,
}

/// How the text model's names begin: alone; beside an image model in older files and in newer ones.
const PREFIXES: [&str; 3] = ["model.", "language_model.model.", "model.language_model."];
/// Parts of image models, which are left alone.
const IMAGE_PARTS: [&str; 4] =
    ["vision_tower.", "multi_modal_projector.", "model.vision_tower.", "model.multi_modal_projector."];

impl HfFolder {
    pub(crate) fn open(path: &Path) -> Result<Self, FormatError> {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let config_path = folder.join("config.json");
        let map = json::map(&config_path)?.ok_or_else(|| {
            FormatError::file(&config_path, "is missing: nothing says what the weights mean")
        })?;
        let settings = Settings::new(&config_path, "", map.clone());
        let shards = if path.is_dir() { Shards::of_folder(path)? } else { Shards::of_file(path)? };
        let found = PREFIXES.into_iter().find_map(|prefix| {
            let embedding = stored_name(EMBEDDING, prefix);
            Some((prefix, shards.span(&embedding)?.shape.first().copied()?))
        });
        let (prefix, vocab) = found.unzip();
        let config = config::read(&settings, vocab)?;
        let prefix = prefix.unwrap_or(PREFIXES[0]);
        let tokenizer = tokenizer::read(folder, &map)?;
        Ok(Self { folder: folder.to_path_buf(), config, tokenizer, shards, prefix })
    }

    /// What the files call the tensor.
    pub(crate) fn stored(&self, name: &str) -> String {
        stored_name(name, self.prefix)
    }

    /// Whether a tensor that is not part of the decoder may be passed over.
    pub(crate) fn may_pass_over(&self, stored: &str) -> bool {
        let image = self.config.multimodal && IMAGE_PARTS.iter().any(|part| stored.starts_with(part));
        // Tables that old versions saved, and the head where the embedding stands for it.
        let table = stored.ends_with(".rotary_emb.inv_freq");
        let head = self.config.decoder.style.tied && stored == self.stored(HEAD);
        image || table || head
    }
}

/// `model.` is replaced by the prefix; the head lies beside the text model.
fn stored_name(name: &str, prefix: &str) -> String {
    match (name.strip_prefix("model."), prefix) {
        (Some(rest), _) => format!("{prefix}{rest}"),
        (None, "language_model.model.") => format!("language_model.{name}"),
        (None, _) => name.to_owned(),
    }
}
