//! Endless sums by their values, to about thirty digits: convergence is watched, not proved.
//!
//! Terms that shrink by a factor are added until the rest is too small to count. Others, as of `1/n^2`, are added in steps of
//! twelve, and the sums extrapolated to infinity as a polynomial in `1/n` (Neville). Twelve, so that signs and other patterns of
//! a short period are at the same place in every step.

use super::complex::Complex;
use super::evaluate::Evaluator;
use super::magnitude::Mag;
use super::quadrature::agreed;
use super::real::{Result, Trouble};
use crate::{Budget, Expr};
use std::sync::Arc;

const BITS: usize = 320;
/// Terms from one sum to the next, and how many sums there are.
const STRIDE: i64 = 12;
const SUMS: usize = 24;
/// Most terms of a sum whose terms shrink by a factor.
const MOST: i64 = 6_000;
/// Bits below the sum at which the rest of it no longer counts.
const NEGLIGIBLE: i64 = 140;

impl Evaluator {
    /// The sum of `body` from `first` on.
    pub(super) fn series(
        &mut self,
        body: &Expr,
        variable: &Arc<str>,
        first: i64,
        budget: &mut Budget,
    ) -> Result<Complex> {
        self.with_bits(BITS, |evaluator| {
            let mut watch = Watch::default();
            let mut total = Complex::int(0);
            for count in 1..=MOST {
                let at = first.checked_add(count - 1).ok_or(Trouble::NotNumeric)?;
                let term = evaluator.at(body, variable, Complex::int(at), budget)?;
                total = total.add(&term, BITS)?;
                watch.terms.push(size(&term));
                if watch.is_over(size(&total).unwrap_or(-NEGLIGIBLE)) {
                    let radius = Mag::pow2(size(&total).unwrap_or(-NEGLIGIBLE).max(-30) - NEGLIGIBLE + 20);
                    let im = if total.is_real() { total.im } else { total.im.widen(radius) };
                    return Ok(Complex { re: total.re.widen(radius), im });
                }
                if count % STRIDE == 0
                    && let Some(found) = watch.extrapolated(count, &total, budget)?
                {
                    return Ok(found);
                }
                if count % STRIDE == 0 && watch.grows() || count >= STRIDE * SUMS as i64 && !watch.shrinks() {
                    return Err(Trouble::NotNumeric);
                }
            }
            Err(Trouble::NotNumeric)
        })
    }
}

/// What is known of a sum so far.
#[derive(Default)]
struct Watch {
    /// The binary exponent of every term; absent for 0.
    terms: Vec<Option<i64>>,
    /// The last row of Neville's table, and where its sums stood.
    row: Vec<Complex>,
    stood: Vec<i64>,
}

/// The binary exponent of a value; absent for 0.
fn size(value: &Complex) -> Option<i64> {
    (!value.is_zero()).then(|| value.re.exponent().max(value.im.exponent()))
}

impl Watch {
    /// The largest of the four terms that end at the `end`-th.
    fn largest(&self, end: usize) -> Option<i64> {
        self.terms.get(end.saturating_sub(4)..end)?.iter().copied().flatten().max()
    }

    /// Whether terms shrink by a factor: over the last half of them as fast as over the half before.
    fn shrinks(&self) -> bool {
        let n = self.terms.len();
        match (self.largest(n / 2), self.largest(3 * n / 4), self.largest(n)) {
            (Some(a), Some(b), Some(c)) => b < a && c < b && 4 * (b - c) >= 3 * (a - b),
            (_, _, last) => last.is_none(),
        }
    }

    /// Whether terms become so much larger that there is nothing to wait for.
    fn grows(&self) -> bool {
        let n = self.terms.len();
        n >= 48 && self.largest(n).zip(self.largest(n / 2)).is_some_and(|(last, earlier)| last > earlier + 8)
    }

    /// Whether the rest of the sum no longer counts.
    fn is_over(&self, total: i64) -> bool {
        let n = self.terms.len();
        if n < 24 {
            return false;
        }
        let small = self.largest(n).is_none_or(|last| last < total.max(-30) - NEGLIGIBLE);
        small && self.shrinks()
    }

    /// The value that the sums run to, once two in a row agree.
    fn extrapolated(&mut self, count: i64, total: &Complex, budget: &mut Budget) -> Result<Option<Complex>> {
        if self.stood.len() == SUMS {
            return Ok(None);
        }
        let mut next = vec![total.clone()];
        self.stood.push(count);
        let newest = self.stood.len() - 1;
        for (j, before) in self.row.iter().enumerate() {
            budget.spend(16)?;
            // Where 1/n is 0: T = (n_new·new − n_old·old) / (n_new − n_old).
            let old = self.stood[newest - j - 1];
            let top =
                next[j].mul(&Complex::int(count), BITS)?.sub(&before.mul(&Complex::int(old), BITS)?, BITS)?;
            next.push(top.div(&Complex::int(count - old), BITS)?);
        }
        let before = std::mem::replace(&mut self.row, next);
        let n = self.terms.len();
        // What does not run to zero has no sum, whatever the sums in steps do.
        let fades = match (self.largest(n / 2), self.largest(n)) {
            (Some(earlier), Some(last)) => last < earlier,
            (_, last) => last.is_none(),
        };
        let found = match (before.last(), self.row.last()) {
            (Some(a), Some(b)) if before.len() > 6 && fades => agreed(a, b),
            _ => None,
        };
        Ok(found)
    }
}
