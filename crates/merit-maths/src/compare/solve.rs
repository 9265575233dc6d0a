//! Relations in one variable as sets of reals: linear ones, quadratic ones with rational coefficients, and absolute
//! values of either.

use super::atoms::Atom;
use super::endpoints::End;
use super::exact;
use super::exponent::Exponent;
use super::identity;
use super::normal::Normalizer;
use super::points;
use super::real::Trouble;
use super::real_set::{Piece, RealSet};
use crate::{Budget, Exhausted, Expr, Function, Relation};
use dashu_ratio::RBig;
use std::cmp::Ordering;
use std::sync::Arc;

/// A variable and the values it may take.
pub(crate) type Solved = (Arc<str>, RealSet);

/// The values of the only variable for which the relation holds; `None` where this module cannot tell.
pub(crate) fn relation(
    op: Relation,
    left: &Expr,
    right: &Expr,
    budget: &mut Budget,
) -> Result<Option<Solved>, Exhausted> {
    if let Some(solved) = of_function(op, left, right, budget)? {
        return Ok(Some(solved));
    }
    let names = points::variables(&[left, right], budget)?;
    let (Some(name), 1) = (names.iter().next(), names.len()) else { return Ok(None) };
    let set = match (left, right) {
        (Expr::Symbol(_), constant) => bounded_by(op, constant, budget)?,
        (constant, Expr::Symbol(_)) => bounded_by(flipped(op), constant, budget)?,
        (Expr::Apply(Function::Abs, inner), constant) if inner.len() == 1 => {
            absolute(op, &inner[0], constant, budget)?
        }
        (constant, Expr::Apply(Function::Abs, inner)) if inner.len() == 1 => {
            absolute(flipped(op), &inner[0], constant, budget)?
        }
        _ => polynomial(op, left, right, name, budget)?,
    };
    Ok(set.map(|set| (name.clone(), set)))
}

/// `f(x) op constant`: the value of the function is what the relation is about.
fn of_function(
    op: Relation,
    left: &Expr,
    right: &Expr,
    budget: &mut Budget,
) -> Result<Option<Solved>, Exhausted> {
    let (op, name, arguments, constant) = match (left, right) {
        (Expr::Unknown(name, arguments), constant) => (op, name, arguments, constant),
        (constant, Expr::Unknown(name, arguments)) => (flipped(op), name, arguments, constant),
        _ => return Ok(None),
    };
    let Some(set) = bounded_by(op, constant, budget)? else { return Ok(None) };
    Ok(Some((format!("{name}{arguments:?}").into(), set)))
}

/// The relation read from right to left.
pub(crate) fn flipped(op: Relation) -> Relation {
    match op {
        Relation::Less => Relation::Greater,
        Relation::Greater => Relation::Less,
        Relation::AtMost => Relation::AtLeast,
        Relation::AtLeast => Relation::AtMost,
        other => other,
    }
}

/// `x op constant`
fn bounded_by(op: Relation, constant: &Expr, budget: &mut Budget) -> Result<Option<RealSet>, Exhausted> {
    match End::of(constant, budget)? {
        Some(end) => from_end(op, end, budget),
        None => Ok(None),
    }
}

fn from_end(op: Relation, end: End, budget: &mut Budget) -> Result<Option<RealSet>, Exhausted> {
    let below =
        |closed| Piece { low: End::MinusInfinity, high: end.clone(), low_closed: false, high_closed: closed };
    let above =
        |closed| Piece { low: end.clone(), high: End::PlusInfinity, low_closed: closed, high_closed: false };
    let finite = end.expr().is_some();
    let pieces = match op {
        Relation::Less => vec![below(false)],
        Relation::AtMost => vec![below(finite)],
        Relation::Greater => vec![above(false)],
        Relation::AtLeast => vec![above(finite)],
        Relation::Equal | Relation::About if finite => {
            vec![Piece { low: end.clone(), high: end.clone(), low_closed: true, high_closed: true }]
        }
        Relation::NotEqual if finite => vec![below(false), above(false)],
        _ => return Ok(None),
    };
    RealSet::from_pieces(pieces, budget)
}

/// `|inner| op bound`
fn absolute(
    op: Relation,
    inner: &Expr,
    bound: &Expr,
    budget: &mut Budget,
) -> Result<Option<RealSet>, Exhausted> {
    let sign = match identity::valued(bound, 192, budget)? {
        Ok(value) if value.is_real() => value.re.sign(),
        _ => None,
    };
    if !matches!(sign, Some(Ordering::Greater | Ordering::Equal)) {
        return Ok(None);
    }
    let minus = Expr::Mul(vec![Expr::Num(RBig::from(-1)), bound.clone()]);
    let outside = match op {
        Relation::Less | Relation::AtMost => false,
        Relation::Greater | Relation::AtLeast | Relation::Equal => true,
        Relation::NotEqual => {
            let equal = absolute(Relation::Equal, inner, bound, budget)?;
            return Ok(equal.map(|set| set.complement()));
        }
        _ => return Ok(None),
    };
    let Some((name, high)) = budget.deeper(|b| relation(op, inner, bound, b))? else { return Ok(None) };
    let Some((other, low)) = budget.deeper(|b| relation(flipped(op), inner, &minus, b))? else {
        return Ok(None);
    };
    if name != other {
        return Ok(None);
    }
    if outside { high.union(&low, budget) } else { high.intersection(&low, budget) }
}

