//! Numeric identity: both expressions evaluated at the same random points, to many digits and within certain radii.
//!
//! A difference beyond the radii is proof. Agreement to thirty digits at every point where both are real counts as
//! equality; constants must agree to more than four hundred. The points depend on the two expressions and nothing else.

use super::complex::Complex;
use super::evaluate::Evaluator;
use super::opaque::is_endless;
use super::points;
use super::real::Trouble;
use super::samples::{Point, Samples};
use crate::{Budget, Constant, Exhausted, Expr, Quantifier};
use std::sync::Arc;

/// What evaluation showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// They agree at this many points.
    Same(u32),
    /// They certainly differ.
    Different,
    /// One of them could not be evaluated often enough.
    Unknown,
    /// This side has no value anywhere that was tried.
    Undefined,
}

/// Bits for points of expressions with variables.
const POINT_BITS: usize = 160;
/// Bits for constants, first look and last word.
const CONSTANT_BITS: [usize; 2] = [128, 1536];
/// Bits for constants with an integral, a limit or an endless sum, which is not known to many more.
const SUMMED_BITS: [usize; 1] = [256];
/// Points at which two expressions must agree.
const ENOUGH: u32 = 6;
/// Points that are tried.
const ATTEMPTS: u64 = 36;
/// Bits to which two values must agree: thirty digits.
const AGREEMENT_BITS: i64 = 100;

/// How two values at one point compare.
pub(crate) enum Meeting {
    Agree,
    Differ,
    Doubtful,
}

pub(crate) fn identity(a: &Expr, b: &Expr, budget: &mut Budget) -> Result<Identity, Exhausted> {
    let names = points::variables(&[a, b], budget)?;
    if names.is_empty() {
        return constants(a, b, budget);
    }
    let mut samples = Samples::of(&[a, b], names, budget)?;
    let found = compared(a, b, &samples, budget)?;
    // What has no value at any complex number may have one at real ones.
    if found == Identity::Undefined && !samples.unreal.is_empty() {
        samples.unreal.clear();
        return compared(a, b, &samples, budget);
    }
    Ok(found)
}

fn compared(a: &Expr, b: &Expr, samples: &Samples, budget: &mut Budget) -> Result<Identity, Exhausted> {
    let complex = !samples.unreal.is_empty() || contains_i(a, budget)? || contains_i(b, budget)?;
    let (mut real, mut elsewhere, mut valued) = (0, 0, false);
    for attempt in 0..ATTEMPTS {
        let point = samples.point(attempt);
        let Some((x, left_a)) = at(a, &point, POINT_BITS, budget)? else { continue };
        let Some((y, left_b)) = at(b, &point, POINT_BITS, budget)? else { continue };
        valued = true;
        let common = complex || !(left_a || left_b);
        match meet(&x, &y, POINT_BITS) {
            Meeting::Differ if common => return Ok(Identity::Different),
            Meeting::Differ => elsewhere -= i64::from(ENOUGH) * 8,
            Meeting::Agree if common => real += 1,
            Meeting::Agree => elsewhere += 1,
            Meeting::Doubtful => {}
        }
        if real >= ENOUGH {
            break;
        }
    }
    let found = match () {
        () if real >= ENOUGH / 2 => Identity::Same(real),
        () if real == 0 && elsewhere >= i64::from(ENOUGH) => Identity::Same(elsewhere as u32),
        () if real == 0 && elsewhere < 0 => Identity::Different,
        () if valued => Identity::Unknown,
        () => Identity::Undefined,
    };
    if let Identity::Same(_) = found
        && differ_in_a_region((a, b), complex, samples, budget)?
    {
        return Ok(Identity::Different);
    }
    Ok(found)
}

/// Whether two expressions that agree at random points differ in a region that those miss. Points without values, and those
/// beyond a share of the budget, say nothing.
fn differ_in_a_region(
    (a, b): (&Expr, &Expr),
    complex: bool,
    samples: &Samples,
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    in_regions(samples, budget, |point, budget| {
        let Some((x, left_a)) = at(a, point, POINT_BITS, budget)? else { return Ok(false) };
        let Some((y, left_b)) = at(b, point, POINT_BITS, budget)? else { return Ok(false) };
        Ok((complex || !(left_a || left_b)) && matches!(meet(&x, &y, POINT_BITS), Meeting::Differ))
    })
}

