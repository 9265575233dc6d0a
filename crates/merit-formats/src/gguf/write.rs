//! A model as one GGUF file (version 3).

use super::config::ARCHITECTURES;
use super::names::{ROPE_FACTORS, gguf_name, interleave, interleaved_heads};
use super::out::{Out, Put};
use crate::expected::{ExpectedTensor, TensorRole, expected_tensors};
use crate::hf::write::refuse_other_shape;
use crate::quantise::encode;
use crate::rope::llama3_factors;
use crate::span::byte_length;
use crate::stream::{self, Slot};
use crate::{
    DecoderConfig, Encoding, FormatError, GgufVocabulary, ModelFiles, NamedTensor, RopeScaling, Window,
    atomic,
};
use std::borrow::Cow;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// What stands in the file beside shape and weights.
#[derive(Debug, Clone, Copy, Default)]
pub struct GgufExtras<'a> {
    pub name: Option<&'a str>,
    /// Its licence, as `apache-2.0`.
    pub licence: Option<&'a str>,
    /// The tokenizer; absent: the file has none.
    pub vocabulary: Option<&'a GgufVocabulary>,
    /// The chat template; absent: none is written.
    pub chat_template: Option<&'a str>,
}

const ALIGNMENT: usize = 32;

/// Writes a model as a GGUF file, whole or not at all; a file of that name is replaced.
///
/// `tensors` are all of [`expected_tensors`], in any order, gains as what multiplies. Matrices get `encoding`: F32, F16,
/// BF16 or Q8_0 (F16 where rows are not whole blocks); vectors are F32, as readers of the format expect. A value head
/// is no part of it. What was written is opened again and must say the same shape.
pub fn save_gguf<'a>(
    path: impl AsRef<Path>,
    config: &DecoderConfig,
    tensors: impl IntoIterator<Item = Result<NamedTensor<'a>, FormatError>>,
    extras: &GgufExtras<'_>,
    encoding: Encoding,
) -> Result<(), FormatError> {
    let path = path.as_ref();
    config.validate().map_err(|source| FormatError::Config { path: path.to_path_buf(), source })?;
    let file_type = match encoding {
        Encoding::F32 => 0,
        Encoding::F16 => 1,
        Encoding::Q8_0 => 7,
        Encoding::Bf16 => 32,
        other => {
            return Err(FormatError::file(
                path,
                format!("{other} is only read; take F32, F16, BF16 or Q8_0"),
            ));
        }
    };
    let factors = llama3_factors(config.style.rope_scaling, config.head_dim(), config.rope_base);
    let metadata = metadata(config, extras, file_type);
    atomic::write_file(path, |scratch| {
        let (head, slots) = lay_out(path, config, &metadata, factors.as_deref(), encoding)?;
        let mut file = File::create_new(scratch).map_err(FormatError::io("create", scratch))?;
        file.write_all(&head).map_err(FormatError::io("write", scratch))?;
        let given = factors.iter().map(|factors| {
            let (name, shape) = (ROPE_FACTORS.to_owned(), vec![factors.len()]);
            Ok(NamedTensor { name, shape, values: Cow::Owned(factors.clone()) })
        });
        let files = [(scratch.to_path_buf(), file)];
        stream::write(path, &slots, &files, given.chain(tensors), |slot, values| {
            encode_slot(config, slot, values)
        })?;
        refuse_other_shape(path, config, ModelFiles::open(scratch)?.config())
    })
}

fn encode_slot(config: &DecoderConfig, slot: &Slot, values: &[f32]) -> Option<Vec<u8>> {
    let bytes = encode(slot.encoding, values)?;
    Some(match interleaved_heads(&slot.tensor.name, config) {
        Some(heads) => interleave(&bytes, heads, bytes.len() / slot.tensor.shape[0]),
        None => bytes,
    })
}

