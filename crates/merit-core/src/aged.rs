//! Things kept across steps carry the policy version that made them and a rule for renewal (rule 10).

use crate::PolicyVersion;
use serde::{Deserialize, Serialize};

/// A kept value with its age.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aged<T> {
    /// What was made and may be used again.
    pub value: T,
    /// The policy that made it.
    pub made_by: PolicyVersion,
    /// When it must be made again.
    pub refresh: Refresh,
}

/// When a kept value is too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Refresh {
    /// It does not depend on the policy.
    Never,
    /// After this many versions.
    After {
        /// Versions it stays good for.
        versions: u64,
    },
}

impl<T> Aged<T> {
    /// Keeps `value`, made by `made_by`.
    pub fn new(value: T, made_by: PolicyVersion, refresh: Refresh) -> Self {
        Self { value, made_by, refresh }
    }

    /// How many versions ago it was made.
    pub fn age(&self, now: PolicyVersion) -> u64 {
        now.0.saturating_sub(self.made_by.0)
    }

    /// The value while it is fresh; `None` when it must be made again.
    ///
    /// ```
    /// use merit_core::{Aged, PolicyVersion, Refresh};
    /// let kept = Aged::new(0.5, PolicyVersion(3), Refresh::After { versions: 2 });
    /// assert_eq!(kept.fresh(PolicyVersion(5)), Some(&0.5));
    /// assert_eq!(kept.fresh(PolicyVersion(6)), None);
    /// ```
    pub fn fresh(&self, now: PolicyVersion) -> Option<&T> {
        match self.refresh {
            Refresh::Never => Some(&self.value),
            Refresh::After { versions } => (self.age(now) <= versions).then_some(&self.value),
        }
    }
}
