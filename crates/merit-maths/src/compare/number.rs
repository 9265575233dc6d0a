//! The value of a constant to many digits, for callers with rules of their own.

use super::identity::{self, Meeting};
use crate::{Budget, Exhausted, Expr};
use dashu_ratio::RBig;

/// A complex constant, each part within the wanted precision of the true value.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Real part.
    pub re: RBig,
    /// Imaginary part; exactly zero for real constants.
    pub im: RBig,
}

/// The value of a constant expression to at least `digits` significant digits; `None` where it has none, holds variables,
/// or is not a number.
pub fn evaluate_number(expr: &Expr, digits: u32, budget: &mut Budget) -> Result<Option<Number>, Exhausted> {
    if let Some(re) = super::rational_value(expr, budget)? {
        return Ok(Some(Number { re, im: RBig::ZERO }));
    }
    let bits = usize::try_from(digits).map_err(|_| Exhausted::Size)?.saturating_mul(10) / 3 + 64;
    if bits > 4096 {
        return Err(Exhausted::Size);
    }
    let value = identity::valued(expr, bits, budget)?;
    Ok(value.ok().and_then(|z| Some(Number { re: z.re.middle_rational()?, im: z.im.middle_rational()? })))
}

/// Whether two constants agree to `digits` significant digits: `Some(false)` is certain, `Some(true)` means that the
/// difference is below that share of the larger one. `None` where one has no value.
pub fn numerically_equal(
    a: &Expr,
    b: &Expr,
    digits: u32,
    budget: &mut Budget,
) -> Result<Option<bool>, Exhausted> {
    let bits = usize::try_from(digits).map_err(|_| Exhausted::Size)?.saturating_mul(10) / 3 + 160;
    if bits > 4096 {
        return Err(Exhausted::Size);
    }
    let (Ok(x), Ok(y)) = (identity::valued(a, bits, budget)?, identity::valued(b, bits, budget)?) else {
        return Ok(None);
    };
    if let Meeting::Agree = identity::meet(&x, &y, bits) {
        return Ok(Some(true));
    }
    let Ok(difference) = x.sub(&y, bits) else { return Ok(None) };
    let size = |z: &super::complex::Complex| z.re.exponent().max(z.im.exponent());
    let wanted = i64::from(digits) * 3322 / 1000;
    Ok(Some(size(&difference) <= size(&x).max(size(&y)) - wanted))
}
