//! The approximate value of a closed real expression, for ordering and for rounding to a few places.

use dashu_ratio::RBig;
use merit_maths::{Budget, Constant, Exhausted, Expr, Function, rational_value};

/// The value in double precision; nothing for what has variables or leaves the reals.
pub(super) fn approximate(expr: &Expr, budget: &mut Budget) -> Result<Option<f64>, Exhausted> {
    budget.deeper(|b| value(expr, b)).map(|v| v.filter(|v| !v.is_nan()))
}

pub(super) fn of_rational(value: &RBig) -> f64 {
    value.to_f64().value()
}

fn value(expr: &Expr, budget: &mut Budget) -> Result<Option<f64>, Exhausted> {
    Ok(match expr {
        Expr::Num(value) => Some(of_rational(value)),
        Expr::Decimal(rounded) => Some(of_rational(&rounded.value)),
        Expr::Constant(Constant::Pi) => Some(std::f64::consts::PI),
        Expr::Constant(Constant::E) => Some(std::f64::consts::E),
        Expr::Constant(Constant::Infinity) => Some(f64::INFINITY),
        Expr::Percent(inner) => approximate(inner, budget)?.map(|v| v / 100.0),
        Expr::Add(parts) => folded(parts, 0.0, |a, b| a + b, budget)?,
        Expr::Mul(parts) => folded(parts, 1.0, |a, b| a * b, budget)?,
        Expr::Pow(base, exponent) => power(base, exponent, budget)?,
        Expr::Apply(function, arguments) => {
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                match approximate(argument, budget)? {
                    Some(value) => values.push(value),
                    None => return Ok(None),
                }
            }
            applied(*function, &values)
        }
        _ => None,
    })
}

fn folded(
    parts: &[Expr],
    start: f64,
    join: impl Fn(f64, f64) -> f64,
    budget: &mut Budget,
) -> Result<Option<f64>, Exhausted> {
    let mut total = start;
    for part in parts {
        match approximate(part, budget)? {
            Some(value) => total = join(total, value),
            None => return Ok(None),
        }
    }
    Ok(Some(total))
}

/// A power; an odd root of a negative number is not real here, as in sympy.
fn power(base: &Expr, exponent: &Expr, budget: &mut Budget) -> Result<Option<f64>, Exhausted> {
    let (Some(b), Some(e)) = (approximate(base, budget)?, approximate(exponent, budget)?) else {
        return Ok(None);
    };
    let whole = rational_value(exponent, budget)?.is_some_and(|e| e.is_int());
    Ok(if b < 0.0 && !whole { None } else { Some(b.powf(e)) })
}

fn applied(function: Function, values: &[f64]) -> Option<f64> {
    let (&[x] | &[x, _]) = values else { return None };
    Some(match (function, values) {
        (Function::Sin, _) => x.sin(),
        (Function::Cos, _) => x.cos(),
        (Function::Tan, _) => x.tan(),
        (Function::Cot, _) => x.tan().recip(),
        (Function::Sec, _) => x.cos().recip(),
        (Function::Csc, _) => x.sin().recip(),
        (Function::Arcsin, _) => x.asin(),
        (Function::Arccos, _) => x.acos(),
        (Function::Arctan, _) => x.atan(),
        (Function::Sinh, _) => x.sinh(),
        (Function::Cosh, _) => x.cosh(),
        (Function::Tanh, _) => x.tanh(),
        (Function::Ln, _) if x > 0.0 => x.ln(),
        (Function::Log, &[_, base]) if x > 0.0 && base > 0.0 => x.log(base),
        (Function::Abs, _) => x.abs(),
        (Function::Floor, _) => x.floor(),
        (Function::Ceiling, _) => x.ceil(),
        (Function::Factorial, _) if x >= 0.0 && x.fract() == 0.0 && x < 171.0 => {
            (1..=x as u32).map(f64::from).product()
        }
        _ => return None,
    })
}
