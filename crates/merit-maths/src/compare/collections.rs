//! Several values in one answer: tuples in order, sets without, lists by the settings.

use super::answers;
use super::assignment::assignment;
use super::expand::{has_sign, signs};
use super::verdict::{Outcome, Reason};
use crate::{Budget, Exhausted, Expr, MathsConfig, Several};

/// Compares where one side is a set, list, tuple or choice of values; `None` where neither is.
pub(crate) fn compare(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Option<Outcome>, Exhausted> {
    match (gold, response) {
        (Expr::Tuple(a), Expr::Tuple(b)) if !has_sign(gold, budget)? && !has_sign(response, budget)? => {
            return in_order(a, b, "tuple", config, budget).map(Some);
        }
        (Expr::Tuple(a), Expr::List(b)) | (Expr::List(a), Expr::Tuple(b)) if !nested(a) && !nested(b) => {
            return in_order(a, b, "tuple", config, budget).map(Some);
        }
        (Expr::Tuple(_), Expr::Set(_)) | (Expr::Set(_), Expr::Tuple(_)) => {
            return Ok(Some(Outcome::said(false, "kind", "a set has no order, a tuple has")));
        }
        _ => {}
    }
    let (a, b) = (elements(gold, budget)?, elements(response, budget)?);
    if a.is_none() && b.is_none() {
        return Ok(None);
    }
    let listed = matches!(gold, Expr::List(_));
    let a = a.unwrap_or_else(|| vec![gold.clone()]);
    let b = b.unwrap_or_else(|| vec![response.clone()]);
    if a.is_empty() || b.is_empty() {
        let equal = a.is_empty() && b.is_empty();
        return Ok(Some(Outcome::said(
            equal,
            "set",
            if equal { "both are empty" } else { "only one is empty" },
        )));
    }
    if listed && config.several == Several::AnyOne {
        return any_one(&a, &b, config, budget).map(Some);
    }
    let ordered = config.several == Several::AllInOrder && listed && matches!(response, Expr::List(_));
    if ordered || only_one_is_named(&a, &b, budget)? {
        return in_order(&a, &b, "list", config, budget).map(Some);
    }
    let rule = if matches!((gold, response), (Expr::Set(_), Expr::Set(_))) { "set" } else { "list" };
    unordered(&a, &b, rule, config, budget).map(Some)
}

fn nested(parts: &[Expr]) -> bool {
    parts.iter().any(|part| matches!(part, Expr::Tuple(_)))
}

/// The values of a set, a list, alternatives, a group of assignments, or a value with `±`.
fn elements(expr: &Expr, budget: &mut Budget) -> Result<Option<Vec<Expr>>, Exhausted> {
    let parts: &[Expr] = match expr {
        Expr::Set(parts) | Expr::List(parts) | Expr::Either(parts) => parts,
        Expr::Chain(parts) if parts.len() > 1 && all_named(parts, budget)? => parts,
        other if has_sign(other, budget)? => return signs(other, budget).map(Some),
        _ => return Ok(None),
    };
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            // `p = 5, q = 2; p = 7, q = 2` is two groups, not four values.
            Expr::List(inner) if distinct_names(inner, budget)? => all.push(part.clone()),
            Expr::List(inner) | Expr::Either(inner) => {
                for each in inner {
                    all.extend(signs(each, budget)?);
                }
            }
            other => all.extend(signs(other, budget)?),
        }
    }
    Ok(Some(all))
}

fn all_named(parts: &[Expr], budget: &mut Budget) -> Result<bool, Exhausted> {
    for part in parts {
        if assignment(part, budget)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `a = 4, b = 5` against `4, 5`: the order says which is which.
fn only_one_is_named(a: &[Expr], b: &[Expr], budget: &mut Budget) -> Result<bool, Exhausted> {
    let (x, y) = (distinct_names(a, budget)?, distinct_names(b, budget)?);
    Ok(x != y)
}

fn distinct_names(parts: &[Expr], budget: &mut Budget) -> Result<bool, Exhausted> {
    let mut names: Vec<&Expr> = Vec::with_capacity(parts.len());
    for part in parts {
        match assignment(part, budget)? {
            Some((name, _)) if !names.contains(&name) => names.push(name),
            _ => return Ok(false),
        }
    }
    Ok(parts.len() > 1)
}

/// Same number of parts, each equal to its counterpart.
pub(crate) fn in_order(
    gold: &[Expr],
    response: &[Expr],
    rule: &'static str,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    if gold.len() != response.len() {
        return Ok(Outcome::different(rule, Reason::Lengths(gold.len(), response.len())));
    }
    for (at, (a, b)) in gold.iter().zip(response).enumerate() {
        let part = answers::decide(a, b, config, budget)?;
        if !part.equal {
            return Ok(Outcome::different(rule, Reason::Part(at + 1, Box::new(part))));
        }
    }
    Ok(Outcome::said(true, rule, "every part equals its counterpart"))
}

/// Each has its counterpart on the other side; saying something twice changes nothing.
pub(crate) fn unordered(
    gold: &[Expr],
    response: &[Expr],
    rule: &'static str,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let mut found = vec![false; response.len()];
    for (at, a) in gold.iter().enumerate() {
        let mut any = false;
        // The counterpart usually stands at the same place.
        let order = (at..response.len()).chain(0..at.min(response.len()));
        for place in order {
            budget.spend(1)?;
            if answers::decide(a, &response[place], config, budget)?.equal {
                any = true;
                found[place] = true;
                break;
            }
        }
        if !any {
            return Ok(Outcome::different(rule, Reason::Missing(at + 1)));
        }
    }
    for (at, b) in response.iter().enumerate() {
        if found[at] {
            continue;
        }
        let mut any = false;
        for a in gold {
            budget.spend(1)?;
            any = any || answers::decide(a, b, config, budget)?.equal;
        }
        if !any {
            return Ok(Outcome::different(rule, Reason::Extra(at + 1)));
        }
    }
    Ok(Outcome::said(true, rule, "the same elements"))
}

/// Every value of the response is one of the reference's.
fn any_one(
    gold: &[Expr],
    response: &[Expr],
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    for (at, b) in response.iter().enumerate() {
        let mut any = false;
        for a in gold {
            budget.spend(1)?;
            any = any || answers::decide(a, b, config, budget)?.equal;
        }
        if !any {
            return Ok(Outcome::different("list", Reason::Extra(at + 1)));
        }
    }
    Ok(Outcome::said(true, "list", "one of the reference's answers"))
}
