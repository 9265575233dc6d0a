//! Derivatives, written out: every `d/dx` of a formula becomes the formula it comes to. Indefinite integrals are compared by their
//! derivatives.

use super::points;
use crate::{Budget, Exhausted, Expr, Function, Quantifier};
use dashu_ratio::RBig;

/// The expression with its derivatives written out; `None` where it has none. One that cannot be is left as it stands.
pub(crate) fn differentiated(expr: &Expr, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    let mut is_derivative =
        |part: &Expr| matches!(part, Expr::Quantified { what: Quantifier::Derivative, .. });
    if !points::any(expr, &mut is_derivative, budget)? {
        return Ok(None);
    }
    rewrite(expr, budget).map(Some)
}

/// Two derivatives that agree where the two expressions agree up to a constant: of an indefinite integral, or of a sum with one,
/// and of what it may come to. `None` where the first is no such integral, the second still has one, or a part has no derivative.
pub(crate) fn up_to_a_constant(
    integral: &Expr,
    other: &Expr,
    budget: &mut Budget,
) -> Result<Option<(Expr, Expr)>, Exhausted> {
    let Some(variable) = integrated(integral) else { return Ok(None) };
    let mut is_integral = |part: &Expr| indefinite(part).is_some();
    if points::any(other, &mut is_integral, budget)? {
        return Ok(None);
    }
    let a = derivative(integral, variable, budget)?;
    let b = derivative(other, variable, budget)?;
    Ok(a.zip(b))
}

/// The variable of an indefinite integral that an expression is, or is a multiple of, or has as a term.
fn integrated(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Add(parts) => parts.iter().find_map(integrated),
        Expr::Mul(parts) => {
            let number = |part: &&Expr| !matches!(part, Expr::Num(_) | Expr::Decimal(_));
            let mut rest = parts.iter().filter(number);
            let alone = rest.next();
            alone.filter(|_| rest.next().is_none()).and_then(integrated)
        }
        other => indefinite(other).map(|(_, variable)| variable),
    }
}

fn indefinite(expr: &Expr) -> Option<(&Expr, &str)> {
    match expr {
        Expr::Quantified { what: Quantifier::Integral, body, variable, from: None, to: None } => {
            Some((&**body, &**variable))
        }
        _ => None,
    }
}

fn rewrite(expr: &Expr, budget: &mut Budget) -> Result<Expr, Exhausted> {
    budget.deeper(|b| {
        let all = |parts: &[Expr], b: &mut Budget| -> Result<Vec<Expr>, Exhausted> {
            parts.iter().map(|part| rewrite(part, b)).collect()
        };
        Ok(match expr {
            Expr::Add(parts) => Expr::Add(all(parts, b)?),
            Expr::Mul(parts) => Expr::Mul(all(parts, b)?),
            Expr::Apply(function, parts) => Expr::Apply(*function, all(parts, b)?),
            Expr::Pow(base, exponent) => power(rewrite(base, b)?, rewrite(exponent, b)?),
            Expr::Quantified { what: Quantifier::Derivative, body, variable, .. }
                if holds(body, variable, b)? =>
            {
                let body = rewrite(body, b)?;
                derivative(&body, variable, b)?.unwrap_or_else(|| expr.clone())
            }
            other => other.clone(),
        })
    })
}

/// Whether a name stands in an expression.
fn holds(expr: &Expr, name: &str, budget: &mut Budget) -> Result<bool, Exhausted> {
    points::any(expr, &mut |part| matches!(part, Expr::Symbol(n) if &**n == name), budget)
}

fn number(value: i64) -> Expr {
    Expr::Num(RBig::from(value))
}

fn power(base: Expr, exponent: Expr) -> Expr {
    Expr::Pow(Box::new(base), Box::new(exponent))
}

fn of(function: Function, argument: &Expr) -> Expr {
    Expr::Apply(function, vec![argument.clone()])
}

