//! Functions at a point, for [`super::evaluate::Evaluator`].

use super::complex::Complex;
use super::evaluate::Evaluator;
use super::inverse::inverse;
use super::rational::{of_rationals, rational_value};
use super::real::{Real, Result, Trouble};
use super::{elementary, exact};
use crate::{Budget, Expr, Function};
use dashu_ratio::RBig;
use std::cmp::Ordering;

/// Largest argument of a factorial that is multiplied out at a point.
const MAX_FACTORIAL: i64 = 200_000;

pub(crate) fn apply(
    at: &mut Evaluator,
    function: Function,
    arguments: &[Expr],
    budget: &mut Budget,
) -> Result<Complex> {
    use Function::*;
    let prec = at.prec;
    if matches!(function, Factorial | DoubleFactorial | Gamma | Binomial | Permutations | Gcd | Lcm) {
        return counting(at, function, arguments, budget);
    }
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(at.value(argument, budget)?);
    }
    match values.as_slice() {
        [z] => {
            if !matches!(function, Abs | Sign | Floor | Ceiling | Re | Im | Conjugate) {
                budget.spend(at.series_cost())?;
            }
            one_argument(at, function, z)
        }
        [z, base] if function == Log => {
            budget.spend(2 * at.series_cost())?;
            let top = logarithm(at, z)?;
            top.div(&logarithm(at, base)?, prec)
        }
        [a, b] if function == Mod && a.is_real() && b.is_real() => {
            let whole = a.re.div(&b.re, prec)?.floor(prec)?;
            let whole = Real::rational(&RBig::from(whole), prec)?;
            Ok(Complex::real(a.re.sub(&b.re.mul(&whole, prec)?, prec)?))
        }
        [first, rest @ ..] if matches!(function, Max | Min) => extreme(function, first, rest, prec),
        _ => Err(Trouble::NotNumeric),
    }
}

fn one_argument(at: &mut Evaluator, function: Function, z: &Complex) -> Result<Complex> {
    use Function::*;
    let prec = at.prec;
    let one = Complex::int(1);
    Ok(match function {
        Sin => z.sin_cos(prec)?.0,
        Cos => z.sin_cos(prec)?.1,
        Tan => quotient(z.sin_cos(prec + 16)?, prec)?,
        Cot => swapped(z.sin_cos(prec + 16)?, prec)?,
        Sec => one.div(&z.sin_cos(prec + 16)?.1, prec)?,
        Csc => one.div(&z.sin_cos(prec + 16)?.0, prec)?,
        Sinh => z.sinh_cosh(prec)?.0,
        Cosh => z.sinh_cosh(prec)?.1,
        Tanh => quotient(z.sinh_cosh(prec + 16)?, prec)?,
        Coth => swapped(z.sinh_cosh(prec + 16)?, prec)?,
        Exp => z.exp(prec)?,
        Ln => logarithm(at, z)?,
        Log => {
            let ten = Complex::real(elementary::ln(&Real::int(10), prec)?);
            logarithm(at, z)?.div(&ten, prec)?
        }
        Abs | Norm => Complex::real(z.abs(prec)?),
        Arg => Complex::real(z.arg(prec)?),
        Re => Complex::real(z.re.clone()),
        Im => Complex::real(z.im.clone()),
        Conjugate => z.conjugate(),
        Sign if z.is_real() => Complex::int(z.re.certain_sign()? as i64),
        Floor if z.is_real() => whole(z.re.floor(prec)?, prec)?,
        Ceiling if z.is_real() => whole(z.re.neg().floor(prec)?, prec)?.neg(),
        _ => {
            let (value, left) = inverse(function, z, prec + 16)?;
            at.left_reals |= left;
            value
        }
    })
}

fn quotient((top, bottom): (Complex, Complex), prec: usize) -> Result<Complex> {
    top.div(&bottom, prec)
}

fn swapped((bottom, top): (Complex, Complex), prec: usize) -> Result<Complex> {
    top.div(&bottom, prec)
}

fn logarithm(at: &mut Evaluator, z: &Complex) -> Result<Complex> {
    let value = z.ln(at.prec)?;
    at.left_reals |= z.is_real() && !value.is_real();
    Ok(value)
}

fn whole(value: dashu_int::IBig, prec: usize) -> Result<Complex> {
    Ok(Complex::real(Real::rational(&RBig::from(value), prec)?))
}

