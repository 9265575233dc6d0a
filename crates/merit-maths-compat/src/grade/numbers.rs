//! Numbers, closed expressions, expressions with variables, matrices.

use super::{Equal, Grader, No};
use crate::float::{approximate, of_rational};
use crate::grammar::build::integer;
use crate::values::{Atomic, atomic, is_zoo};
use dashu_ratio::RBig;
use merit_maths::{Budget, Exhausted, Expr, Function, Half, MathsConfig, compare, rational_value, round_to};

impl Grader<'_> {
    /// Numerically, then symbolically.
    pub(super) fn scalars(&mut self, gold: &Expr, pred: &Expr) -> Equal {
        if is_zoo(gold) || is_zoo(pred) {
            return Err(No::Different);
        }
        if let (Some(a), Some(b)) = (entries(gold), entries(pred)) {
            return self.matrices(&a, &b);
        }
        if has_matrix(gold) || has_matrix(pred) {
            return Err(No::Different);
        }
        if self.numerically(gold, pred)? {
            return Ok("numeric");
        }
        if self.identical(gold, pred)? { Ok("symbolic") } else { Err(No::Different) }
    }

    fn matrices(&mut self, a: &[Vec<Expr>], b: &[Vec<Expr>]) -> Equal {
        if a.len() != b.len() || a.first().map(Vec::len) != b.first().map(Vec::len) {
            return Err(No::Different);
        }
        let pairs: Vec<(&Expr, &Expr)> = a.iter().flatten().zip(b.iter().flatten()).collect();
        let mut numeric = true;
        for (x, y) in &pairs {
            numeric = numeric && (x == y || self.numerically(x, y)?);
        }
        if numeric {
            return Ok("matrix");
        }
        for (x, y) in pairs {
            if !self.identical(x, y)? {
                return Err(No::Different);
            }
        }
        Ok("matrix")
    }

    fn numerically(&mut self, a: &Expr, b: &Expr) -> Result<bool, Exhausted> {
        match (atomic(a), atomic(b)) {
            (None, None) => self.nearly(a, b),
            (Some(Atomic::Float), _) | (_, Some(Atomic::Float)) => self.rounded(a, b),
            (Some(Atomic::Integer), Some(Atomic::Integer)) => Ok(without_percent(a) == without_percent(b)),
            (Some(Atomic::Infinite), _) | (_, Some(Atomic::Infinite)) => Ok(a == b),
            _ => match (rational_value(a, self.budget)?, rational_value(b, self.budget)?) {
                (Some(x), Some(y)) => Ok(x == y),
                _ => Ok(false),
            },
        }
    }

    /// To the wanted decimals. A whole number stays whole, and is another kind of number than a rounded one.
    fn rounded(&mut self, a: &Expr, b: &Expr) -> Result<bool, Exhausted> {
        let places = i32::try_from(self.options.float_rounding).unwrap_or(i32::MAX);
        let (Some(x), Some(y)) = (round(a, places, self.budget)?, round(b, places, self.budget)?) else {
            return Ok(false);
        };
        Ok(x == y)
    }

    /// Closed expressions whose difference is below the precision in absolute terms.
    fn nearly(&mut self, a: &Expr, b: &Expr) -> Result<bool, Exhausted> {
        let (Some(x), Some(y)) = (approximate(a, self.budget)?, approximate(b, self.budget)?) else {
            return Ok(false);
        };
        // sympy takes n digits as (n + 1)·log2(10) bits, rounded, and drops what is 2^4 above that.
        let bits = (f64::from(self.options.numeric_precision) + 1.0) * std::f64::consts::LOG2_10;
        let threshold = (4.0 - bits.round()).exp2();
        // Only where a double can tell: larger values are left to the exact comparison.
        Ok(x.abs().max(y.abs()) < 0.25 && (x - y).abs() < threshold)
    }

    /// Whether the two are one and the same, by this crate's own rules for scalars.
    pub(super) fn identical(&mut self, a: &Expr, b: &Expr) -> Result<bool, Exhausted> {
        let config = MathsConfig::default();
        let (a, b) = (percent_as_number(a), percent_as_number(b));
        if is_opaque(&a) || is_opaque(&b) {
            return Ok(false);
        }
        Ok(compare(&a, &b, &config, self.budget)?.equal)
    }
}

/// A rounded value; whole numbers are marked, as sympy keeps them apart from rounded ones.
fn round(expr: &Expr, places: i32, budget: &mut Budget) -> Result<Option<(RBig, bool)>, Exhausted> {
    let plain = percent_as_number(expr);
    let Some(value) = rational_value(&plain, budget)? else {
        let Some(value) = approximate(&plain, budget)? else { return Ok(None) };
        let Ok(value) = RBig::try_from(value) else { return Ok(None) };
        return Ok(Some((round_to(&value, places, Half::Even, budget)?, false)));
    };
    let whole = value.is_int() && !has_decimal(&plain);
    if whole {
        return Ok(Some((value, true)));
    }
    // A double holds fifteen digits; what is written beyond them does not count.
    let value = match of_rational(&value) {
        near if near.abs() >= 1e9 => RBig::try_from(near).unwrap_or(value),
        _ => value,
    };
    Ok(Some((round_to(&value, places, Half::Even, budget)?, false)))
}

