//! Two numbers or formulas: exact rationals first, then normal forms, then numeric identity.

use super::fraction::Fraction;
use super::identity::{self, Identity};
use super::normal::Normalizer;
use super::opaque::{Replaced, without_opaque};
use super::rational::rational_value;
use super::real::Trouble;
use super::verdict::{Outcome, Reason};
use super::{calculus, exact, points, rebuild, rounding};
use crate::{Budget, Constant, Exhausted, Expr, MathsConfig};
use dashu_ratio::RBig;
use std::cmp::Ordering;

pub(crate) fn compare(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let (a, b) = (calculus::differentiated(gold, budget)?, calculus::differentiated(response, budget)?);
    let (gold, response) = (a.as_ref().unwrap_or(gold), b.as_ref().unwrap_or(response));
    if let Some((gold, response)) = calculus::up_to_a_constant(gold, response, budget)? {
        return symbolic(&gold, &response, budget);
    }
    if let (Some(a), Some(b)) = (rational_value(gold, budget)?, rational_value(response, budget)?) {
        if a == b {
            return Ok(Outcome::equal("exact-rational", Reason::SameNumber));
        }
        if let Some(outcome) = rounded(gold, response, config, budget)? {
            return Ok(outcome);
        }
        return Ok(Outcome::different("exact-rational", Reason::OtherNumber));
    }
    match (infinity(gold, budget)?, infinity(response, budget)?) {
        (None, None) => {}
        (a, b) => {
            let reason = if a == b { Reason::SameInfinity } else { Reason::OtherInfinity };
            return Ok(Outcome::new(a == b, "infinity", reason));
        }
    }
    if let Some(outcome) = rounded(gold, response, config, budget)? {
        return Ok(outcome);
    }
    let renamed = free_constant(gold, response);
    symbolic(gold, renamed.as_ref().unwrap_or(response), budget)
}

/// `x^2 + c` beside `x^2 + C`: the constant of an integral has no name of its own.
fn free_constant(gold: &Expr, response: &Expr) -> Option<Expr> {
    let constant = |expr: &Expr| match expr {
        Expr::Add(parts) => parts
            .iter()
            .position(|part| matches!(part, Expr::Symbol(name) if matches!(&**name, "C" | "c" | "K" | "k"))),
        _ => None,
    };
    let (Expr::Add(of_gold), Expr::Add(of_response)) = (gold, response) else { return None };
    let (a, b) = (constant(gold)?, constant(response)?);
    let mut parts = of_response.clone();
    parts[b] = of_gold[a].clone();
    Some(Expr::Add(parts))
}

fn symbolic(gold: &Expr, response: &Expr, budget: &mut Budget) -> Result<Outcome, Exhausted> {
    let mut normalizer = Normalizer::default();
    let mut undecided = None;
    let forms = match both(&mut normalizer, gold, response, budget) {
        Ok(forms) => Some(forms),
        Err(Trouble::Undefined) => return Ok(Outcome::different("undefined", Reason::NoValue)),
        // Steps and time are gone for good; a size that was refused may yet be decided by other means.
        Err(Trouble::Exhausted(limit)) if limit != Exhausted::Size => return Err(limit),
        Err(Trouble::Exhausted(limit)) => {
            undecided = Some(limit);
            None
        }
        Err(_) => None,
    };
    match &forms {
        Some(Forms::Same) => return Ok(Outcome::equal("normal-form", Reason::SameForm)),
        Some(Forms::Different) => return Ok(Outcome::different("normal-form", Reason::OtherForm)),
        _ => {}
    }
    let mut replaced = Replaced::default();
    let a = without_opaque(gold, &mut normalizer, &mut replaced, budget)?;
    let b = without_opaque(response, &mut normalizer, &mut replaced, budget)?;
    let found = identity::identity(a.as_ref().unwrap_or(gold), b.as_ref().unwrap_or(response), budget)?;
    if let (Identity::Same(_), Some(Forms::Apart(difference))) = (found, &forms)
        && let Some(difference) = rebuild::expression(difference, &normalizer.atoms, budget)?
        && identity::certainly_not_zero(&difference, budget)?
    {
        return Ok(Outcome::different("numeric-identity", Reason::Differ));
    }
    Ok(match found {
        Identity::Same(points) => Outcome::equal("numeric-identity", Reason::Agree(points)),
        Identity::Different if replaced.quantified => Outcome::different("not-shown-equal", Reason::NotShown),
        Identity::Different => Outcome::different("numeric-identity", Reason::Differ),
        // Words and units inside a formula have no value that is known, which is not to say that they have none.
        Identity::Undefined if gold == response && holds_no_number(gold, budget)? => {
            Outcome::equal("identical", Reason::SameForm)
        }
        Identity::Undefined => Outcome::different("undefined", Reason::NoValue),
        // ∞ − ∞ and the like have no value, so they are not even equal to themselves.
        Identity::Unknown if mixes_infinity(gold) || mixes_infinity(response) => {
            Outcome::different("undefined", Reason::NoValue)
        }
        Identity::Unknown if gold == response => Outcome::equal("identical", Reason::SameForm),
        Identity::Unknown => match undecided {
            Some(limit) => return Err(limit),
            None => Outcome::different("not-shown-equal", Reason::NotShown),
        },
    })
}

