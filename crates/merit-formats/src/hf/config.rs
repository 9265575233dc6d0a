//! `config.json` to the shape of a decoder.
//!
//! A setting that the engine cannot honour is refused by name. Settings that change nothing are listed in `HARMLESS`; what
//! is in no list is handed back, for the description of the model.

use super::rope;
use crate::config::{held_context, relative_head_dim, relative_query_scale};
use crate::expected::EMBEDDING;
use crate::settings::Settings;
use crate::{Activation, DecoderConfig, Family, FormatError, Style, Window};

/// What `config.json` says.
pub(crate) struct HfConfig {
    pub(crate) decoder: DecoderConfig,
    /// The file's own context, which may be longer than what is held.
    pub(crate) context: usize,
    pub(crate) model_type: String,
    /// The text model lies beside an image model, and its names say so.
    pub(crate) multimodal: bool,
    /// Keys that were not read.
    pub(crate) unread: Vec<String>,
}

const MODEL_TYPES: [(&str, Family); 5] = [
    ("llama", Family::Llama),
    ("qwen2", Family::Qwen2),
    ("qwen3", Family::Qwen3),
    ("gemma3_text", Family::Gemma3),
    ("gemma3", Family::Gemma3),
];
const ARCHITECTURES: [&str; 5] = [
    "LlamaForCausalLM",
    "Qwen2ForCausalLM",
    "Qwen3ForCausalLM",
    "Gemma3ForCausalLM",
    "Gemma3ForConditionalGeneration",
];
/// Of training, of the library, of the tokenizer, or repeated elsewhere.
const HARMLESS: [&str; 26] = [
    "_name_or_path",
    "_sliding_window_pattern",
    "attention_dropout",
    "bos_token_id",
    "cache_implementation",
    "dtype",
    "eos_token_id",
    "initializer_range",
    "is_llama_config",
    "max_window_layers",
    "pad_token_id",
    "pretraining_tp",
    "rope_local_base_freq",
    "sliding_window",
    "torch_dtype",
    "transformers.js_config",
    "transformers_version",
    "use_cache",
    "vision_config",
    "boi_token_index",
    "eoi_token_index",
    "image_token_index",
    "image_token_id",
    "mm_tokens_per_image",
    "tie_word_embeddings",
    "model_type",
];
const NOT_RUN: &str = "which is not run; nothing would tell but wrong words";

/// `vocab` is the number of rows of the embedding, where there is one.
pub(crate) fn read(settings: &Settings, vocab: Option<usize>) -> Result<HfConfig, FormatError> {
    let (model_type, family) = model_type(settings)?;
    check_architectures(settings)?;
    let vocab =
        vocab.ok_or_else(|| FormatError::tensor(settings.path(), EMBEDDING, "is in none of the files"))?;
    let text = if model_type == "gemma3" { settings.inner("text_config")? } else { None };
    let multimodal = text.is_some();
    let inner = text.as_ref().unwrap_or(settings);
    refuse_unrunnable(settings)?;
    refuse_unrunnable(inner)?;
    let tied = settings.flag("tie_word_embeddings")?.or(inner.flag("tie_word_embeddings")?);
    let (mut decoder, context) = shape(inner, family, vocab)?;
    decoder.style.tied = tied.unwrap_or(family == Family::Gemma3);
    if family == Family::Gemma3 {
        gemma(inner, &mut decoder)?;
    } else {
        plain(inner, &mut decoder)?;
    }
    decoder
        .validate()
        .map_err(|source| FormatError::Config { path: settings.path().to_path_buf(), source })?;
    let mut unread = settings.unread(&HARMLESS);
    if multimodal {
        unread.extend(inner.unread(&HARMLESS));
    }
    Ok(HfConfig { decoder, context, model_type, multimodal, unread })
}

