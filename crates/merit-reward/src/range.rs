//! The values a part can come to, as an interval: what the checker of rewards reasons with.

/// From `low` to `high`, both included; either may be infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The smallest value, or negative infinity.
    pub low: f64,
    /// The largest value, or infinity.
    pub high: f64,
}

impl Range {
    /// A share or a verdict.
    pub const UNIT: Self = Self { low: 0.0, high: 1.0 };
    /// Every value: nothing is known of the range.
    pub const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Exactly one value.
    pub fn only(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// Between two numbers, in either order.
    pub fn between(a: f64, b: f64) -> Self {
        Self { low: a.min(b), high: a.max(b) }
    }

    /// How far apart the ends are.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// The smallest range that holds both.
    pub fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Every sum of one value of each.
    pub fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    /// Every product of one value of each.
    pub fn times(self, other: Self) -> Self {
        // 0 × ∞ is 0 here: a part that is 0 stays 0 however large the other may grow.
        let times = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let ends = [
            times(self.low, other.low),
            times(self.low, other.high),
            times(self.high, other.low),
            times(self.high, other.high),
        ];
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high }
    }

    /// Every value times `factor`.
    pub fn scaled(self, factor: f64) -> Self {
        self.times(Self::only(factor))
    }
}
