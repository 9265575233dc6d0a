//! One model, whatever its files look like: a shape, tensors by the names and shapes of `transformers`, a tokenizer.
//!
//! In: a path to a GGUF file, a safetensors file or a folder. Out: a view in which formats no longer differ. Opening
//! checks that exactly the tensors of the shape are there; values are read when they are asked for.

use crate::completeness;
use crate::expected::{TensorRole, expected_tensors, hf_gain_offset};
use crate::gguf::file::GgufFile;
use crate::gguf::names::{gguf_name, interleaved_heads, split_halves};
use crate::gguf::{config as gguf_config, vocabulary as gguf_vocabulary};
use crate::hf::folder::HfFolder;
use crate::locate::locate;
use crate::span::Span;
use crate::special::Special;
use crate::{DecoderConfig, Description, FormatError, GgufVocabulary, NamedTensor, TensorView, describe};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A model on disk, open for reading.
pub struct ModelFiles {
    path: PathBuf,
    config: DecoderConfig,
    pub(crate) context: usize,
    pub(crate) unread: Vec<String>,
    pub(crate) source: Source,
    vocabulary: Option<GgufVocabulary>,
    chat_templates: BTreeMap<String, String>,
    special: Special,
}

pub(crate) enum Source {
    Gguf(GgufFile),
    Hf(Box<HfFolder>),
}

/// Which kind of files a model is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// One GGUF file.
    Gguf,
    /// `config.json` and safetensors.
    Safetensors,
}

/// Where the tokenizer comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TokenizerSource<'a> {
    /// A folder's own files.
    HfJson {
        /// The text of `tokenizer.json`.
        text: &'a str,
        /// What `tokenizer_config.json` holds; null where there is none.
        config: &'a serde_json::Value,
    },
    /// The metadata of a GGUF file.
    Gguf(&'a GgufVocabulary),
    /// The model came without one.
    Missing,
}

