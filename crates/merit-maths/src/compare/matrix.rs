//! Matrices: sums, products, powers, transposes and determinants worked out entry by entry.

use super::{exact, points, rational::rational_value};
use crate::{Budget, Exhausted, Expr, Function};
use dashu_ratio::RBig;

pub(crate) type Rows = Vec<Vec<Expr>>;

/// Larger determinants and powers are left alone.
const MAX_DETERMINANT: usize = 5;
const MAX_POWER: i64 = 12;

/// The rows of an expression that is a matrix; `None` where it is not one, or its shapes do not fit.
pub(crate) fn rows(expr: &Expr, budget: &mut Budget) -> Result<Option<Rows>, Exhausted> {
    match expr {
        Expr::Matrix(rows) => Ok(is_regular(rows).then(|| rows.clone())),
        Expr::Add(parts) => budget.deeper(|b| sum(parts, b)),
        Expr::Mul(parts) => budget.deeper(|b| product(parts, b)),
        Expr::Pow(base, exponent) => budget.deeper(|b| power(base, exponent, b)),
        Expr::Apply(Function::Transpose, arguments) => match arguments.as_slice() {
            [inner] => Ok(budget.deeper(|b| rows(inner, b))?.map(|m| transposed(&m))),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Spends what copying an entry costs, so that products of formulas cannot fill the memory.
fn weigh(entry: &Expr, budget: &mut Budget) -> Result<(), Exhausted> {
    let mut parts = 0u64;
    points::walk(
        entry,
        &mut |_| {
            parts += 1;
            true
        },
        budget,
    )?;
    budget.spend(4 * parts)
}

fn is_regular(rows: &[Vec<Expr>]) -> bool {
    rows.first().is_some_and(|first| !first.is_empty() && rows.iter().all(|row| row.len() == first.len()))
}

fn transposed(rows: &[Vec<Expr>]) -> Rows {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|j| rows.iter().filter_map(|row| row.get(j).cloned()).collect()).collect()
}

fn sum(parts: &[Expr], budget: &mut Budget) -> Result<Option<Rows>, Exhausted> {
    let mut total: Option<Rows> = None;
    for part in parts {
        let Some(next) = rows(part, budget)? else { return Ok(None) };
        total = match total {
            None => Some(next),
            Some(so_far) => {
                if so_far.len() != next.len() || so_far.first().map(Vec::len) != next.first().map(Vec::len) {
                    return Ok(None);
                }
                let pairs = so_far.into_iter().zip(next);
                let added = |(a, b): (Vec<Expr>, Vec<Expr>)| {
                    a.into_iter().zip(b).map(|(x, y)| Expr::Add(vec![x, y])).collect()
                };
                Some(pairs.map(added).collect())
            }
        };
    }
    Ok(total)
}

fn product(parts: &[Expr], budget: &mut Budget) -> Result<Option<Rows>, Exhausted> {
    let (mut total, mut scalars): (Option<Rows>, Vec<Expr>) = (None, Vec::new());
    for part in parts {
        match rows(part, budget)? {
            None => scalars.push(part.clone()),
            Some(next) => {
                total = match total {
                    None => Some(next),
                    Some(so_far) => match multiply(&so_far, &next, budget)? {
                        Some(product) => Some(product),
                        None => return Ok(None),
                    },
                };
            }
        }
    }
    let Some(mut total) = total else { return Ok(None) };
    if !scalars.is_empty() {
        for entry in total.iter_mut().flatten() {
            for scalar in &scalars {
                weigh(scalar, budget)?;
            }
            let mut factors = scalars.clone();
            factors.push(entry.clone());
            *entry = Expr::Mul(factors);
        }
    }
    Ok(Some(total))
}

fn multiply(a: &Rows, b: &Rows, budget: &mut Budget) -> Result<Option<Rows>, Exhausted> {
    let columns = transposed(b);
    if a.first().map(Vec::len) != Some(b.len()) {
        return Ok(None);
    }
    let mut product = Vec::with_capacity(a.len());
    for row in a {
        let mut entries = Vec::with_capacity(columns.len());
        for column in &columns {
            for (x, y) in row.iter().zip(column) {
                weigh(x, budget)?;
                weigh(y, budget)?;
            }
            let dot: Vec<Expr> =
                row.iter().zip(column).map(|(x, y)| Expr::Mul(vec![x.clone(), y.clone()])).collect();
            let dot = Expr::Add(dot);
            // Numbers are worked out at once, or powers would grow into towers of sums.
            entries.push(rational_value(&dot, budget)?.map_or(dot, Expr::Num));
        }
        product.push(entries);
    }
    Ok(Some(product))
}

fn power(base: &Expr, exponent: &Expr, budget: &mut Budget) -> Result<Option<Rows>, Exhausted> {
    let Some(base) = rows(base, budget)? else { return Ok(None) };
    let exponent = rational_value(exponent, budget)?;
    let Some(n) = exponent.as_ref().and_then(exact::as_i64).filter(|n| (1..=MAX_POWER).contains(n)) else {
        return Ok(None);
    };
    let mut total = base.clone();
    for _ in 1..n {
        match multiply(&total, &base, budget)? {
            Some(next) => total = next,
            None => return Ok(None),
        }
    }
    Ok(Some(total))
}

/// The scalar that a function of a matrix is, as a formula of the entries.
pub(crate) fn scalar(
    function: Function,
    argument: &Expr,
    budget: &mut Budget,
) -> Result<Option<Expr>, Exhausted> {
    let Some(rows) = rows(argument, budget)? else { return Ok(None) };
    let square = rows.first().map(Vec::len) == Some(rows.len());
    Ok(match function {
        Function::Trace if square => {
            Some(Expr::Add(rows.iter().enumerate().filter_map(|(i, row)| row.get(i).cloned()).collect()))
        }
        Function::Determinant | Function::Abs if square && rows.len() <= MAX_DETERMINANT => {
            Some(determinant(&rows, budget)?)
        }
        Function::Norm | Function::Abs if rows.len() == 1 || rows.first().map(Vec::len) == Some(1) => {
            let squares = rows.iter().flatten().map(|x| {
                Expr::Pow(
                    Box::new(Expr::Apply(Function::Abs, vec![x.clone()])),
                    Box::new(Expr::Num(RBig::from(2))),
                )
            });
            let half = Expr::Num(RBig::from_parts(1.into(), 2u8.into()));
            Some(Expr::Pow(Box::new(Expr::Add(squares.collect())), Box::new(half)))
        }
        _ => None,
    })
}

fn determinant(rows: &[Vec<Expr>], budget: &mut Budget) -> Result<Expr, Exhausted> {
    budget.spend(2 * (rows.len() * rows.len()) as u64)?;
    let Some((first, rest)) = rows.split_first() else { return Ok(Expr::Num(RBig::ONE)) };
    if rest.is_empty() {
        return Ok(first.first().cloned().unwrap_or(Expr::Num(RBig::ONE)));
    }
    let mut terms = Vec::with_capacity(first.len());
    for (j, entry) in first.iter().enumerate() {
        for kept in rest.iter().flatten() {
            weigh(kept, budget)?;
        }
        let without = |row: &Vec<Expr>| -> Vec<Expr> {
            row.iter().enumerate().filter(|(k, _)| *k != j).map(|(_, x)| x.clone()).collect()
        };
        let minor: Rows = rest.iter().map(without).collect();
        let sign = if j % 2 == 0 { 1 } else { -1 };
        terms.push(Expr::Mul(vec![Expr::Num(RBig::from(sign)), entry.clone(), determinant(&minor, budget)?]));
    }
    Ok(Expr::Add(terms))
}
