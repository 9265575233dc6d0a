//! Expressions that are plain rational numbers, evaluated exactly: the fast path of nearly every real answer.

use super::exact;
use crate::{Budget, Exhausted, Expr, Function};
use dashu_int::ops::Abs;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// The exact value of an expression made of numbers and rational operations; `None` where it is not one, or where it
/// has no value (`1/0`).
pub fn rational_value(expr: &Expr, budget: &mut Budget) -> Result<Option<RBig>, Exhausted> {
    match expr {
        Expr::Num(value) => Ok(Some(value.clone())),
        Expr::Decimal(rounded) => Ok(Some(rounded.value.clone())),
        Expr::InBase(digits, base) => super::notation::value_in_base(digits, *base, budget),
        Expr::Add(parts) => budget.deeper(|b| fold(parts, RBig::ZERO, exact::add, b)),
        Expr::Mul(parts) => budget.deeper(|b| fold(parts, RBig::ONE, exact::mul, b)),
        Expr::Pow(base, exponent) => budget.deeper(|b| power(base, exponent, b)),
        Expr::Apply(function, arguments) => budget.deeper(|b| apply(*function, arguments, b)),
        _ => Ok(None),
    }
}

type Operation = fn(&RBig, &RBig, &mut Budget) -> Result<RBig, Exhausted>;

fn fold(
    parts: &[Expr],
    start: RBig,
    operation: Operation,
    budget: &mut Budget,
) -> Result<Option<RBig>, Exhausted> {
    let mut total = start;
    for part in parts {
        match rational_value(part, budget)? {
            Some(value) => total = operation(&total, &value, budget)?,
            None => return Ok(None),
        }
    }
    Ok(Some(total))
}

fn power(base: &Expr, exponent: &Expr, budget: &mut Budget) -> Result<Option<RBig>, Exhausted> {
    let Some(exponent) = rational_value(exponent, budget)? else { return Ok(None) };
    let Some(exponent) = exact::as_i64(&exponent) else { return Ok(None) };
    let Some(base) = rational_value(base, budget)? else { return Ok(None) };
    if exact::power_bits(&base, exponent.unsigned_abs()) > budget.limits().integer_bits {
        return Ok(None);
    }
    exact::pow(&base, exponent, budget)
}

fn apply(function: Function, arguments: &[Expr], budget: &mut Budget) -> Result<Option<RBig>, Exhausted> {
    if !is_rational_function(function) {
        return Ok(None);
    }
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match rational_value(argument, budget)? {
            Some(value) => values.push(value),
            None => return Ok(None),
        }
    }
    of_rationals(function, &values, budget)
}

/// Functions that take rationals to rationals.
fn is_rational_function(function: Function) -> bool {
    use Function::*;
    matches!(
        function,
        Abs | Sign
            | Floor
            | Ceiling
            | Factorial
            | DoubleFactorial
            | Gamma
            | Binomial
            | Permutations
            | Gcd
            | Lcm
            | Max
            | Min
            | Mod
            | Re
            | Im
            | Conjugate
    )
}

/// The value of a function at rationals where it is rational and small enough to hold; `None` otherwise.
pub(crate) fn of_rationals(
    function: Function,
    values: &[RBig],
    budget: &mut Budget,
) -> Result<Option<RBig>, Exhausted> {
    budget.spend(values.len() as u64)?;
    Ok(match (function, values) {
        (Function::Abs, [v]) => Some(v.clone().abs()),
        (Function::Sign, [v]) => Some(v.signum()),
        (Function::Floor, [v]) => Some(RBig::from(v.floor())),
        (Function::Ceiling, [v]) => Some(RBig::from(v.ceil())),
        (Function::Re | Function::Conjugate, [v]) => Some(v.clone()),
        (Function::Im, [_]) => Some(RBig::ZERO),
        (Function::Max, [first, rest @ ..]) => Some(rest.iter().fold(first, |a, b| a.max(b)).clone()),
        (Function::Min, [first, rest @ ..]) => Some(rest.iter().fold(first, |a, b| a.min(b)).clone()),
        (Function::Mod, [a, b]) if !b.is_zero() => {
            budget.size(exact::bits(a) + exact::bits(b))?;
            Some(a - b * RBig::from((a / b).floor()))
        }
        (Function::Gcd | Function::Lcm, _) => divisors(function, values, budget)?,
        _ => counting(function, values, budget)?,
    })
}

fn divisors(function: Function, values: &[RBig], budget: &mut Budget) -> Result<Option<RBig>, Exhausted> {
    let Some((first, rest)) = values.split_first() else { return Ok(None) };
    if !values.iter().all(RBig::is_int) {
        return Ok(None);
    }
    let mut all: UBig = magnitude(first);
    for value in rest {
        let value = magnitude(value);
        let common = exact::gcd(&all, &value);
        all = match function {
            Function::Gcd => common,
            _ if common.is_zero() => common,
            _ => magnitude(&exact::mul(&RBig::from(all / common), &RBig::from(value), budget)?),
        };
    }
    Ok(Some(RBig::from(all)))
}

fn magnitude(value: &RBig) -> UBig {
    value.numerator().clone().into_parts().1
}

/// Factorials and binomials of whole numbers; one too large for the limits is left to other means.
fn counting(function: Function, values: &[RBig], budget: &mut Budget) -> Result<Option<RBig>, Exhausted> {
    let mut whole = [0u64; 2];
    for (slot, value) in whole.iter_mut().zip(values) {
        match exact::as_i64(value).and_then(|v| u64::try_from(v).ok()) {
            Some(v) => *slot = v,
            None => return Ok(None),
        }
    }
    let [n, k] = whole;
    let factors = match function {
        Function::Permutations => k,
        Function::Binomial => k.min(n.saturating_sub(k)),
        _ => n,
    };
    let each = u64::from(64 - n.leading_zeros());
    if factors.saturating_mul(each) > budget.limits().integer_bits as u64 {
        return Ok(None);
    }
    let value = match (function, values.len()) {
        (Function::Factorial, 1) => exact::product(1, n, 1, budget)?,
        (Function::Gamma, 1) if n > 0 => exact::product(1, n - 1, 1, budget)?,
        (Function::DoubleFactorial, 1) => exact::product(2 - n % 2, n, 2, budget)?,
        (Function::Binomial, 2) => exact::binomial(n, k, budget)?,
        (Function::Permutations, 2) => exact::falling(n, k, budget)?,
        _ => return Ok(None),
    };
    Ok(Some(RBig::from(IBig::from(value))))
}
