//! Whole numbers as people write them: with groups of three, or mixed with a fraction; and where decimals begin.
//! The rules for commas are in the module above.

use super::ParseError;
use super::cursor::{Parser, whole};
use super::kind::{Bracket, Kind, Token};
use crate::{Budget, Exhausted, Expr};
use dashu_int::{IBig, UBig};

impl Parser<'_> {
    /// A number; a percent sign after it is not included.
    pub(super) fn number(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        if !matches!(self.kind(), Kind::Digits) {
            return self.decimal(String::new(), true, budget);
        }
        if let Some(numeral) = self.numeral_in_base() {
            return Ok(numeral);
        }
        let first = self.take();
        let groups = self.thousands(first, budget)?;
        let joined = (groups > 0).then(|| self.join(first, groups));
        let digits = joined.as_deref().unwrap_or(self.source(first));
        let point = self.decimal_comma_ahead() || self.fraction_ahead();
        if point || self.power_of_ten_ahead() {
            return self.decimal(digits.to_owned(), point, budget);
        }
        let value = self.integer(digits, budget)?;
        self.mixed(value, budget)
    }

    /// The digits of `first` and of the groups after it.
    fn join(&mut self, first: Token, groups: usize) -> String {
        let mut digits = self.source(first).to_owned();
        for _ in 0..groups {
            self.at += usize::from(!matches!(self.kind(), Kind::Digits));
            let group = self.take();
            digits.push_str(self.source(group));
        }
        digits
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

    pub(super) fn integer(&self, digits: &str, budget: &mut Budget) -> Result<IBig, ParseError> {
        if digits.len() <= 18 {
            return Ok(digits.parse::<i64>().unwrap_or(0).into());
        }
        // Each digit holds 3.33 bits.
        budget.size(digits.len().saturating_mul(10) / 3)?;
        Ok(UBig::from_str_radix(digits, 10).map_err(|_| Exhausted::Size)?.into())
    }

    /// How many groups of three follow the digits just taken, as part of the same number.
    fn thousands(&mut self, first: Token, budget: &mut Budget) -> Result<usize, ParseError> {
        let lead = self.source(first);
        let separator = self.kind();
        let separates = matches!(separator, Kind::Comma | Kind::InnerComma | Kind::Digits);
        if !separates || self.at < self.listed_until || lead.len() > 3 || lead.starts_with('0') {
            return Ok(0);
        }
        let step = 1 + usize::from(separator != Kind::Digits);
        let mut groups = 0;
        let mut padded = false;
        while let Some(group) = self.group_of_three(separator, groups * step) {
            budget.spend(1)?;
            padded |= self.source(group).starts_with('0');
            groups += 1;
        }
        // `1,234,5` is no number with thousands.
        let after = self.token(groups * step + 1);
        let more = self.kind_at(groups * step) == Kind::Comma && after.kind == Kind::Digits && !after.gap;
        if separator == Kind::Comma && (more || self.brackets > 0 && !padded) {
            // The same holds for every number of this list; no need to look again.
            self.listed_until = self.at + groups * step;
            return Ok(0);
        }
        Ok(groups)
    }

    /// The three digits after the separator that stands `ahead`, or there themselves where a space separates.
    fn group_of_three(&self, separator: Kind, ahead: usize) -> Option<Token> {
        let here = self.token(ahead);
        if here.kind != separator {
            return None;
        }
        let (group, joined) = match separator {
            Kind::Digits => (here, here.gap),
            Kind::InnerComma => (self.token(ahead + 1), true),
            _ => (self.token(ahead + 1), !here.gap && !self.token(ahead + 1).gap),
        };
        (joined && group.kind == Kind::Digits && group.end - group.start == 3).then_some(group)
    }

    /// Whether a point or dots-over-nothing begins the decimals here.
    fn fraction_ahead(&self) -> bool {
        if !matches!(self.kind(), Kind::Dot) || self.token(0).gap {
            return false;
        }
        match self.kind_at(1) {
            Kind::Digits => !self.token(1).gap,
            Kind::Overline | Kind::Mark("dot") | Kind::Percent => true,
            _ => false,
        }
    }

    /// Whether a comma here is a decimal comma.
    fn decimal_comma_ahead(&self) -> bool {
        let (comma, after) = (self.token(0), self.token(1));
        if after.kind != Kind::Digits || after.gap || comma.gap {
            return false;
        }
        comma.kind == Kind::InnerComma
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
