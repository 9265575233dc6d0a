//! Exact rational arithmetic with its size known before it is done: a result that would not fit the budget is refused
//! from an estimate of its bits, never computed first.

use crate::{Budget, Exhausted};
use dashu_int::ops::{BitTest, Gcd};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Bits of the longer of numerator and denominator.
pub(crate) fn bits(value: &RBig) -> usize {
    value.numerator().bit_len().max(value.denominator().bit_len())
}

/// The value as a small integer, where it is one.
pub(crate) fn as_i64(value: &RBig) -> Option<i64> {
    if value.is_int() { i64::try_from(value.numerator()).ok() } else { None }
}

/// Whether the value is below zero.
pub(crate) fn is_negative(value: &RBig) -> bool {
    value < &RBig::ZERO
}

/// `a + b`, its size checked first.
pub(crate) fn add(a: &RBig, b: &RBig, budget: &mut Budget) -> Result<RBig, Exhausted> {
    let (den_a, den_b) = (a.denominator().bit_len(), b.denominator().bit_len());
    budget.size((bits(a) + den_b).max(bits(b) + den_a) + 1)?;
    Ok(a + b)
}

/// `a · b`, its size checked first.
pub(crate) fn mul(a: &RBig, b: &RBig, budget: &mut Budget) -> Result<RBig, Exhausted> {
    budget.size(bits(a) + bits(b))?;
    Ok(a * b)
}

/// `base^exponent` for a whole exponent; `None` for a negative power of zero and for `0^0`.
pub(crate) fn pow(base: &RBig, exponent: i64, budget: &mut Budget) -> Result<Option<RBig>, Exhausted> {
    if base.is_zero() {
        return Ok((exponent > 0).then_some(RBig::ZERO));
    }
    if exponent == 0 || base.is_one() {
        return Ok(Some(RBig::ONE));
    }
    let n = exponent.unsigned_abs();
    budget.size(power_bits(base, n))?;
    let n = usize::try_from(n).map_err(|_| Exhausted::Size)?;
    let power = base.pow(n);
    Ok(Some(if exponent < 0 { reciprocal(&power) } else { power }))
}

/// An upper estimate of the bits of `base^n`.
pub(crate) fn power_bits(base: &RBig, n: u64) -> usize {
    if base == &RBig::from(-1) || base.is_one() {
        return 1;
    }
    usize::try_from((bits(base) as u64).saturating_mul(n)).unwrap_or(usize::MAX)
}

/// `1 / value` for a value that is not zero.
pub(crate) fn reciprocal(value: &RBig) -> RBig {
    let (numerator, denominator) = value.clone().into_parts();
    RBig::from_parts_signed(IBig::from(denominator), numerator)
}

/// The product `from · (from + step) · … ` up to `to`, by halves, so that the factors stay balanced.
pub(crate) fn product(from: u64, to: u64, step: u64, budget: &mut Budget) -> Result<UBig, Exhausted> {
    if from > to {
        return Ok(UBig::ONE);
    }
    let count = (to - from) / step + 1;
    let each = 64 - u64::from(to.leading_zeros());
    budget.size(usize::try_from(count.saturating_mul(each)).unwrap_or(usize::MAX))?;
    budget.spend(count)?;
    Ok(product_of(from, count, step))
}

fn product_of(from: u64, count: u64, step: u64) -> UBig {
    if count <= 8 {
        return (0..count).fold(UBig::ONE, |all, k| all * (from + k * step));
    }
    let half = count / 2;
    product_of(from, half, step) * product_of(from + half * step, count - half, step)
}

/// `n! / (n − k)!`
pub(crate) fn falling(n: u64, k: u64, budget: &mut Budget) -> Result<UBig, Exhausted> {
    if k > n {
        return Ok(UBig::ZERO);
    }
    product(n - k + 1, n, 1, budget)
}

/// `n` over `k`.
pub(crate) fn binomial(n: u64, k: u64, budget: &mut Budget) -> Result<UBig, Exhausted> {
    if k > n {
        return Ok(UBig::ZERO);
    }
    let k = k.min(n - k);
    Ok(falling(n, k, budget)? / product(1, k, 1, budget)?)
}

/// The greatest common divisor; zero only of zeros.
pub(crate) fn gcd(a: &UBig, b: &UBig) -> UBig {
    match (a.is_zero(), b.is_zero()) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => a.gcd(b),
    }
}

pub(crate) fn magnitude(value: &IBig) -> UBig {
    value.clone().into_parts().1
}

/// Whether a whole number is even.
pub(crate) fn is_even(value: &UBig) -> bool {
    !value.bit(0)
}