/// Whether a part of a formula is no mathematics of numbers: words, a quantity.
fn holds_no_number(expr: &Expr, budget: &mut Budget) -> Result<bool, Exhausted> {
    points::any(
        expr,
        &mut |part| matches!(part, Expr::Text(_) | Expr::Quantity(..) | Expr::Labelled(..)),
        budget,
    )
}

/// What two normal forms say.
enum Forms {
    Same,
    Different,
    /// Their difference, which is not zero on paper but may be in value.
    Apart(Fraction),
}

fn both(
    normalizer: &mut Normalizer,
    gold: &Expr,
    response: &Expr,
    budget: &mut Budget,
) -> Result<Forms, Trouble> {
    let a = normalizer.of(gold, budget)?;
    let b = normalizer.of(response, budget)?;
    if a == b {
        return Ok(Forms::Same);
    }
    let independent = normalizer.atoms.all_independent();
    if independent && a.den.is_one() && b.den.is_one() {
        return Ok(Forms::Different);
    }
    let difference = a.add(&b.neg(), budget)?;
    let difference = normalizer.settled(difference, budget)?;
    Ok(match difference.as_rational() {
        Some(value) if value.is_zero() => Forms::Same,
        Some(_) => Forms::Different,
        None if normalizer.atoms.all_independent() => Forms::Different,
        None => Forms::Apart(difference),
    })
}

/// The sign of an expression that is just infinity, plain or times a number.
pub(crate) fn infinity(expr: &Expr, budget: &mut Budget) -> Result<Option<Ordering>, Exhausted> {
    match expr {
        Expr::Constant(Constant::Infinity) => Ok(Some(Ordering::Greater)),
        Expr::Mul(parts) => {
            let mut sign = 1i8;
            let mut found = false;
            for part in parts {
                match part {
                    Expr::Constant(Constant::Infinity) => found = true,
                    other => match rational_value(other, budget)? {
                        Some(value) if !value.is_zero() => {
                            if exact::is_negative(&value) {
                                sign = -sign;
                            }
                        }
                        _ => return Ok(None),
                    },
                }
            }
            Ok(found.then(|| sign.cmp(&0)))
        }
        _ => Ok(None),
    }
}

/// Whether infinity stands in arithmetic. The bounds of a sum or an integral are none.
fn mixes_infinity(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Constant::Infinity) => true,
        Expr::Add(parts) | Expr::Mul(parts) | Expr::Apply(_, parts) => parts.iter().any(mixes_infinity),
        Expr::Pow(base, exponent) => mixes_infinity(base) || mixes_infinity(exponent),
        Expr::PlusMinus(part) | Expr::Percent(part) => mixes_infinity(part),
        _ => false,
    }
}

/// A decimal as written, with its sign and its digits after the point.
fn as_decimal(expr: &Expr, budget: &mut Budget) -> Result<Option<(RBig, i32)>, Exhausted> {
    Ok(match expr {
        Expr::Decimal(rounded) => Some((rounded.value.clone(), rounded.places)),
        Expr::Mul(parts) => match parts.as_slice() {
            [Expr::Num(sign), Expr::Decimal(rounded)] => {
                Some((exact::mul(sign, &rounded.value, budget)?, rounded.places))
            }
            _ => None,
        },
        _ => None,
    })
}

/// What the rounding settings say; `None` where they do not apply or do not make the two equal.
fn rounded(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Option<Outcome>, Exhausted> {
    if config.round_to.is_none() && config.accept_rounded.is_none() {
        return Ok(None);
    }
    if let Some(places) = config.round_to
        && let (Some(a), Some(b)) = (approximate(gold, budget)?, approximate(response, budget)?)
    {
        let places = i32::try_from(places).map_err(|_| Exhausted::Size)?;
        let a = rounding::round_to_units(&a, places, rounding::Half::Even, budget)?;
        let b = rounding::round_to_units(&b, places, rounding::Half::Even, budget)?;
        return Ok(Some(Outcome::new(a == b, "rounded", Reason::Rounded(places))));
    }
    let Some(least) = config.accept_rounded else { return Ok(None) };
    let Some((written, places)) = as_decimal(response, budget)? else { return Ok(None) };
    let enough = i64::from(places) >= i64::from(least);
    if !enough || points::any(gold, &mut |e| matches!(e, Expr::Decimal(_)), budget)? {
        return Ok(None);
    }
    let Some(value) = approximate(gold, budget)? else { return Ok(None) };
    for half in [rounding::Half::Even, rounding::Half::Up] {
        if rounding::round_to(&value, places, half, budget)? == written {
            return Ok(Some(Outcome::equal("rounded", Reason::Rounded(places))));
        }
    }
    Ok(None)
}

/// A real constant exactly, or to about sixty digits.
fn approximate(expr: &Expr, budget: &mut Budget) -> Result<Option<RBig>, Exhausted> {
    if let Some(value) = rational_value(expr, budget)? {
        return Ok(Some(value));
    }
    let value = identity::valued(expr, 256, budget)?;
    Ok(value.ok().filter(|z| z.is_real()).and_then(|z| z.re.middle_rational()))
}
