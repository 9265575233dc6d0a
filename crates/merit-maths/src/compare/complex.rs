//! Complex numbers within a radius, principal branches. A number whose imaginary part is exactly zero stays real and
//! takes the real way through every function that has one.

use super::elementary;
use super::real::{Real, Result, Trouble};
use std::cmp::Ordering;

/// A complex number by its two parts.
#[derive(Debug, Clone)]
pub(crate) struct Complex {
    pub(crate) re: Real,
    pub(crate) im: Real,
}

impl Complex {
    pub(crate) fn real(re: Real) -> Complex {
        Complex { re, im: Real::zero() }
    }

    pub(crate) fn int(value: i64) -> Complex {
        Complex::real(Real::int(value))
    }

    pub(crate) fn i() -> Complex {
        Complex { re: Real::zero(), im: Real::int(1) }
    }

    pub(crate) fn is_real(&self) -> bool {
        self.im.is_zero()
    }

    /// Whether it is exactly zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.re.is_zero() && self.im.is_zero()
    }

    /// Whether it is certainly not zero.
    pub(crate) fn is_nonzero(&self) -> bool {
        self.re.lower().is_some() || self.im.lower().is_some()
    }

    pub(crate) fn neg(&self) -> Complex {
        Complex { re: self.re.neg(), im: self.im.neg() }
    }

    pub(crate) fn conjugate(&self) -> Complex {
        Complex { re: self.re.clone(), im: self.im.neg() }
    }

    pub(crate) fn add(&self, other: &Complex, prec: usize) -> Result<Complex> {
        Ok(Complex { re: self.re.add(&other.re, prec)?, im: self.im.add(&other.im, prec)? })
    }

    pub(crate) fn sub(&self, other: &Complex, prec: usize) -> Result<Complex> {
        self.add(&other.neg(), prec)
    }

    pub(crate) fn mul(&self, other: &Complex, prec: usize) -> Result<Complex> {
        if self.is_real() && other.is_real() {
            return Ok(Complex::real(self.re.mul(&other.re, prec)?));
        }
        let re = self.re.mul(&other.re, prec)?.sub(&self.im.mul(&other.im, prec)?, prec)?;
        let im = self.re.mul(&other.im, prec)?.add(&self.im.mul(&other.re, prec)?, prec)?;
        Ok(Complex { re, im })
    }

    pub(crate) fn scale(&self, by: i64) -> Complex {
        Complex { re: self.re.scale(by), im: self.im.scale(by) }
    }

    pub(crate) fn inverse(&self, prec: usize) -> Result<Complex> {
        if self.is_real() {
            return Ok(Complex::real(Real::int(1).div(&self.re, prec)?));
        }
        let norm = self.norm(prec)?;
        Ok(Complex { re: self.re.div(&norm, prec)?, im: self.im.neg().div(&norm, prec)? })
    }

    pub(crate) fn div(&self, other: &Complex, prec: usize) -> Result<Complex> {
        if self.is_real() && other.is_real() {
            return Ok(Complex::real(self.re.div(&other.re, prec)?));
        }
        self.mul(&other.inverse(prec)?, prec)
    }

    /// `|z|²`
    fn norm(&self, prec: usize) -> Result<Real> {
        self.re.mul(&self.re, prec)?.add(&self.im.mul(&self.im, prec)?, prec)
    }

    pub(crate) fn abs(&self, prec: usize) -> Result<Real> {
        if !self.is_real() {
            return self.norm(prec)?.sqrt(prec);
        }
        Ok(match self.re.certain_sign()? {
            Ordering::Less => self.re.neg(),
            _ => self.re.clone(),
        })
    }

    /// The angle, in (−π, π].
    pub(crate) fn arg(&self, prec: usize) -> Result<Real> {
        if self.is_zero() {
            return Err(Trouble::Undefined);
        }
        let pi = || elementary::pi(prec);
        if self.re.is_zero() {
            let half = pi()?.scale(-1);
            return Ok(if self.im.certain_sign()? == Ordering::Less { half.neg() } else { half });
        }
        match (self.re.sign(), self.im.sign()) {
            (Some(Ordering::Greater), _) => elementary::arctan(&self.im.div(&self.re, prec)?, prec),
            (Some(Ordering::Less), Some(Ordering::Equal)) => pi(),
            (_, Some(side)) if side != Ordering::Equal => {
                // Away from the real axis: π/2 − arctan(re/im), with the sign of im.
                let part = elementary::arctan(&self.re.div(&self.im, prec)?, prec)?;
                let half = pi()?.scale(-1);
                let half = if side == Ordering::Less { half.neg() } else { half };
                half.sub(&part, prec)
            }
            _ => Err(Trouble::Imprecise),
        }
    }

    pub(crate) fn exp(&self, prec: usize) -> Result<Complex> {
        let size = elementary::exp(&self.re, prec)?;
        if self.is_real() {
            return Ok(Complex::real(size));
        }
        let (sin, cos) = elementary::sin_cos(&self.im, prec)?;
        Ok(Complex { re: size.mul(&cos, prec)?, im: size.mul(&sin, prec)? })
    }

    pub(crate) fn ln(&self, prec: usize) -> Result<Complex> {
        if self.is_zero() {
            return Err(Trouble::Undefined);
        }
        if self.is_real() && self.re.certain_sign()? == Ordering::Greater {
            return Ok(Complex::real(elementary::ln(&self.re, prec)?));
        }
        let size = if self.is_real() {
            elementary::ln(&self.re.neg(), prec)?
        } else {
            elementary::ln(&self.norm(prec)?, prec)?.scale(-1)
        };
        Ok(Complex { re: size, im: self.arg(prec)? })
    }

    pub(crate) fn sqrt(&self, prec: usize) -> Result<Complex> {
        if self.is_zero() {
            return Ok(self.clone());
        }
        if self.is_real() {
            return Ok(match self.re.certain_sign()? {
                Ordering::Less => Complex { re: Real::zero(), im: self.re.neg().sqrt(prec)? },
                _ => Complex::real(self.re.sqrt(prec)?),
            });
        }
        self.ln(prec)?.scale(-1).exp(prec)
    }

    /// `self^n` by squaring.
    pub(crate) fn powi(&self, n: i64, prec: usize) -> Result<Complex> {
        if n == 0 {
            return if self.is_nonzero() {
                Ok(Complex::int(1))
            } else if self.is_zero() {
                Err(Trouble::Undefined)
            } else {
                Err(Trouble::Imprecise)
            };
        }
        let inner = prec + 64;
        let (mut result, mut square, mut left) = (None::<Complex>, self.clone(), n.unsigned_abs());
        loop {
            if left & 1 == 1 {
                result = Some(match result {
                    Some(so_far) => so_far.mul(&square, inner)?,
                    None => square.clone(),
                });
            }
            left >>= 1;
            if left == 0 {
                break;
            }
            square = square.mul(&square, inner)?;
        }
        let power = result.unwrap_or_else(|| Complex::int(1));
        if n < 0 { power.inverse(prec) } else { Ok(power) }
    }

    pub(crate) fn sin_cos(&self, prec: usize) -> Result<(Complex, Complex)> {
        let (sin, cos) = elementary::sin_cos(&self.re, prec)?;
        if self.is_real() {
            return Ok((Complex::real(sin), Complex::real(cos)));
        }
        let (sinh, cosh) = sinh_cosh(&self.im, prec)?;
        let sine = Complex { re: sin.mul(&cosh, prec)?, im: cos.mul(&sinh, prec)? };
        let cosine = Complex { re: cos.mul(&cosh, prec)?, im: sin.mul(&sinh, prec)?.neg() };
        Ok((sine, cosine))
    }

    pub(crate) fn sinh_cosh(&self, prec: usize) -> Result<(Complex, Complex)> {
        if self.is_real() {
            let (sinh, cosh) = sinh_cosh(&self.re, prec)?;
            return Ok((Complex::real(sinh), Complex::real(cosh)));
        }
        let (up, down) = (self.exp(prec)?, self.neg().exp(prec)?);
        Ok((up.sub(&down, prec)?.scale(-1), up.add(&down, prec)?.scale(-1)))
    }
}

fn sinh_cosh(x: &Real, prec: usize) -> Result<(Real, Real)> {
    // Near zero the two exponentials cancel in the sine; more bits keep its leading ones.
    let inner = prec + usize::try_from(-x.exponent()).unwrap_or(0).min(prec);
    let (up, down) = (elementary::exp(x, inner)?, elementary::exp(&x.neg(), inner)?);
    Ok((up.sub(&down, inner)?.scale(-1), up.add(&down, prec)?.scale(-1)))
}
