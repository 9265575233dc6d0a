//! The table of rotary angles, up to the longest context.

use crate::DecoderConfig;

/// Cosines and sines per position, half a head wide.
#[derive(Debug, Clone)]
pub(crate) struct Rope {
    half: usize,
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl Rope {
    pub(crate) fn new(config: &DecoderConfig) -> Self {
        let half = config.head_dim() / 2;
        let mut rope = Self { half, cos: Vec::new(), sin: Vec::new() };
        for position in 0..config.max_context {
            for pair in 0..half {
                let exponent = pair as f64 / half as f64;
                let (sin, cos) = (position as f64 * f64::from(config.rope_base).powf(-exponent)).sin_cos();
                rope.cos.push(cos as f32);
                rope.sin.push(sin as f32);
            }
        }
        rope
    }

    pub(crate) fn at(&self, position: usize) -> (&[f32], &[f32]) {
        let range = position * self.half..(position + 1) * self.half;
        (&self.cos[range.clone()], &self.sin[range])
    }
}
