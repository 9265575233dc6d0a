//! Real numbers known to within a radius: `man · 2^exp ± rad`. Every operation widens the radius by its own error, so two
//! values whose balls do not meet are certainly different.

use super::magnitude::Mag;
use dashu_int::ops::{BitTest, SquareRoot};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use std::cmp::Ordering;

/// Why a number could not be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A limit of the budget.
    Exhausted(crate::Exhausted),
    /// It has no value: `1/0`, `ln 0`.
    Undefined,
    /// The precision was too small to tell; more may help.
    Imprecise,
    /// It is not a number this crate can compute.
    NotNumeric,
}

impl From<crate::Exhausted> for Trouble {
    fn from(limit: crate::Exhausted) -> Self {
        Trouble::Exhausted(limit)
    }
}

pub(crate) type Result<T> = std::result::Result<T, Trouble>;

/// Exponents beyond this are not computed with.
const EXPONENT_LIMIT: i64 = 1 << 56;

/// A real number within a radius.
#[derive(Debug, Clone)]
pub(crate) struct Real {
    man: IBig,
    exp: i64,
    rad: Mag,
}

impl Real {
    pub(crate) fn zero() -> Real {
        Real { man: IBig::ZERO, exp: 0, rad: Mag::ZERO }
    }

    pub(crate) fn int(value: i64) -> Real {
        Real { man: IBig::from(value), exp: 0, rad: Mag::ZERO }
    }

    /// `man · 2^exp ± rad`, cut to `prec` bits.
    pub(crate) fn new(man: IBig, exp: i64, rad: Mag, prec: usize) -> Result<Real> {
        let bits = man.bit_len();
        let mut value = Real { man, exp, rad };
        if bits > prec {
            let cut = bits - prec;
            value.man >>= cut;
            value.exp += cut as i64;
            value.rad = value.rad.add(Mag::pow2(value.exp));
        }
        if value.exp.abs() > EXPONENT_LIMIT {
            return Err(Trouble::Exhausted(crate::Exhausted::Size));
        }
        Ok(value)
    }

    pub(crate) fn rational(value: &RBig, prec: usize) -> Result<Real> {
        if value.is_int() {
            return Real::new(value.numerator().clone(), 0, Mag::ZERO, prec);
        }
        let (num, den) = (value.numerator(), value.denominator());
        let shift = (prec + 2 + den.bit_len()).saturating_sub(num.bit_len());
        let man = (num.clone() << shift) / IBig::from(den.clone());
        Real::new(man, -(shift as i64), Mag::pow2(-(shift as i64)), prec)
    }

