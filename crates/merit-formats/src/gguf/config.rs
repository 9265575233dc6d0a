//! Metadata of a GGUF file to the shape of a decoder.

use super::file::GgufFile;
use super::names::ROPE_FACTORS;
use crate::config::{held_context, relative_head_dim, relative_query_scale};
use crate::rope::{MATCHES_LLAMA3, llama3_factors};
use crate::settings::Settings;
use crate::{Activation, DecoderConfig, Family, FormatError, RopeScaling, Style, Window};

/// Architectures of GGUF that are run.
pub(crate) const ARCHITECTURES: [(&str, Family); 4] = [
    ("llama", Family::Llama),
    ("qwen2", Family::Qwen2),
    ("qwen3", Family::Qwen3),
    ("gemma3", Family::Gemma3),
];
/// Said of the data and of the making, or repeated elsewhere.
const HARMLESS: [&str; 2] = ["vocab_size", "rope.scaling.finetuned"];
const NOT_RUN: &str = "which is not run; nothing would tell but wrong words";
/// Gemma 3 of this depth (27B) scales its scores by the width of the stream, not of a head; no key says so.
const GEMMA_27B_LAYERS: usize = 62;

/// The shape, the file's own context, and the keys that were not read.
pub(crate) fn read(file: &GgufFile) -> Result<(DecoderConfig, usize, Vec<String>), FormatError> {
    let (name, family) = architecture(file)?;
    let settings = of_architecture(file, &name);
    refuse_unrunnable(&settings, family)?;
    let embedding = file.spans.get("token_embd.weight");
    let vocab = embedding.and_then(|span| span.shape.first()).copied();
    let vocab = vocab.ok_or_else(|| FormatError::tensor(&file.path, "token_embd.weight", "is missing"))?;
    let (d_model, heads) =
        (settings.required_size("embedding_length")?, settings.required_size("attention.head_count")?);
    let layers = settings.required_size("block_count")?;
    let head_dim = head_dim(&settings)?;
    let rope_base = settings.number("rope.freq_base")?;
    let context = settings.required_size("context_length")?;
    let d_ff = settings.size_of_layers("feed_forward_length")?;
    let mut config = DecoderConfig {
        vocab,
        layers,
        d_model,
        heads,
        kv_heads: settings.size_of_layers("attention.head_count_kv")?.unwrap_or(heads),
        d_ff: d_ff.ok_or_else(|| settings.error("feed_forward_length", "is missing"))?,
        rope_base: rope_base.unwrap_or(if family == Family::Gemma3 { 1e6 } else { 1e4 }),
        norm_eps: settings
            .number("attention.layer_norm_rms_epsilon")?
            .ok_or_else(|| settings.error("attention.layer_norm_rms_epsilon", "is missing"))?,
        max_context: held_context(context),
        value_head: false,
        style: Style {
            family,
            head_dim: relative_head_dim(head_dim, d_model, heads),
            tied: !file.spans.contains_key("output.weight"),
            qkv_bias: family == Family::Qwen2,
            qk_norm: matches!(family, Family::Qwen3 | Family::Gemma3),
            ..Style::default()
        },
    };
    if family == Family::Gemma3 {
        gemma(&settings, &mut config)?;
    }
    config.validate().map_err(|source| FormatError::Config { path: file.path.clone(), source })?;
    if settings.size("rope.dimension_count")?.is_some_and(|turned| turned != config.head_dim()) {
        let dim = config.head_dim();
        return Err(
            settings.error("rope.dimension_count", format!("is not the width of a head, {dim}, {NOT_RUN}"))
        );
    }
    config.style.rope_scaling = rope_scaling(file, &settings, &config)?;
    config.validate().map_err(|source| FormatError::Config { path: file.path.clone(), source })?;
    Ok((config, context, settings.unread(&HARMLESS)))
}

/// The architecture's name and family.
pub(crate) fn architecture(file: &GgufFile) -> Result<(String, Family), FormatError> {
    const KEY: &str = "general.architecture";
    let known = ARCHITECTURES.map(|(name, _)| name);
    let Some(super::value::Value::Text(name)) = file.metadata.get(KEY) else {
        return Err(FormatError::key(&file.path, KEY, "is missing: the file does not say what it is"));
    };
    let found = ARCHITECTURES.iter().find(|(known, _)| known == name);
    let (_, family) =
        found.ok_or_else(|| FormatError::unknown(&file.path, "GGUF architecture", name, &known))?;
    Ok((name.clone(), *family))
}

fn of_architecture(file: &GgufFile, name: &str) -> Settings {
    let prefix = format!("{name}.");
    let ours = file.metadata.iter().filter_map(|(key, value)| Some((key.strip_prefix(&prefix)?, value)));
    let map = ours.filter_map(|(key, value)| Some((key.to_owned(), value.to_json()?))).collect();
    Settings::new(&file.path, &prefix, map)
}

