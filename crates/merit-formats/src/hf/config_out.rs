//! The shape of a decoder as `config.json`.

use crate::special::Special;
use crate::{Activation, DecoderConfig, Encoding, Family, RopeScaling};
use serde_json::{Map, Value, json};

/// The shortest decimal that reads back as this number.
pub(crate) fn decimal(value: f32) -> Value {
    value.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

/// `model_type` and class of a family.
fn names(family: Family) -> (&'static str, &'static str) {
    match family {
        Family::Llama => ("llama", "LlamaForCausalLM"),
        Family::Qwen2 => ("qwen2", "Qwen2ForCausalLM"),
        Family::Qwen3 => ("qwen3", "Qwen3ForCausalLM"),
        Family::Gemma3 => ("gemma3_text", "Gemma3ForCausalLM"),
    }
}

/// Everything that `transformers` needs; in the older form of the rotary settings, which every version reads.
pub(crate) fn config_json(config: &DecoderConfig, special: &Special, encoding: Encoding) -> Value {
    let (model_type, class) = names(config.style.family);
    let dtype = match encoding {
        Encoding::Bf16 => "bfloat16",
        Encoding::F16 => "float16",
        _ => "float32",
    };
    let mut map = Map::new();
    let mut set = |key: &str, value: Value| drop(map.insert(key.to_owned(), value));
    set("architectures", json!([class]));
    set("model_type", json!(model_type));
    set("torch_dtype", json!(dtype));
    set("vocab_size", json!(config.vocab));
    set("hidden_size", json!(config.d_model));
    set("intermediate_size", json!(config.d_ff));
    set("num_hidden_layers", json!(config.layers));
    set("num_attention_heads", json!(config.heads));
    set("num_key_value_heads", json!(config.kv_heads));
    set("max_position_embeddings", json!(config.max_context));
    set("rms_norm_eps", decimal(config.norm_eps));
    set("rope_theta", decimal(config.rope_base));
    set("rope_scaling", rope_scaling(config.style.rope_scaling));
    set("tie_word_embeddings", json!(config.style.tied));
    set("attention_dropout", json!(0.0));
    set("use_cache", json!(true));
    set("bos_token_id", json!(special.bos.as_ref().map(|token| token.id)));
    set("eos_token_id", ids(special));
    set("pad_token_id", json!(special.padding.as_ref().map(|token| token.id)));
    family(config, &mut map);
    Value::Object(map)
}

fn family(config: &DecoderConfig, map: &mut Map<String, Value>) {
    let mut set = |key: &str, value: Value| drop(map.insert(key.to_owned(), value));
    let activation = match config.style.activation {
        Activation::Silu => "silu",
        Activation::GeluTanh => "gelu_pytorch_tanh",
    };
    if config.style.family != Family::Qwen2 {
        set("head_dim", json!(config.head_dim()));
        set("attention_bias", json!(false));
    }
    match config.style.family {
        Family::Llama => {
            set("hidden_act", json!(activation));
            set("mlp_bias", json!(false));
        }
        Family::Qwen2 | Family::Qwen3 => {
            set("hidden_act", json!(activation));
            set("use_sliding_window", json!(false));
        }
        Family::Gemma3 => {
            set("hidden_activation", json!(activation));
            set("query_pre_attn_scalar", query_scalar(config));
            set("final_logit_softcapping", Value::Null);
            set("attn_logit_softcapping", Value::Null);
            windows(config, &mut set);
        }
    }
}

/// The number whose inverse root scales the scores; it was a whole number before it became a scale.
fn query_scalar(config: &DecoderConfig) -> Value {
    let Some(scale) = config.style.query_scale else { return json!(config.head_dim()) };
    let scalar = 1.0 / (f64::from(scale) * f64::from(scale));
    let whole = scalar.round();
    let exact = (1.0 / (whole as f32).sqrt()).to_bits() == scale.to_bits();
    if exact { json!(whole as u64) } else { json!(scalar) }
}

fn windows(config: &DecoderConfig, set: &mut impl FnMut(&str, Value)) {
    let types = (0..config.layers).map(|layer| match config.window_of(layer) {
        Some(_) => "sliding_attention",
        None => "full_attention",
    });
    set("layer_types", types.collect::<Vec<_>>().into());
    if let Some(window) = config.style.window {
        set("sliding_window", json!(window.size));
        set("sliding_window_pattern", json!(window.every));
        set("rope_local_base_freq", decimal(window.rope_base));
    }
}

fn rope_scaling(scaling: RopeScaling) -> Value {
    match scaling {
        RopeScaling::None => Value::Null,
        RopeScaling::Linear { factor } => json!({ "rope_type": "linear", "factor": decimal(factor) }),
        RopeScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original_context } => json!({
            "rope_type": "llama3",
            "factor": decimal(factor),
            "low_freq_factor": decimal(low_freq_factor),
            "high_freq_factor": decimal(high_freq_factor),
            "original_max_position_embeddings": original_context,
        }),
    }
}

/// One id as a number, several as a list.
pub(crate) fn ids(special: &Special) -> Value {
    match special.eos.as_slice() {
        [] => Value::Null,
        [one] => json!(one.id),
        several => several.iter().map(|token| token.id).collect::<Vec<_>>().into(),
    }
}
