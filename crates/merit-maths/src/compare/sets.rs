//! Answers that are sets of reals, in whatever notation: intervals, unions, finite sets, relations, set builders.

use super::endpoints::End;
use super::expand::signs;
use super::real_set::{Piece, RealSet};
use super::solve;
use crate::{Budget, Exhausted, Expr, Relation};
use std::sync::Arc;

/// A set of reals with the variable it was said of, if any.
#[derive(Debug, Clone)]
pub(crate) struct SetReading {
    /// The variable of the relation; absent where the set was written as a set.
    pub(crate) variable: Option<Arc<str>>,
    pub(crate) set: RealSet,
}

/// Reads an answer as a set of reals; `None` where it is not one (or its ends hold variables). `(a, b)` is read as an
/// open interval.
///
/// `2 < x ≤ 5`, `(2, 5]`, `x ∈ (2, 5]` and `{x | 2 < x ≤ 5}` all give the same set.
pub(crate) fn as_real_set(expr: &Expr, budget: &mut Budget) -> Result<Option<SetReading>, Exhausted> {
    budget.deeper(|b| read(expr, b))
}

fn read(expr: &Expr, budget: &mut Budget) -> Result<Option<SetReading>, Exhausted> {
    let plain = |set: Option<RealSet>| set.map(|set| SetReading { variable: None, set });
    match expr {
        Expr::Interval { low, high, low_closed, high_closed } => {
            Ok(plain(interval(low, high, *low_closed, *high_closed, budget)?))
        }
        Expr::Tuple(parts) => match parts.as_slice() {
            [low, high] => Ok(plain(interval(low, high, false, false, budget)?)),
            _ => Ok(None),
        },
        Expr::Set(parts) => Ok(plain(finite(parts, budget)?)),
        Expr::NamedSet(name) if matches!(name.as_ref(), "R" | "ℝ") => Ok(plain(Some(RealSet::all()))),
        Expr::Union(parts) | Expr::Either(parts) => combined(parts, RealSet::union, budget),
        Expr::Intersection(parts) | Expr::Chain(parts) => combined(parts, RealSet::intersection, budget),
        Expr::Difference(from, what) => {
            let (Some(from), Some(what)) = (as_real_set(from, budget)?, as_real_set(what, budget)?) else {
                return Ok(None);
            };
            Ok(plain(from.set.difference(&what.set, budget)?))
        }
        Expr::SetBuilder(variable, condition) => builder(variable, condition, budget),
        Expr::Relation(op, left, right) => relation(*op, left, right, budget),
        _ => Ok(None),
    }
}

fn interval(
    low: &Expr,
    high: &Expr,
    low_closed: bool,
    high_closed: bool,
    budget: &mut Budget,
) -> Result<Option<RealSet>, Exhausted> {
    let (Some(low), Some(high)) = (End::of(low, budget)?, End::of(high, budget)?) else { return Ok(None) };
    // Ends the wrong way round are a slip, not the empty set.
    if low.order(&high, budget)? == Some(std::cmp::Ordering::Greater) {
        return Ok(None);
    }
    // A bracket at infinity says nothing.
    let low_closed = low_closed && low.expr().is_some();
    let high_closed = high_closed && high.expr().is_some();
    RealSet::from_pieces(vec![Piece { low, high, low_closed, high_closed }], budget)
}

fn finite(parts: &[Expr], budget: &mut Budget) -> Result<Option<RealSet>, Exhausted> {
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        for value in signs(part, budget)? {
            match End::of(&value, budget)? {
                Some(end) if end.expr().is_some() => {
                    pieces.push(Piece { low: end.clone(), high: end, low_closed: true, high_closed: true });
                }
                _ => return Ok(None),
            }
        }
    }
    RealSet::from_pieces(pieces, budget)
}

type Combine = fn(&RealSet, &RealSet, &mut Budget) -> Result<Option<RealSet>, Exhausted>;

fn combined(parts: &[Expr], combine: Combine, budget: &mut Budget) -> Result<Option<SetReading>, Exhausted> {
    let mut total: Option<SetReading> = None;
    for part in parts {
        let Some(next) = as_real_set(part, budget)? else { return Ok(None) };
        total = match total {
            None => Some(next),
            Some(so_far) => {
                let variable = match (so_far.variable, next.variable) {
                    (Some(a), Some(b)) if a != b => return Ok(None),
                    (a, b) => a.or(b),
                };
                let Some(set) = combine(&so_far.set, &next.set, budget)? else { return Ok(None) };
                Some(SetReading { variable, set })
            }
        };
    }
    Ok(total)
}

fn builder(variable: &Expr, condition: &Expr, budget: &mut Budget) -> Result<Option<SetReading>, Exhausted> {
    let name = match variable {
        Expr::Symbol(name) => name,
        Expr::Relation(Relation::In, left, domain) => match (left.as_ref(), domain.as_ref()) {
            (Expr::Symbol(name), Expr::NamedSet(set)) if matches!(set.as_ref(), "R" | "ℝ") => name,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let Some(reading) = as_real_set(condition, budget)? else { return Ok(None) };
    match reading.variable {
        Some(said) if said == *name => Ok(Some(SetReading { variable: None, set: reading.set })),
        _ => Ok(None),
    }
}

fn relation(
    op: Relation,
    left: &Expr,
    right: &Expr,
    budget: &mut Budget,
) -> Result<Option<SetReading>, Exhausted> {
    if let (Relation::In | Relation::NotIn, Expr::Symbol(name)) = (op, left) {
        let Some(reading) = as_real_set(right, budget)? else { return Ok(None) };
        let set = if op == Relation::In { reading.set } else { reading.set.complement() };
        return Ok(Some(SetReading { variable: Some(name.clone()), set }));
    }
    let solved = solve::relation(op, left, right, budget)?;
    Ok(solved.map(|(name, set)| SetReading { variable: Some(name), set }))
}
