//! Exponents back into their range: `2^{3/2}` to `2 √2`, `i²` to −1, `(√(1+x))²` to `1+x`, `sin²` to `1 − cos²`.

use super::atoms::Atom;
use super::exact;
use super::exponent::Exponent;
use super::fraction::Fraction;
use super::normal::{Normal, Normalizer};
use super::poly::{AtomId, Monomial, Poly};
use super::real::Trouble;
use crate::{Budget, Function};
use dashu_int::ops::BitTest;
use dashu_ratio::RBig;

impl Normalizer {
    pub(crate) fn settled(&mut self, fraction: Fraction, budget: &mut Budget) -> Normal {
        if self.is_settled(&fraction.num) && self.is_settled(&fraction.den) {
            return Ok(fraction);
        }
        budget.deeper(|b| {
            let num = self.settle(&fraction.num, b)?;
            if fraction.den.is_one() {
                return Ok(num);
            }
            let den = self.settle(&fraction.den, b)?;
            let inverse = den.inverse(b)?;
            self.times(&num, &inverse, b)
        })
    }

    fn is_settled(&self, poly: &Poly) -> bool {
        poly.terms.iter().all(|(monomial, _)| monomial.iter().all(|&(id, e)| self.in_range(id, e)))
    }

    fn in_range(&self, id: AtomId, e: Exponent) -> bool {
        match self.atoms.get(id) {
            Atom::Prime(p) | Atom::Large(p) => e.split().0 == 0 || !foldable(p.bit_len(), e.split().0),
            Atom::Base(_) => e.split().0 == 0,
            Atom::I => e == Exponent::ONE,
            Atom::Function(Function::Sin, _) => e.as_int().is_none_or(|n| n < 2),
            _ => true,
        }
    }

    fn settle(&mut self, poly: &Poly, budget: &mut Budget) -> Normal {
        let mut plain = Vec::with_capacity(poly.terms.len());
        let mut total: Option<Fraction> = None;
        for (monomial, coefficient) in &poly.terms {
            let (monomial, coefficient, factor) = self.settle_term(monomial, coefficient, budget)?;
            let Some(factor) = factor else {
                plain.push((monomial, coefficient));
                continue;
            };
            let term = self.times(&Fraction::term(monomial, coefficient), &factor, budget)?;
            total = Some(match total {
                Some(so_far) => so_far.add(&term, budget)?,
                None => term,
            });
        }
        let plain = Fraction::poly(Poly::collect(plain, budget)?);
        match total {
            None => Ok(plain),
            Some(rest) => {
                let sum = rest.add(&plain, budget)?;
                self.settled(sum, budget)
            }
        }
    }

    /// The term with its exponents in range, and the factor that came out as more than a number.
    fn settle_term(
        &mut self,
        monomial: &Monomial,
        coefficient: &RBig,
        budget: &mut Budget,
    ) -> Result<(Monomial, RBig, Option<Fraction>), Trouble> {
        let mut kept = Vec::with_capacity(monomial.len());
        let mut coefficient = coefficient.clone();
        let mut factor: Option<Fraction> = None;
        for &(id, e) in monomial {
            if self.in_range(id, e) {
                kept.push((id, e));
                continue;
            }
            let (whole, rest) = e.split();
            let mut out = None;
            match self.atoms.get(id).clone() {
                Atom::Prime(p) | Atom::Large(p) => {
                    let power = exact::pow(&RBig::from(p), whole, budget)?.ok_or(Trouble::Undefined)?;
                    coefficient = exact::mul(&coefficient, &power, budget)?;
                    push(&mut kept, id, rest);
                }
                Atom::I => {
                    if whole.rem_euclid(4) >= 2 {
                        coefficient = -coefficient;
                    }
                    push(&mut kept, id, Exponent::int(whole.rem_euclid(2)));
                }
                Atom::Base(base) => {
                    out = Some(self.whole_power(&base, whole, budget)?);
                    push(&mut kept, id, rest);
                }
                Atom::Function(Function::Sin, arguments) => {
                    let cosine = self.atoms.id(Atom::Function(Function::Cos, arguments))?;
                    let square = Poly::term(vec![(cosine, Exponent::int(2))], RBig::ONE);
                    let rest_of_one = Fraction::poly(Poly::one().add(&square.neg(), budget)?);
                    out = Some(self.whole_power(&rest_of_one, whole / 2, budget)?);
                    push(&mut kept, id, Exponent::int(whole % 2));
                }
                _ => kept.push((id, e)),
            }
            if let Some(out) = out {
                factor = Some(match factor {
                    Some(so_far) => self.times(&so_far, &out, budget)?,
                    None => out,
                });
            }
        }
        Ok((kept, coefficient, factor))
    }
}

fn push(kept: &mut Monomial, id: AtomId, e: Exponent) {
    if !e.is_zero() {
        kept.push((id, e));
    }
}

/// Whether a prime's whole power is small enough to be multiplied out.
fn foldable(bits: usize, whole: i64) -> bool {
    (bits as u64).saturating_mul(whole.unsigned_abs()) <= 1 << 14
}
