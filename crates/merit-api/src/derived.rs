//! What follows from a puzzle or from settings alone, kept beside them.

use std::fmt;
use std::sync::OnceLock;

/// Something that is worked out of what it stands in, when it is first asked for, and kept.
///
/// It is no part of what it stands in: `#[serde(skip)]` keeps it out of files, all are equal, and a copy begins without one, since
/// copies are made to be changed. What it stands in must not change after it was asked for.
///
/// ```
/// use merit_api::Derived;
/// let total = Derived::default();
/// assert_eq!(*total.get_or(|| 1 + 2), 3);
/// assert_eq!(*total.get_or(|| unreachable!("it is known")), 3);
/// ```
pub struct Derived<T>(OnceLock<T>);

impl<T> Derived<T> {
    /// The derived value; `make` computes it at the first call.
    pub fn get_or(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }
}

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Clone for Derived<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> PartialEq for Derived<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Derived<T> {}

impl<T> fmt::Debug for Derived<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Derived")
    }
}
