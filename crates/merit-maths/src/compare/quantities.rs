//! Values with a unit or a percent sign, by the settings.

use super::answers;
use super::units::{self, Written};
use super::verdict::{Outcome, Reason};
use crate::{Budget, Exhausted, Expr, MathsConfig, Percent, Units, qualifiers};

/// Compares where at least one side is a quantity or a percentage; `None` where neither is.
pub(crate) fn compare(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Option<Outcome>, Exhausted> {
    let (a, b) = (added_up(gold, budget)?, added_up(response, budget)?);
    let (gold, response) = (a.as_ref().unwrap_or(gold), b.as_ref().unwrap_or(response));
    match (gold, response) {
        (Expr::Quantity(a, u), Expr::Quantity(b, v)) => both(a, u, b, v, config, budget).map(Some),
        (Expr::Quantity(a, unit), other) => only_one(a, unit, other, true, config, budget).map(Some),
        (other, Expr::Quantity(b, unit)) => only_one(b, unit, other, false, config, budget).map(Some),
        (Expr::Percent(_), _) | (_, Expr::Percent(_)) => percent(gold, response, config, budget).map(Some),
        _ => Ok(None),
    }
}

/// `2 hours 30 minutes` as one quantity in the first unit; `None` where it is no sum of quantities that convert.
fn added_up(expr: &Expr, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    let Expr::Add(parts) = expr else { return Ok(None) };
    let mut first: Option<(crate::units::Unit, std::sync::Arc<str>)> = None;
    let mut terms = Vec::with_capacity(parts.len());
    for part in parts {
        let Expr::Quantity(amount, name) = part else { return Ok(None) };
        let Written::Known(unit) = units::read(name, budget)? else { return Ok(None) };
        let fits = first.as_ref().is_none_or(|(f, _)| f.dimension == unit.dimension);
        if !fits || unit.pi != 0 || !unit.zero.is_zero() {
            return Ok(None);
        }
        terms.push(units::in_base(amount, &unit));
        first.get_or_insert((unit, name.clone()));
    }
    let Some((unit, name)) = first else { return Ok(None) };
    let factor = Expr::Num(dashu_ratio::RBig::ONE / unit.factor);
    Ok(Some(Expr::Quantity(Box::new(Expr::Mul(vec![Expr::Add(terms), factor])), name)))
}

fn percent(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    match (gold, response) {
        (Expr::Percent(a), Expr::Percent(b)) => answers::decide(a, b, config, budget),
        (Expr::Percent(a), other) => {
            let bare = answers::decide(a, other, config, budget)?;
            if bare.equal || config.percent == Percent::Ignored {
                return Ok(bare);
            }
            hundredth(gold, other, config, budget)
        }
        (other, Expr::Percent(b)) if config.percent == Percent::Ignored => {
            answers::decide(other, b, config, budget)
        }
        _ => hundredth(gold, response, config, budget),
    }
}

/// A percentage as the number it is. Only scalars have one.
fn hundredth(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let plain = |expr: &Expr| match expr {
        Expr::Percent(inner) => Expr::Mul(vec![
            inner.as_ref().clone(),
            Expr::Num(dashu_ratio::RBig::from_parts(1.into(), 100u8.into())),
        ]),
        other => other.clone(),
    };
    answers::decide(&plain(gold), &plain(response), config, budget)
}

fn both(
    a: &Expr,
    u: &str,
    b: &Expr,
    v: &str,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    if u != v && (changes(u) || changes(v)) {
        return Ok(changed());
    }
    if config.units == Units::Ignored || u == v {
        return answers::decide(a, b, config, budget);
    }
    match (units::read(u, budget)?, units::read(v, budget)?) {
        (Written::Known(x), Written::Known(y)) if x == y => answers::decide(a, b, config, budget),
        (Written::Known(x), Written::Known(y)) if x.dimension == y.dimension => {
            let outcome = answers::decide(&units::in_base(a, &x), &units::in_base(b, &y), config, budget)?;
            Ok(Outcome { rule: "unit", ..outcome })
        }
        (Written::Words(x), Written::Words(y)) if x == y => answers::decide(a, b, config, budget),
        _ => Ok(Outcome::different("unit", Reason::Units(u.into(), v.into()))),
    }
}

/// Whether words after an amount make another one of it: `4 tenths`, `4 or 5`.
fn changes(unit: &str) -> bool {
    qualifiers::after(unit).is_some()
}

fn changed() -> Outcome {
    Outcome::said(false, "unit", "the words after the number change it")
}

/// A unit on one side only.
fn only_one(
    value: &Expr,
    unit: &str,
    other: &Expr,
    of_gold: bool,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    if changes(unit) {
        return Ok(changed());
    }
    if config.units == Units::Required {
        let why = if of_gold { "the response lacks the unit" } else { "the reference has no unit" };
        return Ok(Outcome::said(false, "unit", why));
    }
    let in_order = |x: &Expr, y: &Expr, budget: &mut Budget| {
        if of_gold { answers::decide(x, y, config, budget) } else { answers::decide(y, x, config, budget) }
    };
    let bare = in_order(value, other, budget)?;
    if bare.equal || config.units == Units::Ignored {
        return Ok(bare);
    }
    // An angle is a number of radians: 90° is π/2.
    if let Written::Known(unit) = units::read(unit, budget)?
        && let Some(radians) = units::in_radians(value, &unit)
    {
        let outcome = in_order(&radians, other, budget)?;
        if outcome.equal {
            return Ok(Outcome { rule: "unit", ..outcome });
        }
    }
    Ok(bare)
}