fn without_percent(expr: &Expr) -> &Expr {
    match expr {
        Expr::Percent(inner) => inner,
        other => other,
    }
}

/// The expression with every percent sign as a division by a hundred.
fn percent_as_number(expr: &Expr) -> Expr {
    match expr {
        Expr::Percent(inner) => {
            let hundredth = RBig::from(1) / RBig::from(100);
            Expr::Mul(vec![percent_as_number(inner), Expr::Num(hundredth)])
        }
        Expr::Add(parts) => Expr::Add(parts.iter().map(percent_as_number).collect()),
        Expr::Mul(parts) => Expr::Mul(parts.iter().map(percent_as_number).collect()),
        Expr::Pow(base, exponent) => {
            Expr::Pow(Box::new(percent_as_number(base)), Box::new(percent_as_number(exponent)))
        }
        other => other.clone(),
    }
}

fn has_decimal(expr: &Expr) -> bool {
    match expr {
        Expr::Decimal(_) => true,
        Expr::Add(parts) | Expr::Mul(parts) | Expr::Apply(_, parts) => parts.iter().any(has_decimal),
        Expr::Pow(base, exponent) => has_decimal(base) || has_decimal(exponent),
        _ => false,
    }
}

/// Whether an expression holds something that is no number at all.
pub(super) fn is_opaque(expr: &Expr) -> bool {
    match expr {
        Expr::Add(parts) | Expr::Mul(parts) | Expr::Apply(_, parts) => parts.iter().any(is_opaque),
        Expr::Pow(base, exponent) => is_opaque(base) || is_opaque(exponent),
        Expr::Num(_)
        | Expr::Decimal(_)
        | Expr::Constant(_)
        | Expr::Symbol(_)
        | Expr::Percent(_)
        | Expr::Unknown(..)
        | Expr::Quantified { .. } => is_zoo(expr),
        _ => true,
    }
}

fn has_matrix(expr: &Expr) -> bool {
    match expr {
        Expr::Matrix(_) => true,
        Expr::Add(parts) | Expr::Mul(parts) => parts.iter().any(has_matrix),
        _ => false,
    }
}

/// The entries of a matrix or of a sum, product or multiple of matrices.
fn entries(expr: &Expr) -> Option<Vec<Vec<Expr>>> {
    match expr {
        Expr::Matrix(rows) => Some(rows.clone()),
        Expr::Add(parts) => {
            let mut parts = parts.iter().map(entries);
            let first = parts.next()??;
            parts.try_fold(first, |sum, next| added(sum, &next?))
        }
        Expr::Mul(parts) if has_matrix(expr) => {
            let mut product: Option<Vec<Vec<Expr>>> = None;
            let mut factor = vec![integer(1)];
            for part in parts {
                match (entries(part), product.take()) {
                    (Some(next), None) => product = Some(next),
                    (Some(next), Some(so_far)) => product = Some(multiplied(&so_far, &next)?),
                    (None, so_far) => {
                        factor.push(part.clone());
                        product = so_far;
                    }
                }
            }
            let scaled = |entry: Expr| Expr::Mul(factor.iter().cloned().chain([entry]).collect());
            product.map(|rows| rows.into_iter().map(|row| row.into_iter().map(scaled).collect()).collect())
        }
        Expr::Apply(Function::Transpose, _) => None,
        _ => None,
    }
}

fn added(a: Vec<Vec<Expr>>, b: &[Vec<Expr>]) -> Option<Vec<Vec<Expr>>> {
    if a.len() != b.len() || a.first().map(Vec::len) != b.first().map(Vec::len) {
        return None;
    }
    let rows = a.into_iter().zip(b);
    Some(
        rows.map(|(x, y)| x.into_iter().zip(y).map(|(x, y)| Expr::Add(vec![x, y.clone()])).collect())
            .collect(),
    )
}

fn multiplied(a: &[Vec<Expr>], b: &[Vec<Expr>]) -> Option<Vec<Vec<Expr>>> {
    let (inner, width) = (b.len(), b.first()?.len());
    // Products of large matrices would outgrow the budget they are not charged to.
    if a.first()?.len() != inner || a.len() * inner * width > 4096 {
        return None;
    }
    let entry = |row: &[Expr], c: usize| {
        Expr::Add(row.iter().zip(b).map(|(x, other)| Expr::Mul(vec![x.clone(), other[c].clone()])).collect())
    };
    Some(a.iter().map(|row| (0..width).map(|c| entry(row, c)).collect()).collect())
}
