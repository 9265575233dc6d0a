//! The value of an expression at a point, to a wanted precision, within a certain radius.

use super::complex::Complex;
use super::exact;
use super::functions;
use super::rational::rational_value;
use super::real::{Real, Result, Trouble};
use super::{elementary, real, units};
use crate::{Budget, Constant, Expr, Quantifier};
use dashu_ratio::RBig;
use std::cmp::Ordering;
use std::sync::Arc;

/// Most terms of a sum or product that are computed one by one.
const MAX_TERMS: i64 = 100_000;

/// Evaluation at one point.
pub(crate) struct Evaluator {
    /// Wanted bits.
    pub(crate) prec: usize,
    /// Values of the variables, innermost last.
    pub(crate) variables: Vec<(Arc<str>, Complex)>,
    /// Whether a function of a real argument gave a value that is not real: `ln(−2)`.
    pub(crate) left_reals: bool,
}

impl Evaluator {
    pub(crate) fn new(prec: usize, variables: Vec<(Arc<str>, Complex)>) -> Self {
        Evaluator { prec, variables, left_reals: false }
    }

    /// What one multiplication costs, in steps.
    pub(crate) fn cost(&self) -> u64 {
        let words = (self.prec / 64 + 1) as u64;
        4 + words * words / 8
    }

    /// What one elementary function costs, in steps.
    pub(crate) fn series_cost(&self) -> u64 {
        self.cost() * (self.prec as u64 / 16)
    }

    pub(crate) fn value(&mut self, expr: &Expr, budget: &mut Budget) -> Result<Complex> {
        budget.spend(self.cost())?;
        match expr {
            Expr::Num(value) => self.rational(value, budget),
            Expr::Decimal(rounded) => self.rational(&rounded.value, budget),
            Expr::Percent(inner) => {
                let value = budget.deeper(|b| self.value(inner, b))?;
                value.div(&Complex::int(100), self.prec)
            }
            Expr::InBase(..) => match rational_value(expr, budget)? {
                Some(value) => self.rational(&value, budget),
                None => Err(Trouble::Undefined),
            },
            Expr::Quantity(inner, unit) => match units::angle(inner, unit, budget)? {
                Some(radians) => budget.deeper(|b| self.value(&radians, b)),
                None => Err(Trouble::NotNumeric),
            },
            Expr::Constant(constant) => self.constant(*constant),
            Expr::Symbol(name) => self.variable(name),
            Expr::Add(parts) => budget.deeper(|b| self.sum(parts, b)),
            Expr::Mul(parts) => budget.deeper(|b| self.product(parts, b)),
            Expr::Pow(base, exponent) => budget.deeper(|b| self.power(base, exponent, b)),
            Expr::Apply(function, arguments) => {
                budget.deeper(|b| functions::apply(self, *function, arguments, b))
            }
            Expr::Quantified { what, body, variable, from: Some(from), to: Some(to) } => {
                budget.deeper(|b| self.quantified(*what, body, variable, from, to, b))
            }
            Expr::Quantified { what: Quantifier::Limit, body, variable, from: Some(point), to: None } => {
                budget.deeper(|b| self.limit(body, variable, point, b))
            }
            _ => Err(Trouble::NotNumeric),
        }
    }

    fn rational(&self, value: &RBig, budget: &mut Budget) -> Result<Complex> {
        budget.spend(exact::bits(value) as u64 / 64)?;
        Ok(Complex::real(Real::rational(value, self.prec)?))
    }

    fn constant(&self, constant: Constant) -> Result<Complex> {
        Ok(match constant {
            Constant::Pi => Complex::real(elementary::pi(self.prec)?),
            Constant::E => Complex::real(elementary::exp(&Real::int(1), self.prec)?),
            Constant::I => Complex::i(),
            Constant::Infinity => return Err(Trouble::NotNumeric),
        })
    }