fn model_type(settings: &Settings) -> Result<(String, Family), FormatError> {
    let name = settings.text("model_type")?.ok_or_else(|| settings.error("model_type", "is missing"))?;
    let found = MODEL_TYPES.iter().find(|(known, _)| *known == name);
    let known = MODEL_TYPES.map(|(known, _)| known);
    let (_, family) =
        found.ok_or_else(|| FormatError::unknown(settings.path(), "model_type", &name, &known))?;
    Ok((name, *family))
}

fn check_architectures(settings: &Settings) -> Result<(), FormatError> {
    let Some(list) = settings.get("architectures") else { return Ok(()) };
    let names = list.as_array().and_then(|list| list.iter().map(|v| v.as_str()).collect::<Option<Vec<_>>>());
    let names = names.ok_or_else(|| settings.error("architectures", "must be a list of names"))?;
    match names.iter().find(|name| !ARCHITECTURES.contains(name)) {
        None => Ok(()),
        Some(name) => Err(FormatError::unknown(settings.path(), "architecture", name, &ARCHITECTURES)),
    }
}

fn refuse_unrunnable(settings: &Settings) -> Result<(), FormatError> {
    let off = [
        ("attention_bias", "biases of this kind are"),
        ("mlp_bias", "biases in the feed-forward are"),
        ("quantization_config", "quantised safetensors are"),
        ("auto_map", "a model with code of its own is"),
        ("num_experts", "a mixture of experts is"),
        ("num_local_experts", "a mixture of experts is"),
        ("n_routed_experts", "a mixture of experts is"),
        ("attn_logit_softcapping", "a cap on scores is"),
        ("final_logit_softcapping", "a cap on logits is"),
        ("use_bidirectional_attention", "attention to later words is"),
        ("use_sliding_window", "a window in this family is"),
        ("use_mrope", "rotary positions in several dimensions are"),
        ("rope_interleaved", "interleaved rotary positions are"),
        ("is_encoder_decoder", "an encoder beside the decoder is"),
        ("add_cross_attention", "attention to another model is"),
    ];
    for (key, what) in off {
        settings.must_be_off(key, &format!("{what} not run"))?;
    }
    match settings.number("partial_rotary_factor")? {
        Some(share) if share != 1.0 => {
            Err(settings.error("partial_rotary_factor", format!("is {share}, {NOT_RUN}")))
        }
        _ => Ok(()),
    }
}

/// What the class of the family fills in where Gemma's `text_config` is silent: query heads, key heads, head, context.
const GEMMA_DEFAULTS: [usize; 4] = [8, 4, 256, 131_072];

fn shape(settings: &Settings, family: Family, vocab: usize) -> Result<(DecoderConfig, usize), FormatError> {
    let gemma = (family == Family::Gemma3).then_some(GEMMA_DEFAULTS);
    let or_default = |key: &str, default: Option<usize>| match settings.size(key)? {
        Some(size) => Ok(size),
        None => default.ok_or_else(|| settings.error(key, "is missing")),
    };
    let d_model = settings.required_size("hidden_size")?;
    let heads = or_default("num_attention_heads", gemma.map(|d| d[0]))?;
    let kv_heads = or_default("num_key_value_heads", gemma.map_or(Some(heads), |d| Some(d[1])))?;
    let context = or_default("max_position_embeddings", gemma.map(|d| d[3]))?;
    let class_dim = match family {
        Family::Gemma3 => Some(GEMMA_DEFAULTS[2]),
        Family::Qwen3 => Some(128),
        Family::Llama | Family::Qwen2 => None,
    };
    let head_dim = settings.size("head_dim")?.or(class_dim);
    if let Some(stated) = settings.size("vocab_size")?.filter(|&stated| stated != vocab) {
        return Err(settings.error("vocab_size", format!("is {stated}, the embedding has {vocab} rows")));
    }
    let style = Style {
        family,
        head_dim: relative_head_dim(head_dim, d_model, heads),
        qkv_bias: family == Family::Qwen2,
        qk_norm: matches!(family, Family::Qwen3 | Family::Gemma3),
        ..Style::default()
    };
    let decoder = DecoderConfig {
        vocab,
        layers: settings.required_size("num_hidden_layers")?,
        d_model,
        heads,
        kv_heads,
        d_ff: settings.required_size("intermediate_size")?,
        rope_base: 1e4,
        norm_eps: settings.number("rms_norm_eps")?.unwrap_or(1e-6),
        max_context: held_context(context),
        value_head: false,
        style,
    };
    Ok((decoder, context))
}

