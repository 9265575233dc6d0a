//! Walks over expressions: their parts, and their free variables.

use crate::{Budget, Exhausted, Expr};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Calls `visit` on every part of an expression, outside in, while it returns true.
pub(crate) fn walk(
    expr: &Expr,
    visit: &mut dyn FnMut(&Expr) -> bool,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    if !visit(expr) {
        return Ok(());
    }
    budget.deeper(|b| children(expr, &mut |child, b| walk(child, visit, b), b))
}

type Visit<'a> = dyn FnMut(&Expr, &mut Budget) -> Result<(), Exhausted> + 'a;

fn children(expr: &Expr, each: &mut Visit, budget: &mut Budget) -> Result<(), Exhausted> {
    use Expr::*;
    match expr {
        Add(parts)
        | Mul(parts)
        | Apply(_, parts)
        | Unknown(_, parts)
        | Chain(parts)
        | Either(parts)
        | Set(parts)
        | Tuple(parts)
        | List(parts)
        | Union(parts)
        | Intersection(parts)
        | Ratio(parts) => parts.iter().try_for_each(|part| each(part, budget)),
        Matrix(rows) => rows.iter().flatten().try_for_each(|part| each(part, budget)),
        Pow(a, b)
        | Relation(_, a, b)
        | Difference(a, b)
        | SetBuilder(a, b)
        | Interval { low: a, high: b, .. } => {
            each(a, budget)?;
            each(b, budget)
        }
        PlusMinus(a) | Percent(a) | Quantity(a, _) | Labelled(_, a) => each(a, budget),
        Piecewise(cases) => cases.iter().try_for_each(|(value, condition)| {
            each(value, budget)?;
            each(condition, budget)
        }),
        Quantified { body, from, to, .. } => {
            each(body, budget)?;
            from.iter().chain(to).try_for_each(|end| each(end, budget))
        }
        _ => Ok(()),
    }
}

/// Whether any part satisfies `test`.
pub(crate) fn any(
    expr: &Expr,
    test: &mut dyn FnMut(&Expr) -> bool,
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    let mut found = false;
    walk(
        expr,
        &mut |part| {
            found |= test(part);
            !found
        },
        budget,
    )?;
    Ok(found)
}

/// The free variables, by name.
pub(crate) fn variables(exprs: &[&Expr], budget: &mut Budget) -> Result<BTreeSet<Arc<str>>, Exhausted> {
    let mut names = BTreeSet::new();
    for expr in exprs {
        gather(expr, &mut Vec::new(), &mut names, budget)?;
    }
    Ok(names)
}

fn gather(
    expr: &Expr,
    bound: &mut Vec<Arc<str>>,
    names: &mut BTreeSet<Arc<str>>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    match expr {
        Expr::Symbol(name) => {
            if !bound.contains(name) {
                names.insert(name.clone());
            }
            Ok(())
        }
        Expr::Quantified { body, variable, from, to, .. } => budget.deeper(|b| {
            for end in from.iter().chain(to) {
                gather(end, bound, names, b)?;
            }
            bound.push(variable.clone());
            let done = gather(body, bound, names, b);
            bound.pop();
            done
        }),
        _ => budget.deeper(|b| children(expr, &mut |child, b| gather(child, bound, names, b), b)),
    }
}
