//! The normal form of an expression: a quotient of polynomials in atoms. Two expressions with the same one are equal; two
//! with different ones are different where the atoms are independent, and undecided otherwise.

use super::atoms::{Atom, Atoms};
use super::cross::CROSS;
use super::evaluate::Evaluator;
use super::fraction::Fraction;
use super::poly::Poly;
use super::real::Trouble;
use super::{exact, rational, units};
use crate::{Budget, Constant, Exhausted, Expr, Quantifier};
use dashu_ratio::RBig;
use std::sync::Arc;

pub(crate) type Normal = Result<Fraction, Trouble>;

/// What a bound variable stands for while a body is read.
#[derive(Debug, Clone)]
pub(crate) enum Binding {
    Value(RBig),
    Bound(u32),
}

/// Makes normal forms over one table of atoms.
#[derive(Debug, Default)]
pub(crate) struct Normalizer {
    pub(crate) atoms: Atoms,
    pub(crate) bindings: Vec<(Arc<str>, Binding)>,
}

/// Most terms of a sum that are written out.
const MAX_UNROLLED: i64 = 2000;
/// Bits with which the sign of a constant is looked for.
const SIGN_BITS: usize = 192;

impl Normalizer {
    pub(crate) fn of(&mut self, expr: &Expr, budget: &mut Budget) -> Normal {
        budget.deeper(|b| self.expression(expr, b))
    }

    fn expression(&mut self, expr: &Expr, budget: &mut Budget) -> Normal {
        match expr {
            Expr::Num(value) => Ok(Fraction::rational(value.clone())),
            Expr::Decimal(rounded) => Ok(Fraction::rational(rounded.value.clone())),
            Expr::Percent(inner) => {
                let inner = self.of(inner, budget)?;
                inner.scale(&RBig::from_parts(1.into(), 100u8.into()), budget)
            }
            Expr::InBase(..) => match rational::rational_value(expr, budget)? {
                Some(value) => Ok(Fraction::rational(value)),
                None => Err(Trouble::Undefined),
            },
            Expr::Quantity(inner, unit) => match units::angle(inner, unit, budget)? {
                Some(radians) => self.of(&radians, budget),
                None => Err(Trouble::NotNumeric),
            },
            Expr::Constant(constant) => self.constant(*constant),
            Expr::Symbol(name) => self.symbol(name),
            Expr::Add(parts) => self.sum(parts, budget),
            Expr::Mul(parts) => self.product(parts, budget),
            Expr::Pow(base, exponent) => {
                let exponent = self.of(exponent, budget)?;
                let base = self.of(base, budget)?;
                self.power(base, exponent, budget)
            }
            Expr::Apply(function, arguments) => self.apply(*function, arguments, budget),
            Expr::Unknown(name, arguments) => {
                let arguments = self.all(arguments, budget)?;
                if let ([x, y], CROSS) = (arguments.as_slice(), &**name) {
                    return self.cross(x, y, budget);
                }
                self.atom(Atom::Unknown(name.clone(), arguments))
            }
            Expr::Quantified { what, body, variable, from, to } => {
                self.quantified(*what, body, variable, from.as_deref(), to.as_deref(), budget)
            }
            _ => Err(Trouble::NotNumeric),
        }
    }

    pub(crate) fn all(&mut self, exprs: &[Expr], budget: &mut Budget) -> Result<Vec<Fraction>, Trouble> {
        exprs.iter().map(|expr| self.of(expr, budget)).collect()
    }

    pub(crate) fn atom(&mut self, atom: Atom) -> Normal {
        let id = self.atoms.id(atom)?;
        Ok(Fraction::term(vec![(id, super::exponent::Exponent::ONE)], RBig::ONE))
    }

    fn constant(&mut self, constant: Constant) -> Normal {
        match constant {
            Constant::Pi => self.atom(Atom::Pi),
            Constant::E => self.atom(Atom::E),
            Constant::I => self.atom(Atom::I),
            Constant::Infinity => Err(Trouble::NotNumeric),
        }
    }

    fn symbol(&mut self, name: &Arc<str>) -> Normal {
        match self.bindings.iter().rev().find(|(bound, _)| bound == name) {
            Some((_, Binding::Value(value))) => Ok(Fraction::rational(value.clone())),
            Some((_, Binding::Bound(depth))) => self.atom(Atom::Bound(*depth)),
            None => self.atom(Atom::Symbol(name.clone())),
        }
    }

