//! Logarithms, exponentials and trigonometric functions in normal form, with the exact values that have names.

use super::atoms::Atom;
use super::exact;
use super::exponent::Exponent;
use super::fraction::Fraction;
use super::normal::{Normal, Normalizer};
use super::poly::{Monomial, Poly};
use super::real::Trouble;
use crate::{Budget, Function};
use dashu_ratio::RBig;

impl Normalizer {
    /// `e^(c · m)` where it has a simpler form: e^{iπ c} and e^{c ln p}.
    pub(crate) fn exponential(
        &mut self,
        m: &Monomial,
        c: &RBig,
        budget: &mut Budget,
    ) -> Result<Option<Fraction>, Trouble> {
        match m.as_slice() {
            [(id, Exponent::ONE)] => {
                let Atom::Function(Function::Ln, arguments) = self.atoms.get(*id).clone() else {
                    return Ok(None);
                };
                match arguments.as_slice() {
                    [argument] if argument.as_rational().is_some() => {
                        self.rational_power(argument, c, budget).map(Some)
                    }
                    _ => Ok(None),
                }
            }
            [(a, Exponent::ONE), (b, Exponent::ONE)] => {
                let pair = (self.atoms.get(*a), self.atoms.get(*b));
                if !matches!(pair, (Atom::I, Atom::Pi) | (Atom::Pi, Atom::I)) {
                    return Ok(None);
                }
                let (Some(sine), Some(cosine)) =
                    (self.sine_of_turn(c, budget)?, self.cosine_of_turn(c, budget)?)
                else {
                    return Ok(None);
                };
                let i = self.atom(Atom::I)?;
                let imaginary = self.times(&i, &sine, budget)?;
                cosine.add(&imaginary, budget).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The natural logarithm; positive factors come out of it.
    pub(crate) fn logarithm(&mut self, argument: &Fraction, budget: &mut Budget) -> Normal {
        if argument.is_zero() {
            return Err(Trouble::Undefined);
        }
        let Some((monomial, coefficient)) = argument.single().cloned() else {
            return self.atom(Atom::Function(Function::Ln, vec![argument.clone()]));
        };
        let negative = exact::is_negative(&coefficient);
        let size = if negative { -coefficient } else { coefficient };
        let mut total = self.log_of_rational(&size, budget)?;
        let (positive, other): (Monomial, Monomial) =
            monomial.iter().partition(|&&(id, _)| self.atoms.is_positive(id));
        for (id, e) in positive {
            let part = match self.atoms.get(id).clone() {
                Atom::E => Fraction::int(1),
                Atom::Prime(p) | Atom::Large(p) => self.log_atom(Fraction::rational(RBig::from(p)))?,
                _ => self.log_atom(Fraction::term(vec![(id, Exponent::ONE)], RBig::ONE))?,
            };
            total = total.add(&part.scale(&e.to_rational(), budget)?, budget)?;
        }
        if negative || !other.is_empty() {
            let rest = Fraction::term(other, RBig::from(if negative { -1 } else { 1 }));
            total = total.add(&self.log_atom(rest)?, budget)?;
        }
        Ok(total)
    }

    fn log_atom(&mut self, argument: Fraction) -> Normal {
        self.atom(Atom::Function(Function::Ln, vec![argument]))
    }

    fn log_of_rational(&mut self, value: &RBig, budget: &mut Budget) -> Normal {
        let mut total = Fraction::poly(Poly::zero());
        for (part, sign) in [(exact::magnitude(value.numerator()), 1), (value.denominator().clone(), -1)] {
            if part == dashu_int::UBig::ONE {
                continue;
            }
            for factor in super::primes::factors(&part, budget)? {
                let log = self.log_atom(Fraction::rational(RBig::from(factor.base)))?;
                total = total.add(&log.scale(&RBig::from(sign * factor.times), budget)?, budget)?;
            }
        }
        Ok(total)
    }

    /// Sine or cosine; the others are quotients of these.
    pub(crate) fn circular(
        &mut self,
        function: Function,
        argument: &Fraction,
        budget: &mut Budget,
    ) -> Normal {
        let pi = self.atoms.id(Atom::Pi)?;
        let turn = match argument.single() {
            Some((monomial, c)) if monomial.as_slice() == [(pi, Exponent::ONE)] => Some(c.clone()),
            _ if argument.is_zero() => Some(RBig::ZERO),
            _ => None,
        };
        if let Some(turn) = turn {
            let value = match function {
                Function::Sin => self.sine_of_turn(&turn, budget)?,
                _ => self.cosine_of_turn(&turn, budget)?,
            };
            if let Some(value) = value {
                return Ok(value);
            }
        }
        let negative = argument.num.terms.first().is_some_and(|(_, c)| exact::is_negative(c));
        let argument = if negative { argument.neg() } else { argument.clone() };
        let value = self.atom(Atom::Function(function, vec![argument]))?;
        Ok(if negative && function == Function::Sin { value.neg() } else { value })
    }

    fn cosine_of_turn(&mut self, turn: &RBig, budget: &mut Budget) -> Result<Option<Fraction>, Trouble> {
        let half = RBig::from_parts(1.into(), 2u8.into());
        self.sine_of_turn(&exact::add(turn, &half, budget)?, budget)
    }

    /// Inverse sine, cosine and tangent of the usual values, as multiples of π; `None` elsewhere.
    pub(crate) fn named_angle(
        &mut self,
        function: Function,
        x: &Fraction,
        budget: &mut Budget,
    ) -> Result<Option<Fraction>, Trouble> {
        const TURNS: [(i64, u64); 13] = [
            (0, 1),
            (1, 6),
            (1, 4),
            (1, 3),
            (1, 2),
            (1, 12),
            (5, 12),
            (1, 10),
            (3, 10),
            (1, 5),
            (2, 5),
            (1, 8),
            (3, 8),
        ];
        let variable =
            |&(id, _): &(u32, Exponent)| matches!(self.atoms.get(id), Atom::Symbol(_) | Atom::Bound(_));
        if x.num.terms.iter().any(|(monomial, _)| monomial.iter().any(variable)) {
            return Ok(None);
        }
        let minus = x.neg();
        for (num, den) in TURNS {
            if function == Function::Arctan && den == 2 {
                continue;
            }
            let turn = RBig::from_parts(num.into(), den.into());
            let Some(sine) = self.sine_of_turn(&turn, budget)? else { continue };
            let value = match (function, self.cosine_of_turn(&turn, budget)?) {
                (Function::Arctan, Some(cosine)) => self.over(&sine, &cosine, budget)?,
                (Function::Arctan, None) => continue,
                _ => sine,
            };
            let sign = if value == *x { 1 } else { -1 };
            if value != *x && value != minus {
                continue;
            }
            let mut angle = turn * RBig::from(sign);
            if function == Function::Arccos {
                angle = RBig::from_parts(1.into(), 2u8.into()) - angle;
            }
            return self.atom(Atom::Pi)?.scale(&angle, budget).map(Some);
        }
        Ok(None)
    }

    /// sin(turn · π), where it is one of the usual values.
    fn sine_of_turn(&mut self, turn: &RBig, budget: &mut Budget) -> Result<Option<Fraction>, Trouble> {
        // Into [0, 2), then [0, 1) with a sign, then [0, 1/2].
        let two = RBig::from(2);
        let mut turn = turn - RBig::from((turn / &two).floor()) * &two;
        let negative = turn >= RBig::ONE;
        if negative {
            turn -= RBig::ONE;
        }
        if &turn * &two > RBig::ONE {
            turn = RBig::ONE - turn;
        }
        let key = (i64::try_from(turn.numerator()), i64::try_from(turn.denominator()));
        let (Ok(num), Ok(den)) = key else { return Ok(None) };
        let Some(value) = self.named_sine(num, den, budget)? else { return Ok(None) };
        Ok(Some(if negative { value.neg() } else { value }))
    }

    fn named_sine(&mut self, num: i64, den: i64, budget: &mut Budget) -> Result<Option<Fraction>, Trouble> {
        // As (a√m + b√n) / 4 with signed parts; nested roots further down.
        let (a, m, b, n) = match (num, den) {
            (0, 1) => (0, 1, 0, 1),
            (1, 6) => (2, 1, 0, 1),
            (1, 4) => (2, 2, 0, 1),
            (1, 3) => (2, 3, 0, 1),
            (1, 2) => (4, 1, 0, 1),
            (1, 12) => (1, 6, -1, 2),
            (5, 12) => (1, 6, 1, 2),
            (1, 10) => (1, 5, -1, 1),
            (3, 10) => (1, 5, 1, 1),
            _ => return self.nested_sine(num, den, budget),
        };
        let sum = self.rooted(a, m, budget)?.add(&self.rooted(b, n, budget)?, budget)?;
        Ok(Some(sum.scale(&RBig::from_parts(1.into(), 4u8.into()), budget)?))
    }

    /// √(a + b√n) / 4
    fn nested_sine(&mut self, num: i64, den: i64, budget: &mut Budget) -> Result<Option<Fraction>, Trouble> {
        let (a, b, n) = match (num, den) {
            (1, 5) => (10, -2, 5),
            (2, 5) => (10, 2, 5),
            (1, 8) => (8, -4, 2),
            (3, 8) => (8, 4, 2),
            _ => return Ok(None),
        };
        let inside = Fraction::int(a).add(&self.rooted(b, n, budget)?, budget)?;
        let half = RBig::from_parts(1.into(), 2u8.into());
        let root = self.rational_power(&inside, &half, budget)?;
        Ok(Some(root.scale(&RBig::from_parts(1.into(), 4u8.into()), budget)?))
    }

    /// `a √m`
    fn rooted(&mut self, a: i64, m: i64, budget: &mut Budget) -> Normal {
        let half = RBig::from_parts(1.into(), 2u8.into());
        self.rational_power(&Fraction::int(m), &half, budget)?.scale(&RBig::from(a), budget)
    }
}
