//! A constant in place of the length, so that no length is favoured: `s_i = w_i / (length sum_j w_j)`.

use super::total_weight;
use merit_core::About;

pub(super) const ABOUT: About = About {
    name: "constant",
    summary: "sum over tokens divided by a constant length, then mean over samples",
    paper: "Dr. GRPO, arXiv:2503.20783",
};

pub(super) fn scales(samples: &[(usize, f64)], length: u32) -> Vec<f64> {
    let total = total_weight(samples);
    samples.iter().map(|(_, weight)| weight / (f64::from(length) * total)).collect()
}
