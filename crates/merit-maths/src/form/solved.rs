//! Whether relations are solved, and whether something is left to be done that the reference does not have.

use crate::{Budget, Exhausted, Expr, Function, Relation};

/// Whether an answer is a solution: values, sets of values, or relations with a variable alone on one side that the other side
/// does not hold. The other side is a value: `y = 2x` is a relation and no solution.
pub(super) fn solved(expr: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    budget.deeper(|budget| {
        let all = |parts: &[Expr], budget: &mut Budget| -> Result<bool, Exhausted> {
            for part in parts {
                if !solved(part, budget)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        Ok(match expr {
            Expr::Relation(Relation::In | Relation::NotIn, _, set) => solved(set, budget)?,
            Expr::Relation(_, left, right) => alone(left, right, budget)?,
            Expr::Chain(parts) | Expr::Either(parts) | Expr::List(parts) | Expr::Set(parts) => {
                all(parts, budget)?
            }
            Expr::Union(parts) | Expr::Intersection(parts) => all(parts, budget)?,
            Expr::Difference(left, right) => solved(left, budget)? && solved(right, budget)?,
            Expr::SetBuilder(_, condition) => solved(condition, budget)?,
            Expr::Labelled(_, part) => solved(part, budget)?,
            Expr::Text(_) | Expr::Truth(_) | Expr::NamedSet(_) => true,
            other => is_constant(other, budget)?,
        })
    })
}

/// `x < 3`, `3 > x`, `f(2) = 5`, `(x, y) = (1, 2)`, `6 \cdot 7 = 42`.
fn alone(left: &Expr, right: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    let named = |expr: &Expr| match expr {
        Expr::Symbol(_) | Expr::Unknown(..) => true,
        Expr::Apply(Function::Conjugate, inner) => matches!(inner.as_slice(), [Expr::Symbol(_)]),
        Expr::Tuple(parts) => parts.iter().all(|part| matches!(part, Expr::Symbol(_))),
        _ => false,
    };
    let (of_left, of_right) = (is_constant(left, budget)?, is_constant(right, budget)?);
    Ok((of_left || named(left)) && of_right || named(right) && of_left)
}

/// Whether an expression has no variables.
pub(super) fn is_constant(expr: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    let variable = |part: &Expr| matches!(part, Expr::Symbol(_) | Expr::Unknown(..) | Expr::Relation(..));
    Ok(!crate::compare::any(expr, &mut |part| variable(part), budget)?)
}

/// Whether a sum, integral, limit or derivative is left that the reference does not have.
pub(super) fn left_undone(expr: &Expr, gold: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    let mut quantified = |part: &Expr| matches!(part, Expr::Quantified { .. });
    Ok(crate::compare::any(expr, &mut quantified, budget)?
        && !crate::compare::any(gold, &mut quantified, budget)?)
}
