//! Equations and inequalities: the same up to a factor that is not zero (positive, where there is an order).

use super::assignment::{assignment, is_relation};
use super::fraction::Fraction;
use super::normal::Normalizer;
use super::poly::Poly;
use super::real::Trouble;
use super::sets::as_real_set;
use super::solve::flipped;
use super::verdict::{Outcome, Reason};
use super::{answers, collections, exact, exponent::Exponent, identity};
use crate::{Budget, Exhausted, Expr, MathsConfig, Relation};
use dashu_ratio::RBig;
use std::cmp::Ordering;

/// Compares where at least one side is a relation.
pub(crate) fn compare(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let (named_gold, named_response) = (assignment(gold, budget)?, assignment(response, budget)?);
    match (named_gold, named_response) {
        (Some((a, x)), Some((b, y))) if a == b => return answers::decide(x, y, config, budget),
        (Some((Expr::Unknown(f, a), x)), Some((Expr::Unknown(g, b), y))) if f == g && a.len() == b.len() => {
            let renamed = renamed(y, b, a);
            return answers::decide(x, &renamed, config, budget);
        }
        (Some((_, x)), None) if !is_relation(response) => {
            return answers::decide(x, response, config, budget);
        }
        (None, Some((_, y))) if !is_relation(gold) => return answers::decide(gold, y, config, budget),
        _ => {}
    }
    if let Some(outcome) = membership(gold, response, config, budget)? {
        return Ok(outcome);
    }
    if let (Expr::Relation(Relation::Equal, a, b), Expr::Relation(Relation::Equal, c, d)) = (gold, response)
        && is_unsolved(a, b)
        && is_unsolved(c, d)
        && let (Some(x), Some(y)) = (difference(a, b), difference(c, d))
    {
        return proportional(&x, &y, false, budget);
    }
    if let Some(outcome) = as_solutions(gold, response, budget)? {
        return Ok(outcome);
    }
    if let Some(outcome) = collections::compare(gold, response, config, budget)? {
        return Ok(outcome);
    }
    match (gold, response) {
        (Expr::Relation(p, a, b), Expr::Relation(q, c, d)) => single((*p, a, b), (*q, c, d), config, budget),
        (Expr::Chain(a), Expr::Chain(b)) | (Expr::Either(a), Expr::Either(b)) => chains(a, b, config, budget),
        _ => Ok(Outcome::said(false, "kind", "one is a relation, the other is not")),
    }
}

/// `x ∈ S` against a set, or against another such.
fn membership(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Option<Outcome>, Exhausted> {
    let inside = |expr: &Expr| match expr {
        Expr::Relation(Relation::In, left, right) => Some((left.as_ref().clone(), right.as_ref().clone())),
        _ => None,
    };
    Ok(match (inside(gold), inside(response)) {
        (Some((x, a)), Some((y, b))) => {
            if x != y {
                return Ok(Some(Outcome::said(false, "relation", "they speak of different things")));
            }
            Some(answers::decide(&a, &b, config, budget)?)
        }
        (Some((_, a)), None) if !is_relation(response) => {
            Some(answers::decide(&a, response, config, budget)?)
        }
        (None, Some((_, b))) if !is_relation(gold) => Some(answers::decide(gold, &b, config, budget)?),
        _ => None,
    })
}

/// Whether neither side of an equation is a bare variable: `x^2 + 1 = 0` is an answer as an equation, not by its roots.
fn is_unsolved(left: &Expr, right: &Expr) -> bool {
    !matches!(left, Expr::Symbol(_)) && !matches!(right, Expr::Symbol(_))
}

/// Compares relations by the reals that satisfy them. Two that no real satisfies, or that every real does, are not the same
/// answer for that.
fn as_solutions(gold: &Expr, response: &Expr, budget: &mut Budget) -> Result<Option<Outcome>, Exhausted> {
    let outcome = as_sets(gold, response, budget)?;
    let by_condition = |expr: &Expr| is_relation(expr) && !matches!(expr, Expr::Relation(Relation::In, ..));
    if !(outcome.as_ref().is_some_and(|found| found.equal) && by_condition(gold) && by_condition(response)) {
        return Ok(outcome);
    }
    let Some(solutions) = as_real_set(gold, budget)? else { return Ok(outcome) };
    let says_nothing = solutions.set.is_empty() || solutions.set.complement().is_empty();
    Ok(outcome.filter(|_| !says_nothing))
}

/// Compares as sets of reals where both sides are; `None` where one is not.
pub(crate) fn as_sets(
    gold: &Expr,
    response: &Expr,
    budget: &mut Budget,
) -> Result<Option<Outcome>, Exhausted> {
    let Some(a) = as_real_set(gold, budget)? else { return Ok(None) };
    let Some(b) = as_real_set(response, budget)? else { return Ok(None) };
    if let (Some(x), Some(y)) = (&a.variable, &b.variable)
        && x != y
    {
        return Ok(Some(Outcome::said(false, "interval", "they speak of different variables")));
    }
    Ok(a.set.same(&b.set, budget)?.map(|equal| {
        let why = if equal { "the same set of real numbers" } else { "different sets of real numbers" };
        Outcome::said(equal, "interval", why)
    }))
}

fn single(
    gold: (Relation, &Expr, &Expr),
    response: (Relation, &Expr, &Expr),
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let (p, a, b) = upward(gold);
    let (q, c, d) = upward(response);
    if p != q {
        return Ok(Outcome::said(false, "relation", "different relations"));
    }
    let ordered = matches!(p, Relation::Less | Relation::AtMost);
    if (ordered || matches!(p, Relation::Equal | Relation::NotEqual))
        && let (Some(x), Some(y)) = (difference(a, b), difference(c, d))
    {
        return proportional(&x, &y, ordered, budget);
    }
    let symmetric =
        matches!(p, Relation::Similar | Relation::Parallel | Relation::Perpendicular | Relation::Equivalent);
    if symmetric
        && answers::decide(a, d, config, budget)?.equal
        && answers::decide(b, c, config, budget)?.equal
    {
        return Ok(Outcome::said(true, "relation", "the same relation read from the other side"));
    }
    let left = answers::decide(a, c, config, budget)?;
    if !left.equal {
        return Ok(Outcome::new(false, "relation", Reason::Part(1, Box::new(left))));
    }
    let right = answers::decide(b, d, config, budget)?;
    Ok(Outcome::new(right.equal, "relation", Reason::Part(2, Box::new(right))))
}

/// The relation with the larger side on the right.
fn upward<'e>((op, left, right): (Relation, &'e Expr, &'e Expr)) -> (Relation, &'e Expr, &'e Expr) {
    match op {
        Relation::Greater | Relation::AtLeast => (flipped(op), right, left),
        Relation::About => (Relation::Equal, left, right),
        _ => (op, left, right),
    }
}

