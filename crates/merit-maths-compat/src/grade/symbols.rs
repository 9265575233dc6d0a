//! Names: one symbol against another, or against the product that the letters of a word become.

use super::{Equal, No};
use crate::values::symbol_name;
use merit_maths::{Budget, Constant, Exhausted, Expr};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Compares where at least one side is a symbol.
pub(super) fn equal(gold: &Expr, pred: &Expr) -> Equal {
    let same = match (gold, pred) {
        (Expr::Symbol(a), Expr::Symbol(b)) => folded(symbol_name(a)) == folded(symbol_name(b)),
        (Expr::Symbol(name), other) | (other, Expr::Symbol(name)) => {
            let name = symbol_name(name);
            match (other, spelled(other)) {
                (Expr::Constant(Constant::E), _) => name.eq_ignore_ascii_case("e"),
                (_, Some(word)) => word.to_lowercase() == name.to_lowercase(),
                _ => printed(other).is_some_and(|text| text == name),
            }
        }
        _ => false,
    };
    if same { Ok("symbol") } else { Err(No::Different) }
}

/// Case matters for single letters only.
fn folded(name: &str) -> String {
    if name.chars().count() > 1 { name.to_lowercase() } else { name.to_owned() }
}

/// The word that a product of symbols spells.
fn spelled(expr: &Expr) -> Option<String> {
    let Expr::Mul(factors) = expr else { return None };
    factors
        .iter()
        .map(|factor| match factor {
            Expr::Symbol(name) => Some(symbol_name(name)),
            Expr::Constant(Constant::E) => Some("e"),
            _ => None,
        })
        .collect()
}

/// The text of a value that a symbol could have for a name.
fn printed(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Num(value) => Some(value.to_string()),
        Expr::Constant(Constant::Pi) => Some("pi".to_owned()),
        Expr::Constant(Constant::I) => Some("I".to_owned()),
        _ => None,
    }
}

/// The prediction with its variables renamed to the reference's, where both have equally many.
pub(super) fn renamed_like(gold: &Expr, pred: &Expr, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    let (mut to, mut from) = (BTreeSet::new(), BTreeSet::new());
    free_symbols(gold, &mut to, budget)?;
    free_symbols(pred, &mut from, budget)?;
    if to.len() != from.len() {
        return Ok(None);
    }
    let names: Vec<(Arc<str>, Arc<str>)> = from.into_iter().zip(to).collect();
    Ok(Some(renamed(pred, &names)))
}

/// The names of the variables.
pub(super) fn free_symbols(
    expr: &Expr,
    names: &mut BTreeSet<Arc<str>>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    if let Expr::Symbol(name) = expr {
        names.insert(Arc::clone(name));
    }
    budget.deeper(|b| {
        for part in parts(expr) {
            free_symbols(part, names, b)?;
        }
        Ok(())
    })
}

/// The parts of an expression, a level down.
pub(super) fn parts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Add(parts)
        | Expr::Mul(parts)
        | Expr::Apply(_, parts)
        | Expr::Unknown(_, parts)
        | Expr::Chain(parts)
        | Expr::Set(parts)
        | Expr::Tuple(parts)
        | Expr::Union(parts)
        | Expr::Intersection(parts) => parts.iter().collect(),
        Expr::Pow(a, b) | Expr::Relation(_, a, b) | Expr::Difference(a, b) => vec![a, b],
        Expr::Percent(inner) => vec![inner],
        Expr::Interval { low, high, .. } => vec![low, high],
        Expr::Matrix(rows) => rows.iter().flatten().collect(),
        Expr::Quantified { body, from, to, .. } => {
            let ends = from.iter().chain(to).map(|end| &**end);
            std::iter::once(&**body).chain(ends).collect()
        }
        _ => Vec::new(),
    }
}

fn renamed(expr: &Expr, names: &[(Arc<str>, Arc<str>)]) -> Expr {
    let all = |parts: &[Expr]| parts.iter().map(|part| renamed(part, names)).collect();
    let one = |part: &Expr| Box::new(renamed(part, names));
    match expr {
        Expr::Symbol(name) => {
            let new = names.iter().find(|(from, _)| from == name).map_or(name, |(_, to)| to);
            Expr::Symbol(Arc::clone(new))
        }
        Expr::Add(parts) => Expr::Add(all(parts)),
        Expr::Mul(parts) => Expr::Mul(all(parts)),
        Expr::Pow(base, exponent) => Expr::Pow(one(base), one(exponent)),
        Expr::Apply(function, parts) => Expr::Apply(*function, all(parts)),
        Expr::Unknown(name, parts) => Expr::Unknown(Arc::clone(name), all(parts)),
        Expr::Percent(inner) => Expr::Percent(one(inner)),
        Expr::Relation(relation, left, right) => Expr::Relation(*relation, one(left), one(right)),
        Expr::Chain(parts) => Expr::Chain(all(parts)),
        Expr::Set(parts) => Expr::Set(all(parts)),
        Expr::Tuple(parts) => Expr::Tuple(all(parts)),
        Expr::Union(parts) => Expr::Union(all(parts)),
        Expr::Interval { low, high, low_closed, high_closed } => Expr::Interval {
            low: one(low),
            high: one(high),
            low_closed: *low_closed,
            high_closed: *high_closed,
        },
        Expr::Matrix(rows) => Expr::Matrix(rows.iter().map(|row| all(row)).collect()),
        other => other.clone(),
    }
}
