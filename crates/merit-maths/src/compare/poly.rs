//! Polynomials over the rationals in numbered atoms, exponents any rational: sums of `coefficient · ∏ atom^exponent`.

use super::exact;
use super::exponent::Exponent;
use super::real::Trouble;
use crate::Budget;
use dashu_ratio::RBig;

/// The number of an atom in its [`super::atoms::Atoms`].
pub(crate) type AtomId = u32;

/// A product of powers of atoms, by atom; no exponent is zero.
pub(crate) type Monomial = Vec<(AtomId, Exponent)>;

/// More terms than this are not expanded.
pub(crate) const MAX_TERMS: usize = 600;

/// A sum of terms, sorted by monomial; no coefficient is zero.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Poly {
    pub(crate) terms: Vec<(Monomial, RBig)>,
}

pub(crate) fn multiply_monomials(a: &Monomial, b: &Monomial) -> Result<Monomial, Trouble> {
    let mut product = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while let (Some(&(left, m)), Some(&(right, n))) = (a.get(i), b.get(j)) {
        match left.cmp(&right) {
            std::cmp::Ordering::Less => {
                product.push((left, m));
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                product.push((right, n));
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                let sum = m.add(n)?;
                if !sum.is_zero() {
                    product.push((left, sum));
                }
                i += 1;
                j += 1;
            }
        }
    }
    product.extend_from_slice(a.get(i..).unwrap_or_default());
    product.extend_from_slice(b.get(j..).unwrap_or_default());
    Ok(product)
}

/// Every exponent times `by`.
pub(crate) fn monomial_power(a: &Monomial, by: Exponent) -> Result<Monomial, Trouble> {
    if by.is_zero() {
        return Ok(Vec::new());
    }
    a.iter().map(|&(atom, e)| Ok((atom, e.mul(by)?))).collect()
}

impl Poly {
    pub(crate) fn zero() -> Poly {
        Poly { terms: Vec::new() }
    }

    pub(crate) fn constant(value: RBig) -> Poly {
        if value.is_zero() { Poly::zero() } else { Poly { terms: vec![(Vec::new(), value)] } }
    }

    pub(crate) fn one() -> Poly {
        Poly::constant(RBig::ONE)
    }

    pub(crate) fn term(monomial: Monomial, coefficient: RBig) -> Poly {
        if coefficient.is_zero() { Poly::zero() } else { Poly { terms: vec![(monomial, coefficient)] } }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The only term, where there is just one.
    pub(crate) fn single(&self) -> Option<&(Monomial, RBig)> {
        match self.terms.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The value, where no atom occurs.
    pub(crate) fn as_rational(&self) -> Option<RBig> {
        match self.terms.as_slice() {
            [] => Some(RBig::ZERO),
            [(monomial, value)] if monomial.is_empty() => Some(value.clone()),
            _ => None,
        }
    }

    pub(crate) fn is_one(&self) -> bool {
        matches!(self.terms.as_slice(), [(monomial, value)] if monomial.is_empty() && value.is_one())
    }

    pub(crate) fn add(&self, other: &Poly, budget: &mut Budget) -> Result<Poly, Trouble> {
        budget.spend((self.terms.len() + other.terms.len()) as u64)?;
        let mut sum = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            match a.0.cmp(&b.0) {
                std::cmp::Ordering::Less => sum.extend(left.next().cloned()),
                std::cmp::Ordering::Greater => sum.extend(right.next().cloned()),
                std::cmp::Ordering::Equal => {
                    let total = exact::add(&a.1, &b.1, budget)?;
                    if !total.is_zero() {
                        sum.push((a.0.clone(), total));
                    }
                    left.next();
                    right.next();
                }
            }
        }
        sum.extend(left.cloned());
        sum.extend(right.cloned());
        bounded(sum)
    }

    pub(crate) fn neg(&self) -> Poly {
        Poly { terms: self.terms.iter().map(|(m, c)| (m.clone(), -c.clone())).collect() }
    }

    pub(crate) fn scale(&self, by: &RBig, budget: &mut Budget) -> Result<Poly, Trouble> {
        if by.is_zero() {
            return Ok(Poly::zero());
        }
        if by.is_one() {
            return Ok(self.clone());
        }
        let mut terms = Vec::with_capacity(self.terms.len());
        for (monomial, coefficient) in &self.terms {
            terms.push((monomial.clone(), exact::mul(coefficient, by, budget)?));
        }
        Ok(Poly { terms })
    }

    pub(crate) fn mul(&self, other: &Poly, budget: &mut Budget) -> Result<Poly, Trouble> {
        if let Some(value) = other.as_rational() {
            return self.scale(&value, budget);
        }
        let size = self.terms.len().saturating_mul(other.terms.len());
        if size > MAX_TERMS * 40 {
            return Err(Trouble::Imprecise);
        }
        budget.spend(2 * size as u64)?;
        let mut products = Vec::with_capacity(size);
        for (m, c) in &self.terms {
            for (n, d) in &other.terms {
                products.push((multiply_monomials(m, n)?, exact::mul(c, d, budget)?));
            }
        }
        Poly::collect(products, budget)
    }

    /// Terms in any order, equal monomials together.
    pub(crate) fn collect(mut terms: Vec<(Monomial, RBig)>, budget: &mut Budget) -> Result<Poly, Trouble> {
        terms.sort_by(|a, b| a.0.cmp(&b.0));
        let mut sum: Vec<(Monomial, RBig)> = Vec::with_capacity(terms.len());
        for (monomial, coefficient) in terms {
            match sum.last_mut() {
                Some(last) if last.0 == monomial => last.1 = exact::add(&last.1, &coefficient, budget)?,
                _ => {
                    if sum.last().is_some_and(|last| last.1.is_zero()) {
                        sum.pop();
                    }
                    sum.push((monomial, coefficient));
                }
            }
        }
        if sum.last().is_some_and(|last| last.1.is_zero()) {
            sum.pop();
        }
        bounded(sum)
    }

    /// The rational `c` with `self = c · other`, where there is one.
    pub(crate) fn ratio_to(&self, other: &Poly, budget: &mut Budget) -> Result<Option<RBig>, Trouble> {
        if self.terms.len() != other.terms.len() {
            return Ok(None);
        }
        let (Some(a), Some(b)) = (self.terms.first(), other.terms.first()) else { return Ok(None) };
        let ratio = exact::mul(&a.1, &exact::reciprocal(&b.1), budget)?;
        for ((m, c), (n, d)) in self.terms.iter().zip(&other.terms) {
            if m != n || c != &exact::mul(d, &ratio, budget)? {
                return Ok(None);
            }
        }
        Ok(Some(ratio))
    }

    /// The positive rational that, taken out, leaves whole coefficients without a common factor.
    pub(crate) fn content(&self) -> RBig {
        let mut terms = self.terms.iter();
        let Some((_, first)) = terms.next() else { return RBig::ONE };
        let mut num = exact::magnitude(first.numerator());
        let mut den = first.denominator().clone();
        for (_, c) in terms {
            num = exact::gcd(&num, &exact::magnitude(c.numerator()));
            let common = exact::gcd(&den, c.denominator());
            den = &den / common * c.denominator();
        }
        RBig::from_parts(num.into(), den)
    }
}

fn bounded(terms: Vec<(Monomial, RBig)>) -> Result<Poly, Trouble> {
    if terms.len() > MAX_TERMS { Err(Trouble::Imprecise) } else { Ok(Poly { terms }) }
}
