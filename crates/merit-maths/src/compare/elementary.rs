//! π, ln 2, exp, ln, sin, cos and arctan of [`Real`] balls, by series in fixed point with guard bits; the claimed radius
//! is a few thousand times what the series loses.

use super::magnitude::Mag;
use super::real::{Real, Result, Trouble};
use dashu_int::ops::{BitTest, DivEuclid, RemEuclid, SquareRoot};
use dashu_int::{IBig, UBig};
use std::cmp::Ordering;
use std::sync::OnceLock;

/// Bits after the point of the stored constants; the most any computation may ask for.
const STORED: usize = 6144;
/// Extra bits of every series.
const GUARD: usize = 32;

/// π with `wp` bits after the point.
pub(crate) fn pi_fixed(wp: usize) -> Result<IBig> {
    static PI: OnceLock<IBig> = OnceLock::new();
    // Machin: π/4 = 4 arctan(1/5) − arctan(1/239).
    cut(PI.get_or_init(|| (inverse_arctan(5, true) * 4 - inverse_arctan(239, true)) * 4), wp)
}

/// ln 2 with `wp` bits after the point.
pub(crate) fn ln2_fixed(wp: usize) -> Result<IBig> {
    static LN2: OnceLock<IBig> = OnceLock::new();
    // ln 2 = 18 artanh(1/26) − 2 artanh(1/4801) + 8 artanh(1/8749)
    let make =
        || inverse_arctan(26, false) * 18 - inverse_arctan(4801, false) * 2 + inverse_arctan(8749, false) * 8;
    cut(LN2.get_or_init(make), wp)
}

fn cut(stored: &IBig, wp: usize) -> Result<IBig> {
    if wp > STORED { Err(Trouble::Imprecise) } else { Ok(stored >> (STORED + GUARD - wp)) }
}

/// `arctan(1/n)` (alternating) or `artanh(1/n)` with the bits of the stored constants.
fn inverse_arctan(n: u32, alternating: bool) -> IBig {
    let square = UBig::from(u64::from(n) * u64::from(n));
    let mut power = (UBig::ONE << (STORED + GUARD)) / n;
    let mut sum = IBig::from(power.clone());
    let mut k = 1u32;
    while !power.is_zero() {
        power /= &square;
        k += 2;
        let term = IBig::from(&power / k);
        if alternating && k % 4 == 3 {
            sum -= term;
        } else {
            sum += term;
        }
    }
    sum
}

/// π as a ball.
pub(crate) fn pi(prec: usize) -> Result<Real> {
    let wp = prec + 4;
    Real::new(pi_fixed(wp)?, -(wp as i64), Mag::pow2(1 - wp as i64), prec)
}

/// e to a ball whose radius is below one half.
pub(crate) fn exp(x: &Real, prec: usize) -> Result<Real> {
    if x.is_zero() {
        return Ok(Real::int(1));
    }
    if x.exponent() > 58 {
        return Err(Trouble::Exhausted(crate::Exhausted::Size));
    }
    if x.radius().exponent() > -2 {
        return Err(Trouble::Imprecise);
    }
    let halvings = 4 + prec.isqrt() / 2;
    let wp = prec + halvings + GUARD + x.exponent().max(0) as usize;
    let ln2 = ln2_fixed(wp)?;
    let fixed = x.fixed(wp)?;
    let nearest: IBig = (&fixed * IBig::from(2) + &ln2).div_euclid(&ln2 * IBig::from(2));
    let twos = i64::try_from(nearest).map_err(|_| Trouble::Imprecise)?;
    let rest = (fixed - ln2 * twos) >> halvings;
    let one = IBig::ONE << wp;
    let (mut sum, mut term, mut k) = (one.clone() + &rest, rest.clone(), 2u32);
    while term.bit_len() > 1 {
        term = ((term * &rest) >> wp) / IBig::from(k);
        sum += &term;
        k += 1;
    }
    for _ in 0..halvings {
        sum = (&sum * &sum) >> wp;
    }
    let value = Real::new(sum, twos - wp as i64, Mag::ZERO, prec + 8)?;
    // Series and squarings lose at most 2^halvings · (terms + halvings) units of 2^−wp; e^r − 1 ≤ 2r for r < 1/2.
    let own = Mag::pow2(-(prec as i64));
    let error = value.upper().mul(own.add(x.radius().mul(Mag::pow2(1))));
    Ok(value.widen(error))
}