/// Everything before the weights, and where each of those goes.
fn lay_out(
    path: &Path,
    config: &DecoderConfig,
    metadata: &[(String, Put<'_>)],
    factors: Option<&[f32]>,
    encoding: Encoding,
) -> Result<(Vec<u8>, Vec<Slot>), FormatError> {
    let mut tensors = expected_tensors(config);
    tensors.extend(factors.map(|factors| ExpectedTensor {
        name: ROPE_FACTORS.to_owned(),
        shape: vec![factors.len()],
        role: TensorRole::Gain,
    }));
    let mut out = Out::begin(tensors.len(), metadata);
    let (mut slots, mut at) = (Vec::new(), 0);
    for tensor in tensors {
        let encoding = encoding_of(&tensor, encoding);
        let bytes = byte_length(&tensor.shape, encoding)
            .map_err(|reason| FormatError::tensor(path, &tensor.name, reason))?;
        let name = gguf_name(&tensor.name, config.style.family).unwrap_or_else(|| tensor.name.clone());
        out.tensor(&name, &tensor.shape, encoding, at);
        slots.push(Slot { tensor, file: 0, start: at, encoding });
        at = (at + bytes).next_multiple_of(ALIGNMENT);
    }
    let head = out.finish(ALIGNMENT);
    slots.iter_mut().for_each(|slot| slot.start += head.len());
    Ok((head, slots))
}

fn encoding_of(tensor: &ExpectedTensor, encoding: Encoding) -> Encoding {
    if tensor.role != TensorRole::Matrix {
        return Encoding::F32;
    }
    let whole = tensor.shape.last().is_some_and(|columns| columns.is_multiple_of(encoding.block()));
    if whole { encoding } else { Encoding::F16 }
}

fn metadata<'a>(config: &DecoderConfig, extras: &GgufExtras<'a>, file_type: u32) -> Vec<(String, Put<'a>)> {
    let found = ARCHITECTURES.iter().find(|(_, family)| *family == config.style.family);
    let architecture = found.map_or("llama", |(name, _)| *name);
    let mut all = vec![("general.architecture".to_owned(), Put::Text(architecture))];
    let mut set = |key: &str, value: Put<'a>| all.push((key.to_owned(), value));
    set("general.type", Put::Text("model"));
    set("general.file_type", Put::U32(file_type));
    set("general.quantization_version", Put::U32(2));
    extras.name.into_iter().for_each(|name| set("general.name", Put::Text(name)));
    extras.licence.into_iter().for_each(|licence| set("general.license", Put::Text(licence)));
    for (key, value) in shape(config) {
        set(&format!("{architecture}.{key}"), value);
    }
    extras.vocabulary.into_iter().for_each(|vocabulary| tokenizer(vocabulary, &mut set));
    extras.chat_template.into_iter().for_each(|text| set("tokenizer.chat_template", Put::Text(text)));
    all
}

fn shape<'a>(config: &DecoderConfig) -> Vec<(&'static str, Put<'a>)> {
    let size = |size: usize| Put::U32(u32::try_from(size).unwrap_or(u32::MAX));
    let mut all = vec![
        ("block_count", size(config.layers)),
        ("context_length", size(config.max_context)),
        ("embedding_length", size(config.d_model)),
        ("feed_forward_length", size(config.d_ff)),
        ("attention.head_count", size(config.heads)),
        ("attention.head_count_kv", size(config.kv_heads)),
        ("attention.key_length", size(config.head_dim())),
        ("attention.value_length", size(config.head_dim())),
        ("attention.layer_norm_rms_epsilon", Put::F32(config.norm_eps)),
        ("rope.freq_base", Put::F32(config.rope_base)),
        ("rope.dimension_count", size(config.head_dim())),
        ("vocab_size", size(config.vocab)),
    ];
    match config.style.rope_scaling {
        RopeScaling::None => {}
        RopeScaling::Linear { factor } => {
            all.extend([
                ("rope.scaling.type", Put::Text("linear")),
                ("rope.scaling.factor", Put::F32(factor)),
            ]);
        }
        RopeScaling::Llama3 { original_context, .. } => {
            all.push(("rope.scaling.original_context_length", size(original_context)));
        }
    }
    if let Some(Window { size: window, every, rope_base }) = config.style.window {
        all.push(("attention.sliding_window", size(window)));
        all.push(("attention.sliding_window_pattern", size(every)));
        all.push(("rope.freq_base_swa", Put::F32(rope_base)));
    }
    all
}

fn tokenizer<'a>(vocabulary: &'a GgufVocabulary, set: &mut impl FnMut(&str, Put<'a>)) {
    let mut put = |key: &str, value: Put<'a>| set(&format!("tokenizer.ggml.{key}"), value);
    put("model", Put::Text(&vocabulary.model));
    vocabulary.pre.iter().for_each(|pre| put("pre", Put::Text(pre)));
    put("tokens", Put::Texts(&vocabulary.tokens));
    put("token_type", Put::I32s(vocabulary.kinds.iter().map(|kind| kind.number()).collect()));
    if !vocabulary.scores.is_empty() {
        put("scores", Put::F32s(&vocabulary.scores));
    }
    if !vocabulary.merges.is_empty() {
        put("merges", Put::Texts(&vocabulary.merges));
    }
    let ids = [
        ("bos_token_id", vocabulary.bos),
        ("eos_token_id", vocabulary.eos),
        ("unknown_token_id", vocabulary.unknown),
        ("padding_token_id", vocabulary.padding),
    ];
    ids.into_iter().filter_map(|(key, id)| Some((key, id?))).for_each(|(key, id)| put(key, Put::U32(id)));
    put("add_bos_token", Put::Bool(vocabulary.add_bos));
    put("add_eos_token", Put::Bool(vocabulary.add_eos));
    put("add_space_prefix", Put::Bool(vocabulary.add_space_prefix));
}
