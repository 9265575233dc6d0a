//! A model as a folder that `transformers` loads.

use super::config_out::{config_json, ids};
use crate::expected::{ExpectedTensor, TensorRole, expected_tensors, hf_gain_offset};
use crate::quantise::encode;
use crate::safetensors::write_head;
use crate::span::byte_length;
use crate::special::{Special, SpecialToken};
use crate::stream::{self, Slot};
use crate::{DecoderConfig, Encoding, FormatError, ModelFiles, NamedTensor, atomic};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What stands in the folder beside the weights.
#[derive(Debug, Clone, Copy)]
pub struct HfExtras<'a> {
    /// The text of `tokenizer.json`; absent: the folder has no tokenizer.
    pub tokenizer_json: Option<&'a str>,
    /// The chat template; absent: none is written.
    pub chat_template: Option<&'a str>,
    /// Tokens with a meaning, for all files that name them.
    pub special: &'a Special,
}

/// How weights are laid down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HfOptions {
    /// How numbers are stored: F32, F16 or BF16.
    pub encoding: Encoding,
    /// A file becomes no larger than this, unless one tensor alone is.
    pub shard_bytes: usize,
}

impl Default for HfOptions {
    fn default() -> Self {
        Self { encoding: Encoding::F32, shard_bytes: 5_000_000_000 }
    }
}

/// Writes a model as a folder, whole or not at all. A folder that holds only files of a model is replaced.
///
/// `tensors` are all of [`expected_tensors`], in any order, gains as what multiplies. A value head is no part of it.
/// What was written is opened again and must say the same shape, so a style that the family's files cannot express is
/// refused here.
pub fn save_hf<'a>(
    folder: impl AsRef<Path>,
    config: &DecoderConfig,
    tensors: impl IntoIterator<Item = Result<NamedTensor<'a>, FormatError>>,
    extras: &HfExtras<'_>,
    options: HfOptions,
) -> Result<(), FormatError> {
    let folder = folder.as_ref();
    config.validate().map_err(|source| FormatError::Config { path: folder.to_path_buf(), source })?;
    if options.encoding.safetensors_name().is_none() {
        return Err(FormatError::file(
            folder,
            format!("{} is not written to safetensors; take F32, F16 or BF16", options.encoding),
        ));
    }
    atomic::write_folder(folder, is_model_file, |scratch| {
        texts(scratch, config, extras, options)?;
        weights(folder, scratch, config, tensors, options)?;
        let read = ModelFiles::open(scratch)?;
        refuse_other_shape(folder, config, read.config())
    })
}

/// What a folder of a model may hold and be replaced with.
fn is_model_file(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "chat_template.jinja",
        "model.safetensors.index.json",
    ];
    NAMES.contains(&name) || (name.starts_with("model") && name.ends_with(".safetensors"))
}

pub(crate) fn refuse_other_shape(
    path: &Path,
    wanted: &DecoderConfig,
    read: &DecoderConfig,
) -> Result<(), FormatError> {
    let wanted = DecoderConfig { value_head: false, ..wanted.clone() };
    if wanted == *read {
        return Ok(());
    }
    let family = wanted.style.family;
    Err(FormatError::file(
        path,
        format!("files of family {family:?} cannot say {wanted:?}: they would be read as {read:?}"),
    ))
}

fn weights<'a>(
    folder: &Path,
    scratch: &Path,
    config: &DecoderConfig,
    tensors: impl IntoIterator<Item = Result<NamedTensor<'a>, FormatError>>,
    options: HfOptions,
) -> Result<(), FormatError> {
    let shards = divide(folder, expected_tensors(config), options)?;
    let names: Vec<String> = match shards.len() {
        1 => vec!["model.safetensors".to_owned()],
        count => (1..=count).map(|n| format!("model-{n:05}-of-{count:05}.safetensors")).collect(),
    };
    let (mut slots, mut files) = (Vec::new(), Vec::new());
    let mut index = Map::new();
    for (shard, name) in shards.into_iter().zip(&names) {
        index.extend(shard.iter().map(|tensor| (tensor.name.clone(), json!(name))));
        files.push(begin_file(scratch.join(name), shard, files.len(), options.encoding, &mut slots)?);
    }
    if files.len() > 1 {
        let sizes = slots.iter().map(|slot| byte_length(&slot.tensor.shape, slot.encoding).unwrap_or(0));
        let total: usize = sizes.sum();
        let index = json!({ "metadata": { "total_size": total }, "weight_map": index });
        put(scratch, "model.safetensors.index.json", &index)?;
    }
    let offset = hf_gain_offset(config.style.family);
    stream::write(folder, &slots, &files, tensors, |slot, values| {
        if slot.tensor.role == TensorRole::Gain && offset != 0.0 {
            let stored: Vec<f32> = values.iter().map(|value| value - offset).collect();
            return encode(slot.encoding, &stored);
        }
        encode(slot.encoding, values)
    })?;
    files.iter().try_for_each(|(path, file)| file.sync_all().map_err(FormatError::io("sync", path)))
}