impl ModelFiles {
    /// Opens a `.gguf` file, a `.safetensors` file with `config.json` beside it, or a folder with either.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        let files = match locate(path)? {
            (Format::Gguf, file) => Self::open_gguf(&file)?,
            (Format::Safetensors, file) => Self::open_hf(&file)?,
        };
        completeness::check(&files)?;
        Ok(files)
    }

    fn open_gguf(path: &Path) -> Result<Self, FormatError> {
        let mut file = GgufFile::open(path)?;
        refuse_parts(&file)?;
        let (config, context, unread) = gguf_config::read(&file)?;
        let vocabulary = gguf_vocabulary::read(&file)?;
        gguf_vocabulary::forget_lists(&mut file);
        let special = match &vocabulary {
            Some(vocabulary) => gguf_vocabulary::special(&file, vocabulary)?,
            None => Special::default(),
        };
        if let Some(vocabulary) =
            vocabulary.as_ref().filter(|vocabulary| vocabulary.tokens.len() > config.vocab)
        {
            let reason =
                format!("{} tokens, the embedding has {} rows", vocabulary.tokens.len(), config.vocab);
            return Err(FormatError::key(path, "tokenizer.ggml.tokens", reason));
        }
        let chat_templates = gguf_vocabulary::chat_templates(&file);
        let (path, source) = (path.to_path_buf(), Source::Gguf(file));
        Ok(Self { path, config, context, unread, source, vocabulary, chat_templates, special })
    }

    fn open_hf(path: &Path) -> Result<Self, FormatError> {
        let mut folder = HfFolder::open(path)?;
        Ok(Self {
            path: path.to_path_buf(),
            config: folder.config.decoder.clone(),
            context: folder.config.context,
            unread: std::mem::take(&mut folder.config.unread),
            vocabulary: None,
            chat_templates: std::mem::take(&mut folder.tokenizer.chat_templates),
            special: std::mem::take(&mut folder.tokenizer.special),
            source: Source::Hf(Box::new(folder)),
        })
    }

    /// The file or folder that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which kind of files it is kept in.
    pub fn format(&self) -> Format {
        match self.source {
            Source::Gguf(_) => Format::Gguf,
            Source::Hf(_) => Format::Safetensors,
        }
    }

    /// The shape of the decoder.
    pub fn config(&self) -> &DecoderConfig {
        &self.config
    }

    /// A tensor by its name in `transformers`, with the shape and the order of rows that it has there.
    ///
    /// Gains are as the file holds them; [`ModelFiles::gain`] gives what multiplies.
    pub fn tensor(&self, name: &str) -> Result<TensorView<'_>, FormatError> {
        let view = match &self.source {
            Source::Hf(folder) => folder.shards.view(&folder.stored(name), name),
            Source::Gguf(file) => self.gguf_view(file, name),
        };
        view.ok_or_else(|| FormatError::tensor(&self.path, name, "is not part of this model"))
    }

    fn gguf_view<'a>(&self, file: &'a GgufFile, name: &str) -> Option<TensorView<'a>> {
        let span = file.spans.get(&gguf_name(name, self.config.style.family)?)?;
        let mut view = TensorView {
            name: name.to_owned(),
            shape: span.shape.clone(),
            encoding: span.encoding,
            bytes: Cow::Borrowed(file.bytes_of(span)),
        };
        if let Some(heads) = interleaved_heads(name, &self.config) {
            view.bytes = Cow::Owned(split_halves(&view.bytes, heads, view.row_bytes()));
        }
        Some(view)
    }

    /// The values of a tensor, as the file holds them; one that is not finite is an error.
    pub fn values(&self, name: &str) -> Result<Vec<f32>, FormatError> {
        self.tensor(name)?.finite(&self.path)
    }

    /// What a normalised vector is multiplied by, in every format and family.
    pub fn gain(&self, name: &str) -> Result<Vec<f32>, FormatError> {
        let mut values = self.values(name)?;
        let offset = self.gain_offset();
        values.iter_mut().for_each(|value| *value += offset);
        Ok(values)
    }

    /// What has to be added to a gain as the file holds it: 1 for Gemma in safetensors, 0 otherwise.
    pub fn gain_offset(&self) -> f32 {
        match self.source {
            Source::Gguf(_) => 0.0,
            Source::Hf(_) => hf_gain_offset(self.config.style.family),
        }
    }

    /// Every tensor of the decoder with its values, gains as what multiplies: what the writers take.
    pub fn named_tensors(&self) -> impl Iterator<Item = Result<NamedTensor<'static>, FormatError>> {
        expected_tensors(&self.config).into_iter().map(|expected| {
            let gain = expected.role == TensorRole::Gain;
            let values = if gain { self.gain(&expected.name)? } else { self.values(&expected.name)? };
            Ok(NamedTensor { name: expected.name, shape: expected.shape, values: Cow::Owned(values) })
        })
    }

    /// Where the tokenizer comes from.
    pub fn tokenizer(&self) -> TokenizerSource<'_> {
        match (&self.vocabulary, &self.source) {
            (Some(vocabulary), _) => TokenizerSource::Gguf(vocabulary),
            (None, Source::Hf(folder)) => match &folder.tokenizer.text {
                Some(text) => TokenizerSource::HfJson { text, config: &folder.tokenizer.config },
                None => TokenizerSource::Missing,
            },
            (None, Source::Gguf(_)) => TokenizerSource::Missing,
        }
    }

    /// The chat template, where the model has one without a name or called `default`.
    pub fn chat_template(&self) -> Option<&str> {
        self.chat_templates.get("default").map(String::as_str)
    }

    /// Every chat template by name, as `tool_use`.
    pub fn chat_templates(&self) -> &BTreeMap<String, String> {
        &self.chat_templates
    }

    /// Tokens with a meaning.
    pub fn special(&self) -> &Special {
        &self.special
    }

    /// What there is to tell about the model.
    pub fn describe(&self) -> Description {
        describe::describe(self)
    }

    pub(crate) fn span(&self, name: &str) -> Option<&Span> {
        match &self.source {
            Source::Hf(folder) => folder.shards.span(&folder.stored(name)),
            Source::Gguf(file) => file.spans.get(&gguf_name(name, self.config.style.family)?),
        }
    }
}

/// A model split over several GGUF files.
fn refuse_parts(file: &GgufFile) -> Result<(), FormatError> {
    use crate::gguf::value::Value;
    match file.metadata.get("split.count") {
        Some(Value::Unsigned(count)) if *count > 1 => {
            let reason = format!("the model is split over {count} files; join them first");
            Err(FormatError::key(&file.path, "split.count", reason))
        }
        _ => Ok(()),
    }
}
