//! The order sympy puts the elements of a set in, and sameness of structure.

use super::{is_assignment, last_value};
use crate::float::approximate;
use crate::grammar::build::as_integer;
use merit_maths::{Budget, Exhausted, Expr};
use std::cmp::Ordering;

/// A key by which sympy sorts: class, number of parts, parts, exponent, coefficient.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    class: (u8, u8, String),
    parts: Vec<Key>,
    exponent: Option<Box<Key>>,
    coefficient: f64,
}

impl Key {
    fn number(value: f64) -> Self {
        Self { class: (1, 0, "Number".to_owned()), parts: Vec::new(), exponent: None, coefficient: value }
    }

    fn of_parts(class: (u8, u8, &str), parts: Vec<Key>) -> Self {
        Self { class: (class.0, class.1, class.2.to_owned()), parts, exponent: None, coefficient: 1.0 }
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let class = self.class.cmp(&other.class).then(self.parts.len().cmp(&other.parts.len()));
        let parts = self.parts.iter().zip(&other.parts).map(|(a, b)| a.compare(b)).find(|o| o.is_ne());
        class
            .then(parts.unwrap_or(Ordering::Equal))
            .then_with(|| self.exponent_key().compare_flat(&other.exponent_key()))
            .then(self.coefficient.total_cmp(&other.coefficient))
    }

    fn exponent_key(&self) -> Key {
        self.exponent.as_deref().cloned().unwrap_or_else(|| Key::number(1.0))
    }

    /// Compares exponents, which have none themselves worth looking at.
    fn compare_flat(&self, other: &Self) -> Ordering {
        self.class.cmp(&other.class).then(self.coefficient.total_cmp(&other.coefficient))
    }

    /// The degree of a term, as far as it is a number.
    fn degree(&self) -> f64 {
        match &self.exponent {
            Some(exponent) if exponent.class.0 == 1 => exponent.coefficient,
            _ if self.class.0 == 1 => 0.0,
            _ => 1.0,
        }
    }
}

/// The key of an element of a set; an assignment counts as its value.
pub(super) fn element_key(expr: &Expr, budget: &mut Budget) -> Result<Key, Exhausted> {
    if is_assignment(expr) {
        return key(&last_value(expr), budget);
    }
    key(expr, budget)
}

fn key(expr: &Expr, budget: &mut Budget) -> Result<Key, Exhausted> {
    if let Some(value) = approximate(expr, budget)? {
        return Ok(Key::number(value));
    }
    budget.deeper(|b| {
        let mut all = |parts: &[Expr]| parts.iter().map(|part| key(part, b)).collect::<Result<Vec<_>, _>>();
        Ok(match expr {
            Expr::Symbol(name) => Key::of_parts((2, 0, name), Vec::new()),
            Expr::Add(parts) => Key::of_parts((3, 1, "Add"), by_degree(all(parts)?)),
            Expr::Mul(parts) => product_key(all(parts)?),
            Expr::Pow(base, exponent) => {
                let exponent = key(exponent, b)?;
                Key { exponent: Some(Box::new(exponent)), ..key(base, b)? }
            }
            Expr::Apply(function, parts) => Key::of_parts((4, 0, &format!("{function:?}")), all(parts)?),
            Expr::Unknown(name, parts) => Key::of_parts((4, 1, name), all(parts)?),
            Expr::Tuple(parts) => Key::of_parts((5, 0, "Tuple"), all(parts)?),
            Expr::Set(parts) => Key::of_parts((5, 0, "FiniteSet"), sorted(all(parts)?)),
            Expr::Interval { low, high, .. } => {
                let parts = vec![key(low, b)?, key(high, b)?];
                Key::of_parts((5, 0, "Interval"), parts)
            }
            Expr::Relation(relation, left, right) => {
                let parts = vec![key(left, b)?, key(right, b)?];
                Key::of_parts((5, 0, &format!("{relation:?}")), parts)
            }
            Expr::Matrix(rows) => Key::of_parts((5, 1, "Matrix"), all(&rows.concat())?),
            other => Key::of_parts((6, 0, &format!("{:?}", std::mem::discriminant(other))), Vec::new()),
        })
    })
}

/// A product sorts as its symbolic part, then by its coefficient.
fn product_key(parts: Vec<Key>) -> Key {
    let (numbers, mut rest): (Vec<Key>, Vec<Key>) = parts.into_iter().partition(|part| part.class.0 == 1);
    let coefficient: f64 = numbers.iter().map(|n| n.coefficient).product();
    if rest.len() == 1 {
        let mut only = rest.remove(0);
        only.coefficient *= coefficient;
        return only;
    }
    let mut key = Key::of_parts((3, 0, "Mul"), sorted(rest));
    key.coefficient = coefficient;
    key
}

/// The terms of a sum: of higher degree first, numbers last.
fn by_degree(mut keys: Vec<Key>) -> Vec<Key> {
    keys.sort_by(|a, b| b.degree().total_cmp(&a.degree()).then_with(|| a.compare(b)));
    keys
}

fn sorted(mut keys: Vec<Key>) -> Vec<Key> {
    keys.sort_by(Key::compare);
    keys
}

/// The elements of a set without repetition, in sympy's order.
pub(super) fn ordered(elements: &[Expr], budget: &mut Budget) -> Result<Vec<Expr>, Exhausted> {
    let mut keyed = Vec::with_capacity(elements.len());
    for element in distinct(elements, budget)? {
        keyed.push((element_key(element, budget)?, element));
    }
    keyed.sort_by(|a, b| a.0.compare(&b.0));
    Ok(keyed.into_iter().map(|(_, element)| element.clone()).collect())
}

/// The elements without those of the same structure as an earlier one.
pub(super) fn distinct<'e>(elements: &'e [Expr], budget: &mut Budget) -> Result<Vec<&'e Expr>, Exhausted> {
    let mut kept: Vec<&Expr> = Vec::new();
    for element in elements {
        budget.spend(1 + kept.len() as u64)?;
        if !kept.contains(&element) {
            kept.push(element);
        }
    }
    Ok(kept)
}

/// Whether two values have the same structure; sets in any order. Numbers keep their kind: `1` is not `1.0`.
pub(super) fn same(a: &Expr, b: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    match (a, b) {
        (Expr::Set(x), Expr::Set(y)) => {
            let (x, y) = (distinct(x, budget)?, distinct(y, budget)?);
            budget.spend((x.len() * y.len()) as u64)?;
            Ok(x.len() == y.len() && x.iter().all(|e| y.contains(e)))
        }
        (Expr::Relation(r, a, b), Expr::Relation(s, c, d)) if r == s => {
            Ok(same(a, c, budget)? && same(b, d, budget)?)
        }
        (Expr::Decimal(x), Expr::Decimal(y)) => Ok(x.value == y.value),
        (Expr::Pow(a, x), Expr::Pow(b, y)) if as_integer(x).is_some() => Ok(x == y && same(a, b, budget)?),
        _ => Ok(a == b),
    }
}