fn refuse_unrunnable(settings: &Settings, family: Family) -> Result<(), FormatError> {
    let off = [
        ("expert_count", "a mixture of experts"),
        ("attention.clamp_kqv", "clamped keys"),
        ("attn_logit_softcapping", "capped scores"),
        ("final_logit_softcapping", "capped logits"),
        ("logit_scale", "scaled logits"),
        ("residual_scale", "a scaled residual stream"),
        ("embedding_scale", "a scale of its own on the embedding"),
        ("attention.scale", "a scale of its own on the scores"),
        ("use_parallel_residual", "a parallel residual stream"),
        ("attention.max_alibi_bias", "ALiBi positions"),
    ];
    for (key, what) in off {
        settings.must_be_off(key, &format!("{what}, {NOT_RUN}"))?;
    }
    if family != Family::Gemma3 {
        settings.must_be_off("attention.sliding_window", &format!("a window in this family, {NOT_RUN}"))?;
    }
    if settings.flag("attention.causal")? == Some(false) {
        return Err(settings.error("attention.causal", format!("is false, {NOT_RUN}")));
    }
    Ok(())
}

fn head_dim(settings: &Settings) -> Result<Option<usize>, FormatError> {
    let (key, value) = (settings.size("attention.key_length")?, settings.size("attention.value_length")?);
    if let (Some(key), Some(value)) = (key, value)
        && key != value
    {
        return Err(
            settings.error("attention.value_length", format!("is {value}, keys have {key}, {NOT_RUN}"))
        );
    }
    Ok(key.or(value))
}

fn gemma(settings: &Settings, config: &mut DecoderConfig) -> Result<(), FormatError> {
    let style = &mut config.style;
    style.post_norms = true;
    style.activation = Activation::GeluTanh;
    style.embedding_scale = Some((config.d_model as f32).sqrt());
    if config.layers == GEMMA_27B_LAYERS && config.heads > 0 {
        let scalar = (config.d_model / config.heads) as f32;
        config.style.query_scale = relative_query_scale(scalar, config.head_dim());
    }
    if let Some(size) = settings.size("attention.sliding_window")?.filter(|&size| size > 0) {
        config.style.window = Some(Window {
            size,
            every: settings.size("attention.sliding_window_pattern")?.unwrap_or(6),
            rope_base: settings.number("rope.freq_base_swa")?.unwrap_or(1e4),
        });
    }
    Ok(())
}

fn rope_scaling(
    file: &GgufFile,
    settings: &Settings,
    config: &DecoderConfig,
) -> Result<RopeScaling, FormatError> {
    let factor = settings.number("rope.scaling.factor")?.or(settings.number("rope.scale_linear")?);
    let original = settings.size("rope.scaling.original_context_length")?;
    let kind = settings.text("rope.scaling.type")?;
    let scaling = match (kind.as_deref(), factor) {
        (None | Some("linear"), Some(1.0)) => RopeScaling::None,
        (None | Some("linear"), Some(factor)) => RopeScaling::Linear { factor },
        (None | Some("none"), _) => RopeScaling::None,
        (Some("linear"), None) => return Err(settings.error("rope.scaling.factor", "is missing")),
        (Some(other), _) => {
            let reason = format!("is `{other}`; known: none, linear, and Llama 3's by `{ROPE_FACTORS}`");
            return Err(settings.error("rope.scaling.type", reason));
        }
    };
    let Some(span) = file.spans.get(ROPE_FACTORS) else { return Ok(scaling) };
    let mut factors = vec![0.0; span.shape.iter().product()];
    let decoded = span.encoding.decode(file.bytes_of(span), &mut factors);
    decoded.map_err(|error| FormatError::tensor(&file.path, ROPE_FACTORS, error.to_string()))?;
    as_llama3(&factors, original.unwrap_or(8192), config).filter(|_| scaling == RopeScaling::None).ok_or_else(
        || {
            FormatError::tensor(
                &file.path,
                ROPE_FACTORS,
                "these divisors are not those of Llama 3's stretching, the only one known",
            )
        },
    )
}

/// The file has one divisor per frequency and not the rule behind them: the rule is guessed and has to give the divisors.
fn as_llama3(factors: &[f32], original_context: usize, config: &DecoderConfig) -> Option<RopeScaling> {
    let factor = factors.iter().copied().fold(1.0, f32::max);
    let scaling =
        RopeScaling::Llama3 { factor, low_freq_factor: 1.0, high_freq_factor: 4.0, original_context };
    let rule = llama3_factors(scaling, config.head_dim(), config.rope_base)?;
    let same = |(a, b): (&f32, &f32)| (a - b).abs() <= MATCHES_LLAMA3 * b.abs();
    (rule.len() == factors.len() && factors.iter().zip(&rule).all(same)).then_some(scaling)
}
