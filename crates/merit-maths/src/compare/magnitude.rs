//! Upper bounds of small non-negative reals, always rounded up: the radii of [`super::real::Real`].

use std::cmp::Ordering;

/// An upper bound `m · 2^e` with `1 ≤ m < 2`, or zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mag {
    m: f64,
    e: i64,
}

/// Covers the rounding of a few operations on 53-bit mantissas.
const UP: f64 = 1.0 + 1.0 / (1u64 << 48) as f64;

impl Mag {
    pub(crate) const ZERO: Mag = Mag { m: 0.0, e: 0 };

    /// `m · 2^e` rounded up, for `0 ≤ m`.
    pub(crate) fn new(m: f64, e: i64) -> Mag {
        if m <= 0.0 {
            return Mag::ZERO;
        }
        let (mut m, mut e) = (m * UP, e);
        while m >= 2.0 {
            m /= 2.0;
            e = e.saturating_add(1);
        }
        while m < 1.0 {
            m *= 2.0;
            e = e.saturating_sub(1);
        }
        Mag { m, e }
    }

    pub(crate) fn pow2(e: i64) -> Mag {
        Mag { m: 1.0, e }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.m == 0.0
    }

    pub(crate) fn add(self, other: Mag) -> Mag {
        let (big, small) = if self.cmp(other) == Ordering::Less { (other, self) } else { (self, other) };
        if small.is_zero() {
            return big;
        }
        let gap = big.e.saturating_sub(small.e).min(60);
        Mag::new(big.m + small.m * 0.5f64.powi(gap as i32), big.e)
    }

    pub(crate) fn mul(self, other: Mag) -> Mag {
        if self.is_zero() || other.is_zero() {
            return Mag::ZERO;
        }
        Mag::new(self.m * other.m, self.e.saturating_add(other.e))
    }

    /// An upper bound of `self / other`, where `other` is a lower bound (as [`Mag::lower`] gives).
    pub(crate) fn div(self, other: Mag) -> Mag {
        if self.is_zero() {
            return Mag::ZERO;
        }
        Mag::new(self.m / other.m, self.e.saturating_sub(other.e))
    }

    /// A lower bound of `m · 2^e − rad`; `None` where it is not safely above zero.
    pub(crate) fn lower(m: f64, e: i64, rad: Mag) -> Option<Mag> {
        let gap = rad.e.saturating_sub(e);
        if gap > 2 && !rad.is_zero() {
            return None;
        }
        let left = m - rad.m * 2.0f64.powi(gap.max(-60) as i32) * UP;
        if left <= m * 1e-9 {
            return None;
        }
        let down = Mag::new(left / (UP * UP * UP), e);
        Some(down)
    }

    /// Exponent `e` with `self < 2^e`; the least `i64` for zero.
    pub(crate) fn exponent(self) -> i64 {
        if self.is_zero() { i64::MIN / 2 } else { self.e.saturating_add(1) }
    }

    /// The bound as `man · 2^exp` with a whole `man`.
    pub(crate) fn parts(self) -> (u64, i64) {
        ((self.m * (1u64 << 52) as f64).ceil() as u64, self.e.saturating_sub(52))
    }

    pub(crate) fn cmp(self, other: Mag) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            _ => self.e.cmp(&other.e).then(self.m.total_cmp(&other.m)),
        }
    }
}
