//! What there is to tell about a model on disk.

use crate::files::{Format, ModelFiles, Source, TokenizerSource};
use crate::gguf::value::Value;
use crate::{Encoding, Family, expected_tensors};
use serde::Serialize;
use std::collections::BTreeMap;

/// A model in a few lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// Which kind of files it is kept in.
    pub format: Format,
    /// What the file calls its architecture.
    pub architecture: String,
    /// Whose conventions it follows.
    pub family: Family,
    /// Its name, where it states one.
    pub name: Option<String>,
    /// Its licence, where it states one.
    pub licence: Option<String>,
    /// How many weights it has.
    pub parameters: usize,
    /// The longest context that its files state.
    pub context: usize,
    /// How its weights are encoded, most bytes first.
    pub encodings: Vec<EncodingShare>,
    /// Bytes of all its weights on disk.
    pub weight_bytes: usize,
    /// How many files hold them.
    pub files: usize,
    /// Kind of tokenizer: `tokenizer.json`, `gguf NAME`, or `missing`.
    pub tokenizer: String,
    /// Names of its chat templates.
    pub chat_templates: Vec<String>,
    /// Settings that are neither used nor known to be without effect.
    pub unread_settings: Vec<String>,
}

/// How much of a model has one encoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EncodingShare {
    pub encoding: Encoding,
    pub tensors: usize,
    /// How many values they hold.
    pub values: usize,
    /// How many bytes they take.
    pub bytes: usize,
}

pub(crate) fn describe(files: &ModelFiles) -> Description {
    let (architecture, name, licence, count) = match &files.source {
        Source::Gguf(file) => {
            let text = |key: &str| match file.metadata.get(key) {
                Some(Value::Text(text)) => Some(text.clone()),
                _ => None,
            };
            (
                text("general.architecture").unwrap_or_default(),
                text("general.name"),
                text("general.license"),
                1,
            )
        }
        Source::Hf(folder) => {
            let name = folder.folder.file_name().map(|name| name.to_string_lossy().into_owned());
            (folder.config.model_type.clone(), name, None, folder.shards.paths().count())
        }
    };
    let encodings = encodings(files);
    Description {
        format: files.format(),
        architecture,
        family: files.config().style.family,
        name,
        licence,
        parameters: files.config().parameters(),
        context: files.context,
        weight_bytes: encodings.iter().map(|share| share.bytes).sum(),
        encodings,
        files: count,
        tokenizer: match files.tokenizer() {
            TokenizerSource::HfJson { .. } => "tokenizer.json".to_owned(),
            TokenizerSource::Gguf(vocabulary) => format!("gguf {}", vocabulary.model),
            TokenizerSource::Missing => "missing".to_owned(),
        },
        chat_templates: files.chat_templates().keys().cloned().collect(),
        unread_settings: files.unread.clone(),
    }
}

fn encodings(files: &ModelFiles) -> Vec<EncodingShare> {
    let mut shares: BTreeMap<Encoding, EncodingShare> = BTreeMap::new();
    for span in expected_tensors(files.config()).iter().filter_map(|expected| files.span(&expected.name)) {
        let encoding = span.encoding;
        let share =
            shares.entry(encoding).or_insert(EncodingShare { encoding, tensors: 0, values: 0, bytes: 0 });
        share.tensors += 1;
        share.values += span.shape.iter().product::<usize>();
        share.bytes += span.bytes;
    }
    let mut shares: Vec<EncodingShare> = shares.into_values().collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.bytes));
    shares
}
