//! Exact fractions of 128-bit integers, for a calculator that never rounds.
//!
//! Every operation is checked: what does not fit is `None`, never a wrong number. Kept in lowest terms with a positive
//! denominator, so that equal numbers are equal values and print the same.

use std::fmt;

/// A fraction in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: i128,
    /// Always positive.
    denominator: i128,
}

/// Decimals with more places than this are printed as fractions.
const MAX_PLACES: u32 = 20;

impl Rational {
    /// `numerator / denominator`; `None` when the denominator is 0 or a sign change does not fit.
    ///
    /// ```
    /// use merit_tools::Rational;
    /// assert_eq!(Rational::new(6, -4).unwrap().to_string(), "-1.5");
    /// assert_eq!(Rational::new(2, 6).unwrap().to_string(), "1/3");
    /// assert!(Rational::new(1, 0).is_none());
    /// ```
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let (numerator, denominator) = match denominator {
            0 => return None,
            d if d < 0 => (numerator.checked_neg()?, d.checked_neg()?),
            d => (numerator, d),
        };
        let shared = common(numerator, denominator);
        Some(Self { numerator: numerator / shared, denominator: denominator / shared })
    }

    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Option<Self> {
        let shared = common(self.denominator, other.denominator);
        let left = self.numerator.checked_mul(other.denominator / shared)?;
        let right = other.numerator.checked_mul(self.denominator / shared)?;
        let denominator = (self.denominator / shared).checked_mul(other.denominator)?;
        Self::new(left.checked_add(right)?, denominator)
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated()?)
    }

    /// The product.
    pub fn times(self, other: Self) -> Option<Self> {
        // Cancelling across first keeps the intermediate products as small as the result.
        let a = common(self.numerator, other.denominator);
        let b = common(other.numerator, self.denominator);
        let numerator = (self.numerator / a).checked_mul(other.numerator / b)?;
        let denominator = (self.denominator / b).checked_mul(other.denominator / a)?;
        Self::new(numerator, denominator)
    }

    /// The quotient; `None` also when `other` is 0.
    pub fn over(self, other: Self) -> Option<Self> {
        self.times(Self::new(other.denominator, other.numerator)?)
    }

    /// The same number with the other sign.
    pub fn negated(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_neg()?, denominator: self.denominator })
    }

    /// How many decimal places print it exactly; `None` when no reasonable number does.
    fn places(self) -> Option<u32> {
        let (rest, twos) = divide_out(self.denominator, 2);
        let (rest, fives) = divide_out(rest, 5);
        let places = twos.max(fives);
        (rest == 1 && places <= MAX_PLACES).then_some(places)
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(places) = self.places() else {
            return write!(f, "{}/{}", self.numerator, self.denominator);
        };
        let sign = if self.numerator < 0 { "-" } else { "" };
        let (size, denominator) = (self.numerator.unsigned_abs(), self.denominator.unsigned_abs());
        write!(f, "{sign}{}", size / denominator)?;
        let mut remainder = size % denominator;
        if places > 0 {
            f.write_str(".")?;
        }
        for _ in 0..places {
            // At most 20 places, so the denominator divides 10^20 and ten times a remainder fits.
            remainder *= 10;
            write!(f, "{}", remainder / denominator)?;
            remainder %= denominator;
        }
        Ok(())
    }
}

/// The greatest common divisor, at least 1. One side is a denominator, hence the result fits.
fn common(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a.max(1)).unwrap_or(1)
}

fn divide_out(mut number: i128, factor: i128) -> (i128, u32) {
    let mut times = 0;
    while number % factor == 0 {
        number /= factor;
        times += 1;
    }
    (number, times)
}