/// Coefficients of `left − right` as a polynomial of degree at most two with rational coefficients.
fn coefficients(
    left: &Expr,
    right: &Expr,
    name: &Arc<str>,
    budget: &mut Budget,
) -> Result<Option<[RBig; 3]>, Exhausted> {
    let difference = Expr::Add(vec![left.clone(), Expr::Mul(vec![Expr::Num(RBig::from(-1)), right.clone()])]);
    let mut normalizer = Normalizer::default();
    let form = match normalizer.of(&difference, budget) {
        Ok(form) if form.den.is_one() => form,
        Err(Trouble::Exhausted(limit)) => return Err(limit),
        _ => return Ok(None),
    };
    let mut found = [RBig::ZERO, RBig::ZERO, RBig::ZERO];
    for (monomial, coefficient) in &form.num.terms {
        let degree = match monomial.as_slice() {
            [] => 0,
            [(id, Exponent::ONE)] if normalizer.atoms.get(*id) == &Atom::Symbol(name.clone()) => 1,
            [(id, e)]
                if *e == Exponent::int(2) && normalizer.atoms.get(*id) == &Atom::Symbol(name.clone()) =>
            {
                2
            }
            _ => return Ok(None),
        };
        found[degree] = coefficient.clone();
    }
    Ok(Some(found))
}

fn polynomial(
    op: Relation,
    left: &Expr,
    right: &Expr,
    name: &Arc<str>,
    budget: &mut Budget,
) -> Result<Option<RealSet>, Exhausted> {
    let Some([c, b, a]) = coefficients(left, right, name, budget)? else { return Ok(None) };
    if a.is_zero() {
        if b.is_zero() {
            return Ok(None);
        }
        let op = if exact::is_negative(&b) { flipped(op) } else { op };
        let root = exact::mul(&-c, &exact::reciprocal(&b), budget)?;
        return match End::rational(root) {
            Some(end) => from_end(op, end, budget),
            None => Ok(None),
        };
    }
    quadratic(op, &a, &b, &c, budget)
}

fn quadratic(
    op: Relation,
    a: &RBig,
    b: &RBig,
    c: &RBig,
    budget: &mut Budget,
) -> Result<Option<RealSet>, Exhausted> {
    let op = if exact::is_negative(a) { flipped(op) } else { op };
    let four_ac = exact::mul(&exact::mul(a, c, budget)?, &RBig::from(4), budget)?;
    let discriminant = exact::add(&exact::mul(b, b, budget)?, &-four_ac, budget)?;
    // Between the roots a quadratic that opens upwards is negative.
    let inside = match op {
        Relation::Less | Relation::AtMost | Relation::Equal => true,
        Relation::Greater | Relation::AtLeast | Relation::NotEqual => false,
        _ => return Ok(None),
    };
    if exact::is_negative(&discriminant) {
        return Ok(Some(if inside { RealSet::empty() } else { RealSet::all() }));
    }
    let root = |sign: i64| {
        let half = Expr::Num(RBig::from_parts(1.into(), 2u8.into()));
        let radical = Expr::Pow(Box::new(Expr::Num(discriminant.clone())), Box::new(half));
        let top =
            Expr::Add(vec![Expr::Num(-b.clone()), Expr::Mul(vec![Expr::Num(RBig::from(sign)), radical])]);
        Expr::Mul(vec![top, Expr::Num(exact::reciprocal(&(a * RBig::from(2))))])
    };
    let outward = if exact::is_negative(a) { -1 } else { 1 };
    let (Some(low), Some(high)) = (End::of(&root(-outward), budget)?, End::of(&root(outward), budget)?)
    else {
        return Ok(None);
    };
    let closed = matches!(op, Relation::AtMost | Relation::Greater | Relation::Equal | Relation::NotEqual);
    let point =
        |end: &End| Piece { low: end.clone(), high: end.clone(), low_closed: true, high_closed: true };
    let pieces = match op {
        Relation::Equal | Relation::NotEqual => vec![point(&low), point(&high)],
        _ => vec![Piece { low, high, low_closed: closed, high_closed: closed }],
    };
    let set = RealSet::from_pieces(pieces, budget)?;
    Ok(set.map(|set| if inside { set } else { set.complement() }))
}
