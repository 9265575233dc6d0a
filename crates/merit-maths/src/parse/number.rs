//! Numbers as people write them: groups of three, decimal points and commas, repeating decimals, powers of ten.
//! The rules for commas are in the module above.

use super::cursor::{Parser, whole};
use super::kind::{Bracket, Kind, Token};
use super::{Mode, ParseError};
use crate::{Budget, Exhausted, Expr, Rounded};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Powers of ten beyond this stay powers: nobody needs the digits.
const LARGEST_EXPONENT: i64 = 4000;

impl Parser<'_> {
    /// A number with its decimals, percent sign and mixed fraction not included.
    pub(super) fn number(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let mut digits = String::new();
        let plain;
        if matches!(self.kind(), Kind::Digits) {
            let first = self.take();
            let mut groups = self.thousands(first);
            if groups == 0
                && !self.decimal_comma_ahead(first)
                && !self.fraction_ahead()
                && !self.power_of_ten_ahead()
            {
                let whole = self.integer(self.source(first), budget)?;
                return self.mixed(whole, budget);
            }
            digits.push_str(self.source(first));
            while groups > 0 {
                budget.spend(1)?;
                self.at += usize::from(!matches!(self.kind(), Kind::Digits));
                let group = self.take();
                digits.push_str(self.source(group));
                groups -= 1;
            }
            plain = !self.decimal_comma_ahead(first) && !self.fraction_ahead();
        } else {
            plain = false;
        }
        let mut places = 0i64;
        if !plain {
            self.at += 1;
            if matches!(self.kind(), Kind::Digits) && !self.token(0).gap {
                let fraction = self.take();
                digits.push_str(self.source(fraction));
                places = i64::from(fraction.end - fraction.start);
            }
            if let Some(repeating) = self.repeating(&digits, places, budget)? {
                return Ok(repeating);
            }
        }
        if !plain && matches!(self.kind(), Kind::Dots) && !self.token(0).gap {
            self.at += 1;
            if let Some(exact) = self.dotted(&digits, places, budget)? {
                return Ok(exact);
            }
        }
        let exponent = self.power_of_ten();
        let written = self.integer(&digits, budget)?;
        match (plain, exponent) {
            (true, None) => self.mixed(written, budget),
            (_, exponent) => scaled(written, places, exponent.unwrap_or(0), budget),
        }
    }

    /// Digits alone, as in an exponent or a numerator.
    pub(super) fn plain_digits(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let token = self.take();
        if self.fraction_ahead() && matches!(self.kind_at(1), Kind::Digits) {
            self.at -= 1;
            return self.number(budget);
        }
        let value = self.integer(self.source(token), budget)?;
        Ok(Expr::Num(value.into()))
    }

    fn integer(&self, digits: &str, budget: &mut Budget) -> Result<IBig, ParseError> {
        if digits.len() <= 18 {
            return Ok(digits.parse::<i64>().unwrap_or(0).into());
        }
        // Each digit holds 3.33 bits.
        budget.size(digits.len().saturating_mul(10) / 3)?;
        Ok(UBig::from_str_radix(digits, 10).map_err(|_| Exhausted::Size)?.into())
    }

    /// How many groups of three follow the digits just taken, as part of the same number.
    fn thousands(&self, first: Token) -> usize {
        let lead = self.source(first);
        if lead.len() > 3 || lead.starts_with('0') {
            return 0;
        }
        let separator = self.kind();
        let mut groups = 0;
        let mut padded = false;
        let mut ahead = 0;
        loop {
            let spaced = matches!(separator, Kind::Digits);
            if self.kind_at(ahead) != separator || (spaced && !self.token(ahead).gap) {
                break;
            }
            let group = self.token(ahead + usize::from(!spaced));
            let directly = spaced || separator == Kind::InnerComma || !(group.gap || self.token(ahead).gap);
            if group.kind != Kind::Digits || group.end - group.start != 3 || !directly {
                break;
            }
            padded |= self.source(group).starts_with('0');
            groups += 1;
            ahead += 1 + usize::from(!spaced);
        }
        // `1,234,5` is no number with thousands, and `1 000 1/2` has no group of one.
        let more = self.kind_at(ahead) == separator
            && self.token(ahead + 1).kind == Kind::Digits
            && !self.token(ahead + 1).gap
            && matches!(separator, Kind::Comma);
        match separator {
            Kind::InnerComma | Kind::Digits => groups,
            Kind::Comma if more => 0,
            Kind::Comma if self.brackets > 0 && !padded => 0,
            Kind::Comma => groups,
            _ => 0,
        }
    }

    /// Whether a point or dots-over-nothing begins the decimals here.
    fn fraction_ahead(&self) -> bool {
        if !matches!(self.kind(), Kind::Dot) || self.token(0).gap {
            return false;
        }
        match self.kind_at(1) {
            Kind::Digits => !self.token(1).gap,
            Kind::Overline | Kind::Mark("dot") => true,
            // `5.` before something that is not the end of a sentence.
            Kind::Word | Kind::Percent | Kind::Close(_) => matches!(self.kind_at(1), Kind::Percent),
            _ => false,
        }
    }

    /// Whether a comma here is a decimal comma.
    fn decimal_comma_ahead(&self, first: Token) -> bool {
        let (comma, after) = (self.token(0), self.token(1));
        if after.kind != Kind::Digits || after.gap || comma.gap {
            return false;
        }
        match comma.kind {
            Kind::InnerComma => true,
            Kind::Comma if self.mode == Mode::Plain && self.brackets == 0 => {
                let commas = self.tokens.iter().filter(|t| t.kind == Kind::Comma).take(2).count();
                commas == 1 && first.end > first.start
            }
            _ => false,
        }
    }

    /// `0.1\overline{6}`, `0.\dot{3}`: exact.
    fn repeating(
        &mut self,
        digits: &str,
        places: i64,
        budget: &mut Budget,
    ) -> Result<Option<Expr>, ParseError> {
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

    fn power_of_ten_ahead(&self) -> bool {
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

    /// The whole number just read, with a proper fraction of whole numbers directly after it.
    fn mixed(&mut self, value: IBig, budget: &mut Budget) -> Result<Expr, ParseError> {
        let value = Expr::Num(value.into());
        let proper = match self.kind() {
            Kind::Frac => self.proper_fraction(1),
            Kind::Digits if self.token(0).gap && matches!(self.kind_at(1), Kind::Slash) => {
                matches!(self.kind_at(2), Kind::Digits) && self.smaller(self.token(0), self.token(2))
            }
            _ => false,
        };
        if !proper {
            return Ok(value);
        }
        let fraction = match self.kind() {
            Kind::Frac => self.atom(budget)?,
            _ => {
                let top = self.plain_digits(budget)?;
                self.at += 1;
                let bottom = self.plain_digits(budget)?;
                Expr::Mul(vec![top, Expr::Pow(Box::new(bottom), Box::new(whole(-1)))])
            }
        };
        Ok(Expr::Add(vec![value, fraction]))
    }

    /// Whether the two arguments `ahead` are whole numbers, the first smaller.
    fn proper_fraction(&self, ahead: usize) -> bool {
        let Some((top, after)) = self.digits_at(ahead, true) else { return false };
        let bare_pair = after == ahead;
        let (top, bottom) = if bare_pair {
            // `\frac12`: one token holds both.
            let split = Token { end: top.start + 1, ..top };
            (split, Token { start: top.start + 1, ..top })
        } else {
            match self.digits_at(after, false) {
                Some((bottom, _)) => (top, bottom),
                None => return false,
            }
        };
        bottom.end > bottom.start && self.smaller(top, bottom)
    }

    fn digits_at(&self, ahead: usize, first: bool) -> Option<(Token, usize)> {
        let token = self.token(ahead);
        match token.kind {
            Kind::Digits if first && token.end - token.start > 1 => Some((token, ahead)),
            Kind::Digits => Some((token, ahead + 1)),
            Kind::Open(Bracket::Group | Bracket::Styled | Bracket::Brace) => {
                let inner = self.token(ahead + 1);
                let closed = matches!(self.kind_at(ahead + 2), Kind::Close(_));
                (inner.kind == Kind::Digits && closed).then_some((inner, ahead + 3))
            }
            _ => None,
        }
    }

    fn smaller(&self, left: Token, right: Token) -> bool {
        let left = self.source(left).trim_start_matches('0');
        let right = self.source(right).trim_start_matches('0');
        (left.len(), left) < (right.len(), right)
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
