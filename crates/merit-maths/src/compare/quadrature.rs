//! Definite integrals and limits by their values, to about thirty digits: convergence is watched, not proved.
//!
//! An integral is summed by the tanh-sinh rule, its step halved until two sums agree. A limit is extrapolated from points that
//! come nearer by half each time (Richardson), from both sides where the limit has two.

use super::complex::Complex;
use super::elementary;
use super::evaluate::Evaluator;
use super::magnitude::Mag;
use super::real::{Real, Result, Trouble};
use crate::{Budget, Constant, Exhausted, Expr};
use dashu_ratio::RBig;
use std::sync::Arc;

/// Working bits of an integral, and of a limit, whose differences cancel.
const INTEGRAL_BITS: usize = 256;
const LIMIT_BITS: usize = 640;
/// Working bits where only a peak between the points of an integral is looked for, and the bits to which they must agree.
const BETWEEN_BITS: usize = 64;
const BETWEEN_AGREED: i64 = 12;
/// Terms of an integral below 2 to this power are below what it is computed to.
const NEGLIGIBLE: i64 = -120;
/// Bits to which two results in a row must agree.
const AGREED_BITS: i64 = 104;

/// An end of an integral, or the point of a limit.
enum End {
    At(Complex),
    /// Infinity, by its sign.
    Infinite(i64),
}

impl Evaluator {
    fn end(&mut self, expr: &Expr, budget: &mut Budget) -> Result<End> {
        Ok(match expr {
            Expr::Constant(Constant::Infinity) => End::Infinite(1),
            Expr::Mul(parts) if matches!(parts.as_slice(), [Expr::Num(sign), Expr::Constant(Constant::Infinity)] if *sign == RBig::from(-1)) => {
                End::Infinite(-1)
            }
            other => End::At(budget.deeper(|b| self.value(other, b))?),
        })
    }

    /// Runs `work` with another precision.
    pub(super) fn with_bits<T>(
        &mut self,
        bits: usize,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = std::mem::replace(&mut self.prec, bits);
        let done = work(self);
        self.prec = before;
        done
    }

    pub(super) fn at(
        &mut self,
        body: &Expr,
        variable: &Arc<str>,
        x: Complex,
        budget: &mut Budget,
    ) -> Result<Complex> {
        self.variables.push((variable.clone(), x));
        let value = budget.deeper(|b| self.value(body, b));
        self.variables.pop();
        value
    }

    pub(crate) fn integral(
        &mut self,
        body: &Expr,
        variable: &Arc<str>,
        ends: (&Expr, &Expr),
        budget: &mut Budget,
    ) -> Result<Complex> {
        self.with_bits(INTEGRAL_BITS, |evaluator| {
            let ends = (evaluator.end(ends.0, budget)?, evaluator.end(ends.1, budget)?);
            let mut sum = Complex::int(0);
            let mut before: Option<Complex> = None;
            let mut largest: Option<i64> = None;
            for level in 2..=7_u32 {
                // Only the points that the coarser step did not have.
                let step = if level == 2 { 1 } else { 2 };
                for k in (1 - (5 << level)..(5 << level)).filter(|k: &i64| step == 1 || k % 2 != 0) {
                    match evaluator.weighed(body, variable, &ends, (k, level), budget) {
                        Ok(term) => {
                            if !term.is_zero() {
                                largest = largest.max(Some(size(&term)));
                            }
                            sum = sum.add(&term, INTEGRAL_BITS)?;
                        }
                        // Far out on an infinite way a value may be too small to hold.
                        Err(Trouble::Exhausted(Exhausted::Size)) => {}
                        Err(other) => return Err(other),
                    }
                }
                let now = sum.scale(-i64::from(level));
                if let Some(agreed) = before.as_ref().and_then(|before| agreed(before, &now)) {
                    // A body that is not zero and next to nothing at every point may have a peak between them.
                    if largest.is_some_and(|largest| largest < NEGLIGIBLE) {
                        return Err(Trouble::NotNumeric);
                    }
                    let missed = evaluator.missed((body, variable), &ends, (&now, level), budget)?;
                    return if missed { Err(Trouble::NotNumeric) } else { Ok(agreed) };
                }
                before = Some(now);
            }
            Err(Trouble::NotNumeric)
        })
    }

    /// Whether the points between those of a level tell another integral, as where a narrow peak stands between them. Few bits
    /// suffice to see that.
    fn missed(
        &mut self,
        (body, variable): (&Expr, &Arc<str>),
        ends: &(End, End),
        (found, level): (&Complex, u32),
        budget: &mut Budget,
    ) -> Result<bool> {
        let next = level + 1;
        self.with_bits(BETWEEN_BITS, |evaluator| {
            let mut sum = Complex::int(0);
            let mut largest = i64::MIN;
            for side in [-1, 1] {
                for k in (1..5 << next).step_by(2) {
                    match evaluator.weighed(body, variable, ends, (side * k, next), budget) {
                        Ok(term) => {
                            largest = largest.max(size(&term));
                            sum = sum.add(&term, BETWEEN_BITS)?;
                            // Beyond this the points huddle at the ends.
                            if k > 2 << next && size(&term) < largest - 2 * BETWEEN_AGREED {
                                break;
                            }
                        }
                        Err(Trouble::Exhausted(Exhausted::Size)) => {}
                        Err(Trouble::Exhausted(limit)) => return Err(limit.into()),
                        // Too few bits here are no sign of a peak.
                        Err(_) => return Ok(false),
                    }
                }
            }
            let difference = sum.scale(-i64::from(level)).sub(found, BETWEEN_BITS)?;
            let scale = largest.max(size(found));
            Ok(difference.is_nonzero() && size(&difference) > scale - BETWEEN_AGREED)
        })
    }

