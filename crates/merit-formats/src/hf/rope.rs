//! Rotary settings of `config.json`, in the older form (`rope_theta`, `rope_scaling`) and the newer (`rope_parameters`).

use crate::settings::Settings;
use crate::{FormatError, RopeScaling};

/// Base and stretching.
pub(super) struct Rope {
    pub(super) base: f32,
    pub(super) scaling: RopeScaling,
}

/// Of a decoder whose layers are all alike.
pub(super) fn read(settings: &Settings, default_base: f32) -> Result<Rope, FormatError> {
    let outer = settings.number("rope_theta")?;
    let inner = match settings.inner("rope_parameters")? {
        Some(inner) => Some(inner),
        None => settings.inner("rope_scaling")?,
    };
    from(inner.as_ref(), outer.unwrap_or(default_base))
}

/// Of Gemma 3: layers that see everything, and those with a window.
pub(super) fn read_gemma(settings: &Settings) -> Result<(Rope, f32), FormatError> {
    let whole = settings.number("rope_theta")?.unwrap_or(1e6);
    let near = settings.number("rope_local_base_freq")?.unwrap_or(1e4);
    let scaling = settings.inner("rope_scaling")?;
    let Some(parameters) = settings.inner("rope_parameters")? else {
        return Ok((from(scaling.as_ref(), whole)?, near));
    };
    let whole = from(parameters.inner("full_attention")?.or(scaling).as_ref(), whole)?;
    let near = from(parameters.inner("sliding_attention")?.as_ref(), near)?;
    if near.scaling != RopeScaling::None {
        return Err(settings.error("rope_parameters.sliding_attention", "is stretched, which is not run"));
    }
    Ok((whole, near.base))
}

fn from(inner: Option<&Settings>, base: f32) -> Result<Rope, FormatError> {
    let Some(inner) = inner else { return Ok(Rope { base, scaling: RopeScaling::None }) };
    let base = inner.number("rope_theta")?.unwrap_or(base);
    if let Some(turned) = inner.number("partial_rotary_factor")?.filter(|&share| share != 1.0) {
        return Err(inner.error("partial_rotary_factor", format!("is {turned}; only whole heads are turned")));
    }
    let kind = inner.text("rope_type")?.or(inner.text("type")?).unwrap_or_else(|| "default".to_owned());
    let number = |key: &str| inner.number(key)?.ok_or_else(|| inner.error(key, "is missing"));
    let scaling = match kind.as_str() {
        "default" => RopeScaling::None,
        "linear" => match number("factor")? {
            1.0 => RopeScaling::None,
            factor => RopeScaling::Linear { factor },
        },
        "llama3" => RopeScaling::Llama3 {
            factor: number("factor")?,
            low_freq_factor: number("low_freq_factor")?,
            high_freq_factor: number("high_freq_factor")?,
            original_context: inner.required_size("original_max_position_embeddings")?,
        },
        other => {
            return Err(inner.error("rope_type", format!("is `{other}`; known: default, linear, llama3")));
        }
    };
    Ok(Rope { base, scaling })
}
