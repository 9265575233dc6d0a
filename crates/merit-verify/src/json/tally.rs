//! Counts of what a schema expects and of what was found, with the places that cost something.

use super::schema::{Failure, FailureKind};
use super::verdict::EVIDENCE_KEPT;

/// What was expected, and what of it was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Keys and elements that have to be there.
    pub(crate) expected: f64,
    pub(crate) present: f64,
    /// Keys and elements that have no business there.
    pub(crate) unknown: f64,
    /// Places whose value is checked.
    pub(crate) checked: f64,
    pub(crate) right: f64,
    /// Optional places with a wrong value.
    pub(crate) wrong_extras: f64,
    pub(crate) structure_failures: Vec<Failure>,
    pub(crate) type_failures: Vec<Failure>,
}

impl Tally {
    /// The structure layer; absent when the schema expects no key.
    pub(crate) fn structure(&self) -> Option<f64> {
        if self.expected > 0.0 {
            return Some(((self.present - self.unknown).max(0.0) / self.expected).min(1.0));
        }
        (self.unknown > 0.0).then_some(0.0)
    }

    /// The types layer; absent when there is nothing to check.
    pub(crate) fn types(&self) -> Option<f64> {
        if self.checked > 0.0 {
            return Some(((self.right - self.wrong_extras).max(0.0) / self.checked).min(1.0));
        }
        (self.wrong_extras > 0.0).then_some(0.0)
    }

    pub(super) fn add(&mut self, other: Tally) {
        self.add_scaled(other, 1, 1);
    }

    /// Adds `num / den` of another tally; multiplied first, so that n n-ths are exactly 1.
    pub(super) fn add_scaled(&mut self, other: Tally, num: usize, den: usize) {
        let part = |count: f64| count * num as f64 / den as f64;
        self.expected += part(other.expected);
        self.present += part(other.present);
        self.unknown += part(other.unknown);
        self.checked += part(other.checked);
        self.right += part(other.right);
        self.wrong_extras += part(other.wrong_extras);
        let room = EVIDENCE_KEPT.saturating_sub(self.structure_failures.len());
        self.structure_failures.extend(other.structure_failures.into_iter().take(room));
        let room = EVIDENCE_KEPT.saturating_sub(self.type_failures.len());
        self.type_failures.extend(other.type_failures.into_iter().take(room));
    }

    /// The tally of something nobody asked for: what is wrong in it counts, what is right does not.
    pub(super) fn unasked(self) -> Self {
        let wrong_extras = (self.checked - self.right).max(0.0) + self.wrong_extras;
        let unknown = self.unknown + (self.expected - self.present).max(0.0);
        Self { wrong_extras, unknown, expected: 0.0, present: 0.0, checked: 0.0, right: 0.0, ..self }
    }

    pub(super) fn note_structure(&mut self, path: &str, kind: FailureKind, why: &str) {
        if self.structure_failures.len() < EVIDENCE_KEPT {
            self.structure_failures.push(Failure { path: path.to_owned(), kind, why: why.to_owned() });
        }
    }

    pub(super) fn note_type(&mut self, path: &str, kind: FailureKind, why: String) {
        if self.type_failures.len() < EVIDENCE_KEPT {
            self.type_failures.push(Failure { path: path.to_owned(), kind, why });
        }
    }

    /// How well a branch fits, for choosing among alternatives.
    pub(super) fn fit(&self) -> f64 {
        self.structure().unwrap_or(1.0) + self.types().unwrap_or(1.0)
    }
}
