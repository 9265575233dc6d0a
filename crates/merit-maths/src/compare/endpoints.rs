//! Ends of intervals: infinities and real constants that can be put in order.

use super::exact;
use super::identity;
use super::rational::rational_value;
use super::real::Real;
use super::scalar;
use crate::{Budget, Exhausted, Expr, MathsConfig};
use dashu_ratio::RBig;
use std::cmp::Ordering;

/// An end of an interval of real numbers.
#[derive(Debug, Clone)]
pub(crate) enum End {
    MinusInfinity,
    Finite(Finite),
    PlusInfinity,
}

/// A real constant with its value.
#[derive(Debug, Clone)]
pub(crate) struct Finite {
    expr: Expr,
    exact: Option<RBig>,
    ball: Real,
}

const BITS: usize = 192;

impl End {
    /// The end an expression stands for; `None` where it is no real constant.
    pub(crate) fn of(expr: &Expr, budget: &mut Budget) -> Result<Option<End>, Exhausted> {
        match scalar::infinity(expr, budget)? {
            Some(Ordering::Less) => return Ok(Some(End::MinusInfinity)),
            Some(_) => return Ok(Some(End::PlusInfinity)),
            None => {}
        }
        if let Some(value) = rational_value(expr, budget)? {
            return Ok(End::rational(value));
        }
        let value = match identity::valued(expr, BITS, budget)? {
            Ok(value) if value.is_real() => value.re,
            _ => return Ok(None),
        };
        Ok(Some(End::Finite(Finite { expr: expr.clone(), exact: None, ball: value })))
    }

    pub(crate) fn rational(value: RBig) -> Option<End> {
        let ball = Real::rational(&value, BITS).ok()?;
        Some(End::Finite(Finite { expr: Expr::Num(value.clone()), exact: Some(value), ball }))
    }

    /// Their order; `None` where it cannot be told.
    pub(crate) fn order(&self, other: &End, budget: &mut Budget) -> Result<Option<Ordering>, Exhausted> {
        let rank = |end: &End| match end {
            End::MinusInfinity => -1,
            End::Finite(_) => 0,
            End::PlusInfinity => 1,
        };
        let (End::Finite(a), End::Finite(b)) = (self, other) else {
            return Ok(Some(rank(self).cmp(&rank(other))));
        };
        if let (Some(a), Some(b)) = (&a.exact, &b.exact) {
            budget.spend(1 + exact::bits(a) as u64 / 64)?;
            return Ok(Some(a.cmp(b)));
        }
        if let Some(side) = a.ball.sub(&b.ball, BITS).ok().and_then(|difference| difference.sign()) {
            return Ok(Some(side));
        }
        let same = scalar::compare(&a.expr, &b.expr, &MathsConfig::default(), budget)?;
        Ok(same.equal.then_some(Ordering::Equal))
    }

    /// The constant as written.
    pub(crate) fn expr(&self) -> Option<&Expr> {
        match self {
            End::Finite(finite) => Some(&finite.expr),
            _ => None,
        }
    }
}
