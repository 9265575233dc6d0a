//! What a normal form takes as given: variables, primes under roots, π, e, i, and functions of normal forms.

use super::fraction::Fraction;
use super::poly::{AtomId, Monomial};
use super::real::Trouble;
use crate::{Function, Quantifier};
use dashu_int::UBig;
use std::sync::Arc;

/// Something a normal form does not look into.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Atom {
    /// A variable.
    Symbol(Arc<str>),
    /// A variable bound by a sum, by its nesting.
    Bound(u32),
    Pi,
    E,
    I,
    /// A prime, under a root: its exponents lie in [0, 1), unless its power is too large to hold.
    Prime(UBig),
    /// A large number under a root that may be composite.
    Large(UBig),
    /// A sum under a root: exponents in (0, 1).
    Base(Fraction),
    /// `atom^monomial`, the exponent not rational: `2^x`.
    Power(AtomId, Monomial),
    Function(Function, Vec<Fraction>),
    Unknown(Arc<str>, Vec<Fraction>),
    /// A sum, product, integral or limit: body, from, to.
    Quantified(Quantifier, Box<Fraction>, Option<Box<Fraction>>, Option<Box<Fraction>>),
}

/// The atoms of one comparison, shared by both sides.
#[derive(Debug, Default)]
pub(crate) struct Atoms {
    known: Vec<Atom>,
}

const MAX_ATOMS: usize = 400;

impl Atoms {
    pub(crate) fn id(&mut self, atom: Atom) -> Result<AtomId, Trouble> {
        if let Some(at) = self.known.iter().position(|known| *known == atom) {
            return Ok(at as AtomId);
        }
        if self.known.len() >= MAX_ATOMS {
            return Err(Trouble::Imprecise);
        }
        self.known.push(atom);
        Ok((self.known.len() - 1) as AtomId)
    }

    pub(crate) fn get(&self, id: AtomId) -> &Atom {
        &self.known[id as usize]
    }

    /// Whether it is certainly a positive real constant.
    pub(crate) fn is_positive(&self, id: AtomId) -> bool {
        matches!(self.get(id), Atom::Pi | Atom::E | Atom::Prime(_) | Atom::Large(_))
    }

    /// Whether powers of such atoms with different exponents are linearly independent over the rationals, so that two
    /// different normal forms are certainly different.
    pub(crate) fn is_independent(&self, id: AtomId) -> bool {
        matches!(self.get(id), Atom::Symbol(_) | Atom::Prime(_) | Atom::I)
    }

    pub(crate) fn all_independent(&self) -> bool {
        (0..self.known.len()).all(|id| self.is_independent(id as AtomId))
    }
}
