//! `±` written out: every choice of signs, each occurrence on its own.

use super::points;
use crate::{Budget, Exhausted, Expr};
use dashu_ratio::RBig;

/// At most this many choices are written out.
const MAX_CHOICES: usize = 16;

/// The expressions an expression with `±` stands for; just itself where there is none.
pub(crate) fn signs(expr: &Expr, budget: &mut Budget) -> Result<Vec<Expr>, Exhausted> {
    if !has_sign(expr, budget)? {
        return Ok(vec![expr.clone()]);
    }
    choices(expr, budget)
}

pub(crate) fn has_sign(expr: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    points::any(expr, &mut |part| matches!(part, Expr::PlusMinus(_)), budget)
}

fn choices(expr: &Expr, budget: &mut Budget) -> Result<Vec<Expr>, Exhausted> {
    budget.deeper(|b| match expr {
        Expr::PlusMinus(inner) => {
            let inner = choices(inner, b)?;
            let minus = |e: &Expr| Expr::Mul(vec![Expr::Num(RBig::from(-1)), e.clone()]);
            let negative: Vec<Expr> = inner.iter().map(minus).collect();
            Ok(inner.into_iter().chain(negative).collect())
        }
        Expr::Add(parts) => each(parts, Expr::Add, b),
        Expr::Mul(parts) => each(parts, Expr::Mul, b),
        Expr::Tuple(parts) => each(parts, Expr::Tuple, b),
        Expr::Apply(function, parts) => each(parts, |parts| Expr::Apply(*function, parts), b),
        Expr::Pow(base, exponent) => pair(base, exponent, |x, y| Expr::Pow(Box::new(x), Box::new(y)), b),
        Expr::Relation(op, left, right) => {
            pair(left, right, |x, y| Expr::Relation(*op, Box::new(x), Box::new(y)), b)
        }
        Expr::Percent(inner) => {
            Ok(choices(inner, b)?.into_iter().map(|e| Expr::Percent(Box::new(e))).collect())
        }
        Expr::Quantity(inner, unit) => {
            Ok(choices(inner, b)?.into_iter().map(|e| Expr::Quantity(Box::new(e), unit.clone())).collect())
        }
        other => Ok(vec![other.clone()]),
    })
}

fn pair(
    a: &Expr,
    b: &Expr,
    make: impl Fn(Expr, Expr) -> Expr,
    budget: &mut Budget,
) -> Result<Vec<Expr>, Exhausted> {
    let both = [a.clone(), b.clone()];
    each(
        &both,
        |mut parts| {
            let second = parts.pop().unwrap_or(Expr::Num(RBig::ZERO));
            let first = parts.pop().unwrap_or(Expr::Num(RBig::ZERO));
            make(first, second)
        },
        budget,
    )
}

fn each(
    parts: &[Expr],
    make: impl Fn(Vec<Expr>) -> Expr,
    budget: &mut Budget,
) -> Result<Vec<Expr>, Exhausted> {
    let mut rows: Vec<Vec<Expr>> = vec![Vec::with_capacity(parts.len())];
    for part in parts {
        let options = choices(part, budget)?;
        if rows.len() * options.len() > MAX_CHOICES {
            return Err(Exhausted::Size);
        }
        let mut next = Vec::with_capacity(rows.len() * options.len());
        for row in &rows {
            for option in &options {
                budget.spend(row.len() as u64 + 1)?;
                let mut longer = row.clone();
                longer.push(option.clone());
                next.push(longer);
            }
        }
        rows = next;
    }
    Ok(rows.into_iter().map(make).collect())
}
