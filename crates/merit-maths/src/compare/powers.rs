//! Powers and roots in normal form.

use super::atoms::Atom;
use super::exact;
use super::exponent::Exponent;
use super::fraction::Fraction;
use super::normal::{Normal, Normalizer};
use super::poly::{Monomial, monomial_power};
use super::primes::factors;
use super::real::Trouble;
use crate::Budget;
use dashu_int::UBig;
use dashu_ratio::RBig;

/// Sums are not raised to higher powers than this.
const MAX_POWER: u64 = 4096;

impl Normalizer {
    pub(crate) fn power(&mut self, base: Fraction, exponent: Fraction, budget: &mut Budget) -> Normal {
        if let Some(r) = exponent.as_rational() {
            return self.rational_power(&base, &r, budget);
        }
        if base.is_zero() {
            return Err(Trouble::Imprecise);
        }
        if base.as_rational().is_some_and(|value| value.is_one()) {
            return Ok(base);
        }
        if !exponent.den.is_one() {
            let quotient = self.atoms.id(Atom::Unknown("quotient".into(), vec![exponent]))?;
            return self.symbolic_power(&base, &vec![(quotient, Exponent::ONE)], &RBig::ONE, budget);
        }
        let mut total = Fraction::int(1);
        for (monomial, coefficient) in &exponent.num.terms {
            let part = if monomial.is_empty() {
                self.rational_power(&base, coefficient, budget)?
            } else {
                self.symbolic_power(&base, monomial, coefficient, budget)?
            };
            total = self.times(&total, &part, budget)?;
        }
        Ok(total)
    }

    /// `base^(c · m)` for an exponent that is not rational.
    fn symbolic_power(&mut self, base: &Fraction, m: &Monomial, c: &RBig, budget: &mut Budget) -> Normal {
        let times = Exponent::from_rational(c)?;
        if let Some((bases, coefficient)) = base.single().cloned()
            && !exact::is_negative(&coefficient)
        {
            if let [(id, Exponent::ONE)] = bases.as_slice()
                && coefficient.is_one()
                && self.atoms.get(*id) == &Atom::E
                && let Some(value) = self.exponential(m, c, budget)?
            {
                return Ok(value);
            }
            let lone = coefficient.is_one()
                && matches!(bases.as_slice(), [(id, Exponent::ONE)] if self.atoms.get(*id) != &Atom::I);
            if lone || bases.iter().all(|&(id, _)| self.atoms.is_positive(id)) {
                let mut all = self.prime_powers(&coefficient, Exponent::ONE, budget)?;
                all.extend(bases);
                let mut product = Vec::with_capacity(all.len());
                for (id, e) in all {
                    product.push((self.atoms.id(Atom::Power(id, m.clone()))?, e.mul(times)?));
                }
                product.sort_unstable();
                return Ok(Fraction::term(product, RBig::ONE));
            }
        }
        let id = self.atoms.id(Atom::Base(base.clone()))?;
        let power = self.atoms.id(Atom::Power(id, m.clone()))?;
        Ok(Fraction::term(vec![(power, times)], RBig::ONE))
    }

    pub(crate) fn rational_power(&mut self, base: &Fraction, r: &RBig, budget: &mut Budget) -> Normal {
        if r.is_int() {
            return self.whole_power(base, exact::as_i64(r).ok_or(too_large())?, budget);
        }
        if base.is_zero() {
            return if exact::is_negative(r) { Err(Trouble::Undefined) } else { Ok(base.clone()) };
        }
        let e = Exponent::from_rational(r)?;
        if let Some(value) = base.as_rational() {
            return self.radical(&value, e, budget);
        }
        match base.single().cloned() {
            Some((monomial, coefficient)) => self.root_of_term(&monomial, &coefficient, e, budget),
            None => self.root_of_sum(base, e, budget),
        }
    }

