//! Relations against relations: the same, turned round, or with the same solutions.

use super::numbers::is_opaque;
use super::solutions;
use super::symbols::free_symbols;
use super::{Equal, Grader, No};
use crate::grammar::build::{negated, sum};
use merit_maths::{Exhausted, Expr, Relation};
use std::collections::BTreeSet;

impl Grader<'_> {
    pub(super) fn relations(&mut self, gold: &Expr, pred: &Expr) -> Equal {
        match (gold, pred) {
            (Expr::Chain(a), Expr::Chain(b)) if a.len() == b.len() => {
                for (x, y) in a.iter().zip(b) {
                    self.relations(x, y)?;
                }
                Ok("relation")
            }
            (Expr::Chain(_), Expr::Chain(_)) => Err(No::Broken),
            (Expr::Relation(r, a, b), Expr::Relation(s, c, d)) => self.two_relations((*r, a, b), (*s, c, d)),
            _ => Err(No::Different),
        }
    }

    fn two_relations(&mut self, gold: (Relation, &Expr, &Expr), pred: (Relation, &Expr, &Expr)) -> Equal {
        let (Some(g), Some(p)) = (difference(gold.1, gold.2), difference(pred.1, pred.2)) else {
            return Err(No::Different);
        };
        if gold.0 == pred.0 && self.found(&g, &p)? {
            return Ok("relation");
        }
        let Some(turned) = turned(gold.0) else { return Err(No::Broken) };
        let opposite = difference(pred.2, pred.1);
        if let Some(opposite) = opposite.filter(|_| turned == pred.0)
            && self.found(&g, &opposite)?
        {
            return Ok("relation-turned");
        }
        if gold.0 == Relation::Equal && pred.0 == Relation::Equal && self.same_solutions(&g, &p)? {
            return Ok("relation-solved");
        }
        Err(No::Different)
    }

    /// Whether two scalars compare equal; a broken comparison does not.
    fn found(&mut self, a: &Expr, b: &Expr) -> Result<bool, Exhausted> {
        match self.equal(a, b) {
            Ok(_) => Ok(true),
            Err(No::Out(out)) => Err(out),
            Err(_) => Ok(false),
        }
    }

    /// Whether two equations, each `side = 0`, have the same variables and the same solutions. The peer breaks off where
    /// there is only one variable.
    fn same_solutions(&mut self, gold: &Expr, pred: &Expr) -> Result<bool, Exhausted> {
        let (mut a, mut b) = (BTreeSet::new(), BTreeSet::new());
        free_symbols(gold, &mut a, self.budget)?;
        free_symbols(pred, &mut b, self.budget)?;
        if a != b || a.len() < 2 {
            return Ok(false);
        }
        let names: Vec<_> = a.into_iter().collect();
        Ok(solutions::multiples(gold, pred, &names, self.budget)?
            || solutions::same_zeros(gold, pred, &names, self.budget)?)
    }
}

/// `left − right`, where both are scalars.
fn difference(left: &Expr, right: &Expr) -> Option<Expr> {
    (!is_opaque(left) && !is_opaque(right)).then(|| sum(left.clone(), negated(right.clone())))
}

/// The relation read from the other side.
fn turned(relation: Relation) -> Option<Relation> {
    Some(match relation {
        Relation::Less => Relation::Greater,
        Relation::Greater => Relation::Less,
        Relation::AtMost => Relation::AtLeast,
        Relation::AtLeast => Relation::AtMost,
        Relation::Equal => Relation::Equal,
        _ => return None,
    })
}
