//! How a library is evolved.

use merit_core::gate::GateRule;
use merit_core::registry::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a library is evolved. The defaults are RewardHarness', with the best version kept apart from the head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvolveSettings {
    /// Rounds of proposing.
    pub rounds: usize,
    /// When a proposal is kept: held against the best version on the validation items.
    pub gate: GateRule,
    /// Entries are pruned after every so many rounds, and after the last; 0 never.
    pub prune_every: usize,
    /// What all entries that are pruned together may cost, in mean correctness on the validation items.
    pub prune_margin: f64,
    /// It ends after so many rounds without a better version; 0 never.
    pub patience: usize,
    /// Most calls of the judge; 0 has no limit. A round that would begin beyond it does not.
    pub budget: u64,
}

impl Default for EvolveSettings {
    fn default() -> Self {
        Self {
            rounds: 8,
            gate: GateRule::Margin { margin: 0.0 },
            prune_every: 0,
            prune_margin: 0.0,
            patience: 0,
            budget: 0,
        }
    }
}

impl EvolveSettings {
    pub fn check(&self) -> Result<(), Refusal> {
        let margin = match self.gate {
            GateRule::Always => 0.0,
            GateRule::Margin { margin }
            | GateRule::Interval { margin }
            | GateRule::Rotating { margin, .. } => margin,
        };
        let share = |margin: f64| (0.0..=1.0).contains(&margin);
        Refusal::unless(share(margin), "gate.margin", margin, "from 0 to 1: a share of the items")?;
        Refusal::unless(
            share(self.prune_margin),
            "prune_margin",
            self.prune_margin,
            "from 0 to 1: a share of the items",
        )?;
        let folds = matches!(self.gate, GateRule::Rotating { folds, .. } if folds < 2);
        Refusal::unless(!folds, "gate.folds", "below 2", "at least 2; with one fold use `margin`")?;
        let pointless = self.prune_every == 0 && self.prune_margin != 0.0;
        Refusal::unless(!pointless, "prune_margin", self.prune_margin, "0 where `prune_every` is 0")
    }
}