/// The derivative after `x`; `None` where a part has none that is known.
fn derivative(expr: &Expr, x: &str, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    budget.deeper(|b| {
        Ok(Some(match expr {
            Expr::Num(_) | Expr::Decimal(_) | Expr::Constant(_) => number(0),
            Expr::Symbol(name) => number(i64::from(&**name == x)),
            Expr::Add(parts) => {
                let mut terms = Vec::with_capacity(parts.len());
                for part in parts {
                    let Some(term) = derivative(part, x, b)? else { return Ok(None) };
                    terms.push(term);
                }
                Expr::Add(terms)
            }
            Expr::Mul(parts) => {
                let mut terms = vec![number(0)];
                for (at, part) in parts.iter().enumerate() {
                    b.spend(parts.len() as u64)?;
                    let Some(inner) = derivative(part, x, b)? else { return Ok(None) };
                    let mut factors = parts.clone();
                    factors[at] = inner;
                    terms.push(Expr::Mul(factors));
                }
                Expr::Add(terms)
            }
            Expr::Pow(base, exponent) => return of_power(expr, base, exponent, x, b),
            Expr::Apply(function, arguments) => return of_function(*function, arguments, x, b),
            Expr::Quantified { .. } if indefinite(expr).is_some_and(|(_, variable)| variable == x) => {
                return Ok(indefinite(expr).map(|(body, _)| body.clone()));
            }
            _ => return Ok(None),
        }))
    })
}

fn of_power(
    whole: &Expr,
    base: &Expr,
    exponent: &Expr,
    x: &str,
    budget: &mut Budget,
) -> Result<Option<Expr>, Exhausted> {
    let Some(inner) = derivative(base, x, budget)? else { return Ok(None) };
    let less = Expr::Add(vec![exponent.clone(), number(-1)]);
    let by_base = Expr::Mul(vec![exponent.clone(), power(base.clone(), less), inner]);
    if !holds(exponent, x, budget)? {
        return Ok(Some(by_base));
    }
    let Some(growth) = derivative(exponent, x, budget)? else { return Ok(None) };
    let by_exponent = Expr::Mul(vec![whole.clone(), of(Function::Ln, base), growth]);
    Ok(Some(if holds(base, x, budget)? { Expr::Add(vec![by_base, by_exponent]) } else { by_exponent }))
}

fn of_function(
    function: Function,
    arguments: &[Expr],
    x: &str,
    budget: &mut Budget,
) -> Result<Option<Expr>, Exhausted> {
    use Function::*;
    let [u, rest @ ..] = arguments else { return Ok(None) };
    if !rest.is_empty() && (function != Log || holds(&rest[0], x, budget)?) {
        return Ok(None);
    }
    let Some(inner) = derivative(u, x, budget)? else { return Ok(None) };
    let squared = |f: Function| power(of(f, u), number(-2));
    let minus = |expr: Expr| Expr::Mul(vec![number(-1), expr]);
    let square = power(u.clone(), number(2));
    let root = |sign: i64| {
        power(
            Expr::Add(vec![number(1), Expr::Mul(vec![number(-1), square.clone()])]),
            Expr::Num(RBig::from_parts((-sign).into(), 2u8.into())),
        )
    };
    let outer = match function {
        Sin => of(Cos, u),
        Cos => minus(of(Sin, u)),
        Tan => squared(Cos),
        Cot => minus(squared(Sin)),
        Sec => Expr::Mul(vec![of(Sec, u), of(Tan, u)]),
        Csc => minus(Expr::Mul(vec![of(Csc, u), of(Cot, u)])),
        Arcsin => root(1),
        Arccos => minus(root(1)),
        Arctan => power(Expr::Add(vec![number(1), square]), number(-1)),
        Sinh => of(Cosh, u),
        Cosh => of(Sinh, u),
        Tanh => squared(Cosh),
        Exp => of(Exp, u),
        Ln => power(u.clone(), number(-1)),
        Log => {
            let base = rest.first().cloned().unwrap_or_else(|| number(10));
            power(Expr::Mul(vec![u.clone(), of(Ln, &base)]), number(-1))
        }
        Abs => Expr::Mul(vec![u.clone(), power(of(Abs, u), number(-1))]),
        _ => return Ok(None),
    };
    Ok(Some(Expr::Mul(vec![outer, inner])))
}
