//! Exact positive factors: a fraction times a power of π.

use dashu_int::ops::BitTest as _;
use dashu_ratio::RBig;

/// Most bits of a numerator or denominator: far more than any sensible quantity, and cheap to compute with.
const MAX_BITS: usize = 8_000;
const MAX_PI: i32 = 16;

/// A number: a fraction times π to a power.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Factor {
    pub(super) ratio: RBig,
    pub(super) pi: i32,
}

impl Factor {
    /// The plain number 1.
    pub(super) fn one() -> Self {
        Self { ratio: RBig::ONE, pi: 0 }
    }

    /// The product, or the refusal of one that is out of all proportion.
    pub(super) fn times(&self, other: &Self) -> Result<Self, String> {
        let (ratio, pi) = (&self.ratio * &other.ratio, self.pi + other.pi);
        let is_large = ratio.numerator().bit_len() > MAX_BITS || ratio.denominator().bit_len() > MAX_BITS;
        if is_large || pi.abs() > MAX_PI {
            return Err("the number is too large or too small".to_owned());
        }
        Ok(Self { ratio, pi })
    }

    /// 1 over it. Factors of units are never 0.
    pub(super) fn inverse(&self) -> Result<Self, String> {
        if self.ratio.is_zero() {
            return Err("division by zero".to_owned());
        }
        Ok(Self { ratio: RBig::ONE / &self.ratio, pi: -self.pi })
    }

    /// It to a small power.
    pub(super) fn power(&self, exponent: i8) -> Result<Self, String> {
        let base = if exponent < 0 { self.inverse()? } else { self.clone() };
        (0..exponent.unsigned_abs()).try_fold(Self::one(), |product, _| product.times(&base))
    }
}
