//! Functions in normal form.

use super::atoms::Atom;
use super::fraction::Fraction;
use super::normal::{Normal, Normalizer};
use super::poly::{Monomial, Poly};
use super::rational::of_rationals;
use super::real::Trouble;
use super::samples::is_complex_name;
use super::{exact, exponent::Exponent};
use crate::{Budget, Expr, Function};
use dashu_ratio::RBig;
use std::cmp::Ordering;

/// Whole shifts of a factorial that are written out: (n+k)! = n! (n+1) … (n+k).
const MAX_SHIFT: i64 = 40;

impl Normalizer {
    pub(crate) fn apply(&mut self, function: Function, arguments: &[Expr], budget: &mut Budget) -> Normal {
        use Function::*;
        let values = self.all(arguments, budget)?;
        let rationals: Option<Vec<RBig>> = values.iter().map(Fraction::as_rational).collect();
        if let Some(rationals) = rationals
            && let Some(value) = of_rationals(function, &rationals, budget)?
        {
            return Ok(Fraction::rational(value));
        }
        match (function, values.as_slice(), arguments) {
            (Sin | Cos | Tan | Cot | Sec | Csc, [x], _) => self.trigonometric(function, x, budget),
            (Arcsin | Arccos | Arctan, [x], _) => match self.named_angle(function, x, budget)? {
                Some(angle) => Ok(angle),
                None => self.atom(Atom::Function(function, values)),
            },
            (Sinh | Cosh | Tanh | Coth, [x], _) => self.hyperbolic(function, x, budget),
            (Exp, [x], _) => {
                let e = self.atom(Atom::E)?;
                self.power(e, x.clone(), budget)
            }
            (Ln, [x], _) => self.logarithm(x, budget),
            (Log, [x], _) => self.log_to_base(x, &Fraction::int(10), budget),
            (Log, [x, base], _) => self.log_to_base(x, base, budget),
            (Abs | Norm, [x], [written]) => self.absolute(x, written, budget),
            (Floor | Ceiling | Sign, [_], [written]) => self.rounded(function, written, values, budget),
            (Re | Im | Conjugate, [x], _) => self.complex_part(function, x, values.clone(), budget),
            (Factorial, [n], _) => self.factorial(n, budget),
            (Gamma, [n], _) => {
                let n = n.add(&Fraction::int(-1), budget)?;
                self.factorial(&n, budget)
            }
            (Binomial, [n, k], _) => {
                let top = self.falling(n, k, budget)?;
                let bottom = self.factorial(k, budget)?;
                self.over(&top, &bottom, budget)
            }
            (Permutations, [n, k], _) => self.falling(n, k, budget),
            (Max | Min | Gcd | Lcm, _, _) => {
                let mut sorted = values;
                self.sort(&mut sorted);
                sorted.dedup();
                match sorted.as_slice() {
                    [only] if matches!(function, Max | Min) => Ok(only.clone()),
                    _ => self.atom(Atom::Function(function, sorted)),
                }
            }
            _ => self.atom(Atom::Function(function, values)),
        }
    }

    /// An order of normal forms that depends on nothing but themselves and the table of atoms.
    fn sort(&self, values: &mut [Fraction]) {
        let key = |poly: &Poly| -> Vec<(Monomial, RBig)> { poly.terms.clone() };
        values.sort_by(|a, b| {
            let (a, b) = ((key(&a.num), key(&a.den)), (key(&b.num), key(&b.den)));
            a.partial_cmp(&b).unwrap_or(Ordering::Equal)
        });
    }

    fn trigonometric(&mut self, function: Function, x: &Fraction, budget: &mut Budget) -> Normal {
        use Function::*;
        let one = Fraction::int(1);
        match function {
            Sin | Cos => self.circular(function, x, budget),
            Sec | Csc => {
                let under = self.circular(if function == Sec { Cos } else { Sin }, x, budget)?;
                self.over(&one, &under, budget)
            }
            _ => {
                let sine = self.circular(Sin, x, budget)?;
                let cosine = self.circular(Cos, x, budget)?;
                if function == Tan {
                    self.over(&sine, &cosine, budget)
                } else {
                    self.over(&cosine, &sine, budget)
                }
            }
        }
    }

    fn hyperbolic(&mut self, function: Function, x: &Fraction, budget: &mut Budget) -> Normal {
        use Function::*;
        let e = self.atom(Atom::E)?;
        let up = self.power(e.clone(), x.clone(), budget)?;
        let down = self.power(e, x.neg(), budget)?;
        let sine = up.add(&down.neg(), budget)?;
        let cosine = up.add(&down, budget)?;
        let half = RBig::from_parts(1.into(), 2u8.into());
        match function {
            Sinh => sine.scale(&half, budget),
            Cosh => cosine.scale(&half, budget),
            Tanh => self.over(&sine, &cosine, budget),
            _ => self.over(&cosine, &sine, budget),
        }
    }

    fn log_to_base(&mut self, x: &Fraction, base: &Fraction, budget: &mut Budget) -> Normal {
        let top = self.logarithm(x, budget)?;
        let bottom = self.logarithm(base, budget)?;
        self.over(&top, &bottom, budget)
    }