    fn sum(&mut self, parts: &[Expr], budget: &mut Budget) -> Normal {
        let mut total = Fraction::poly(Poly::zero());
        for part in parts {
            let part = self.of(part, budget)?;
            total = total.add(&part, budget)?;
        }
        self.settled(total, budget)
    }

    fn product(&mut self, parts: &[Expr], budget: &mut Budget) -> Normal {
        let mut total = Fraction::int(1);
        for part in parts {
            let part = self.of(part, budget)?;
            total = self.times(&total, &part, budget)?;
        }
        Ok(total)
    }

    /// A product, roots of equal things brought together.
    pub(crate) fn times(&mut self, a: &Fraction, b: &Fraction, budget: &mut Budget) -> Normal {
        let product = a.mul(b, budget)?;
        self.settled(product, budget)
    }

    pub(crate) fn over(&mut self, a: &Fraction, b: &Fraction, budget: &mut Budget) -> Normal {
        let inverse = b.inverse(budget)?;
        self.times(a, &inverse, budget)
    }

    /// The value of a constant expression with no variables but bound ones, as a ball.
    pub(crate) fn ball(&self, expr: &Expr, budget: &mut Budget) -> Option<super::complex::Complex> {
        let mut variables = Vec::new();
        for (name, binding) in &self.bindings {
            if let Binding::Value(value) = binding {
                let value = super::real::Real::rational(value, SIGN_BITS).ok()?;
                variables.push((name.clone(), super::complex::Complex::real(value)));
            }
        }
        Evaluator::new(SIGN_BITS, variables).value(expr, budget).ok()
    }

    fn quantified(
        &mut self,
        what: Quantifier,
        body: &Expr,
        variable: &Arc<str>,
        from: Option<&Expr>,
        to: Option<&Expr>,
        budget: &mut Budget,
    ) -> Normal {
        if let (Some(from), Some(to)) = (from, to)
            && matches!(what, Quantifier::Sum | Quantifier::Product)
            && let Some(first) = self.whole(from, budget)?
            && let Some(last) = self.whole(to, budget)?
            && last.saturating_sub(first) < MAX_UNROLLED
        {
            return self.unrolled(what, body, variable, first, last, budget);
        }
        let from = from.map(|e| self.of(e, budget)).transpose()?.map(Box::new);
        let to = match to {
            Some(Expr::Constant(Constant::Infinity)) => {
                Some(Box::new(self.atom(Atom::Unknown("∞".into(), vec![]))?))
            }
            Some(e) => Some(Box::new(self.of(e, budget)?)),
            None => None,
        };
        let depth = self.bindings.len() as u32;
        self.bindings.push((variable.clone(), Binding::Bound(depth)));
        let body = self.of(body, budget);
        self.bindings.pop();
        self.atom(Atom::Quantified(what, Box::new(body?), from, to))
    }

    fn whole(&mut self, expr: &Expr, budget: &mut Budget) -> Result<Option<i64>, Trouble> {
        if let Some(value) = rational::rational_value(expr, budget)? {
            return Ok(exact::as_i64(&value));
        }
        if matches!(expr, Expr::Constant(Constant::Infinity)) {
            return Ok(None);
        }
        let value = self.of(expr, budget)?;
        Ok(value.as_rational().as_ref().and_then(exact::as_i64))
    }

    fn unrolled(
        &mut self,
        what: Quantifier,
        body: &Expr,
        variable: &Arc<str>,
        first: i64,
        last: i64,
        budget: &mut Budget,
    ) -> Normal {
        let sum = what == Quantifier::Sum;
        let mut total = Fraction::int(if sum { 0 } else { 1 });
        for k in first..=last {
            self.bindings.push((variable.clone(), Binding::Value(RBig::from(k))));
            let term = self.of(body, budget);
            self.bindings.pop();
            total = if sum { total.add(&term?, budget)? } else { self.times(&total, &term?, budget)? };
        }
        self.settled(total, budget)
    }
}

/// Whether two terms of a sum are the same but for a number, so that they can be added.
pub(crate) fn like_terms(terms: &[Expr], budget: &mut Budget) -> Result<bool, Exhausted> {
    let mut normalizer = Normalizer::default();
    let mut seen = Vec::with_capacity(terms.len());
    for term in terms {
        match normalizer.of(term, budget) {
            Ok(fraction) => {
                let Some((monomial, _)) = fraction.single() else { continue };
                if seen.iter().any(|other| other == monomial) {
                    return Ok(true);
                }
                seen.push(monomial.clone());
            }
            Err(Trouble::Exhausted(limit)) => return Err(limit),
            Err(_) => {}
        }
    }
    Ok(false)
}
