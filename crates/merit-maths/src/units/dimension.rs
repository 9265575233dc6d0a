//! What a unit measures: powers of the base quantities, and their names in words.

use std::fmt;

/// Base quantities that do not convert into each other. Angle, data and money are kept apart from plain numbers, so that a
/// mix-up is noticed.
const BASES: [&str; 15] = [
    "length",
    "mass",
    "time",
    "current",
    "temperature",
    "amount",
    "light",
    "angle",
    "data",
    "dollars",
    "euros",
    "pounds",
    "yuan",
    "rupees",
    "yen",
];

/// Powers of the base quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dimension([i8; BASES.len()]);

const fn of<const N: usize>(powers: [(usize, i8); N]) -> Dimension {
    let (mut all, mut at) = ([0; BASES.len()], 0);
    while at < N {
        all[powers[at].0] = powers[at].1;
        at += 1;
    }
    Dimension(all)
}

impl Dimension {
    pub(super) const LENGTH: Self = of([(0, 1)]);
    pub(super) const MASS: Self = of([(1, 1)]);
    pub(super) const TIME: Self = of([(2, 1)]);
    pub(super) const CURRENT: Self = of([(3, 1)]);
    pub const TEMPERATURE: Self = of([(4, 1)]);
    pub(super) const AMOUNT: Self = of([(5, 1)]);
    pub(super) const LIGHT: Self = of([(6, 1)]);
    pub const ANGLE: Self = of([(7, 1)]);
    pub(super) const DATA: Self = of([(8, 1)]);
    pub(super) const DOLLARS: Self = of([(9, 1)]);
    pub(super) const EUROS: Self = of([(10, 1)]);
    pub(super) const POUNDS: Self = of([(11, 1)]);
    pub(super) const YUAN: Self = of([(12, 1)]);
    pub(super) const RUPEES: Self = of([(13, 1)]);
    pub(super) const YEN: Self = of([(14, 1)]);
    pub(super) const AREA: Self = of([(0, 2)]);
    pub(super) const VOLUME: Self = of([(0, 3)]);
    /// Length over volume, as cars are told of.
    pub(super) const ECONOMY: Self = of([(0, -2)]);
    pub(super) const SPEED: Self = of([(0, 1), (2, -1)]);
    const ACCELERATION: Self = of([(0, 1), (2, -2)]);
    const DENSITY: Self = of([(0, -3), (1, 1)]);
    pub(super) const FORCE: Self = of([(0, 1), (1, 1), (2, -2)]);
    pub(super) const PRESSURE: Self = of([(0, -1), (1, 1), (2, -2)]);
    pub(super) const ENERGY: Self = of([(0, 2), (1, 1), (2, -2)]);
    pub(super) const POWER: Self = of([(0, 2), (1, 1), (2, -3)]);
    pub(super) const FREQUENCY: Self = of([(2, -1)]);
    pub(super) const TURNING: Self = of([(2, -1), (7, 1)]);
    pub(super) const DATA_RATE: Self = of([(2, -1), (8, 1)]);
    pub(super) const CHARGE: Self = of([(2, 1), (3, 1)]);
    pub(super) const VOLTAGE: Self = of([(0, 2), (1, 1), (2, -3), (3, -1)]);
    pub(super) const RESISTANCE: Self = of([(0, 2), (1, 1), (2, -3), (3, -2)]);
    pub(super) const CAPACITANCE: Self = of([(0, -2), (1, -1), (2, 4), (3, 2)]);
    pub(super) const MAGNETISM: Self = of([(1, 1), (2, -2), (3, -1)]);

    /// This times the other to the power of `exponent`; `None` when a power does not fit.
    pub fn times(self, other: Self, exponent: i8) -> Option<Self> {
        let mut powers = self.0;
        for (power, other) in powers.iter_mut().zip(other.0) {
            *power = power.checked_add(other.checked_mul(exponent)?)?;
        }
        Some(Self(powers))
    }
}

/// Quantities with a name of their own.
const NAMED: &[(Dimension, &str)] = &[
    (of([]), "a plain number"),
    (Dimension::LENGTH, "a length"),
    (Dimension::MASS, "a mass"),
    (Dimension::TIME, "a time"),
    (Dimension::CURRENT, "an electric current"),
    (Dimension::TEMPERATURE, "a temperature"),
    (Dimension::AMOUNT, "an amount of substance"),
    (Dimension::LIGHT, "a luminous intensity"),
    (Dimension::ANGLE, "an angle"),
    (Dimension::DATA, "an amount of data"),
    (Dimension::AREA, "an area"),
    (Dimension::VOLUME, "a volume"),
    (Dimension::SPEED, "a speed"),
    (Dimension::ACCELERATION, "an acceleration"),
    (Dimension::FORCE, "a force"),
    (Dimension::PRESSURE, "a pressure"),
    (Dimension::ENERGY, "an energy"),
    (Dimension::POWER, "a power"),
    (Dimension::DENSITY, "a density"),
    (Dimension::FREQUENCY, "a frequency"),
    (Dimension::TURNING, "an angular speed"),
    (Dimension::DATA_RATE, "a data rate"),
    (Dimension::CHARGE, "an electric charge"),
    (Dimension::VOLTAGE, "a voltage"),
    (Dimension::RESISTANCE, "an electric resistance"),
    (Dimension::CAPACITANCE, "a capacitance"),
    (Dimension::MAGNETISM, "a magnetic flux density"),
];

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name)) = NAMED.iter().find(|(dimension, _)| dimension == self) {
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