    /// A whole power. `0^0` and negative powers of zero have no value.
    pub(crate) fn whole_power(&mut self, base: &Fraction, n: i64, budget: &mut Budget) -> Normal {
        if base.is_zero() {
            return if n > 0 { Ok(base.clone()) } else { Err(Trouble::Undefined) };
        }
        match n {
            0 => return Ok(Fraction::int(1)),
            1 => return Ok(base.clone()),
            -1 => {
                let inverse = base.inverse(budget)?;
                return self.settled(inverse, budget);
            }
            _ => {}
        }
        if let Some((monomial, coefficient)) = base.single().cloned() {
            let power = monomial_power(&monomial, Exponent::int(n))?;
            if exact::power_bits(&coefficient, n.unsigned_abs()) <= budget.limits().integer_bits / 2 {
                let value = exact::pow(&coefficient, n, budget)?.ok_or(Trouble::Undefined)?;
                return self.settled(Fraction::term(power, value), budget);
            }
            let size = self.radical(&absolute(&coefficient), Exponent::int(n), budget)?;
            let sign = if exact::is_negative(&coefficient) && n % 2 != 0 { -1 } else { 1 };
            return self.times(&size, &Fraction::term(power, RBig::from(sign)), budget);
        }
        if n.unsigned_abs() > MAX_POWER {
            return Err(Trouble::Imprecise);
        }
        let mut result: Option<Fraction> = None;
        let (mut square, mut left) = (base.clone(), n.unsigned_abs());
        loop {
            if left & 1 == 1 {
                result = Some(match result {
                    Some(so_far) => self.times(&so_far, &square, budget)?,
                    None => square.clone(),
                });
            }
            left >>= 1;
            if left == 0 {
                break;
            }
            square = self.times(&square, &square.clone(), budget)?;
        }
        let power = result.unwrap_or_else(|| Fraction::int(1));
        if n > 0 { Ok(power) } else { self.over(&Fraction::int(1), &power, budget) }
    }

    /// A power of a rational number, by its primes. Odd roots of negative numbers are the real ones.
    fn radical(&mut self, value: &RBig, e: Exponent, budget: &mut Budget) -> Normal {
        let monomial = self.prime_powers(&absolute(value), e, budget)?;
        let mut result = self.settled(Fraction::term(monomial, RBig::ONE), budget)?;
        if !exact::is_negative(value) {
            return Ok(result);
        }
        if e.order() % 2 != 0 {
            return Ok(if e.numerator() % 2 != 0 { result.neg() } else { result });
        }
        let (sign, power) = match e.order() {
            2 => (Atom::I, Exponent::int(e.numerator())),
            _ => (Atom::Base(Fraction::int(-1)), e),
        };
        let sign = self.atoms.id(sign)?;
        result = result.mul(&Fraction::term(vec![(sign, power)], RBig::ONE), budget)?;
        self.settled(result, budget)
    }

    /// The primes of a positive rational, each with its multiplicity times `e`.
    fn prime_powers(&mut self, value: &RBig, e: Exponent, budget: &mut Budget) -> Result<Monomial, Trouble> {
        let mut powers = Vec::new();
        for (part, sign) in [(exact::magnitude(value.numerator()), 1), (value.denominator().clone(), -1)] {
            if part == UBig::ONE {
                continue;
            }
            for factor in factors(&part, budget)? {
                let atom = if factor.prime { Atom::Prime(factor.base) } else { Atom::Large(factor.base) };
                powers.push((self.atoms.id(atom)?, e.mul(Exponent::int(sign * factor.times))?));
            }
        }
        powers.sort_unstable();
        Ok(powers)
    }

