//! Sets of real numbers as pieces in order: points and intervals, joined where they touch.

use crate::grammar::build::{integer, negated};
use crate::values::order;
use merit_maths::{Budget, Constant, Exhausted, Expr};
use std::cmp::Ordering;

/// A connected piece.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) low: Expr,
    pub(super) high: Expr,
    pub(super) low_closed: bool,
    pub(super) high_closed: bool,
}

/// Pieces in order, none touching the next. Absent: not a set of real numbers that can be told apart.
pub(super) type Pieces = Option<Vec<Piece>>;

/// Whether two sets have the same points.
pub(super) fn same_points(a: &Expr, b: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    let (Some(a), Some(b)) = (pieces(a, budget)?, pieces(b, budget)?) else { return Ok(false) };
    if a.len() != b.len() {
        return Ok(false);
    }
    for (x, y) in a.iter().zip(&b) {
        let flags = x.low_closed == y.low_closed && x.high_closed == y.high_closed;
        let ends = |p: &Expr, q: &Expr, budget: &mut Budget| -> Result<bool, Exhausted> {
            Ok(order(p, q, budget)? == Some(Ordering::Equal))
        };
        if !flags || !ends(&x.low, &y.low, budget)? || !ends(&x.high, &y.high, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn pieces(set: &Expr, budget: &mut Budget) -> Result<Pieces, Exhausted> {
    budget.deeper(|b| match set {
        Expr::Set(elements) => {
            let point =
                |e: &Expr| Piece { low: e.clone(), high: e.clone(), low_closed: true, high_closed: true };
            joined(elements.iter().map(point).collect(), b)
        }
        Expr::Interval { low, high, low_closed, high_closed } => {
            let piece = Piece {
                low: (**low).clone(),
                high: (**high).clone(),
                low_closed: *low_closed && !is_infinite(low),
                high_closed: *high_closed && !is_infinite(high),
            };
            joined(vec![piece], b)
        }
        Expr::NamedSet(name) if &**name == "R" => Ok(Some(vec![whole_line()])),
        Expr::Union(parts) => {
            let mut all = Vec::new();
            for part in parts {
                match pieces(part, b)? {
                    Some(more) => all.extend(more),
                    None => return Ok(None),
                }
            }
            joined(all, b)
        }
        Expr::Intersection(parts) => {
            let mut common = Some(vec![whole_line()]);
            for part in parts {
                let next = pieces(part, b)?;
                common = intersection(common, next, b)?;
            }
            Ok(common)
        }
        Expr::Difference(from, what) => {
            let (from, what) = (pieces(from, b)?, pieces(what, b)?);
            let rest = what.map(complement);
            intersection(from, rest, b)
        }
        _ => Ok(None),
    })
}

fn is_infinite(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Constant::Infinity) => true,
        Expr::Mul(parts) => parts.iter().any(is_infinite),
        _ => false,
    }
}

pub(super) fn infinity(positive: bool) -> Expr {
    let infinity = Expr::Constant(Constant::Infinity);
    if positive { infinity } else { negated(infinity) }
}

pub(super) fn whole_line() -> Piece {
    Piece { low: infinity(false), high: infinity(true), low_closed: false, high_closed: false }
}

/// Sorts pieces and joins those that touch.
fn joined(mut pieces: Vec<Piece>, budget: &mut Budget) -> Result<Pieces, Exhausted> {
    // Every end must be comparable with nought, and so with every other.
    for piece in &pieces {
        if order(&piece.low, &integer(0), budget)?.is_none()
            || order(&piece.high, &integer(0), budget)?.is_none()
        {
            return Ok(None);
        }
    }
    let mut failed = None;
    pieces.sort_by(|a, b| {
        let ends = order(&a.low, &b.low, budget).unwrap_or_else(|out| {
            failed = Some(out);
            None
        });
        ends.unwrap_or(Ordering::Equal).then(b.low_closed.cmp(&a.low_closed))
    });
    if let Some(out) = failed {
        return Err(out);
    }
    let mut done: Vec<Piece> = Vec::new();
    for piece in pieces {
        let Some(last) = done.last_mut() else {
            done.push(piece);
            continue;
        };
        let gap = order(&last.high, &piece.low, budget)?;
        let touches = match gap {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => last.high_closed || piece.low_closed,
            _ => false,
        };
        if !touches {
            done.push(piece);
            continue;
        }
        match order(&last.high, &piece.high, budget)? {
            Some(Ordering::Less) => {
                last.high = piece.high;
                last.high_closed = piece.high_closed;
            }
            Some(Ordering::Equal) => last.high_closed |= piece.high_closed,
            _ => {}
        }
    }
    Ok(Some(done))
}

/// What is not in the pieces.
fn complement(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut rest = Vec::new();
    let (mut low, mut low_closed) = (infinity(false), false);
    for piece in pieces {
        if !is_infinite(&piece.low) {
            rest.push(Piece { low, high: piece.low, low_closed, high_closed: !piece.low_closed });
        }
        (low, low_closed) = (piece.high, !piece.high_closed);
    }
    if !is_infinite(&low) || rest.is_empty() && !low_closed && low == infinity(false) {
        rest.push(Piece { low, high: infinity(true), low_closed, high_closed: false });
    }
    rest
}

pub(super) fn intersection(a: Pieces, b: Pieces, budget: &mut Budget) -> Result<Pieces, Exhausted> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    let mut common = Vec::new();
    for x in &a {
        for y in &b {
            budget.spend(1)?;
            let (low, low_closed) =
                inner((&x.low, x.low_closed), (&y.low, y.low_closed), Ordering::Greater, budget)?;
            let (high, high_closed) =
                inner((&x.high, x.high_closed), (&y.high, y.high_closed), Ordering::Less, budget)?;
            match order(&low, &high, budget)? {
                Some(Ordering::Less) => {}
                Some(Ordering::Equal) if low_closed && high_closed => {}
                _ => continue,
            }
            common.push(Piece { low, high, low_closed, high_closed });
        }
    }
    joined(common, budget)
}

/// The end that lies further inside.
fn inner(
    a: (&Expr, bool),
    b: (&Expr, bool),
    inside: Ordering,
    budget: &mut Budget,
) -> Result<(Expr, bool), Exhausted> {
    Ok(match order(a.0, b.0, budget)? {
        Some(Ordering::Equal) => (a.0.clone(), a.1 && b.1),
        Some(o) if o == inside => (a.0.clone(), a.1),
        _ => (b.0.clone(), b.1),
    })
}

/// The pieces as one set.
pub(super) fn as_expr(mut pieces: Vec<Piece>) -> Expr {
    let one = |piece: Piece| {
        if piece.low_closed && piece.high_closed && piece.low == piece.high {
            return Expr::Set(vec![piece.low]);
        }
        Expr::Interval {
            low: Box::new(piece.low),
            high: Box::new(piece.high),
            low_closed: piece.low_closed,
            high_closed: piece.high_closed,
        }
    };
    match pieces.len() {
        0 => Expr::Set(Vec::new()),
        1 => one(pieces.remove(0)),
        _ => Expr::Union(pieces.into_iter().map(one).collect()),
    }
}
