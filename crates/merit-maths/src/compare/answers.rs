//! Which comparison two answers call for, by their kinds.

use super::verdict::{Outcome, Reason};
use super::{assignment, collections, matrix, notation, points, quantities, relations, scalar, text};
use crate::{Budget, Exhausted, Expr, Function, MathsConfig};

/// Compares two answers of any kind.
pub(crate) fn decide(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    if let (Expr::Num(a), Expr::Num(b)) = (gold, response)
        && (a == b || config.round_to.is_none())
    {
        let reason = if a == b { Reason::SameNumber } else { Reason::OtherNumber };
        return Ok(Outcome::new(a == b, "exact-rational", reason));
    }
    budget.deeper(|b| by_kind(gold, response, config, b))
}

fn by_kind(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    if is_plain(gold) && is_plain(response) {
        return scalar_answers(gold, response, config, budget);
    }
    if let Some(outcome) = notation::compare(gold, response, config, budget)? {
        return Ok(outcome);
    }
    if let Some(outcome) = quantities::compare(gold, response, config, budget)? {
        return Ok(outcome);
    }
    if is_words(gold) || is_words(response) {
        return worded(gold, response, config, budget);
    }
    if assignment::is_relation(gold) || assignment::is_relation(response) {
        return relations::compare(gold, response, config, budget);
    }
    if let Some(outcome) = vectors(gold, response, config, budget)? {
        return Ok(outcome);
    }
    if is_interval(gold) || is_interval(response) {
        return sets(gold, response, config, budget);
    }
    if let Some(outcome) = collections::compare(gold, response, config, budget)? {
        return Ok(outcome);
    }
    if !same_kind(gold, response) {
        return Ok(Outcome::said(false, "kind", "answers of different kinds"));
    }
    scalar_answers(gold, response, config, budget)
}

fn is_words(expr: &Expr) -> bool {
    matches!(expr, Expr::Text(_) | Expr::Truth(_))
}

fn is_plain(expr: &Expr) -> bool {
    matches!(expr, Expr::Num(_) | Expr::Decimal(_) | Expr::Constant(_) | Expr::Symbol(_))
}

fn is_interval(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Interval { .. }
            | Expr::Union(_)
            | Expr::Intersection(_)
            | Expr::Difference(..)
            | Expr::NamedSet(_)
            | Expr::SetBuilder(..)
    )
}

fn same_kind(a: &Expr, b: &Expr) -> bool {
    let scalar = |expr: &Expr| {
        !matches!(
            expr,
            Expr::Set(_)
                | Expr::Tuple(_)
                | Expr::List(_)
                | Expr::Matrix(_)
                | Expr::Interval { .. }
                | Expr::Union(_)
                | Expr::Intersection(_)
                | Expr::Difference(..)
                | Expr::NamedSet(_)
                | Expr::SetBuilder(..)
                | Expr::Ratio(_)
                | Expr::Piecewise(_)
        )
    };
    scalar(a) && scalar(b)
}

fn worded(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    // A number in text brackets is still a number.
    let numeric = |expr: &Expr| match expr {
        Expr::Text(text) => text::number(text),
        _ => None,
    };
    match (numeric(gold), numeric(response)) {
        (Some(a), Some(b)) => decide(&a, &b, config, budget),
        (Some(a), None) if !is_words(response) => decide(&a, response, config, budget),
        (None, Some(b)) if !is_words(gold) => decide(gold, &b, config, budget),
        _ if assignment::is_relation(gold) != assignment::is_relation(response) => {
            relations::compare(gold, response, config, budget)
        }
        _ => match (gold, response) {
            (Expr::List(a), Expr::Text(_)) | (Expr::Set(a), Expr::Text(_)) if a.len() == 1 => {
                decide(&a[0], response, config, budget)
            }
            _ => text::compare(gold, response, budget),
        },
    }
}

