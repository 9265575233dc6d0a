//! Questions about a value as sympy holds it: is it a number, only symbols, which of two comes first.

use super::float::approximate;
use super::grammar::build::{COMPLEX, ZOO, as_integer, integer};
use merit_maths::{Budget, Constant, Exhausted, Expr, rational_value};
use std::cmp::Ordering;

/// Whether an expression is made of symbols alone: `x`, `f(x)`, `AB`, `a/b`, `(p, q)`.
pub(super) fn only_symbols(expr: &Expr) -> bool {
    match expr {
        Expr::Symbol(_) => true,
        Expr::Pow(base, exponent) => match as_integer(exponent) {
            Some(n) if *n == (-1).into() => only_symbols(base),
            _ => only_symbols(base) && only_symbols(exponent),
        },
        Expr::Add(parts) | Expr::Mul(parts) | Expr::Tuple(parts) => parts.iter().all(only_symbols),
        Expr::Apply(_, arguments) | Expr::Unknown(_, arguments) => {
            !arguments.is_empty() && arguments.iter().all(only_symbols)
        }
        Expr::Relation(_, left, right) => only_symbols(left) && only_symbols(right),
        Expr::Chain(links) => links.iter().all(only_symbols),
        _ => false,
    }
}

/// How two closed real values are ordered; nothing where that cannot be said.
pub(super) fn order(a: &Expr, b: &Expr, budget: &mut Budget) -> Result<Option<Ordering>, Exhausted> {
    if let (Some(x), Some(y)) = (rational_value(a, budget)?, rational_value(b, budget)?) {
        return Ok(Some(x.cmp(&y)));
    }
    let (Some(x), Some(y)) = (approximate(a, budget)?, approximate(b, budget)?) else { return Ok(None) };
    Ok(x.partial_cmp(&y))
}

/// What a value is, as far as the rules ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Atomic {
    Integer,
    Rational,
    Float,
    Infinite,
}

/// The kind of a bare number, or of a bare number with a percent sign.
pub(super) fn atomic(expr: &Expr) -> Option<Atomic> {
    let inner = match expr {
        Expr::Percent(inner) => inner,
        other => other,
    };
    match inner {
        Expr::Num(value) if value.is_int() => Some(Atomic::Integer),
        Expr::Num(_) => Some(Atomic::Rational),
        Expr::Decimal(_) => Some(Atomic::Float),
        Expr::Constant(Constant::Infinity) => Some(Atomic::Infinite),
        Expr::Mul(parts) => match parts.as_slice() {
            [sign, Expr::Constant(Constant::Infinity)] if *sign == integer(-1) => Some(Atomic::Infinite),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a value is a set as sympy has them.
pub(super) fn is_set(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Set(_)
            | Expr::Interval { .. }
            | Expr::Union(_)
            | Expr::Intersection(_)
            | Expr::Difference(..)
            | Expr::NamedSet(_)
    )
}

/// Whether a value is the complex infinity that dividing by nought gives.
pub(super) fn is_zoo(expr: &Expr) -> bool {
    matches!(expr, Expr::Unknown(name, arguments) if arguments.is_empty() && &**name == ZOO)
}

/// The name of a symbol without the mark of a complex one.
pub(super) fn symbol_name(name: &str) -> &str {
    name.trim_end_matches(COMPLEX)
}
