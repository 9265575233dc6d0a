//! Group-relative advantages under a composite reward.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const EPSILON: f64 = 1e-6;

/// How the rewards of a group become advantages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Normalisation {
    /// `(R − mean) / std` of the weighted sum R: GRPO.
    Joint,
    /// The weighted sum of `(r_k − mean_k) / (std_k + 1e-6)`.
    PerComponent,
    /// `R − mean`, not divided.
    None,
}

impl Normalisation {
    /// One advantage per member; `rewards[i][k]` is component k of member i. A group of equal rewards gets none.
    pub fn advantages(self, rewards: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
        let total = |member: &Vec<f64>| member.iter().zip(weights).map(|(r, w)| r * w).sum::<f64>();
        match self {
            Self::None => centred(&rewards.iter().map(total).collect::<Vec<_>>(), false),
            Self::Joint => centred(&rewards.iter().map(total).collect::<Vec<_>>(), true),
            Self::PerComponent => {
                let mut sum = vec![0.0; rewards.len()];
                for (k, weight) in weights.iter().enumerate() {
                    let of_k: Vec<f64> = rewards.iter().map(|member| member[k]).collect();
                    centred(&of_k, true).iter().zip(&mut sum).for_each(|(a, sum)| *sum += weight * a);
                }
                sum
            }
        }
    }
}

fn centred(values: &[f64], scaled: bool) -> Vec<f64> {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let std = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    let scale = if scaled { std + EPSILON } else { 1.0 };
    values.iter().map(|v| (v - mean) / scale).collect()
}
