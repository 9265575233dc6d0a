//! What a unit measures: powers of the base quantities, and their names in words.

use std::fmt;

/// The base quantities. Angle and data are kept apart from plain numbers, so that a mix-up is noticed.
pub(super) const BASES: [&str; 6] = ["length", "mass", "time", "temperature", "angle", "data"];

/// Powers of the base quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Dimension(pub(super) [i8; 6]);

/// Quantities with a name of their own.
const NAMED: &[([i8; 6], &str)] = &[
    ([1, 0, 0, 0, 0, 0], "a length"),
    ([0, 1, 0, 0, 0, 0], "a mass"),
    ([0, 0, 1, 0, 0, 0], "a time"),
    ([0, 0, 0, 1, 0, 0], "a temperature"),
    ([0, 0, 0, 0, 1, 0], "an angle"),
    ([0, 0, 0, 0, 0, 1], "an amount of data"),
    ([2, 0, 0, 0, 0, 0], "an area"),
    ([3, 0, 0, 0, 0, 0], "a volume"),
    ([1, 0, -1, 0, 0, 0], "a speed"),
    ([1, 0, -2, 0, 0, 0], "an acceleration"),
    ([1, 1, -2, 0, 0, 0], "a force"),
    ([-1, 1, -2, 0, 0, 0], "a pressure"),
    ([2, 1, -2, 0, 0, 0], "an energy"),
    ([2, 1, -3, 0, 0, 0], "a power"),
    ([-3, 1, 0, 0, 0, 0], "a density"),
    ([0, 0, -1, 0, 0, 0], "a frequency"),
    ([0, 0, -1, 0, 1, 0], "an angular speed"),
    ([0, 0, -1, 0, 0, 1], "a data rate"),
    ([0, 0, 0, 0, 0, 0], "a plain number"),
];

impl Dimension {
    /// This times the other to the power of `exponent`; `None` when a power does not fit.
    pub(super) fn times(self, other: Self, exponent: i8) -> Option<Self> {
        let mut powers = self.0;
        for (power, other) in powers.iter_mut().zip(other.0) {
            *power = power.checked_add(other.checked_mul(exponent)?)?;
        }
        Some(Self(powers))
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name)) = NAMED.iter().find(|(powers, _)| *powers == self.0) {
            return f.write_str(name);
        }
        let powers = BASES.iter().zip(self.0).filter(|(_, power)| *power != 0);
        for (i, (base, power)) in powers.enumerate() {
            let dot = if i == 0 { "" } else { "*" };
            if power == 1 { write!(f, "{dot}{base}")? } else { write!(f, "{dot}{base}^{power}")? }
        }
        Ok(())
    }
}