/// Matrices entry by entry; a single row or column equals the tuple of its entries.
fn vectors(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Option<Outcome>, Exhausted> {
    let (a, b) = (matrix_rows(gold, budget)?, matrix_rows(response, budget)?);
    Ok(Some(match (a, b) {
        (None, None) => return Ok(None),
        (Some(a), Some(b)) => {
            let shape = |rows: &matrix::Rows| (rows.len(), rows.first().map_or(0, Vec::len));
            if shape(&a) != shape(&b) {
                return Ok(Some(Outcome::said(false, "matrix", "matrices of different shapes")));
            }
            let flat = |rows: matrix::Rows| rows.into_iter().flatten().collect::<Vec<_>>();
            collections::in_order(&flat(a), &flat(b), "matrix", config, budget)?
        }
        (Some(rows), None) => against_tuple(rows, response, false, config, budget)?,
        (None, Some(rows)) => against_tuple(rows, gold, true, config, budget)?,
    }))
}

fn matrix_rows(expr: &Expr, budget: &mut Budget) -> Result<Option<matrix::Rows>, Exhausted> {
    if points::any(expr, &mut |part| matches!(part, Expr::Matrix(_)), budget)? {
        matrix::rows(expr, budget)
    } else {
        Ok(None)
    }
}

fn against_tuple(
    rows: matrix::Rows,
    other: &Expr,
    swapped: bool,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let is_vector = rows.len() == 1 || rows.iter().all(|row| row.len() == 1);
    let entries: Vec<Expr> = rows.into_iter().flatten().collect();
    match other {
        Expr::Tuple(parts) if is_vector => {
            let (a, b) = if swapped { (parts, &entries) } else { (&entries, parts) };
            collections::in_order(a, b, "matrix", config, budget)
        }
        single if entries.len() == 1 => {
            let (a, b) = if swapped { (single, &entries[0]) } else { (&entries[0], single) };
            decide(a, b, config, budget)
        }
        _ => Ok(Outcome::said(false, "kind", "one is a matrix, the other is not")),
    }
}

/// Where at least one side is written as a set other than by its elements.
fn sets(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    if let Some(outcome) = relations::as_sets(gold, response, budget)? {
        return Ok(outcome);
    }
    structural(gold, response, config, budget)
}

/// Sets that are not sets of reals with known ends: the same notation with equal parts.
fn structural(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    const RULE: &str = "set";
    let ends = |expr: &Expr| match expr {
        Expr::Interval { low, high, low_closed, high_closed } => {
            Some((vec![low.as_ref().clone(), high.as_ref().clone()], (*low_closed, *high_closed)))
        }
        Expr::Tuple(parts) if parts.len() == 2 => Some((parts.clone(), (false, false))),
        _ => None,
    };
    if let (Some((a, closed_a)), Some((b, closed_b))) = (ends(gold), ends(response)) {
        if closed_a != closed_b {
            return Ok(Outcome::said(false, "interval", "an end belongs to one and not to the other"));
        }
        return collections::in_order(&a, &b, "interval", config, budget);
    }
    match (gold, response) {
        (Expr::NamedSet(a), Expr::NamedSet(b)) => Ok(Outcome::said(a == b, RULE, "named sets")),
        (Expr::Union(a), Expr::Union(b)) | (Expr::Intersection(a), Expr::Intersection(b)) => {
            collections::unordered(a, b, RULE, config, budget)
        }
        (Expr::Difference(a, b), Expr::Difference(c, d)) => {
            let (left, right) =
                ([a.as_ref().clone(), b.as_ref().clone()], [c.as_ref().clone(), d.as_ref().clone()]);
            collections::in_order(&left, &right, RULE, config, budget)
        }
        (Expr::SetBuilder(a, b), Expr::SetBuilder(c, d)) => {
            let (left, right) =
                ([a.as_ref().clone(), b.as_ref().clone()], [c.as_ref().clone(), d.as_ref().clone()]);
            collections::in_order(&left, &right, RULE, config, budget)
        }
        _ => Ok(Outcome::said(false, "kind", "sets that were not shown to be the same")),
    }
}

/// Scalars, functions of matrices worked out first; what contains no mathematics at all is compared as words.
fn scalar_answers(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let of_matrix = |expr: &Expr, budget: &mut Budget| match expr {
        Expr::Apply(
            function @ (Function::Determinant | Function::Trace | Function::Norm | Function::Abs),
            arguments,
        ) => match arguments.as_slice() {
            [Expr::Tuple(parts)] => matrix::scalar(*function, &Expr::Matrix(vec![parts.clone()]), budget),
            [argument] => matrix::scalar(*function, argument, budget),
            _ => Ok(None),
        },
        _ => Ok(None),
    };
    let (a, b) = (of_matrix(gold, budget)?, of_matrix(response, budget)?);
    scalar::compare(a.as_ref().unwrap_or(gold), b.as_ref().unwrap_or(response), config, budget)
}
