//! Whether two equations in several variables have the same solutions, judged by values at a few points.

use super::solve::substituted;
use crate::float::approximate;
use crate::grammar::build::integer;
use dashu_ratio::RBig;
use merit_maths::{Budget, Exhausted, Expr, rational_value};
use std::sync::Arc;

const POINTS: i64 = 6;

/// The expression with every variable but `except` at its value for this point.
fn at_point(expr: &Expr, names: &[Arc<str>], except: Option<usize>, point: i64) -> Expr {
    let mut value = expr.clone();
    for (i, name) in names.iter().enumerate().filter(|(i, _)| Some(*i) != except) {
        // Small numbers without a pattern, different for different names.
        let number = (point * 7919 + (i as i64 + 1) * 104_729) % 97 + 2;
        value = substituted(&value, name, &integer(number));
    }
    value
}

/// Whether one expression is the other times a number.
pub(super) fn multiples(
    a: &Expr,
    b: &Expr,
    names: &[Arc<str>],
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    let mut first: Option<f64> = None;
    for point in 1..=POINTS {
        let (x, y) = (at_point(a, names, None, point), at_point(b, names, None, point));
        let (Some(x), Some(y)) = (approximate(&x, budget)?, approximate(&y, budget)?) else {
            return Ok(false);
        };
        let ratio = x / y;
        if !ratio.is_finite() || ratio == 0.0 {
            return Ok(false);
        }
        let first = *first.get_or_insert(ratio);
        if (ratio - first).abs() > 1e-9 * first.abs() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether each expression vanishes where the other does, for expressions that are linear in some variable.
pub(super) fn same_zeros(
    a: &Expr,
    b: &Expr,
    names: &[Arc<str>],
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    Ok(vanishes_with(a, b, names, budget)? && vanishes_with(b, a, names, budget)?)
}

/// Whether `other` is zero wherever `expr` is, along a variable in which `expr` is linear.
fn vanishes_with(
    expr: &Expr,
    other: &Expr,
    names: &[Arc<str>],
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    for unknown in 0..names.len() {
        let mut vanished = 0;
        for point in 1..=POINTS {
            let line = at_point(expr, names, Some(unknown), point);
            let Some(zero) = zero_of_line(&line, &names[unknown], budget)? else { break };
            let there = at_point(other, names, Some(unknown), point);
            let there = substituted(&there, &names[unknown], &Expr::Num(zero));
            match rational_value(&there, budget)? {
                Some(value) if value == RBig::ZERO => vanished += 1,
                Some(_) => return Ok(false),
                None => break,
            }
        }
        if vanished == POINTS {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where a linear expression in one variable vanishes; nothing if it is not linear.
fn zero_of_line(line: &Expr, unknown: &Arc<str>, budget: &mut Budget) -> Result<Option<RBig>, Exhausted> {
    let mut values = Vec::new();
    for x in [1, 2, 3, 5] {
        match rational_value(&substituted(line, unknown, &integer(x)), budget)? {
            Some(value) => values.push(value),
            None => return Ok(None),
        }
    }
    let slope = values[1].clone() - values[0].clone();
    let straight = values[2].clone() - values[1].clone() == slope
        && values[3].clone() - values[2].clone() == slope.clone() * RBig::from(2);
    if !straight || slope == RBig::ZERO {
        return Ok(None);
    }
    Ok(Some(RBig::from(1) - values[0].clone() / slope))
}