/// Tensors in order, a new file where the next would make one too large.
fn divide(
    folder: &Path,
    tensors: Vec<ExpectedTensor>,
    options: HfOptions,
) -> Result<Vec<Vec<ExpectedTensor>>, FormatError> {
    let mut shards = vec![Vec::new()];
    let mut filled = 0_usize;
    for tensor in tensors {
        let bytes = byte_length(&tensor.shape, options.encoding)
            .map_err(|reason| FormatError::tensor(folder, &tensor.name, reason))?;
        if filled > 0 && filled.saturating_add(bytes) > options.shard_bytes {
            shards.push(Vec::new());
            filled = 0;
        }
        filled += bytes;
        shards.last_mut().expect("there is always one").push(tensor);
    }
    Ok(shards)
}

fn begin_file(
    path: PathBuf,
    tensors: Vec<ExpectedTensor>,
    file: usize,
    encoding: Encoding,
    slots: &mut Vec<Slot>,
) -> Result<(PathBuf, File), FormatError> {
    let entries: Vec<_> = tensors.iter().map(|t| (t.name.clone(), t.shape.clone(), encoding)).collect();
    let (head, starts) = write_head(&entries).map_err(|reason| FormatError::file(&path, reason))?;
    let mut out = File::create_new(&path).map_err(FormatError::io("create", &path))?;
    out.write_all(&head).map_err(FormatError::io("write", &path))?;
    let placed = tensors.into_iter().zip(starts);
    slots.extend(placed.map(|(tensor, start)| Slot { tensor, file, start, encoding }));
    Ok((path, out))
}

fn texts(
    scratch: &Path,
    config: &DecoderConfig,
    extras: &HfExtras<'_>,
    options: HfOptions,
) -> Result<(), FormatError> {
    put(scratch, "config.json", &config_json(config, extras.special, options.encoding))?;
    put(scratch, "generation_config.json", &generation(extras.special))?;
    let Some(tokenizer) = extras.tokenizer_json else { return Ok(()) };
    put_text(scratch, "tokenizer.json", tokenizer)?;
    put(scratch, "tokenizer_config.json", &tokenizer_config(config, extras))
}

fn generation(special: &Special) -> Value {
    let mut map = Map::new();
    let mut set = |key: &str, value: Value| {
        if !value.is_null() {
            map.insert(key.to_owned(), value);
        }
    };
    set("bos_token_id", json!(special.bos.as_ref().map(|token| token.id)));
    set("eos_token_id", ids(special));
    set("pad_token_id", json!(special.padding.as_ref().map(|token| token.id)));
    Value::Object(map)
}

fn tokenizer_config(config: &DecoderConfig, extras: &HfExtras<'_>) -> Value {
    let special = extras.special;
    let text = |token: Option<&SpecialToken>| token.and_then(|token| token.text.clone());
    let mut map = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": config.max_context,
        "clean_up_tokenization_spaces": false,
    });
    let texts = [
        ("bos_token", text(special.bos.as_ref())),
        ("eos_token", text(special.eos.first())),
        ("pad_token", text(special.padding.as_ref())),
        ("unk_token", text(special.unknown.as_ref())),
        ("chat_template", extras.chat_template.map(str::to_owned)),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            map[key] = text.into();
        }
    }
    map
}

pub(crate) fn put(folder: &Path, name: &str, value: &Value) -> Result<(), FormatError> {
    put_text(folder, name, &format!("{value:#}\n"))
}

fn put_text(folder: &Path, name: &str, text: &str) -> Result<(), FormatError> {
    let path = folder.join(name);
    let written = File::create_new(&path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(FormatError::io("write", &path))
}
