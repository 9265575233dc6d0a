//! Llama 3's stretching of rotary angles, as one divisor per frequency.

use crate::RopeScaling;

/// How near, relatively, divisors must be to those of the rule: files were written from other roundings.
pub(crate) const MATCHES_LLAMA3: f32 = 1e-4;

/// Divisors of the `dim / 2` frequencies; `None` for other kinds of stretching.
///
/// With wavelength `w = 2 pi base^(2i / dim)` and original context `c`: 1 where `w < c / high`, `factor` where
/// `w > c / low`, and between them `1 / ((1 - s) / factor + s)` with `s = (c / w - low) / (high - low)`.
pub(crate) fn llama3_factors(scaling: RopeScaling, dim: usize, base: f32) -> Option<Vec<f32>> {
    let RopeScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original_context } = scaling else {
        return None;
    };
    let [factor, low, high, base] = [factor, low_freq_factor, high_freq_factor, base].map(f64::from);
    let context = original_context as f64;
    let divisor = |i: usize| {
        let wavelength = std::f64::consts::TAU * base.powf(2.0 * i as f64 / dim as f64);
        let ramp = (context / wavelength - low) / (high - low);
        if wavelength < context / high {
            1.0
        } else if wavelength > context / low {
            factor
        } else {
            1.0 / ((1.0 - ramp) / factor + ramp)
        }
    };
    Some((0..dim / 2).map(|i| divisor(i) as f32).collect())
}
