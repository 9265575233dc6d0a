//! When a `repeat` has had enough rounds: its evaluation has not become better for a while.

use serde::{Deserialize, Serialize};

/// The end of a `repeat` before its last round.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// A number of the evaluation; more of it is better.
    pub metric: String,
    /// An evaluation among the stages that are repeated.
    pub of: String,
    /// Rounds without a new best after which it ends.
    pub patience: u64,
    /// What a new best has to be better by.
    #[serde(default)]
    pub min_delta: f64,
}

impl Until {
    /// Whether these rounds are enough.
    pub(crate) fn reached(&self, rounds: &[f64]) -> bool {
        let mut rounds = rounds.iter();
        let Some(mut best) = rounds.next().copied() else { return false };
        let mut waited = 0;
        for value in rounds {
            if *value > best + self.min_delta {
                (best, waited) = (*value, 0);
            } else {
                waited += 1;
            }
        }
        waited >= self.patience
    }

    /// `Err` with the reason where it cannot mean anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.patience == 0 {
            return Err("`until.patience` is 0; it is a number of rounds, at least 1".into());
        }
        if !(self.min_delta.is_finite() && self.min_delta >= 0.0) {
            return Err(format!("`until.min_delta` is {}; it must be at least 0", self.min_delta));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Until;

    #[test]
    fn a_plateau_is_as_many_rounds_without_a_new_best_as_there_is_patience() {
        let until =
            |patience, min_delta| Until { metric: "success".into(), of: "round".into(), patience, min_delta };
        assert!(!until(1, 0.0).reached(&[]));
        assert!(!until(1, 0.0).reached(&[0.5]));
        assert!(until(1, 0.0).reached(&[0.5, 0.5]));
        assert!(!until(2, 0.0).reached(&[0.5, 0.4, 0.6]));
        assert!(until(2, 0.0).reached(&[0.5, 0.4, 0.5]));
        assert!(until(1, 0.2).reached(&[0.5, 0.6]));
    }
}