/// The natural logarithm of a ball above zero.
pub(crate) fn ln(x: &Real, prec: usize) -> Result<Real> {
    match x.certain_sign()? {
        Ordering::Greater => {}
        _ => return Err(Trouble::Undefined),
    }
    let twos = x.exponent();
    let mut scaled = x.scale(-twos); // in [1/2, 1]
    let mut twos = twos;
    if scaled.sub(&Real::new(IBig::from(3), -2, Mag::ZERO, 8)?, 64)?.sign() == Some(Ordering::Less) {
        scaled = scaled.scale(1);
        twos -= 1;
    }
    let below = scaled.lower().ok_or(Trouble::Imprecise)?;
    let middle = scaled.middle();
    let off_one = middle.sub(&Real::int(1), prec + GUARD)?;
    if twos == 0 && off_one.is_zero() {
        return Ok(Real::zero().widen(scaled.radius().div(below)));
    }
    // Near one the logarithm is small; more bits keep its leading ones.
    let small = if twos == 0 { usize::try_from(-off_one.exponent()).unwrap_or(0).min(prec) } else { 0 };
    let large = 64 - twos.unsigned_abs().leading_zeros() as usize;
    let wp = prec + GUARD + small + large;
    let fixed = middle.fixed(wp)?;
    let one = IBig::ONE << wp;
    let ratio = ((&fixed - &one) << wp) / (&fixed + &one);
    let square = (&ratio * &ratio) >> wp;
    let (mut sum, mut power, mut k) = (ratio.clone(), ratio, 1u32);
    while power.bit_len() > 1 {
        power = (power * &square) >> wp;
        k += 2;
        sum += &power / IBig::from(k);
    }
    let total = sum * 2 + ln2_fixed(wp)? * twos;
    let own = Mag::pow2(GUARD as i64 / 2 + large as i64 - wp as i64);
    Ok(Real::new(total, -(wp as i64), own, prec)?.widen(scaled.radius().div(below)))
}

pub(crate) fn sin_cos(x: &Real, prec: usize) -> Result<(Real, Real)> {
    if x.is_zero() {
        return Ok((Real::zero(), Real::int(1)));
    }
    let size = x.exponent();
    if size > 1024 {
        return Err(Trouble::Imprecise);
    }
    if size < -(prec as i64) {
        let cube = x.upper().mul(x.upper()).mul(x.upper());
        let square = x.upper().mul(x.upper());
        return Ok((x.clone().widen(cube), Real::int(1).widen(square)));
    }
    let wp = prec + GUARD + size.unsigned_abs() as usize;
    let fixed = x.fixed(wp)?;
    let pi = pi_fixed(wp)?;
    // round(x / (π/2))
    let quarter: IBig = (&fixed * IBig::from(4) + &pi).div_euclid(&pi * IBig::from(2));
    let rest = ((fixed << 1) - &pi * &quarter) >> 1;
    let (sine, cosine) = series(&rest, wp);
    let own = Mag::pow2(GUARD as i64 / 2 + size.max(0) - wp as i64).add(x.radius());
    let make = |man: IBig| Real::new(man, -(wp as i64), own, prec);
    let turn = quarter.rem_euclid(IBig::from(4));
    Ok(match u8::try_from(turn).unwrap_or(0) {
        0 => (make(sine)?, make(cosine)?),
        1 => (make(cosine)?, make(-sine)?),
        2 => (make(-sine)?, make(-cosine)?),
        _ => (make(-cosine)?, make(sine)?),
    })
}

/// Sine and cosine of a fixed-point number of at most π/4; the cosine, at least 1/√2, from the sine.
fn series(x: &IBig, wp: usize) -> (IBig, IBig) {
    let square = (x * x) >> wp;
    let (mut sine, mut odd) = (x.clone(), x.clone());
    let mut k = 2u64;
    while odd.bit_len() > 1 {
        odd = -((odd * &square) >> wp) / IBig::from(k * (k + 1));
        sine += &odd;
        k += 2;
    }
    let rest = (IBig::ONE << (2 * wp)) - &sine * &sine;
    let cosine = IBig::from(rest.into_parts().1.sqrt());
    (sine, cosine)
}

pub(crate) fn arctan(x: &Real, prec: usize) -> Result<Real> {
    if x.is_zero() {
        return Ok(Real::zero());
    }
    let inner = prec + GUARD;
    let middle = x.middle();
    let value = if middle.exponent() > 1 {
        let inverse = Real::int(1).div(&middle, inner)?;
        let half_pi = pi(inner)?.scale(-1);
        let half_pi = if middle.sign() == Some(Ordering::Less) { half_pi.neg() } else { half_pi };
        half_pi.sub(&arctan_below_two(&inverse, inner)?, inner)?
    } else {
        arctan_below_two(&middle, inner)?
    };
    let value = Real::new(IBig::ZERO, 0, Mag::ZERO, prec)?.add(&value, prec)?;
    Ok(value.widen(x.radius()))
}

