//! What the verifiers have in common, so that reading, threads and printing are written once.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Judges records of one kind. Made once from a policy, and again for records that bring a policy of their own; shared by
/// threads.
pub(super) trait Verifier: Sized + Send + Sync {
    /// What counts as right.
    type Policy: Default + Serialize + DeserializeOwned;
    /// One line of the input.
    type Record<'a>: Deserialize<'a>;
    /// What is said of it.
    type Verdict: Serialize;

    /// Checks the policy.
    fn compile(policy: Self::Policy) -> Result<Self, String>;

    /// What every record may have.
    fn common<'a>(record: &Self::Record<'a>) -> Common<'a>;

    /// Judges one record; the error says why it is none that can be judged.
    fn judge(&self, record: &Self::Record<'_>) -> Result<Judged<Self::Verdict>, String>;

    /// The verdict for people, a line each.
    fn explain(verdict: &Self::Verdict) -> Vec<String>;
}

/// What every record may have.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Common<'a> {
    /// Handed on as it is.
    pub(super) id: Option<&'a RawValue>,
    /// Laid over the policy of the command.
    pub(super) policy: Option<&'a RawValue>,
}

/// A verdict with what all verdicts have.
#[derive(Debug)]
pub(super) struct Judged<V> {
    /// Whether the response is right. Absent: it could not be judged by no fault of its own.
    pub(super) passed: Option<bool>,
    /// From 0 to 1. Absent: as above.
    pub(super) score: Option<f64>,
    pub(super) verdict: V,
}

/// A key that is there counts, also with `null`; for values where `null` is a value like any other.
pub(super) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