    /// Whether it is exactly zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.man.is_zero() && self.rad.is_zero()
    }

    /// Whether it is known without error.
    pub(crate) fn is_exact(&self) -> bool {
        self.rad.is_zero()
    }

    /// A lower bound of `|self|`; `None` where the ball may hold zero.
    pub(crate) fn lower(&self) -> Option<Mag> {
        if self.man.is_zero() {
            return None;
        }
        let (m, e) = self.top(0);
        Mag::lower(m, e, self.rad)
    }

    /// An upper bound of `|self|`.
    pub(crate) fn upper(&self) -> Mag {
        if self.man.is_zero() {
            return self.rad;
        }
        let (m, e) = self.top(1);
        Mag::new(m, e).add(self.rad)
    }

    /// The leading bits of `|man|`, plus `extra` in the last of them, as `m · 2^e`.
    fn top(&self, extra: u64) -> (f64, i64) {
        let magnitude: UBig = self.man.clone().into_parts().1;
        let cut = magnitude.bit_len().saturating_sub(50);
        let head = u64::try_from(magnitude >> cut).unwrap_or(u64::MAX >> 8);
        let extra = if cut == 0 { 0 } else { extra };
        ((head + extra) as f64, self.exp + cut as i64)
    }

    /// The sign, where it is certain: `Equal` only for an exact zero.
    pub(crate) fn sign(&self) -> Option<Ordering> {
        if self.is_zero() {
            return Some(Ordering::Equal);
        }
        self.lower()?;
        Some(self.man.cmp(&IBig::ZERO))
    }

    /// Like [`Real::sign`], but doubt is an error.
    pub(crate) fn certain_sign(&self) -> Result<Ordering> {
        self.sign().ok_or(Trouble::Imprecise)
    }

    /// Exponent `e` with `|self| < 2^e`.
    pub(crate) fn exponent(&self) -> i64 {
        self.upper().exponent()
    }

    pub(crate) fn radius(&self) -> Mag {
        self.rad
    }

    pub(crate) fn widen(mut self, by: Mag) -> Real {
        self.rad = self.rad.add(by);
        self
    }

    /// The middle alone.
    pub(crate) fn middle(&self) -> Real {
        Real { man: self.man.clone(), exp: self.exp, rad: Mag::ZERO }
    }

    pub(crate) fn neg(&self) -> Real {
        Real { man: -self.man.clone(), exp: self.exp, rad: self.rad }
    }

    pub(crate) fn add(&self, other: &Real, prec: usize) -> Result<Real> {
        let rad = self.rad.add(other.rad);
        if self.man.is_zero() {
            return Real::new(other.man.clone(), other.exp, rad, prec);
        }
        if other.man.is_zero() {
            return Real::new(self.man.clone(), self.exp, rad, prec);
        }
        let (high, low) = if self.exp >= other.exp { (self, other) } else { (other, self) };
        let gap = (high.exp - low.exp) as u64;
        // A part far below the other's last bit only widens the radius.
        let reach = (high.exp + high.man.bit_len() as i64) - (low.exp + low.man.bit_len() as i64);
        if reach > 4 * prec as i64 + 64 {
            return Real::new(high.man.clone(), high.exp, rad.add(low.middle().upper()), prec);
        }
        if reach < -(4 * prec as i64 + 64) {
            return Real::new(low.man.clone(), low.exp, rad.add(high.middle().upper()), prec);
        }
        let gap = usize::try_from(gap).map_err(|_| Trouble::Exhausted(crate::Exhausted::Size))?;
        Real::new((high.man.clone() << gap) + &low.man, low.exp, rad, prec)
    }

    pub(crate) fn sub(&self, other: &Real, prec: usize) -> Result<Real> {
        self.add(&other.neg(), prec)
    }

    pub(crate) fn mul(&self, other: &Real, prec: usize) -> Result<Real> {
        let rad = if self.rad.is_zero() && other.rad.is_zero() {
            Mag::ZERO
        } else {
            let cross = self.middle().upper().mul(other.rad).add(other.middle().upper().mul(self.rad));
            cross.add(self.rad.mul(other.rad))
        };
        Real::new(&self.man * &other.man, self.exp + other.exp, rad, prec)
    }

    pub(crate) fn div(&self, other: &Real, prec: usize) -> Result<Real> {
        if other.is_zero() {
            return Err(Trouble::Undefined);
        }
        let below = other.lower().ok_or(Trouble::Imprecise)?;
        let shift = (prec + 2 + other.man.bit_len()).saturating_sub(self.man.bit_len());
        let man = (self.man.clone() << shift) / &other.man;
        let exp = self.exp - other.exp - shift as i64;
        let quotient = Real::new(man, exp, Mag::pow2(exp), prec)?;
        if self.rad.is_zero() && other.rad.is_zero() {
            return Ok(quotient);
        }
        let error = self.rad.add(quotient.upper().mul(other.rad)).div(below);
        Ok(quotient.widen(error))
    }

    /// The square root of a value that is not negative.
    pub(crate) fn sqrt(&self, prec: usize) -> Result<Real> {
        if self.is_zero() {
            return Ok(Real::zero());
        }
        match self.certain_sign()? {
            Ordering::Less => return Err(Trouble::Undefined),
            Ordering::Equal => return Ok(Real::zero()),
            Ordering::Greater => {}
        }
        let mut shift = (2 * prec + 4).saturating_sub(self.man.bit_len());
        if (self.exp - shift as i64) % 2 != 0 {
            shift += 1;
        }
        let man: UBig = (self.man.clone() << shift).into_parts().1;
        let exp = (self.exp - shift as i64) / 2;
        let root = IBig::from(man.sqrt());
        let exact = self.rad.is_zero() && IBig::from(man) == &root * &root;
        let root = Real::new(root, exp, if exact { Mag::ZERO } else { Mag::pow2(exp) }, prec)?;
        if self.rad.is_zero() {
            return Ok(root);
        }
        // |√a − √b| ≤ |a − b| / √a, and √a is at least the root's own lower bound.
        let below = root.lower().ok_or(Trouble::Imprecise)?;
        let error = self.rad.div(below);
        Ok(root.widen(error))
    }

    /// `self · 2^by`
    pub(crate) fn scale(&self, by: i64) -> Real {
        let rad = self.rad.mul(Mag::pow2(by));
        Real { man: self.man.clone(), exp: self.exp + by, rad }
    }

    /// The middle as a fixed-point number with `wp` bits after the point, cut towards minus infinity.
    pub(crate) fn fixed(&self, wp: usize) -> Result<IBig> {
        let shift = self.exp + wp as i64;
        if self.man.is_zero() {
            return Ok(IBig::ZERO);
        }
        if shift > 1 << 20 {
            return Err(Trouble::Imprecise);
        }
        if shift >= 0 {
            return Ok(self.man.clone() << shift as usize);
        }
        let cut = usize::try_from(-shift).unwrap_or(usize::MAX).min(self.man.bit_len() + 1);
        Ok(self.man.clone() >> cut)
    }

    /// The greatest whole number not above it, where the ball leaves no doubt.
    pub(crate) fn floor(&self, prec: usize) -> Result<IBig> {
        if self.exponent() > 4 * prec as i64 {
            return Err(Trouble::Imprecise);
        }
        let (man, exp) = self.rad.parts();
        let rad = Real { man: IBig::from(man), exp, rad: Mag::ZERO };
        let wide = prec + 128;
        let low = self.middle().sub(&rad, wide)?;
        let high = self.middle().add(&rad, wide)?;
        if !(low.is_exact() && high.is_exact()) {
            return Err(Trouble::Imprecise);
        }
        let (low, high) = (low.fixed(0)?, high.fixed(0)?);
        if low == high { Ok(low) } else { Err(Trouble::Imprecise) }
    }

    /// The exact value of the middle; only for modest exponents.
    pub(crate) fn middle_rational(&self) -> Option<RBig> {
        if self.exp.abs() > 1 << 17 {
            return None;
        }
        let shift = self.exp.unsigned_abs() as usize;
        Some(if self.exp >= 0 {
            RBig::from(self.man.clone() << shift)
        } else {
            RBig::from_parts(self.man.clone(), UBig::ONE << shift)
        })
    }
}
