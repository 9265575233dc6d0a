//! Tables of rotary angles, up to the longest context: one for whole layers, one for layers with a window.

use crate::{DecoderConfig, RopeScaling};
use merit_kernels::rotary::Angles;

/// Cosines and sines per position, half a head wide.
#[derive(Debug, Clone)]
pub(crate) struct Rope {
    whole: Table,
    /// Absent: every layer rotates by the same angles.
    windowed: Option<Table>,
}

#[derive(Debug, Clone)]
struct Table {
    half: usize,
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl Rope {
    pub(crate) fn new(config: &DecoderConfig) -> Self {
        let half = config.head_dim() / 2;
        let scaling = config.style.rope_scaling;
        let window = config.style.window.as_ref();
        Self {
            whole: Table::new(half, config.max_context, |pair| {
                scaled(frequency(config.rope_base, pair, half), scaling)
            }),
            windowed: window.map(|window| {
                Table::new(half, config.max_context, |pair| frequency(window.rope_base, pair, half))
            }),
        }
    }

    /// The angles that `layer` rotates by.
    pub(crate) fn angles(&self, config: &DecoderConfig, layer: usize) -> Angles<'_> {
        let windowed = self.windowed.as_ref().filter(|_| config.window_of(layer).is_some());
        let Table { half, cos, sin } = windowed.unwrap_or(&self.whole);
        Angles { half: *half, cos, sin }
    }
}

impl Table {
    fn new(half: usize, positions: usize, frequency: impl Fn(usize) -> f64) -> Self {
        let frequencies: Vec<f64> = (0..half).map(frequency).collect();
        let angles = (0..positions).flat_map(|position| frequencies.iter().map(move |f| position as f64 * f));
        let (cos, sin) = angles.map(|angle| (angle.cos() as f32, angle.sin() as f32)).unzip();
        Self { half, cos, sin }
    }
}

fn frequency(base: f32, pair: usize, half: usize) -> f64 {
    f64::from(base).powf(-(pair as f64 / half as f64))
}

/// Llama 3.1's rule: with `ratio` the wavelengths that fit the original context, a frequency is kept above the high
/// factor, divided below the low one, and mixed between: `(1 - s) f / factor + s f` with `s` from 0 to 1.
fn scaled(frequency: f64, scaling: RopeScaling) -> f64 {
    match scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear { factor } => frequency / f64::from(factor),
        RopeScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original_context } => {
            let ratio = original_context as f64 * frequency / std::f64::consts::TAU;
            let (low, high) = (f64::from(low_freq_factor), f64::from(high_freq_factor));
            let smooth = if ratio < low {
                0.0
            } else if ratio > high {
                1.0
            } else {
                (ratio - low) / (high - low)
            };
            frequency * ((1.0 - smooth) / f64::from(factor) + smooth)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_frequencies_are_stretched_and_high_ones_kept() {
        let scaling = RopeScaling::Llama3 {
            factor: 8.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_context: 8192,
        };
        let wave = |length: f64| std::f64::consts::TAU / length;
        assert_eq!(scaled(wave(100.0), scaling), wave(100.0));
        assert!((scaled(wave(10_000.0), scaling) - wave(80_000.0)).abs() < 1e-12);
        // 8192 / 3276.8 = 2.5 wavelengths: halfway between 1 and 4.
        let halfway = scaled(wave(3276.8), scaling) / wave(3276.8);
        assert!((halfway - (0.5 / 8.0 + 0.5)).abs() < 1e-9, "{halfway}");
        assert_eq!(scaled(0.5, RopeScaling::Linear { factor: 4.0 }), 0.125);
    }
}
