//! Units as written (`km/h`, `m^2`, `square metres`), and quantities that convert into each other.

use super::exact;
use crate::units::{Dimension, Reading, Unit, find};
use crate::{Budget, Constant, Exhausted, Expr};
use dashu_ratio::RBig;

/// A written unit: one that is known, or words to compare.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Written {
    Known(Unit),
    Words(String),
}

const MAX_BYTES: usize = 80;

/// Reads a unit; what is not in the table stays words.
pub(crate) fn read(text: &str, budget: &mut Budget) -> Result<Written, Exhausted> {
    let plain = plain(text);
    budget.spend(20 + plain.len() as u64)?;
    if plain.len() <= MAX_BYTES
        && let Some(unit) = known(&plain, budget)?
    {
        return Ok(Written::Known(unit));
    }
    let lower = plain.to_lowercase();
    Ok(Written::Words(lower.strip_suffix('s').unwrap_or(&lower).to_string()))
}

/// Whether words after a number are its unit.
pub(crate) fn is_known(text: &str, budget: &mut Budget) -> Result<bool, Exhausted> {
    let percent = matches!(text, "percent" | "per cent" | "percentage");
    Ok(percent || matches!(read(text, budget)?, Written::Known(_)))
}

/// Without LaTeX's wrapping.
fn plain(text: &str) -> String {
    let mut plain = text.to_string();
    for (from, to) in [
        ("\\text", ""),
        ("\\mathrm", ""),
        ("\\mbox", ""),
        ("\\textnormal", ""),
        ("\\rm", ""),
        ("^\\circ", "°"),
        ("^{\\circ}", "°"),
        ("\\circ", "°"),
        ("\\degree", "°"),
        ("\\cdot", "*"),
        ("\\times", "*"),
        ("·", "*"),
        ("⋅", "*"),
        ("\\mu", "μ"),
        ("\\Omega", "Ω"),
        ("²", "^2"),
        ("³", "^3"),
        ("⁻¹", "^-1"),
        ("⁻²", "^-2"),
        ("\\,", " "),
        ("\\ ", " "),
        ("~", " "),
        ("° ", "°"),
    ] {
        if plain.contains(from) {
            plain = plain.replace(from, to);
        }
    }
    plain.retain(|c| c != '{' && c != '}');
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ").trim_matches(['.', ',', ';', ':']).to_string()
}

fn known(text: &str, budget: &mut Budget) -> Result<Option<Unit>, Exhausted> {
    if let Some(unit) = lookup(text) {
        return Ok(Some(unit));
    }
    let mut total = Unit::one();
    let (mut under, mut group_power, mut any) = (false, 1i64, false);
    for token in tokens(text) {
        match token.as_str() {
            "*" => continue,
            "/" | "per" => {
                under = true;
                continue;
            }
            "square" | "sq" | "sq." => {
                group_power = 2;
                continue;
            }
            "cubic" | "cu" => {
                group_power = 3;
                continue;
            }
            _ => {}
        }
        let Some((unit, power)) = factor(&token) else { return Ok(None) };
        let power = power * group_power * if under { -1 } else { 1 };
        let Some(next) = combine(&total, &unit, power, budget)? else { return Ok(None) };
        total = next;
        any = true;
        group_power = 1;
    }
    Ok(any.then_some(total))
}

fn lookup(word: &str) -> Option<Unit> {
    find(word, Reading::Answer)
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = String::new();
        for c in word.chars() {
            if c == '/' || c == '*' {
                if !rest.is_empty() {
                    tokens.push(std::mem::take(&mut rest));
                }
                tokens.push(c.to_string());
            } else if c != '(' && c != ')' {
                rest.push(c);
            }
        }
        match rest.as_str() {
            "" => {}
            "squared" | "cubed" => {
                let power = if rest == "squared" { "^2" } else { "^3" };
                if let Some(last) = tokens.last_mut() {
                    last.push_str(power);
                }
            }
            power if power.starts_with('^') && !tokens.is_empty() => {
                if let Some(last) = tokens.last_mut() {
                    last.push_str(power);
                }
            }
            _ => tokens.push(rest),
        }
    }
    tokens
}

/// A name with its power: `m^2`, `s^-1`, `m2`.
fn factor(token: &str) -> Option<(Unit, i64)> {
    if let Some((name, power)) = token.split_once('^') {
        let power: i64 = power.trim_matches(['(', ')']).parse().ok()?;
        return (power.abs() <= 12).then_some((lookup(name)?, power));
    }
    if let Some(unit) = lookup(token) {
        return Some((unit, 1));
    }
    let name = token.strip_suffix(['2', '3'])?;
    let power = if token.ends_with('2') { 2 } else { 3 };
    Some((lookup(name)?, power))
}

fn combine(total: &Unit, unit: &Unit, power: i64, budget: &mut Budget) -> Result<Option<Unit>, Exhausted> {
    let Some(size) = exact::pow(&unit.factor, power, budget)? else { return Ok(None) };
    let exponent = i8::try_from(power).ok();
    let Some(dimension) = exponent.and_then(|exponent| total.dimension.times(unit.dimension, exponent))
    else {
        return Ok(None);
    };
    let pi = i64::from(total.pi) + i64::from(unit.pi) * power;
    let Ok(pi) = i8::try_from(pi) else { return Ok(None) };
    // Within a compound a degree of temperature is a difference, so its zero does not matter.
    Ok(Some(Unit { factor: exact::mul(&total.factor, &size, budget)?, pi, zero: RBig::ZERO, dimension }))
}

/// `value` in base units, as an expression.
pub(crate) fn in_base(value: &Expr, unit: &Unit) -> Expr {
    let mut factors = vec![value.clone()];
    if !unit.factor.is_one() {
        factors.push(Expr::Num(unit.factor.clone()));
    }
    if unit.pi != 0 {
        let exponent = Expr::Num(RBig::from(unit.pi));
        factors.push(Expr::Pow(Box::new(Expr::Constant(Constant::Pi)), Box::new(exponent)));
    }
    let scaled = if factors.len() == 1 { value.clone() } else { Expr::Mul(factors) };
    if unit.zero.is_zero() { scaled } else { Expr::Add(vec![scaled, Expr::Num(unit.zero.clone())]) }
}

/// An angle in radians, as a plain number.
pub(crate) fn in_radians(value: &Expr, unit: &Unit) -> Option<Expr> {
    if unit.dimension != Dimension::ANGLE {
        return None;
    }
    let per_degree = RBig::from_parts(1.into(), 180u8.into());
    Some(Expr::Mul(vec![in_base(value, unit), Expr::Num(per_degree), Expr::Constant(Constant::Pi)]))
}

/// A quantity inside a formula, which makes sense there only as an angle: its radians.
pub(crate) fn angle(value: &Expr, unit: &str, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    match read(unit, budget)? {
        Written::Known(unit) => Ok(in_radians(value, &unit)),
        Written::Words(_) => Ok(None),
    }
}