fn arctan_below_two(x: &Real, prec: usize) -> Result<Real> {
    // arctan x = 2 arctan(x / (1 + √(1 + x²))), three times: the argument falls below 1/6.
    let mut reduced = x.clone();
    const HALVINGS: i64 = 3;
    for _ in 0..HALVINGS {
        let root = reduced.mul(&reduced, prec)?.add(&Real::int(1), prec)?.sqrt(prec)?;
        reduced = reduced.div(&root.add(&Real::int(1), prec)?, prec)?;
    }
    let size = reduced.exponent();
    if size < -(prec as i64) {
        let cube = reduced.upper().mul(reduced.upper()).mul(reduced.upper());
        return Ok(reduced.widen(cube).scale(HALVINGS));
    }
    let wp = prec + GUARD + size.unsigned_abs() as usize;
    let fixed = reduced.fixed(wp)?;
    let square = (&fixed * &fixed) >> wp;
    let (mut sum, mut power, mut k) = (fixed.clone(), fixed, 1u32);
    while power.bit_len() > 1 {
        power = -((power * &square) >> wp);
        k += 2;
        sum += &power / IBig::from(k);
    }
    let own = Mag::pow2(GUARD as i64 / 2 - wp as i64).add(reduced.radius());
    Ok(Real::new(sum, -(wp as i64), own, prec)?.scale(HALVINGS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_ratio::RBig;

    /// Rationals of many sizes and both signs, the same on every run.
    fn samples() -> Vec<RBig> {
        let mut state = 0x1234_5678_9abc_def1_u64;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut all = Vec::new();
        for _ in 0..400 {
            let (num, den) = (draw() >> (draw() % 60), (draw() >> (draw() % 60)).max(1));
            let value = RBig::from_parts(num.into(), den.into());
            if value < RBig::from(1u64 << 20) {
                all.push(if draw() % 2 == 0 { value } else { -value });
            }
        }
        all
    }

    /// A value to few bits must hold the same value to many: |few − many| ≤ radius of both.
    fn check(name: &str, function: impl Fn(&Real, usize) -> Result<Real>, domain: impl Fn(&RBig) -> bool) {
        let mut checked = 0;
        for sample in samples().iter().filter(|x| domain(x)) {
            let at = |prec: usize| function(&Real::rational(sample, prec).expect("a modest rational"), prec);
            let (Ok(few), Ok(many)) = (at(96), at(420)) else { continue };
            let apart = few.sub(&many, 600).expect("modest exponents");
            assert!(apart.lower().is_none(), "{name}({sample}): {few:?} and {many:?}");
            assert!(
                few.is_zero() || few.radius().exponent() < few.exponent() - 40,
                "{name}({sample}) is too wide"
            );
            checked += 1;
        }
        assert!(checked > 100, "{name}: {checked}");
    }

    #[test]
    fn a_value_to_many_bits_lies_within_the_radius_of_the_value_to_few() {
        check("exp", exp, |_| true);
        check("ln", ln, |x| x > &RBig::ZERO);
        check("sin", |x, p| Ok(sin_cos(x, p)?.0), |_| true);
        check("cos", |x, p| Ok(sin_cos(x, p)?.1), |_| true);
        check("arctan", arctan, |_| true);
        check("sqrt", |x, p| x.sqrt(p), |x| x > &RBig::ZERO);
    }

    #[test]
    fn the_constants_have_their_known_digits() {
        // π and ln 2 to thirty digits, cut.
        let digits = |fixed: IBig| (fixed * IBig::from(10).pow(30)) >> 256;
        let known = |text: &str| text.parse::<IBig>().expect("digits");
        assert_eq!(digits(pi_fixed(256).expect("stored")), known("3141592653589793238462643383279"));
        assert_eq!(digits(ln2_fixed(256).expect("stored")), known("693147180559945309417232121458"));
    }

    #[test]
    fn functions_undo_each_other() {
        for sample in samples().iter().filter(|x| **x > RBig::ZERO) {
            let x = Real::rational(sample, 160).expect("a modest rational");
            let Ok(back) = ln(&x, 160).and_then(|y| exp(&y, 160)) else { continue };
            assert!(back.sub(&x, 200).expect("modest").lower().is_none(), "{sample}");
        }
    }
}
