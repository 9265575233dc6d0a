//! Relations in one unknown solved: linear, quadratic, or with one absolute value.

use super::pieces::{Piece, Pieces, as_expr, infinity, intersection, whole_line};
use super::symbols::free_symbols;
use crate::float::approximate;
use crate::grammar::build::{integer, negated, power, quotient, sum};
use crate::values::order;
use dashu_ratio::RBig;
use merit_maths::{Budget, Exhausted, Expr, Function, Relation, rational_value};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The set of all values for which the relations hold; nothing where they cannot be solved here.
pub(super) fn as_set(relations: &Expr, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    let links: &[Expr] = match relations {
        Expr::Chain(links) => links,
        one => std::slice::from_ref(one),
    };
    let mut unknown = None;
    let mut solution: Pieces = Some(vec![whole_line()]);
    for link in links {
        let Expr::Relation(relation, left, right) = link else { return Ok(None) };
        let (left, right) = (functions_as_names(left), functions_as_names(right));
        let Some(name) = only_unknown(&left, &right, budget)? else { return Ok(None) };
        if unknown.get_or_insert_with(|| Arc::clone(&name)) != &name {
            return Ok(None);
        }
        let one = solved(*relation, &left, &right, &name, budget)?;
        solution = intersection(solution, one, budget)?;
    }
    Ok(solution.map(as_expr))
}

/// An unknown function of something counts as one unknown.
fn functions_as_names(expr: &Expr) -> Expr {
    match expr {
        Expr::Unknown(name, arguments) if !arguments.is_empty() => {
            let inside: Vec<String> =
                arguments.iter().map(|a| format!("{:?}", functions_as_names(a))).collect();
            Expr::Symbol(Arc::from(format!("{name}_{}", inside.join("_"))))
        }
        Expr::Add(parts) => Expr::Add(parts.iter().map(functions_as_names).collect()),
        Expr::Mul(parts) => Expr::Mul(parts.iter().map(functions_as_names).collect()),
        Expr::Apply(function, parts) => {
            Expr::Apply(*function, parts.iter().map(functions_as_names).collect())
        }
        other => other.clone(),
    }
}

fn only_unknown(left: &Expr, right: &Expr, budget: &mut Budget) -> Result<Option<Arc<str>>, Exhausted> {
    let mut names = BTreeSet::new();
    free_symbols(left, &mut names, budget)?;
    free_symbols(right, &mut names, budget)?;
    Ok(if names.len() == 1 { names.pop_first() } else { None })
}

fn solved(
    relation: Relation,
    left: &Expr,
    right: &Expr,
    unknown: &Arc<str>,
    budget: &mut Budget,
) -> Result<Pieces, Exhausted> {
    let is_unknown = |e: &Expr| matches!(e, Expr::Symbol(name) if name == unknown);
    let closed = |e: &Expr, budget: &mut Budget| approximate(e, budget).map(|v| v.is_some());
    if is_unknown(left) && closed(right, budget)? {
        return Ok(ray(relation, right));
    }
    if is_unknown(right) && closed(left, budget)? {
        return Ok(turned(relation).and_then(|relation| ray(relation, left)));
    }
    for (side, other, relation) in [(left, right, Some(relation)), (right, left, turned(relation))] {
        if let (Expr::Apply(Function::Abs, inside), Some(relation)) = (side, relation)
            && let [inside] = inside.as_slice()
            && is_unknown(inside)
            && closed(other, budget)?
        {
            return around_nought(relation, other, budget);
        }
    }
    let difference = sum(left.clone(), negated(right.clone()));
    polynomial(relation, &difference, unknown, budget)
}

fn turned(relation: Relation) -> Option<Relation> {
    Some(match relation {
        Relation::Less => Relation::Greater,
        Relation::Greater => Relation::Less,
        Relation::AtMost => Relation::AtLeast,
        Relation::AtLeast => Relation::AtMost,
        Relation::Equal | Relation::NotEqual => relation,
        _ => return None,
    })
}

