//! Every trained token counts the same, so long samples weigh more: `s_i = w_i / sum_j w_j n_j`.

use merit_core::About;

pub(super) const ABOUT: About = About {
    name: "token",
    summary: "mean over all trained tokens of the batch",
    paper: "DAPO, arXiv:2503.14476",
};

pub(super) fn scales(samples: &[(usize, f64)]) -> Vec<f64> {
    let tokens: f64 = samples.iter().map(|&(n, weight)| n as f64 * weight).sum();
    samples.iter().map(|(_, weight)| weight / tokens).collect()
}
