//! `x = 5` said of a name: when an equation is an answer with a label rather than a condition.
//!
//! A name is a variable, a function of variables, a tuple of names, or a segment or angle in capital letters (`AB`,
//! `|AB|`, `NO/BO`). `2x + z = 1` and `xy = 6` name nothing.

use super::points;
use crate::{Budget, Exhausted, Expr, Function, Relation};
use dashu_ratio::RBig;

/// The name and the value of an assignment; of `x = 5 + 6 = 11` the last value, of `x = 1/3 ≈ 0.33` the exact one.
pub(crate) fn assignment<'e>(
    expr: &'e Expr,
    budget: &mut Budget,
) -> Result<Option<(&'e Expr, &'e Expr)>, Exhausted> {
    let (name, value) = match expr {
        Expr::Relation(Relation::Equal | Relation::About, name, value) => (name.as_ref(), value.as_ref()),
        Expr::Chain(parts) => match chained(parts) {
            Some(ends) => ends,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let named = is_name(name) && !mentions(value, name, budget)?;
    Ok((named && !is_relation(value)).then_some((name, value)))
}

pub(crate) fn is_relation(expr: &Expr) -> bool {
    matches!(expr, Expr::Relation(..) | Expr::Chain(_) | Expr::Either(_))
}

/// First and last of `a = b = c`, each equation starting where the one before ended.
fn chained(parts: &[Expr]) -> Option<(&Expr, &Expr)> {
    let mut ends: Option<(&Expr, &Expr)> = None;
    for part in parts {
        let Expr::Relation(op, left, right) = part else { return None };
        let first = match ends {
            None => left.as_ref(),
            Some((first, last)) if last == left.as_ref() => first,
            Some(_) => return None,
        };
        match op {
            Relation::Equal => ends = Some((first, right.as_ref())),
            // What is only approximately so does not replace an exact value.
            Relation::About => return Some(ends.unwrap_or((first, right.as_ref()))),
            _ => return None,
        }
    }
    ends
}

fn mentions(value: &Expr, name: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    match name {
        Expr::Symbol(_) | Expr::Unknown(..) => points::any(value, &mut |part| part == name, budget),
        _ => Ok(false),
    }
}

pub(crate) fn is_name(expr: &Expr) -> bool {
    match expr {
        Expr::Symbol(_) => true,
        Expr::Unknown(_, arguments) => arguments.iter().all(|a| matches!(a, Expr::Symbol(_) | Expr::Num(_))),
        Expr::Tuple(parts) | Expr::Ratio(parts) => parts.iter().all(|part| matches!(part, Expr::Symbol(_))),
        Expr::Text(_) => true,
        // `\bar z = 2 - i`
        Expr::Apply(Function::Conjugate, inner) => matches!(inner.as_slice(), [Expr::Symbol(_)]),
        other => is_segment(other),
    }
}

/// Capital letters side by side, their length, or a ratio of two such.
fn is_segment(expr: &Expr) -> bool {
    match expr {
        Expr::Mul(parts) => {
            !parts.is_empty()
                && parts.iter().all(|part| is_capital(part) || is_under(part) || is_segment(part))
        }
        Expr::Apply(Function::Abs | Function::Norm, inner) => {
            inner.iter().all(|part| is_capital(part) || is_segment(part))
        }
        _ => false,
    }
}

fn is_under(expr: &Expr) -> bool {
    let Expr::Pow(base, exponent) = expr else { return false };
    matches!(exponent.as_ref(), Expr::Num(n) if *n == RBig::from(-1))
        && (is_capital(base) || is_segment(base))
}

fn is_capital(expr: &Expr) -> bool {
    matches!(expr, Expr::Symbol(name) if name.chars().next().is_some_and(char::is_uppercase))
}