fn extreme(function: Function, first: &Complex, rest: &[Complex], prec: usize) -> Result<Complex> {
    let mut best = first;
    for value in rest {
        if !(best.is_real() && value.is_real()) {
            return Err(Trouble::Undefined);
        }
        let side = value.re.sub(&best.re, prec)?.certain_sign()?;
        if side == if function == Function::Max { Ordering::Greater } else { Ordering::Less } {
            best = value;
        }
    }
    Ok(best.clone())
}

/// Factorials and their kin: exactly where they are small, factor by factor where they are not, and at half-integers.
fn counting(
    at: &mut Evaluator,
    function: Function,
    arguments: &[Expr],
    budget: &mut Budget,
) -> Result<Complex> {
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(exact_argument(at, argument, budget)?);
    }
    if let Some(value) = of_rationals(function, &values, budget)? {
        return Ok(Complex::real(Real::rational(&value, at.prec)?));
    }
    match (function, values.as_slice()) {
        (Function::Factorial, [n]) => gamma(at, &(n + RBig::ONE), budget),
        (Function::Gamma, [n]) => gamma(at, n, budget),
        (Function::DoubleFactorial, [n]) => {
            let n =
                exact::as_i64(n).filter(|n| (0..=MAX_FACTORIAL).contains(n)).ok_or(Trouble::NotNumeric)?;
            factors(at, 2 - n % 2, n, 2, budget)
        }
        (Function::Permutations | Function::Binomial, [n, k]) => {
            let k =
                exact::as_i64(k).filter(|k| (0..=MAX_FACTORIAL).contains(k)).ok_or(Trouble::NotNumeric)?;
            choose(at, n, k, function == Function::Binomial, budget)
        }
        _ => Err(Trouble::NotNumeric),
    }
}

fn exact_argument(at: &mut Evaluator, argument: &Expr, budget: &mut Budget) -> Result<RBig> {
    if let Some(value) = rational_value(argument, budget)? {
        return Ok(value);
    }
    let value = at.value(argument, budget)?;
    let exact = value.is_real() && value.re.is_exact();
    exact.then(|| value.re.middle_rational()).flatten().ok_or(Trouble::NotNumeric)
}

fn factors(at: &Evaluator, from: i64, to: i64, step: usize, budget: &mut Budget) -> Result<Complex> {
    let mut total = Real::int(1);
    for k in (from..=to).step_by(step) {
        budget.spend(at.cost())?;
        total = total.mul(&Real::int(k), at.prec + 32)?;
    }
    Ok(Complex::real(total))
}

/// n (n−1) … (n−k+1), over k! for a binomial.
fn choose(at: &Evaluator, n: &RBig, k: i64, over: bool, budget: &mut Budget) -> Result<Complex> {
    let (mut top, n) = (Real::int(1), Real::rational(n, at.prec + 32)?);
    for j in 0..k {
        budget.spend(2 * at.cost())?;
        top = top.mul(&n.sub(&Real::int(j), at.prec + 32)?, at.prec + 32)?;
        if over {
            top = top.div(&Real::int(j + 1), at.prec + 32)?;
        }
    }
    Ok(Complex::real(top))
}

/// Γ at whole numbers and half-integers: Γ(x+1) = x Γ(x), Γ(1/2) = √π.
fn gamma(at: &Evaluator, x: &RBig, budget: &mut Budget) -> Result<Complex> {
    if let Some(n) = exact::as_i64(x) {
        return match n {
            ..=0 => Err(Trouble::Undefined),
            1..=MAX_FACTORIAL => factors(at, 1, n - 1, 1, budget),
            _ => Err(Trouble::NotNumeric),
        };
    }
    let above_half = x - RBig::from_parts(1.into(), 2u8.into());
    let steps = exact::as_i64(&above_half).filter(|n| n.abs() <= 1000).ok_or(Trouble::NotNumeric)?;
    let wide = at.prec + 32;
    let mut value = elementary::pi(wide)?.sqrt(wide)?;
    for k in 0..steps.abs() {
        budget.spend(at.cost())?;
        // Up: Γ(k + 3/2) = (k + 1/2) Γ(k + 1/2). Down: Γ(−k − 1/2) = Γ(1/2 − k) / (−k − 1/2).
        value = if steps > 0 {
            value.mul(&Real::int(2 * k + 1).scale(-1), wide)?
        } else {
            value.div(&Real::int(-(2 * k + 1)).scale(-1), wide)?
        };
    }
    Ok(Complex::real(value))
}
