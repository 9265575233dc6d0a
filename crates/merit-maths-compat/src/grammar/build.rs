//! How sympy would put an expression together without evaluating it: flat sums and products, fractions of integers at once.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use merit_maths::{Constant, Expr, Rounded};
use std::sync::Arc;

/// Marks the name of a symbol that need not be real; such a symbol is another one than the real one of that name.
pub(crate) const COMPLEX: char = '\u{1}';

/// What a division of an integer by nought gives.
pub(crate) const ZOO: &str = "zoo";

/// Euler's constant, which is what a bare gamma means.
pub(crate) const EULER_GAMMA: &str = "EulerGamma";

pub(crate) fn integer(value: i64) -> Expr {
    Expr::Num(RBig::from(IBig::from(value)))
}

pub(crate) fn zoo() -> Expr {
    Expr::Unknown(Arc::from(ZOO), Vec::new())
}

/// The value of an integer.
pub(crate) fn as_integer(expr: &Expr) -> Option<&IBig> {
    match expr {
        Expr::Num(value) if value.is_int() => Some(value.numerator()),
        _ => None,
    }
}

/// A number as written: digits with perhaps a point, perhaps an exponent after `E`.
pub(crate) fn number(text: &str) -> Option<Expr> {
    let (mantissa, exponent) = match text.split_once(['E', 'e']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.parse::<i32>().ok()?)),
        None => (text, None),
    };
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, mantissa),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let all: UBig = format!("0{whole}{decimals}").parse().ok()?;
    let value = RBig::from(IBig::from(all) * IBig::from(sign));
    if exponent.is_none() && !digits.contains('.') {
        return Some(Expr::Num(value));
    }
    let places = i32::try_from(decimals.len()).ok()?.checked_sub(exponent.unwrap_or(0))?;
    // Sizes no answer has; the caller's limits would refuse them anyway.
    if places.unsigned_abs() > 10_000 {
        return None;
    }
    let scale = RBig::from(UBig::from(10_u8).pow(places.unsigned_abs() as usize));
    let value = if places >= 0 { value / scale } else { value * scale };
    Some(Expr::Decimal(Rounded { value, places }))
}

pub(crate) fn negated(expr: Expr) -> Expr {
    match expr {
        Expr::Num(value) => Expr::Num(-value),
        Expr::Decimal(Rounded { value, places }) => Expr::Decimal(Rounded { value: -value, places }),
        other => product(integer(-1), other),
    }
}

/// A flat sum.
pub(crate) fn sum(left: Expr, right: Expr) -> Expr {
    Expr::Add(joined(left, right, |e| match e {
        Expr::Add(parts) => Ok(parts),
        other => Err(other),
    }))
}

/// A flat product.
pub(crate) fn product(left: Expr, right: Expr) -> Expr {
    Expr::Mul(joined(left, right, |e| match e {
        Expr::Mul(parts) => Ok(parts),
        other => Err(other),
    }))
}

fn joined(left: Expr, right: Expr, open: impl Fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    let mut parts = open(left).unwrap_or_else(|one| vec![one]);
    match open(right) {
        Ok(more) => parts.extend(more),
        Err(one) => parts.push(one),
    }
    parts
}

/// A quotient: of two integers a rational at once, else a product with a power of −1.
pub(crate) fn quotient(top: Expr, bottom: Expr) -> Expr {
    if let (Some(p), Some(q)) = (as_integer(&top), as_integer(&bottom)) {
        return match q {
            q if *q == IBig::ZERO => zoo(),
            q => Expr::Num(RBig::from(p.clone()) / RBig::from(q.clone())),
        };
    }
    Expr::Mul(vec![top, Expr::Pow(Box::new(bottom), Box::new(integer(-1)))])
}

/// Two factors side by side: `2 \frac{1}{2}` is a mixed fraction, everything else a product.
pub(crate) fn beside(left: Expr, right: Expr) -> Expr {
    if let (Some(whole), Expr::Num(part)) = (as_integer(&left), &right)
        && *part.numerator() > IBig::ZERO
    {
        let whole_value = RBig::from(whole.clone());
        let negative = *whole < IBig::ZERO;
        return Expr::Num(if negative { whole_value - part.clone() } else { whole_value + part.clone() });
    }
    product(left, right)
}

pub(crate) fn power(base: Expr, exponent: Expr) -> Expr {
    Expr::Pow(Box::new(base), Box::new(exponent))
}

/// The symbol or constant of a name as written, with its subscript.
pub(crate) fn symbol(written: &str, real: bool) -> Expr {
    let written = written.trim();
    let name = greek_name(written).unwrap_or(written);
    let name = name.strip_prefix('\\').unwrap_or(name);
    let lower = name.to_lowercase();
    match lower.as_str() {
        "pi" => Expr::Constant(Constant::Pi),
        "gamma" => Expr::Symbol(Arc::from(EULER_GAMMA)),
        _ => plain_symbol(&lower, real),
    }
}

/// A symbol of exactly this name.
pub(crate) fn plain_symbol(name: &str, real: bool) -> Expr {
    if real { Expr::Symbol(Arc::from(name)) } else { Expr::Symbol(Arc::from(format!("{name}{COMPLEX}"))) }
}

/// The name of a Greek letter given as a character.
fn greek_name(letter: &str) -> Option<&'static str> {
    let words = super::tokens::GREEK.split_whitespace();
    let pairs = words.clone().zip(words.skip(1));
    pairs.into_iter().find(|(_, character)| *character == letter && !letter.is_ascii()).map(|(name, _)| name)
}