fn difference(left: &Expr, right: &Expr) -> Option<Expr> {
    let scalar = |e: &Expr| {
        matches!(
            e,
            Expr::Num(_)
                | Expr::Decimal(_)
                | Expr::Constant(_)
                | Expr::Symbol(_)
                | Expr::Add(_)
                | Expr::Mul(_)
                | Expr::Pow(..)
                | Expr::Apply(..)
                | Expr::Unknown(..)
                | Expr::Quantified { .. }
        )
    };
    (scalar(left) && scalar(right))
        .then(|| Expr::Add(vec![left.clone(), Expr::Mul(vec![Expr::Num(RBig::from(-1)), right.clone()])]))
}

/// `x = 0` and `y = 0` for the same points: `x` is a number times `y`.
fn proportional(x: &Expr, y: &Expr, positive: bool, budget: &mut Budget) -> Result<Outcome, Exhausted> {
    let mut normalizer = Normalizer::default();
    match normal_ratio(&mut normalizer, x, y, positive, budget) {
        Ok(Some(ratio)) => {
            let equal = !positive || !exact::is_negative(&ratio);
            let why = if equal {
                "the same relation up to a factor"
            } else {
                "the same sides, the other way round"
            };
            return Ok(Outcome::said(equal, "relation", why));
        }
        Ok(None) if normalizer.atoms.all_independent() => {
            return Ok(Outcome::said(false, "relation", "no factor takes one into the other"));
        }
        Err(Trouble::Undefined) => return Ok(Outcome::different("undefined", Reason::NoValue)),
        Err(Trouble::Exhausted(limit)) if limit != Exhausted::Size => return Err(limit),
        _ => {}
    }
    let sign = identity::proportional(x, y, budget)?;
    let equal = match sign {
        Some(sign) => !positive || sign == Ordering::Greater,
        None => false,
    };
    let why = if equal { "in a fixed ratio at every point compared" } else { "not in a fixed ratio" };
    Ok(Outcome::said(equal, "relation", why))
}

fn normal_ratio(
    normalizer: &mut Normalizer,
    x: &Expr,
    y: &Expr,
    ordered: bool,
    budget: &mut Budget,
) -> Result<Option<RBig>, Trouble> {
    let a = normalizer.of(x, budget)?;
    let b = normalizer.of(y, budget)?;
    if ordered {
        // Denominators have signs of their own and stay.
        return a.num.mul(&b.den, budget)?.ratio_to(&b.num.mul(&a.den, budget)?, budget);
    }
    cleared(&a, budget)?.ratio_to(&cleared(&b, budget)?, budget)
}

/// The numerator, with powers below zero multiplied away; powers above zero stay, for `x² = x` is not `x = 1`.
fn cleared(form: &Fraction, budget: &mut Budget) -> Result<Poly, Trouble> {
    let mut lift: Vec<(u32, Exponent)> = Vec::new();
    for (monomial, _) in &form.num.terms {
        for &(id, e) in monomial.iter().filter(|(_, e)| e.numerator() < 0) {
            match lift.iter_mut().find(|(known, _)| *known == id) {
                Some((_, least)) => *least = (*least).max(e.mul(Exponent::int(-1))?),
                None => lift.push((id, e.mul(Exponent::int(-1))?)),
            }
        }
    }
    lift.sort_unstable();
    form.num.mul(&Poly::term(lift, RBig::ONE), budget)
}

/// Relations that hold together: each has its counterpart; a chain may be read from either end.
fn chains(
    gold: &[Expr],
    response: &[Expr],
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    collections::unordered(gold, response, "relation", config, budget)
}

/// `value` with the symbols `from` called `to`.
fn renamed(value: &Expr, from: &[Expr], to: &[Expr]) -> Expr {
    let found = from.iter().position(|name| name == value && matches!(name, Expr::Symbol(_)));
    if let Some(new) = found.and_then(|at| to.get(at)) {
        return new.clone();
    }
    let all = |parts: &[Expr]| parts.iter().map(|part| renamed(part, from, to)).collect();
    let boxed = |part: &Expr| Box::new(renamed(part, from, to));
    match value {
        Expr::Add(parts) => Expr::Add(all(parts)),
        Expr::Mul(parts) => Expr::Mul(all(parts)),
        Expr::Pow(base, exponent) => Expr::Pow(boxed(base), boxed(exponent)),
        Expr::Apply(function, parts) => Expr::Apply(*function, all(parts)),
        Expr::Unknown(name, parts) => Expr::Unknown(name.clone(), all(parts)),
        other => other.clone(),
    }
}