    fn variable(&self, name: &Arc<str>) -> Result<Complex> {
        let found = self.variables.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).ok_or(Trouble::NotNumeric)
    }

    fn sum(&mut self, parts: &[Expr], budget: &mut Budget) -> Result<Complex> {
        let mut total = Complex::int(0);
        for part in parts {
            total = total.add(&self.value(part, budget)?, self.prec)?;
        }
        Ok(total)
    }

    fn product(&mut self, parts: &[Expr], budget: &mut Budget) -> Result<Complex> {
        let mut total = Complex::int(1);
        for part in parts {
            let value = self.value(part, budget)?;
            total = total.mul(&value, self.prec)?;
        }
        Ok(total)
    }

    fn power(&mut self, base: &Expr, exponent: &Expr, budget: &mut Budget) -> Result<Complex> {
        let rational = rational_value(exponent, budget)?;
        // The term of a sum has whole exponents too, once its variable has a value.
        let here = match (&rational, self.variables.is_empty()) {
            (None, false) => self.value(exponent, budget).ok().and_then(|w| whole(&w)),
            _ => None,
        };
        if let Some(n) = rational.as_ref().and_then(exact::as_i64).or(here) {
            budget.spend(self.cost() * u64::from(64 - n.unsigned_abs().leading_zeros()))?;
            return self.value(base, budget)?.powi(n, self.prec);
        }
        budget.spend(self.series_cost())?;
        if matches!(base, Expr::Constant(Constant::E)) {
            return self.value(exponent, budget)?.exp(self.prec);
        }
        let z = self.value(base, budget)?;
        match rational {
            Some(rational) => self.rational_power(&z, &rational),
            None => {
                let w = self.value(exponent, budget)?;
                self.general_power(&z, &w)
            }
        }
    }

    /// A fractional power. A root of odd order of a negative real number is the real one, as schools have it.
    fn rational_power(&mut self, z: &Complex, exponent: &RBig) -> Result<Complex> {
        if z.is_zero() {
            return if exact::is_negative(exponent) { Err(Trouble::Undefined) } else { Ok(Complex::int(0)) };
        }
        let negative = z.is_real() && z.re.certain_sign()? == Ordering::Less;
        let odd = !exact::is_even(exponent.denominator());
        if negative && odd {
            let size = self.rational_power(&z.neg(), exponent)?;
            let keeps_sign = !exact::is_even(&exact::magnitude(exponent.numerator()));
            return Ok(if keeps_sign { size.neg() } else { size });
        }
        self.left_reals |= negative;
        if exponent.denominator() == &2u8.into()
            && let Ok(n) = i64::try_from(exponent.numerator())
        {
            return z.sqrt(self.prec + 16)?.powi(n, self.prec);
        }
        let w = Complex::real(Real::rational(exponent, self.prec + 16)?);
        w.mul(&z.ln(self.prec + 16)?, self.prec + 16)?.exp(self.prec)
    }

    fn general_power(&mut self, z: &Complex, w: &Complex) -> Result<Complex> {
        if z.is_zero() {
            let positive = w.re.certain_sign()? == Ordering::Greater;
            return if positive { Ok(Complex::int(0)) } else { Err(Trouble::Undefined) };
        }
        if z.is_real() && w.is_real() && z.re.certain_sign()? == Ordering::Less {
            self.left_reals = true;
        }
        z.ln(self.prec + 16)?.mul(w, self.prec + 16)?.exp(self.prec)
    }

    fn quantified(
        &mut self,
        what: Quantifier,
        body: &Expr,
        variable: &Arc<str>,
        from: &Expr,
        to: &Expr,
        budget: &mut Budget,
    ) -> Result<Complex> {
        let sum = match what {
            Quantifier::Sum => true,
            Quantifier::Product => false,
            Quantifier::Integral => return self.integral(body, variable, (from, to), budget),
            _ => return Err(Trouble::NotNumeric),
        };
        let from = self.whole(from, budget)?;
        if sum && matches!(to, Expr::Constant(Constant::Infinity)) {
            return self.series(body, variable, from, budget);
        }
        let to = self.whole(to, budget)?;
        if to.saturating_sub(from) > MAX_TERMS {
            return Err(Trouble::Exhausted(crate::Exhausted::Steps));
        }
        let mut total = Complex::int(if sum { 0 } else { 1 });
        for k in from..=to {
            self.variables.push((variable.clone(), Complex::int(k)));
            let term = self.value(body, budget);
            self.variables.pop();
            total = if sum { total.add(&term?, self.prec)? } else { total.mul(&term?, self.prec)? };
        }
        Ok(total)
    }

    fn whole(&mut self, expr: &Expr, budget: &mut Budget) -> Result<i64> {
        let exact = rational_value(expr, budget)?.as_ref().and_then(exact::as_i64);
        exact.ok_or(real::Trouble::NotNumeric)
    }
}

/// The whole number that a value exactly is.
fn whole(value: &Complex) -> Option<i64> {
    let exact = value.is_real() && value.re.is_exact() && value.re.exponent() < 32;
    value.re.middle_rational().filter(|_| exact).as_ref().and_then(exact::as_i64)
}
