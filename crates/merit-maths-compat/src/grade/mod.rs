//! Math-Verify's comparison of two parsed answers, rule by rule and in its order, its leniency and its gaps included.
//!
//! In: two values and the options. Out: the name of the rule that found them equal, or nothing. What sympy does by
//! simplification is done here by this crate's own comparison of scalars.

mod numbers;
mod order;
mod pieces;
mod relations;
mod sets;
mod solutions;
mod solve;
mod symbols;

use super::values::{is_set, is_zoo, only_symbols};
use merit_maths::{Budget, Exhausted, Expr, MathVerifyOptions, Relation};

/// Why two values did not compare equal.
pub(super) enum No {
    /// No rule found them equal.
    Different,
    /// A rule broke off, which ends the comparison.
    Broken,
    /// Out of budget.
    Out(Exhausted),
}

impl From<Exhausted> for No {
    fn from(out: Exhausted) -> Self {
        Self::Out(out)
    }
}

/// The rule that found them equal.
pub(super) type Equal = Result<&'static str, No>;

pub(super) struct Grader<'a> {
    pub(super) options: &'a MathVerifyOptions,
    pub(super) budget: &'a mut Budget,
}

impl Grader<'_> {
    /// Compares two whole answers.
    pub(super) fn compare(&mut self, gold: &Expr, pred: &Expr) -> Equal {
        if self.options.strict {
            return self.equal_as(gold, pred, self.options.allow_set_relation_comp);
        }
        let renamed = symbols::renamed_like(gold, pred, self.budget)?;
        self.equal_as(gold, renamed.as_ref().unwrap_or(pred), self.options.allow_set_relation_comp)
    }

    /// Compares parts of answers.
    fn equal(&mut self, gold: &Expr, pred: &Expr) -> Equal {
        self.budget.spend(1)?;
        self.equal_as(gold, pred, false)
    }

    fn equal_as(&mut self, gold: &Expr, pred: &Expr, relation_for_set: bool) -> Equal {
        let (gold, pred) = unwrapped(gold, pred);
        let gold_set =
            if is_relation(&gold) && is_set(&pred) { solve::as_set(&gold, self.budget)? } else { None };
        let gold = gold_set.unwrap_or(gold);
        let swap = relation_for_set && is_relation(&pred) && is_set(&gold);
        let pred_set = if swap { solve::as_set(&pred, self.budget)? } else { None };
        let pred = pred_set.unwrap_or(pred);
        if is_zoo(&gold) {
            return Err(No::Broken);
        }
        if order::same(&gold, &pred, self.budget)? {
            return Ok("same-expression");
        }
        let is_collection = |e: &Expr| is_set(e) || matches!(e, Expr::Tuple(_));
        if is_relation(&gold) && is_relation(&pred) {
            self.relations(&gold, &pred)
        } else if is_collection(&gold) || is_collection(&pred) {
            self.sets(&gold, &pred)
        } else if matches!(gold, Expr::Symbol(_)) || matches!(pred, Expr::Symbol(_)) {
            symbols::equal(&gold, &pred)
        } else if is_relation(&gold) || is_relation(&pred) {
            Err(No::Different)
        } else {
            self.scalars(&gold, &pred)
        }
    }
}

/// Both sides with chains of equations cut short and names of values dropped, where the other side has none.
fn unwrapped(gold: &Expr, pred: &Expr) -> (Expr, Expr) {
    let (gold_named, pred_named) = (is_assignment(gold), is_assignment(pred));
    let (gold_equation, pred_equation) = (is_equation(gold), is_equation(pred));
    let gold = if gold_named { shortened(gold) } else { gold.clone() };
    let pred = if pred_named { shortened(pred) } else { pred.clone() };
    if pred_equation && !gold_equation {
        let value = last_value(&pred);
        return (gold, value);
    }
    if gold_named && !pred_equation {
        let value = last_value(&gold);
        return (value, pred);
    }
    (gold, pred)
}

/// A relation, or several that hold together.
pub(super) fn is_relation(expr: &Expr) -> bool {
    match expr {
        Expr::Relation(relation, ..) => *relation != Relation::NotIn,
        Expr::Chain(links) => links.iter().all(|link| matches!(link, Expr::Relation(..))),
        _ => false,
    }
}

fn is_equation(expr: &Expr) -> bool {
    let equal = |e: &Expr| matches!(e, Expr::Relation(Relation::Equal, ..));
    match expr {
        Expr::Chain(links) => links.iter().all(equal),
        other => equal(other),
    }
}

/// An equation whose left side is only symbols: `x = 1`, `f(x) = 1`, `x = 1 + 1 = 2`.
pub(super) fn is_assignment(expr: &Expr) -> bool {
    is_equation(expr)
        && match expr {
            Expr::Relation(_, left, _) => only_symbols(left),
            Expr::Chain(links) => links
                .first()
                .is_some_and(|link| matches!(link, Expr::Relation(_, left, _) if only_symbols(left))),
            _ => false,
        }
}

/// The first left side and the last right side of a chain.
fn shortened(expr: &Expr) -> Expr {
    match expr {
        Expr::Chain(links) => match (links.first(), links.last()) {
            (Some(Expr::Relation(_, left, _)), Some(Expr::Relation(_, _, right))) => {
                Expr::Relation(Relation::Equal, left.clone(), right.clone())
            }
            _ => expr.clone(),
        },
        other => other.clone(),
    }
}

/// The right side of the last relation.
pub(super) fn last_value(expr: &Expr) -> Expr {
    match expr {
        Expr::Chain(links) => links.last().map_or_else(|| expr.clone(), last_value),
        Expr::Relation(_, _, right) => (**right).clone(),
        other => other.clone(),
    }
}
