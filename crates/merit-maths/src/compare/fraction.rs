//! Quotients of polynomials: the shape of a normal form. One-term denominators are folded into the numerator.

use super::exact;
use super::exponent::Exponent;
use super::poly::{Monomial, Poly, monomial_power};
use super::real::Trouble;
use crate::Budget;
use dashu_ratio::RBig;

/// `num / den`; `den` has leading coefficient one and is never zero.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fraction {
    pub(crate) num: Poly,
    pub(crate) den: Poly,
}

impl Fraction {
    pub(crate) fn poly(num: Poly) -> Fraction {
        Fraction { num, den: Poly::one() }
    }

    pub(crate) fn rational(value: RBig) -> Fraction {
        Fraction::poly(Poly::constant(value))
    }

    pub(crate) fn int(value: i64) -> Fraction {
        Fraction::rational(RBig::from(value))
    }

    pub(crate) fn term(monomial: Monomial, coefficient: RBig) -> Fraction {
        Fraction::poly(Poly::term(monomial, coefficient))
    }

    pub(crate) fn new(num: Poly, den: Poly, budget: &mut Budget) -> Result<Fraction, Trouble> {
        if den.is_zero() {
            return Err(Trouble::Undefined);
        }
        if den.is_one() || num.is_zero() {
            return Ok(Fraction::poly(num));
        }
        if let Some((monomial, coefficient)) = den.single() {
            let inverse =
                Poly::term(monomial_power(monomial, Exponent::int(-1))?, exact::reciprocal(coefficient));
            return Ok(Fraction::poly(num.mul(&inverse, budget)?));
        }
        if let Some(ratio) = num.ratio_to(&den, budget)? {
            return Ok(Fraction::rational(ratio));
        }
        let (_, leading) = den.terms.last().ok_or(Trouble::Undefined)?;
        let inverse = exact::reciprocal(leading);
        Ok(Fraction { num: num.scale(&inverse, budget)?, den: den.scale(&inverse, budget)? })
    }

    pub(crate) fn as_rational(&self) -> Option<RBig> {
        if self.den.is_one() { self.num.as_rational() } else { None }
    }

    /// The only term of a polynomial with one.
    pub(crate) fn single(&self) -> Option<&(Monomial, RBig)> {
        if self.den.is_one() { self.num.single() } else { None }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.num.is_zero()
    }

    pub(crate) fn neg(&self) -> Fraction {
        Fraction { num: self.num.neg(), den: self.den.clone() }
    }

    pub(crate) fn scale(&self, by: &RBig, budget: &mut Budget) -> Result<Fraction, Trouble> {
        Ok(Fraction { num: self.num.scale(by, budget)?, den: self.den.clone() })
    }

    pub(crate) fn add(&self, other: &Fraction, budget: &mut Budget) -> Result<Fraction, Trouble> {
        if self.den == other.den {
            return Fraction::new(self.num.add(&other.num, budget)?, self.den.clone(), budget);
        }
        let left = self.num.mul(&other.den, budget)?;
        let right = other.num.mul(&self.den, budget)?;
        Fraction::new(left.add(&right, budget)?, self.den.mul(&other.den, budget)?, budget)
    }

    pub(crate) fn mul(&self, other: &Fraction, budget: &mut Budget) -> Result<Fraction, Trouble> {
        if self.den.is_one() && other.den.is_one() {
            return Ok(Fraction::poly(self.num.mul(&other.num, budget)?));
        }
        // A factor that stands above and below goes first, or repeated products would swell.
        if self.num == other.den {
            return Fraction::new(other.num.clone(), self.den.clone(), budget);
        }
        if other.num == self.den {
            return Fraction::new(self.num.clone(), other.den.clone(), budget);
        }
        Fraction::new(self.num.mul(&other.num, budget)?, self.den.mul(&other.den, budget)?, budget)
    }

    pub(crate) fn inverse(&self, budget: &mut Budget) -> Result<Fraction, Trouble> {
        Fraction::new(self.den.clone(), self.num.clone(), budget)
    }
}
