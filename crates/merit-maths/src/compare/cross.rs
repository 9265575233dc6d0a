//! The cross product of vectors in normal form: linear in either factor, and it changes its sign where they change places.

use super::atoms::Atom;
use super::exponent::Exponent;
use super::fraction::Fraction;
use super::normal::{Normal, Normalizer};
use super::poly::{AtomId, Monomial, Poly};
use crate::Budget;
use dashu_ratio::RBig;

/// The name under which the parser writes a cross product, as an unknown function of two arguments.
pub(crate) const CROSS: &str = "cross";

impl Normalizer {
    /// `x × y`, written out over the terms of both; where a term has not just one vector, as it stands.
    pub(crate) fn cross(&mut self, x: &Fraction, y: &Fraction, budget: &mut Budget) -> Normal {
        let (Some(left), Some(right)) = (self.vectors(x), self.vectors(y)) else {
            return self.atom(Atom::Unknown(CROSS.into(), vec![x.clone(), y.clone()]));
        };
        let mut total = Fraction::poly(Poly::zero());
        for (a, of_a) in &left {
            for (b, of_b) in right.iter().filter(|(b, _)| b != a) {
                budget.spend(4)?;
                let (first, second, turned) = if a < b { (*a, *b, false) } else { (*b, *a, true) };
                let vector = |id| Fraction::term(vec![(id, Exponent::ONE)], RBig::ONE);
                let product = self.atom(Atom::Unknown(CROSS.into(), vec![vector(first), vector(second)]))?;
                let factor = self.times(of_a, of_b, budget)?;
                let term = self.times(&product, &factor, budget)?;
                total = total.add(&if turned { term.neg() } else { term }, budget)?;
            }
        }
        Ok(total)
    }

    /// The vector of each term and what it is multiplied by. A letter alone is a vector here, for it is a factor.
    fn vectors(&self, sum: &Fraction) -> Option<Vec<(AtomId, Fraction)>> {
        let terms = sum.den.is_one().then_some(&sum.num.terms)?;
        terms.iter().map(|(monomial, coefficient)| self.vector(monomial, coefficient)).collect()
    }

    fn vector(&self, monomial: &Monomial, coefficient: &RBig) -> Option<(AtomId, Fraction)> {
        let marked = |id: AtomId| match self.atoms.get(id) {
            Atom::Symbol(name) => name.starts_with("vec("),
            Atom::Unknown(name, _) => &**name == CROSS,
            _ => false,
        };
        let mut all = monomial.iter().enumerate().filter(|(_, (id, _))| marked(*id));
        let (at, (id, power)) = match (all.next(), all.next(), monomial.as_slice()) {
            (Some(found), None, _) => found,
            (None, _, [alone]) => (0, alone),
            _ => return None,
        };
        let mut rest = monomial.clone();
        rest.remove(at);
        (*power == Exponent::ONE).then(|| (*id, Fraction::term(rest, coefficient.clone())))
    }
}