/// Whether `test` holds at a point of one of the regions, as far as a share of the budget reaches.
fn in_regions(
    samples: &Samples,
    budget: &mut Budget,
    mut test: impl FnMut(&Point, &mut Budget) -> Result<bool, Exhausted>,
) -> Result<bool, Exhausted> {
    let share = budget.left() / 3;
    let found = budget.at_most(share, |budget| {
        for point in samples.regions(budget)? {
            if test(&point, budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    });
    match found {
        Err(Exhausted::Steps) => Ok(false),
        other => other,
    }
}

fn constants(a: &Expr, b: &Expr, budget: &mut Budget) -> Result<Identity, Exhausted> {
    let mut last = Identity::Unknown;
    let mut summed = |part: &Expr| {
        matches!(part, Expr::Quantified { what: Quantifier::Integral | Quantifier::Limit, .. })
            || is_endless(part)
    };
    let rough = points::any(a, &mut summed, budget)? || points::any(b, &mut summed, budget)?;
    for bits in if rough { &SUMMED_BITS[..] } else { &CONSTANT_BITS[..] }.iter().copied() {
        let (x, y) = match (valued(a, bits, budget)?, valued(b, bits, budget)?) {
            (Ok(x), Ok(y)) => (x, y),
            (Err(Trouble::Undefined), _) | (_, Err(Trouble::Undefined)) => return Ok(Identity::Undefined),
            (Err(Trouble::Imprecise), _) | (_, Err(Trouble::Imprecise)) => continue,
            _ => return Ok(Identity::Unknown),
        };
        last = match meet(&x, &y, bits) {
            Meeting::Differ => return Ok(Identity::Different),
            Meeting::Agree => Identity::Same(1),
            Meeting::Doubtful => Identity::Unknown,
        };
    }
    Ok(last)
}

/// Whether an expression is certainly not zero somewhere; small differences of large values show here once their large
/// parts have cancelled.
pub(crate) fn certainly_not_zero(expr: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    let names = points::variables(&[expr], budget)?;
    if names.is_empty() {
        let value = valued(expr, CONSTANT_BITS[1], budget)?;
        return Ok(value.is_ok_and(|z| z.is_nonzero()));
    }
    let mut samples = Samples::of(&[expr], names, budget)?;
    samples.unreal.clear();
    let mut tried = 0;
    for attempt in 0..ATTEMPTS {
        let point = samples.point(attempt);
        let Some((value, left)) = at(expr, &point, POINT_BITS, budget)? else { continue };
        if left {
            continue;
        }
        if value.is_nonzero() {
            return Ok(true);
        }
        tried += 1;
        if tried == 3 {
            break;
        }
    }
    Ok(false)
}

/// The value of a constant; a limit of the budget is passed on.
pub(crate) fn valued(
    expr: &Expr,
    bits: usize,
    budget: &mut Budget,
) -> Result<Result<Complex, Trouble>, Exhausted> {
    match Evaluator::new(bits, Vec::new()).value(expr, budget) {
        Err(Trouble::Exhausted(limit)) => Err(limit),
        other => Ok(other),
    }
}

/// The value at a point, and whether a real argument led outside the reals; `None` where there is none. A value too
/// large for its point is no value there; running out of steps is passed on.
fn at(
    expr: &Expr,
    point: &Point,
    bits: usize,
    budget: &mut Budget,
) -> Result<Option<(Complex, bool)>, Exhausted> {
    let variables: Vec<(Arc<str>, Complex)> = point.clone();
    let mut evaluator = Evaluator::new(bits, variables);
    match evaluator.value(expr, budget) {
        Ok(value) => Ok(Some((value, evaluator.left_reals))),
        Err(Trouble::Exhausted(limit)) if limit != Exhausted::Size => Err(limit),
        Err(_) => Ok(None),
    }
}

pub(crate) fn meet(x: &Complex, y: &Complex, bits: usize) -> Meeting {
    let Ok(difference) = x.sub(y, bits) else { return Meeting::Doubtful };
    if difference.is_nonzero() {
        return Meeting::Differ;
    }
    if difference.is_zero() {
        return Meeting::Agree;
    }
    let size = |z: &Complex| z.re.exponent().max(z.im.exponent());
    // Against zero there is nothing to be relative to; the wanted bits themselves are the measure.
    let scale = size(x).max(size(y)).max(AGREEMENT_BITS - bits as i64 / 2);
    if size(&difference) <= scale - AGREEMENT_BITS { Meeting::Agree } else { Meeting::Doubtful }
}

fn contains_i(expr: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    points::any(expr, &mut |e| matches!(e, Expr::Constant(Constant::I)), budget)
}

/// Whether `a = c · b` for one number `c` other than zero, by its value at random points; the number's sign where it is
/// real. `None`: not shown.
pub(crate) fn proportional(
    a: &Expr,
    b: &Expr,
    budget: &mut Budget,
) -> Result<Option<std::cmp::Ordering>, Exhausted> {
    let names = points::variables(&[a, b], budget)?;
    let samples = Samples::of(&[a, b], names, budget)?;
    let mut ratio: Option<Complex> = None;
    let mut agreed = 0;
    for attempt in 0..ATTEMPTS {
        let Some(here) = quotient((a, b), &samples.point(attempt), budget)? else { continue };
        match &ratio {
            None => ratio = Some(here),
            Some(first) => match meet(first, &here, POINT_BITS) {
                Meeting::Differ => return Ok(None),
                Meeting::Agree => agreed += 1,
                Meeting::Doubtful => {}
            },
        }
        if agreed >= ENOUGH {
            break;
        }
    }
    let Some(ratio) = ratio.filter(|_| agreed >= ENOUGH) else { return Ok(None) };
    let elsewhere = in_regions(&samples, budget, |point, budget| {
        let here = quotient((a, b), point, budget)?;
        Ok(here.is_some_and(|here| matches!(meet(&ratio, &here, POINT_BITS), Meeting::Differ)))
    })?;
    Ok(Some(ratio).filter(|ratio| !elsewhere && ratio.im.lower().is_none()).and_then(|c| c.re.sign()))
}

/// The quotient of two expressions at a point, where both have real values other than zero.
fn quotient(
    (a, b): (&Expr, &Expr),
    point: &Point,
    budget: &mut Budget,
) -> Result<Option<Complex>, Exhausted> {
    let Some((x, left_a)) = at(a, point, POINT_BITS, budget)? else { return Ok(None) };
    let Some((y, left_b)) = at(b, point, POINT_BITS, budget)? else { return Ok(None) };
    if left_a || left_b || !x.is_nonzero() || !y.is_nonzero() {
        return Ok(None);
    }
    Ok(x.div(&y, POINT_BITS).ok())
}
