//! Decimals: points, repeating digits, powers of ten. Everything is kept exactly as written.

use super::ParseError;
use super::cursor::{Parser, whole};
use super::kind::{Bracket, Kind};
use crate::{Budget, Exhausted, Expr, Rounded};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Powers of ten beyond this stay powers: their digits are not needed.
const LARGEST_EXPONENT: i64 = 4000;

impl Parser<'_> {
    /// What follows the whole part `digits`: decimals where a point stands here, and a power of ten.
    pub(super) fn decimal(
        &mut self,
        mut digits: String,
        point: bool,
        budget: &mut Budget,
    ) -> Result<Expr, ParseError> {
        let mut places = 0i64;
        if point {
            self.at += 1;
            if matches!(self.kind(), Kind::Digits) && !self.token(0).gap {
                let fraction = self.take();
                digits.push_str(self.source(fraction));
                places = i64::from(fraction.end - fraction.start);
            }
            if let Some(exact) = self.repeating(&digits, places, budget)? {
                return Ok(exact);
            }
        }
        let exponent = self.power_of_ten().unwrap_or(0);
        scaled(self.integer(&digits, budget)?, places, exponent, budget)
    }

    /// `0.1\overline{6}`, `0.\dot{3}`, `0.333...`: exact.
    fn repeating(
        &mut self,
        digits: &str,
        places: i64,
        budget: &mut Budget,
    ) -> Result<Option<Expr>, ParseError> {
        if matches!(self.kind(), Kind::Dots) && !self.token(0).gap {
            self.at += 1;
            return self.dotted(digits, places, budget);
        }
        if !matches!(self.kind(), Kind::Overline | Kind::Mark("dot")) {
            return Ok(None);
        }
        let grouped =
            matches!(self.kind_at(1), Kind::Open(Bracket::Group | Bracket::Styled | Bracket::Brace));
        let period = self.token(1 + usize::from(grouped));
        if period.kind != Kind::Digits {
            return Ok(None);
        }
        self.at += if grouped { 4 } else { 2 };
        self.periodic(digits, places, self.source(period), budget).map(Some)
    }

    /// The number whose digits are `digits`, `places` of them decimals, then `period` again and again.
    fn periodic(
        &self,
        digits: &str,
        places: i64,
        period: &str,
        budget: &mut Budget,
    ) -> Result<Expr, ParseError> {
        let head = self.integer(if digits.is_empty() { "0" } else { digits }, budget)?;
        let tail = self.integer(period, budget)?;
        let nines = power_of_ten(period.len() as i64, budget)? - UBig::ONE;
        let scale = power_of_ten(places, budget)?;
        let sum = RBig::from(head) + RBig::from_parts(tail, nines);
        Ok(Expr::Num(sum / RBig::from(scale)))
    }

    /// `0.333…`: exact where the last digits repeat, one digit three times or a longer period twice.
    fn dotted(&self, digits: &str, places: i64, budget: &mut Budget) -> Result<Option<Expr>, ParseError> {
        let places = usize::try_from(places).unwrap_or(0);
        let fraction = digits.get(digits.len().saturating_sub(places)..).unwrap_or_default();
        for period in 1..=(fraction.len() / 2).min(20) {
            let times = if period == 1 { 3 } else { 2 };
            let Some(from) = fraction.len().checked_sub(period * times) else { continue };
            let (tail, unit) = (fraction.get(from..).unwrap_or_default(), fraction.get(from..from + period));
            if unit.is_some_and(|unit| tail == unit.repeat(times)) {
                let head = digits.get(..digits.len() - period * times).unwrap_or_default();
                let before = (places - period * times) as i64;
                return self.periodic(head, before, unit.unwrap_or_default(), budget).map(Some);
            }
        }
        Ok(None)
    }

    pub(super) fn power_of_ten_ahead(&self) -> bool {
        let word = self.token(0);
        if word.kind != Kind::Word || word.gap || !matches!(self.source(word), "e" | "E") {
            return false;
        }
        let signed = usize::from(matches!(self.kind_at(1), Kind::Plus | Kind::Minus));
        self.kind_at(1 + signed) == Kind::Digits && !self.token(1).gap && !self.token(1 + signed).gap
    }

    /// `e5`, `E-3` directly after the digits.
    fn power_of_ten(&mut self) -> Option<i64> {
        if !self.power_of_ten_ahead() {
            return None;
        }
        self.at += 1;
        let minus = self.eat(Kind::Minus);
        self.eat(Kind::Plus);
        let digits = self.take();
        let size = self.source(digits).parse::<i64>().unwrap_or(i64::MAX).min(i64::MAX / 4);
        Some(if minus { -size } else { size })
    }
}

fn power_of_ten(exponent: i64, budget: &mut Budget) -> Result<UBig, ParseError> {
    let exponent = usize::try_from(exponent.max(0)).map_err(|_| Exhausted::Size)?;
    budget.size(exponent.saturating_mul(10) / 3)?;
    Ok(UBig::from(10u8).pow(exponent))
}

/// `written` · 10^(`exponent` − `places`).
fn scaled(written: IBig, places: i64, exponent: i64, budget: &mut Budget) -> Result<Expr, ParseError> {
    let shift = exponent.saturating_sub(places);
    if exponent.abs() > LARGEST_EXPONENT {
        let ten = Expr::Pow(Box::new(whole(10)), Box::new(whole(shift)));
        return Ok(Expr::Mul(vec![Expr::Num(written.into()), ten]));
    }
    let scale = power_of_ten(shift.abs(), budget)?;
    let value = match shift {
        0.. => RBig::from(written * IBig::from(scale)),
        _ => RBig::from_parts(written, scale),
    };
    let places = i32::try_from(-shift).map_err(|_| Exhausted::Size)?;
    Ok(Expr::Decimal(Rounded { value, places }))
}

/// `1.2 \times 10^5`: one number in scientific notation, if its first part has a point.
pub(super) fn join_scientific(factors: &mut Vec<Expr>) {
    let [Expr::Decimal(mantissa), Expr::Pow(ten, exponent)] = factors.as_slice() else { return };
    let (Expr::Num(ten), Expr::Num(exponent)) = (ten.as_ref(), exponent.as_ref()) else { return };
    let whole_power = exponent.is_int();
    let Ok(exponent) = i64::try_from(exponent.numerator().clone()) else { return };
    if !whole_power || *ten != RBig::from(10) || exponent.abs() > 400 {
        return;
    }
    let power = RBig::from(UBig::from(10u8).pow(exponent.unsigned_abs() as usize));
    let value = if exponent < 0 { &mantissa.value / power } else { &mantissa.value * power };
    let places = mantissa.places.saturating_sub(exponent as i32);
    *factors = vec![Expr::Decimal(Rounded { value, places })];
}
