//! Small rational exponents, checked: what leaves 64 bits is refused.

use super::real::Trouble;
use dashu_int::UBig;
use dashu_ratio::RBig;

/// A reduced fraction with a positive denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Exponent {
    num: i64,
    den: i64,
}

const TOO_LARGE: Trouble = Trouble::Exhausted(crate::Exhausted::Size);

impl Exponent {
    pub(crate) const ONE: Exponent = Exponent { num: 1, den: 1 };
    pub(crate) const HALF: Exponent = Exponent { num: 1, den: 2 };

    pub(crate) fn int(num: i64) -> Exponent {
        Exponent { num, den: 1 }
    }

    fn reduced(num: i128, den: i128) -> Result<Exponent, Trouble> {
        let (mut a, mut b) = (num.unsigned_abs(), den.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = a.max(1) as i128;
        match (i64::try_from(num / common), i64::try_from(den / common)) {
            (Ok(num), Ok(den)) => Ok(Exponent { num, den }),
            _ => Err(TOO_LARGE),
        }
    }

    pub(crate) fn from_rational(value: &RBig) -> Result<Exponent, Trouble> {
        match (i64::try_from(value.numerator()), i64::try_from(value.denominator())) {
            (Ok(num), Ok(den)) => Ok(Exponent { num, den }),
            _ => Err(TOO_LARGE),
        }
    }

    pub(crate) fn to_rational(self) -> RBig {
        RBig::from_parts(self.num.into(), UBig::from(self.den.unsigned_abs()))
    }

    pub(crate) fn add(self, other: Exponent) -> Result<Exponent, Trouble> {
        if self.den == 1 && other.den == 1 {
            return self.num.checked_add(other.num).map(Exponent::int).ok_or(TOO_LARGE);
        }
        let (a, b, c, d) = (self.num as i128, self.den as i128, other.num as i128, other.den as i128);
        let left = a.checked_mul(d).ok_or(TOO_LARGE)?;
        let right = c.checked_mul(b).ok_or(TOO_LARGE)?;
        Exponent::reduced(left.checked_add(right).ok_or(TOO_LARGE)?, b * d)
    }

    pub(crate) fn mul(self, other: Exponent) -> Result<Exponent, Trouble> {
        let (a, b, c, d) = (self.num as i128, self.den as i128, other.num as i128, other.den as i128);
        Exponent::reduced(a * c, b * d)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.num == 0
    }

    pub(crate) fn as_int(self) -> Option<i64> {
        (self.den == 1).then_some(self.num)
    }

    /// Denominator.
    pub(crate) fn order(self) -> i64 {
        self.den
    }

    pub(crate) fn numerator(self) -> i64 {
        self.num
    }

    /// The whole part below, and what is left, in [0, 1).
    pub(crate) fn split(self) -> (i64, Exponent) {
        let whole = self.num.div_euclid(self.den);
        (whole, Exponent { num: self.num.rem_euclid(self.den), den: self.den })
    }
}