/// `x relation end`.
fn ray(relation: Relation, end: &Expr) -> Pieces {
    let below =
        |closed| Piece { low: infinity(false), high: end.clone(), low_closed: false, high_closed: closed };
    let above =
        |closed| Piece { low: end.clone(), high: infinity(true), low_closed: closed, high_closed: false };
    Some(match relation {
        Relation::Less => vec![below(false)],
        Relation::AtMost => vec![below(true)],
        Relation::Greater => vec![above(false)],
        Relation::AtLeast => vec![above(true)],
        Relation::NotEqual => vec![below(false), above(false)],
        Relation::Equal => {
            vec![Piece { low: end.clone(), high: end.clone(), low_closed: true, high_closed: true }]
        }
        _ => return None,
    })
}

/// `|x| relation end`.
fn around_nought(relation: Relation, end: &Expr, budget: &mut Budget) -> Result<Pieces, Exhausted> {
    if order(end, &integer(0), budget)? != Some(Ordering::Greater) {
        return Ok(None);
    }
    between(relation, (negated(end.clone()), end.clone()), true)
}

/// Solutions of `(x − low)(x − high) relation 0`, or the opposite relation where the parabola opens downwards.
fn between(relation: Relation, (low, high): (Expr, Expr), upwards: bool) -> Result<Pieces, Exhausted> {
    let inside = |closed: bool| {
        vec![Piece { low: low.clone(), high: high.clone(), low_closed: closed, high_closed: closed }]
    };
    let outside = |closed: bool| {
        vec![
            Piece { low: infinity(false), high: low.clone(), low_closed: false, high_closed: closed },
            Piece { low: high.clone(), high: infinity(true), low_closed: closed, high_closed: false },
        ]
    };
    let relation = if upwards { Some(relation) } else { turned(relation) };
    Ok(match relation {
        Some(Relation::Less) => Some(inside(false)),
        Some(Relation::AtMost) => Some(inside(true)),
        Some(Relation::Greater) => Some(outside(false)),
        Some(Relation::AtLeast) => Some(outside(true)),
        _ => None,
    })
}

/// `expr relation 0` for a polynomial of first or second degree with rational coefficients.
fn polynomial(
    relation: Relation,
    expr: &Expr,
    unknown: &Arc<str>,
    budget: &mut Budget,
) -> Result<Pieces, Exhausted> {
    let mut values = Vec::new();
    for x in 0..5 {
        match rational_value(&substituted(expr, unknown, &integer(x)), budget)? {
            Some(value) => values.push(value),
            None => return Ok(None),
        }
    }
    let two = RBig::from(2);
    let c = values[0].clone();
    let a = (values[2].clone() - two.clone() * values[1].clone() + values[0].clone()) / two.clone();
    let b = values[1].clone() - values[0].clone() - a.clone();
    for (x, value) in values.iter().enumerate() {
        let x = RBig::from(x as u64);
        if a.clone() * x.clone() * x.clone() + b.clone() * x + c.clone() != *value {
            return Ok(None);
        }
    }
    let zero = RBig::ZERO;
    if a == zero {
        if b == zero {
            return Ok(None);
        }
        let end = Expr::Num(-c / b.clone());
        return Ok(if b > zero { ray(relation, &end) } else { turned(relation).and_then(|r| ray(r, &end)) });
    }
    let discriminant = b.clone() * b.clone() - RBig::from(4) * a.clone() * c;
    if discriminant <= zero {
        return Ok(None);
    }
    let root = |sign: i64| {
        let top = power(Expr::Num(discriminant.clone()), quotient(integer(1), integer(2)));
        let top = if sign < 0 { negated(top) } else { top };
        let top = sum(Expr::Num(-b.clone()), top);
        quotient(top, Expr::Num(two.clone() * a.clone()))
    };
    let ends = if a > zero { (root(-1), root(1)) } else { (root(1), root(-1)) };
    between(relation, ends, a > zero)
}

/// The expression with a value in place of a symbol.
pub(super) fn substituted(expr: &Expr, name: &Arc<str>, value: &Expr) -> Expr {
    let all = |parts: &[Expr]| parts.iter().map(|part| substituted(part, name, value)).collect();
    match expr {
        Expr::Symbol(symbol) if symbol == name => value.clone(),
        Expr::Add(parts) => Expr::Add(all(parts)),
        Expr::Mul(parts) => Expr::Mul(all(parts)),
        Expr::Pow(base, exponent) => {
            power(substituted(base, name, value), substituted(exponent, name, value))
        }
        Expr::Apply(function, parts) => Expr::Apply(*function, all(parts)),
        other => other.clone(),
    }
}
