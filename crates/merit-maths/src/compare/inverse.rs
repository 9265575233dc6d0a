//! Inverse trigonometric and hyperbolic functions, real where they are real, by the logarithm elsewhere.

use super::complex::Complex;
use super::elementary;
use super::real::{Real, Result, Trouble};
use crate::Function;
use std::cmp::Ordering;

/// The value, and whether a real argument led outside the reals.
pub(crate) fn inverse(function: Function, z: &Complex, prec: usize) -> Result<(Complex, bool)> {
    use Function::*;
    Ok(match function {
        Arctan => (arctan(z, prec)?, false),
        Arccot if z.is_zero() => (Complex::real(elementary::pi(prec)?.scale(-1)), false),
        Arccot => (arccot(z, prec)?, false),
        Arcsin => arcsin(z, prec)?,
        Arccos => arccos(z, prec)?,
        Arcsec => arccos(&z.inverse(prec)?, prec)?,
        Arccsc => arcsin(&z.inverse(prec)?, prec)?,
        Arsinh => (arsinh(z, prec)?, false),
        Arcosh => arcosh(z, prec)?,
        Artanh => artanh(z, prec)?,
        _ => return Err(Trouble::NotNumeric),
    })
}

fn arctan(z: &Complex, prec: usize) -> Result<Complex> {
    if z.is_real() {
        return Ok(Complex::real(elementary::arctan(&z.re, prec)?));
    }
    // arctan z = (i/2) (ln(1 − iz) − ln(1 + iz))
    let iz = z.mul(&Complex::i(), prec)?;
    let low = Complex::int(1).sub(&iz, prec)?.ln(prec)?;
    let high = Complex::int(1).add(&iz, prec)?.ln(prec)?;
    Ok(low.sub(&high, prec)?.mul(&Complex::i(), prec)?.scale(-1))
}

/// In (0, π), as schools have it.
fn arccot(z: &Complex, prec: usize) -> Result<Complex> {
    let half_pi = Complex::real(elementary::pi(prec)?.scale(-1));
    half_pi.sub(&arctan(z, prec)?, prec)
}

/// Where a real argument of arcsine and arccosine lies: within (−1, 1), at an end, or beyond.
fn beyond_one(x: &Real, prec: usize) -> Result<Ordering> {
    let square = x.mul(x, prec + 64)?;
    square.sub(&Real::int(1), prec + 64)?.certain_sign()
}

fn arcsin(z: &Complex, prec: usize) -> Result<(Complex, bool)> {
    if z.is_real() {
        match beyond_one(&z.re, prec)? {
            Ordering::Less => {
                let rest = Real::int(1).sub(&z.re.mul(&z.re, prec)?, prec)?.sqrt(prec)?;
                return Ok((Complex::real(elementary::arctan(&z.re.div(&rest, prec)?, prec)?), false));
            }
            Ordering::Equal => {
                let half = elementary::pi(prec)?.scale(-1);
                let half = if z.re.certain_sign()? == Ordering::Less { half.neg() } else { half };
                return Ok((Complex::real(half), false));
            }
            Ordering::Greater => {}
        }
    }
    // arcsin z = −i ln(iz + √(1 − z²))
    let rest = Complex::int(1).sub(&z.mul(z, prec)?, prec)?.sqrt(prec)?;
    let inside = z.mul(&Complex::i(), prec)?.add(&rest, prec)?;
    let value = inside.ln(prec)?.mul(&Complex::i().neg(), prec)?;
    Ok((value, z.is_real()))
}

fn arccos(z: &Complex, prec: usize) -> Result<(Complex, bool)> {
    let (sine, left) = arcsin(z, prec)?;
    let half_pi = Complex::real(elementary::pi(prec)?.scale(-1));
    Ok((half_pi.sub(&sine, prec)?, left))
}

fn arsinh(z: &Complex, prec: usize) -> Result<Complex> {
    if z.is_real() && z.re.sign() == Some(Ordering::Less) {
        return Ok(arsinh(&z.neg(), prec)?.neg());
    }
    let root = z.mul(z, prec)?.add(&Complex::int(1), prec)?.sqrt(prec)?;
    z.add(&root, prec)?.ln(prec)
}

fn arcosh(z: &Complex, prec: usize) -> Result<(Complex, bool)> {
    let left = z.is_real() && z.re.sub(&Real::int(1), prec)?.certain_sign()? == Ordering::Less;
    let below = z.sub(&Complex::int(1), prec)?.sqrt(prec)?;
    let above = z.add(&Complex::int(1), prec)?.sqrt(prec)?;
    Ok((z.add(&below.mul(&above, prec)?, prec)?.ln(prec)?, left))
}

fn artanh(z: &Complex, prec: usize) -> Result<(Complex, bool)> {
    let left = z.is_real() && beyond_one(&z.re, prec)? == Ordering::Greater;
    let up = Complex::int(1).add(z, prec)?.ln(prec)?;
    let down = Complex::int(1).sub(z, prec)?.ln(prec)?;
    Ok((up.sub(&down, prec)?.scale(-1), left))
}