    /// A root of `coefficient · monomial`.
    fn root_of_term(&mut self, m: &Monomial, c: &RBig, e: Exponent, budget: &mut Budget) -> Normal {
        let real_odd = |(id, x): &(u32, Exponent)| {
            x.as_int().is_some() && matches!(self.atoms.get(*id), Atom::Symbol(_) | Atom::Bound(_))
                || self.atoms.is_positive(*id)
        };
        if e.order() % 2 != 0 && m.iter().all(real_odd) {
            let size = self.radical(c, e, budget)?;
            return self.times(&size, &Fraction::term(monomial_power(m, e)?, RBig::ONE), budget);
        }
        let (positive, other): (Monomial, Monomial) =
            m.iter().partition(|&&(id, _)| self.atoms.is_positive(id));
        let outside = Fraction::term(monomial_power(&positive, e)?, RBig::ONE);
        let negative = exact::is_negative(c);
        let inside = match other.as_slice() {
            [] => {
                let size = self.radical(c, e, budget)?;
                return self.times(&size, &outside, budget);
            }
            [(id, x)] if !negative && self.splits(*id, *x) => {
                Fraction::term(vec![(*id, x.mul(e)?)], RBig::ONE)
            }
            _ => {
                let sign = RBig::from(if negative { -1 } else { 1 });
                self.base_power(Fraction::term(other, sign), e, budget)?
            }
        };
        let size = self.radical(&absolute(c), e, budget)?;
        let size = self.times(&size, &outside, budget)?;
        self.times(&size, &inside, budget)
    }

    /// Whether `(atom^x)^e = atom^(x·e)` wherever both are real.
    fn splits(&self, id: u32, x: Exponent) -> bool {
        let within_one = x.split().0 == 0 || x == Exponent::ONE || x.split().0 == -1;
        within_one && self.atoms.get(id) != &Atom::I
    }

    fn base_power(&mut self, base: Fraction, e: Exponent, budget: &mut Budget) -> Normal {
        let (whole, rest) = e.split();
        let outside = self.whole_power(&base, whole, budget)?;
        let id = self.atoms.id(Atom::Base(base))?;
        self.times(&outside, &Fraction::term(vec![(id, rest)], RBig::ONE), budget)
    }

    fn root_of_sum(&mut self, base: &Fraction, e: Exponent, budget: &mut Budget) -> Normal {
        let content = base.num.content();
        let reduced = base.scale(&exact::reciprocal(&content), budget)?;
        let size = self.radical(&content, e, budget)?;
        let root = match self.denested(&reduced, e, budget)? {
            Some(root) => root,
            None => self.base_power(reduced, e, budget)?,
        };
        self.times(&size, &root, budget)
    }

    /// `√(a + b√c) = √((a+d)/2) ± √((a−d)/2)` where `d = √(a² − b²c)` is rational and the outer root real.
    fn denested(
        &mut self,
        base: &Fraction,
        e: Exponent,
        budget: &mut Budget,
    ) -> Result<Option<Fraction>, Trouble> {
        if e != Exponent::HALF || !base.den.is_one() {
            return Ok(None);
        }
        let [(first, a), (second, b)] = base.num.terms.as_slice() else { return Ok(None) };
        let is_root = |&(id, x): &(u32, Exponent)| {
            x == Exponent::HALF && matches!(self.atoms.get(id), Atom::Prime(_) | Atom::Large(_))
        };
        if !first.is_empty() || !second.iter().all(is_root) || exact::is_negative(a) {
            return Ok(None);
        }
        let mut square = exact::mul(b, b, budget)?;
        for (id, _) in second {
            if let Atom::Prime(p) | Atom::Large(p) = self.atoms.get(*id) {
                square = exact::mul(&square, &RBig::from(p.clone()), budget)?;
            }
        }
        let rest = exact::add(&exact::mul(a, a, budget)?, &-square, budget)?;
        if exact::is_negative(&rest) {
            return Ok(None);
        }
        let d = self.radical(&rest, Exponent::HALF, budget)?;
        let Some(d) = d.as_rational() else { return Ok(None) };
        let half = RBig::from_parts(1.into(), 2u8.into());
        let (high, low) = ((a + &d) * &half, (a - &d) * &half);
        let negative = exact::is_negative(b);
        let high = self.radical(&high, Exponent::HALF, budget)?;
        let low = self.rational_power(&Fraction::rational(low), &half, budget)?;
        Ok(Some(high.add(&if negative { low.neg() } else { low }, budget)?))
    }
}

fn absolute(value: &RBig) -> RBig {
    if exact::is_negative(value) { -value.clone() } else { value.clone() }
}

fn too_large() -> Trouble {
    Trouble::Exhausted(crate::Exhausted::Size)
}