fn activation(settings: &Settings, key: &str, wanted: &[&str]) -> Result<(), FormatError> {
    match settings.text(key)? {
        Some(name) if !wanted.contains(&name.as_str()) => {
            Err(settings
                .error(key, format!("is `{name}`; in this family only {} is run", wanted.join(" or "))))
        }
        _ => Ok(()),
    }
}

fn plain(settings: &Settings, decoder: &mut DecoderConfig) -> Result<(), FormatError> {
    activation(settings, "hidden_act", &["silu", "swish"])?;
    if let Some(types) = layer_types(settings)?
        && types.iter().any(|&near| near)
    {
        return Err(
            settings.error("layer_types", format!("has layers with a window in this family, {NOT_RUN}"))
        );
    }
    let rope = rope::read(settings, 1e4)?;
    (decoder.rope_base, decoder.style.rope_scaling) = (rope.base, rope.scaling);
    Ok(())
}

fn gemma(settings: &Settings, decoder: &mut DecoderConfig) -> Result<(), FormatError> {
    // The older name is still in many files, sometimes with the untrue value `gelu`; the newer one decides.
    settings.get("hidden_act");
    activation(settings, "hidden_activation", &["gelu_pytorch_tanh"])?;
    let (rope, near_base) = rope::read_gemma(settings)?;
    (decoder.rope_base, decoder.style.rope_scaling) = (rope.base, rope.scaling);
    let style = &mut decoder.style;
    style.post_norms = true;
    style.activation = Activation::GeluTanh;
    style.embedding_scale = Some((decoder.d_model as f32).sqrt());
    let scalar = settings.number("query_pre_attn_scalar")?.unwrap_or(256.0);
    if decoder.heads > 0 {
        let scale = relative_query_scale(scalar, decoder.head_dim());
        decoder.style.query_scale = scale;
    }
    decoder.style.window = window(settings, decoder.layers, near_base)?;
    Ok(())
}

fn window(settings: &Settings, layers: usize, rope_base: f32) -> Result<Option<Window>, FormatError> {
    let size = settings.size("sliding_window")?.unwrap_or(4096);
    let pattern = settings.size("sliding_window_pattern")?.unwrap_or(6);
    let Some(near) = layer_types(settings)? else {
        return Ok(Some(Window { size, every: pattern, rope_base }));
    };
    if near.len() != layers {
        let reason = format!("has {} entries for {layers} layers", near.len());
        return Err(settings.error("layer_types", reason));
    }
    // Where no layer sees everything, a step larger than the number of layers says that there is none.
    let every = near.iter().position(|&near| !near).map_or(layers + 1, |first| first + 1);
    if near.iter().enumerate().any(|(layer, &near)| near == (layer + 1).is_multiple_of(every)) {
        return Err(settings.error(
            "layer_types",
            "is not a steady rhythm of windows and whole layers, which is all that is run",
        ));
    }
    Ok(near.iter().any(|&near| near).then_some(Window { size, every, rope_base }))
}

/// For each layer whether it has a window.
fn layer_types(settings: &Settings) -> Result<Option<Vec<bool>>, FormatError> {
    let Some(list) = settings.get("layer_types") else { return Ok(None) };
    let list = list.as_array().ok_or_else(|| settings.error("layer_types", "must be a list"))?;
    let near =
        |value: &serde_json::Value| match value.as_str() {
            Some("sliding_attention") => Ok(true),
            Some("full_attention") => Ok(false),
            _ => Err(settings
                .error("layer_types", format!("{value} is neither full_attention nor sliding_attention"))),
        };
    list.iter().map(near).collect::<Result<_, _>>().map(Some)
}
