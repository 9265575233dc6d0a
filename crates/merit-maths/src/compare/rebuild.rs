//! A normal form written as an expression again, so that it can be evaluated: what cancels in the form does not have to
//! cancel in digits.

use super::atoms::{Atom, Atoms};
use super::exponent::Exponent;
use super::fraction::Fraction;
use super::poly::{AtomId, Poly};
use crate::{Budget, Constant, Exhausted, Expr};
use dashu_ratio::RBig;

/// The expression of a normal form; `None` where an atom has none.
pub(crate) fn expression(
    form: &Fraction,
    atoms: &Atoms,
    budget: &mut Budget,
) -> Result<Option<Expr>, Exhausted> {
    budget.deeper(|b| {
        let Some(num) = polynomial(&form.num, atoms, b)? else { return Ok(None) };
        if form.den.is_one() {
            return Ok(Some(num));
        }
        let Some(den) = polynomial(&form.den, atoms, b)? else { return Ok(None) };
        Ok(Some(Expr::Mul(vec![num, power(den, Exponent::int(-1))])))
    })
}

fn polynomial(poly: &Poly, atoms: &Atoms, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    let mut terms = Vec::with_capacity(poly.terms.len());
    for (monomial, coefficient) in &poly.terms {
        let Some(product) = monomial_of(monomial, coefficient, atoms, budget)? else { return Ok(None) };
        terms.push(product);
    }
    Ok(Some(Expr::Add(terms)))
}

fn monomial_of(
    monomial: &[(AtomId, Exponent)],
    coefficient: &RBig,
    atoms: &Atoms,
    budget: &mut Budget,
) -> Result<Option<Expr>, Exhausted> {
    budget.spend(1 + monomial.len() as u64)?;
    let mut factors = vec![Expr::Num(coefficient.clone())];
    for &(id, e) in monomial {
        let Some(factor) = powered(id, e, atoms, budget)? else { return Ok(None) };
        factors.push(factor);
    }
    Ok(Some(Expr::Mul(factors)))
}

fn power(base: Expr, e: Exponent) -> Expr {
    if e == Exponent::ONE { base } else { Expr::Pow(Box::new(base), Box::new(Expr::Num(e.to_rational()))) }
}

fn powered(id: AtomId, e: Exponent, atoms: &Atoms, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    let base = match atoms.get(id) {
        // base^(monomial · e), with the exponent's own factor inside.
        Atom::Power(base, monomial) => {
            let Some(base) = powered(*base, Exponent::ONE, atoms, budget)? else { return Ok(None) };
            let Some(exponent) = monomial_of(monomial, &e.to_rational(), atoms, budget)? else {
                return Ok(None);
            };
            return Ok(Some(Expr::Pow(Box::new(base), Box::new(exponent))));
        }
        Atom::Symbol(name) => Expr::Symbol(name.clone()),
        Atom::Pi => Expr::Constant(Constant::Pi),
        Atom::E => Expr::Constant(Constant::E),
        Atom::I => Expr::Constant(Constant::I),
        Atom::Prime(p) | Atom::Large(p) => Expr::Num(RBig::from(p.clone())),
        Atom::Base(inner) => match expression(inner, atoms, budget)? {
            Some(inner) => inner,
            None => return Ok(None),
        },
        Atom::Function(function, arguments) => {
            let mut written = Vec::with_capacity(arguments.len());
            for argument in arguments {
                match expression(argument, atoms, budget)? {
                    Some(argument) => written.push(argument),
                    None => return Ok(None),
                }
            }
            Expr::Apply(*function, written)
        }
        Atom::Bound(_) | Atom::Unknown(..) | Atom::Quantified(..) => return Ok(None),
    };
    Ok(Some(power(base, e)))
}
