//! Products and sums: whether an answer is multiplied out, and into how many factors it is taken apart.

use super::simplest;
use crate::{Budget, Exhausted, Expr};
use dashu_ratio::RBig;

/// The side of an equation that says something, where the other is a name.
pub(super) fn body(expr: &Expr) -> &Expr {
    match expr {
        Expr::Relation(crate::Relation::Equal, left, right)
            if matches!(**left, Expr::Symbol(_) | Expr::Unknown(..)) =>
        {
            right
        }
        Expr::Labelled(_, part) => body(part),
        other => other,
    }
}

/// Whether no bracket is left to be multiplied out, and equal powers are collected.
pub(super) fn expanded(expr: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    let expr = body(expr);
    let terms = match expr {
        Expr::Add(terms) => terms.as_slice(),
        other => std::slice::from_ref(other),
    };
    let is_sum = |part: &Expr| matches!(part, Expr::Add(_));
    let closed = |part: &Expr| match part {
        Expr::Pow(base, exponent) => is_sum(base) && !negative(exponent),
        other => is_sum(other),
    };
    let open = terms.iter().all(|term| match term {
        Expr::Mul(parts) => !parts.iter().any(closed),
        other => !closed(other),
    });
    Ok(open && simplest::collected(expr, budget)?)
}

fn negative(exponent: &Expr) -> bool {
    matches!(exponent, Expr::Num(e) if *e < RBig::ZERO)
}

/// Whether an answer is a product with no fewer factors than the reference. Numbers count where the reference is of numbers
/// alone, as in `2^2 \cdot 3`.
pub(super) fn factored(expr: &Expr, gold: &Expr) -> bool {
    let (expr, gold) = (body(expr), body(gold));
    let is_product = |expr: &Expr| matches!(expr, Expr::Mul(_) | Expr::Pow(..));
    let numbers = count(gold, false) == 0;
    is_product(gold) && is_product(expr) && count(expr, numbers) >= count(gold, numbers)
}

/// How many factors a product has, each as often as its power says; numbers only where `numbers` counts them.
fn count(expr: &Expr, numbers: bool) -> u64 {
    match expr {
        Expr::Mul(parts) => parts.iter().map(|part| count(part, numbers)).fold(0, u64::saturating_add),
        Expr::Pow(base, exponent) => {
            let times = match exponent.as_ref() {
                Expr::Num(e) if e.is_int() => i64::try_from(e.numerator().clone()).unwrap_or(1),
                _ => 1,
            };
            count(base, numbers).saturating_mul(times.max(0).unsigned_abs())
        }
        Expr::Num(value) => u64::from(numbers && *value != RBig::ONE && *value != RBig::from(-1)),
        Expr::Decimal(_) => u64::from(numbers),
        _ => 1,
    }
}