    /// The body at the `k`-th point of a level, times its weight.
    fn weighed(
        &mut self,
        body: &Expr,
        variable: &Arc<str>,
        ends: &(End, End),
        (k, level): (i64, u32),
        budget: &mut Budget,
    ) -> Result<Complex> {
        let p = self.prec;
        budget.spend(2 * self.series_cost())?;
        let t = Real::int(k).scale(-i64::from(level));
        let grown = elementary::exp(&t, p)?;
        let shrunk = Real::int(1).div(&grown, p)?;
        let quarter = elementary::pi(p)?.scale(-2);
        let sinh = grown.sub(&shrunk, p)?.mul(&quarter, p)?;
        let slope = Complex::real(grown.add(&shrunk, p)?.mul(&quarter, p)?);
        let out = Complex::real(elementary::exp(&sinh, p)?);
        let back = out.inverse(p)?;
        let (x, width) = match ends {
            (End::At(from), End::At(to)) => {
                // z and y are the shares of the two ends; each is kept for itself so that neither loses its digits.
                let both = out.add(&back, p)?;
                let (z, y) = (back.div(&both, p)?, out.div(&both, p)?);
                let width = to.sub(from, p)?.mul(&y.mul(&z, p)?, p)?.scale(1);
                (from.mul(&z, p)?.add(&to.mul(&y, p)?, p)?, width)
            }
            (End::At(at), End::Infinite(sign)) | (End::Infinite(sign), End::At(at)) => {
                let turned = if matches!(ends.0, End::Infinite(_)) { -*sign } else { *sign };
                let along = out.mul(&Complex::int(*sign), p)?;
                (at.add(&along, p)?, out.mul(&Complex::int(turned), p)?)
            }
            (End::Infinite(from), End::Infinite(to)) => {
                if from == to {
                    return Err(Trouble::Undefined);
                }
                (out.sub(&back, p)?, out.add(&back, p)?.mul(&Complex::int(*to), p)?)
            }
        };
        let value = self.at(body, variable, x, budget)?;
        value.mul(&slope, p)?.mul(&width, p)
    }

    pub(crate) fn limit(
        &mut self,
        body: &Expr,
        variable: &Arc<str>,
        point: &Expr,
        budget: &mut Budget,
    ) -> Result<Complex> {
        let (point, sides): (&Expr, &[i64]) = match point {
            Expr::Unknown(side, at) if at.len() == 1 && &**side == "from above" => (&at[0], &[1]),
            Expr::Unknown(side, at) if at.len() == 1 && &**side == "from below" => (&at[0], &[-1]),
            both => (both, &[1, -1]),
        };
        self.with_bits(LIMIT_BITS, |evaluator| {
            let end = evaluator.end(point, budget)?;
            let sides = if let End::Infinite(_) = end { &sides[..1] } else { sides };
            let mut found: Option<Complex> = None;
            for side in sides {
                let here = evaluator.extrapolated(body, variable, (&end, *side), budget)?;
                found = match found {
                    None => Some(here),
                    Some(other) if other.sub(&here, LIMIT_BITS)?.is_nonzero() => {
                        return Err(Trouble::Undefined);
                    }
                    Some(_) => Some(here),
                };
            }
            found.ok_or(Trouble::NotNumeric)
        })
    }

    /// The limit from one side.
    fn extrapolated(
        &mut self,
        body: &Expr,
        variable: &Arc<str>,
        (end, side): (&End, i64),
        budget: &mut Budget,
    ) -> Result<Complex> {
        const P: usize = LIMIT_BITS;
        let mut row: Vec<Complex> = Vec::new();
        for k in 4..30_i64 {
            let x = match end {
                End::At(point) => point.add(&Complex::int(side).scale(-k), P)?,
                End::Infinite(sign) => Complex::int(*sign).scale(k),
            };
            let mut next = vec![self.at(body, variable, x, budget)?];
            for (j, before) in row.iter().enumerate() {
                budget.spend(self.cost())?;
                let power = j as i64 + 1;
                let last = &next[j];
                let change = last.sub(before, P)?.div(&Complex::int((1 << power) - 1), P)?;
                next.push(last.add(&change, P)?);
            }
            if let (Some(a), Some(b)) = (row.last(), next.last())
                && row.len() > 3
                && let Some(found) = agreed(a, b)
            {
                return Ok(found);
            }
            row = next;
        }
        Err(Trouble::NotNumeric)
    }
}

fn size(z: &Complex) -> i64 {
    z.re.exponent().max(z.im.exponent())
}

/// The later of two results where they agree, with what they differ by as its radius.
pub(super) fn agreed(before: &Complex, now: &Complex) -> Option<Complex> {
    let difference = now.sub(before, LIMIT_BITS).ok()?;
    // Near zero there is nothing to be relative to.
    let scale = size(now).max(-30);
    let close = difference.is_zero() || size(&difference) <= scale - AGREED_BITS;
    let radius = Mag::pow2(scale - AGREED_BITS + 1);
    let (re, im) = (now.re.clone().widen(radius), now.im.clone());
    let im = if now.is_real() { im } else { im.widen(radius) };
    close.then_some(Complex { re, im })
}