    fn absolute(&mut self, x: &Fraction, written: &Expr, budget: &mut Budget) -> Normal {
        if x.is_zero() {
            return Ok(x.clone());
        }
        if let Some(ball) = self.ball(written, budget)
            && ball.is_real()
            && let Some(sign) = ball.re.sign()
        {
            return Ok(if sign == Ordering::Less { x.neg() } else { x.clone() });
        }
        if let Some(modulus) = self.modulus(x, budget)? {
            return Ok(modulus);
        }
        let content = x.num.content();
        let x = x.scale(&exact::reciprocal(&content), budget)?;
        let negative = x.num.terms.first().is_some_and(|(_, c)| exact::is_negative(c));
        let x = if negative { x.neg() } else { x };
        let even = |(id, e): &(u32, Exponent)| {
            self.atoms.is_positive(*id)
                || matches!(self.atoms.get(*id), Atom::Symbol(name) if !is_complex_name(name))
                    && e.as_int().is_some_and(|n| n % 2 == 0)
        };
        if x.single().is_some_and(|(monomial, _)| monomial.iter().all(even)) {
            return x.scale(&content, budget);
        }
        self.atom(Atom::Function(Function::Abs, vec![x]))?.scale(&content, budget)
    }

    /// |a + bi| = √(a² + b²) where both parts are real constants.
    fn modulus(&mut self, x: &Fraction, budget: &mut Budget) -> Result<Option<Fraction>, Trouble> {
        let Some((re, im)) = self.parts(x) else { return Ok(None) };
        let (re, im) = (Fraction::poly(re), Fraction::poly(im));
        let square =
            self.times(&re, &re.clone(), budget)?.add(&self.times(&im, &im.clone(), budget)?, budget)?;
        let square = self.settled(square, budget)?;
        self.rational_power(&square, &RBig::from_parts(1.into(), 2u8.into()), budget).map(Some)
    }

    /// Real and imaginary part of a constant made of rationals, real roots, π, e and i.
    fn parts(&self, x: &Fraction) -> Option<(Poly, Poly)> {
        if !x.den.is_one() {
            return None;
        }
        let (mut re, mut im) = (Poly::zero(), Poly::zero());
        for (monomial, coefficient) in &x.num.terms {
            let mut rest = monomial.clone();
            rest.retain(|(id, _)| self.atoms.get(*id) != &Atom::I);
            if !rest.iter().all(|(id, _)| self.atoms.is_positive(*id)) {
                return None;
            }
            let side = if rest.len() == monomial.len() { &mut re } else { &mut im };
            side.terms.push((rest, coefficient.clone()));
        }
        im.terms.sort_by(|a, b| a.0.cmp(&b.0));
        Some((re, im))
    }

    fn complex_part(
        &mut self,
        function: Function,
        x: &Fraction,
        values: Vec<Fraction>,
        budget: &mut Budget,
    ) -> Normal {
        let Some((re, im)) = self.parts(x) else { return self.atom(Atom::Function(function, values)) };
        match function {
            Function::Re => Ok(Fraction::poly(re)),
            Function::Im => Ok(Fraction::poly(im)),
            _ => {
                let i = self.atom(Atom::I)?;
                let turned = self.times(&i, &Fraction::poly(im.neg()), budget)?;
                Fraction::poly(re).add(&turned, budget)
            }
        }
    }

    /// Floor, ceiling and sign of a constant, by its value where that leaves no doubt.
    fn rounded(
        &mut self,
        function: Function,
        written: &Expr,
        values: Vec<Fraction>,
        budget: &mut Budget,
    ) -> Normal {
        if let Some(ball) = self.ball(written, budget)
            && ball.is_real()
        {
            let whole = match function {
                Function::Floor => ball.re.floor(192).ok(),
                Function::Ceiling => ball.re.neg().floor(192).ok().map(|n| -n),
                _ => ball.re.sign().map(|sign| (sign as i8).into()),
            };
            if let Some(whole) = whole {
                return Ok(Fraction::rational(RBig::from(whole)));
            }
        }
        self.atom(Atom::Function(function, values))
    }

    /// n!/(n−k)!
    fn falling(&mut self, n: &Fraction, k: &Fraction, budget: &mut Budget) -> Normal {
        if let Some(k) = k.as_rational().as_ref().and_then(exact::as_i64)
            && (0..=MAX_SHIFT).contains(&k)
        {
            return self.run_of(n, 1 - k, 0, budget);
        }
        let rest = n.add(&k.neg(), budget)?;
        let top = self.factorial(n, budget)?;
        let bottom = self.factorial(&rest, budget)?;
        self.over(&top, &bottom, budget)
    }

    /// ∏ (n + j) for j from `first` to `last`.
    fn run_of(&mut self, n: &Fraction, first: i64, last: i64, budget: &mut Budget) -> Normal {
        let mut total = Fraction::int(1);
        for j in first..=last {
            let factor = n.add(&Fraction::int(j), budget)?;
            total = self.times(&total, &factor, budget)?;
        }
        Ok(total)
    }

    /// n!, whole shifts written out so that (n+1)! is (n+1) n!.
    fn factorial(&mut self, n: &Fraction, budget: &mut Budget) -> Normal {
        if let Some(value) = n.as_rational() {
            if let Some(value) = of_rationals(Function::Factorial, &[value], budget)? {
                return Ok(Fraction::rational(value));
            }
            return self.atom(Atom::Function(Function::Factorial, vec![n.clone()]));
        }
        let shift = if n.den.is_one() { n.num.terms.first() } else { None };
        let shift = shift.filter(|(monomial, _)| monomial.is_empty()).map(|(_, c)| c.floor());
        let shift =
            shift.and_then(|whole| i64::try_from(whole).ok()).filter(|k| k.abs() <= MAX_SHIFT).unwrap_or(0);
        let base = n.add(&Fraction::int(-shift), budget)?;
        let atom = self.atom(Atom::Function(Function::Factorial, vec![base.clone()]))?;
        if shift >= 0 {
            let run = self.run_of(&base, 1, shift, budget)?;
            self.times(&atom, &run, budget)
        } else {
            let run = self.run_of(&base, shift + 1, 0, budget)?;
            self.over(&atom, &run, budget)
        }
    }
}
