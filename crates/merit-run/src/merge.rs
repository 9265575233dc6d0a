//! One policy of several: the weights as they stood after named stages, averaged or added up relative to a base.

use crate::RunError;
use crate::driver::Drive;
use crate::stage::Stage;
use merit_model::Weights;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The policy as it stood after several stages becomes one.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Merge {
    /// Where its numbers are kept. Absent: `merged`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How the weights are put together.
    #[serde(default)]
    pub mode: MergeMode,
    /// The stages whose weights are merged; at least two.
    pub of: Vec<Merged>,
    /// The stage that differences are taken from; for `task-arithmetic` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// How weights are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeMode {
    /// Their weighted mean.
    #[default]
    Average,
    /// The base, and the weighted sum of what each differs from it by.
    TaskArithmetic,
}

/// One part of a merge.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Merged {
    /// The policy after this stage.
    pub stage: String,
    /// How much it counts: in an average relative to the others, else by itself.
    #[serde(default = "one")]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

impl Merge {
    /// The stages that it names.
    pub(crate) fn stages(&self) -> impl Iterator<Item = &str> {
        self.of.iter().map(|part| part.stage.as_str()).chain(self.base.as_deref())
    }

    /// `Err` with the reason where it cannot be done.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.of.len() < 2 {
            return Err("`of` names fewer than two stages; there is nothing to merge".into());
        }
        if let Some(odd) = self.of.iter().find(|part| !part.weight.is_finite()) {
            return Err(format!("the weight of `{}` is {}; it must be finite", odd.stage, odd.weight));
        }
        match (self.mode, &self.base) {
            (MergeMode::Average, Some(_)) => {
                Err("`base` is for `mode = \"task-arithmetic\"`; an average has none".into())
            }
            (MergeMode::TaskArithmetic, None) => {
                Err("`mode = \"task-arithmetic\"` adds up differences; name the stage they are taken from in `base`".into())
            }
            (MergeMode::Average, None) if self.of.iter().any(|part| part.weight < 0.0) || self.sum() <= 0.0 => {
                Err("the weights of an average must not be negative, and one of them positive".into())
            }
            _ => Ok(()),
        }
    }

    fn sum(&self) -> f64 {
        self.of.iter().map(|part| part.weight).sum()
    }

    /// Each part with its share. In an average the shares add up to 1; else the base has what they leave.
    fn shares(&self) -> Vec<(&str, f64)> {
        let whole = if self.mode == MergeMode::Average { self.sum() } else { 1.0 };
        let mut shares: Vec<(&str, f64)> =
            self.of.iter().map(|part| (part.stage.as_str(), part.weight / whole)).collect();
        // base + Σ w (part - base) = (1 - Σ w) base + Σ w part
        shares.extend(self.base.as_deref().map(|base| (base, 1.0 - self.sum())));
        shares
    }
}

/// Merges, and records how far the result lies from each part.
pub(crate) fn run(
    drive: &mut Drive<'_>,
    stage: &Stage,
    how: &Merge,
    places: &[String],
) -> Result<(), RunError> {
    let parts: Vec<(std::sync::Arc<Weights>, f64)> = places
        .iter()
        .zip(how.shares())
        .map(|(place, (_, share))| Ok((drive.policy.after(place)?, share)))
        .collect::<Result<_, RunError>>()?;
    let mut merged = drive.policy.present().as_ref().clone();
    for (at, value) in merged.values_mut().iter_mut().enumerate() {
        let sum: f64 = parts.iter().map(|(part, share)| f64::from(part.values()[at]) * share).sum();
        *value = sum as f32;
    }
    let far = |part: &Weights| {
        let both = part.values().iter().zip(merged.values());
        both.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
    };
    let names = how.stages().map(|name| format!("distance/{name}"));
    let numbers: Vec<(String, f64)> = names.zip(parts.iter().map(|(part, _)| far(part))).collect();
    let rows: Vec<(&str, f64)> = numbers.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    drive.folder.record_metrics(&stage.phase, stage.round, &rows)?;
    drive.policy.become_weights(merged)?;
    // One more version of the policy.
    drive.place.step = 1;
    Ok(())
}
