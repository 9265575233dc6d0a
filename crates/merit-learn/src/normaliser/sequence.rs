//! Every sample counts the same, so tokens of long samples weigh less: `s_i = w_i / (n_i sum_j w_j)`.

use super::total_weight;
use merit_core::About;

pub(super) const ABOUT: About = About {
    name: "sequence",
    summary: "mean over the tokens of each sample, then over samples",
    paper: "GRPO, arXiv:2402.03300",
};

pub(super) fn scales(samples: &[(usize, f64)]) -> Vec<f64> {
    let total = total_weight(samples);
    samples.iter().map(|&(n, weight)| weight / (n as f64 * total)).collect()
}
