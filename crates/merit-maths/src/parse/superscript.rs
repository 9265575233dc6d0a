//! What follows a factor: powers, factorials, percent signs, degrees, primes.

use super::ParseError;
use super::cursor::{Parser, whole};
use super::kind::{Bracket, Kind};
use super::product::negate;
use crate::{Budget, Expr, Function};
use dashu_ratio::RBig;

impl<'t> Parser<'t> {
    /// An atom with everything that follows it.
    pub(super) fn factor(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let base = self.atom(budget)?;
        if !self.at_postfix() {
            return Ok(base);
        }
        budget.deeper(|budget| self.postfixes(base, budget))
    }

    fn at_postfix(&self) -> bool {
        matches!(
            self.kind(),
            Kind::Caret
                | Kind::Bang
                | Kind::Percent
                | Kind::Degree
                | Kind::Prime
                | Kind::Underscore
                | Kind::Transpose
        )
    }

    fn postfixes(&mut self, mut base: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        let mut again = false;
        while self.at_postfix() {
            // `**5**`: emphasis, no power.
            if self.kind() == Kind::Caret && self.kind_at(1) == Kind::End {
                self.at += 1;
                break;
            }
            if again {
                self.wrap_again()?;
            }
            again = true;
            base = self.postfix(base, budget)?;
        }
        Ok(base)
    }

    fn postfix(&mut self, base: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        match self.take().kind {
            Kind::Caret => self.power(base, budget),
            Kind::Bang if self.eat(Kind::Bang) => Ok(Expr::Apply(Function::DoubleFactorial, vec![base])),
            Kind::Bang => Ok(Expr::Apply(Function::Factorial, vec![base])),
            Kind::Percent => Ok(Expr::Percent(Box::new(base))),
            Kind::Degree => Ok(self.degrees(base)),
            Kind::Transpose => Ok(Expr::Apply(Function::Transpose, vec![base])),
            Kind::Prime => Ok(self.prime(base)),
            _ => self.based(base, budget),
        }
    }

    /// `f'`, `30'`.
    fn prime(&mut self, base: Expr) -> Expr {
        match base {
            Expr::Symbol(name) => Expr::Symbol(format!("{name}'").into()),
            number @ (Expr::Num(_) | Expr::Decimal(_)) => Expr::Quantity(Box::new(number), "'".into()),
            other => Expr::Unknown("'".into(), vec![other]),
        }
    }

    /// Degrees of angle, or of temperature where C or F follows.
    fn degrees(&mut self, base: Expr) -> Expr {
        let scale = match self.kind() {
            Kind::Word | Kind::Roman | Kind::Text => self.source(self.token(0)).trim(),
            _ => "",
        };
        let unit = match scale {
            "C" => "°C",
            "F" => "°F",
            _ => "°",
        };
        self.at += usize::from(unit != "°");
        Expr::Quantity(Box::new(base), unit.into())
    }

    /// The power after the caret: a group, a number, one letter or one command, with its sign.
    fn power(&mut self, base: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        if let Some((special, tokens)) = self.special_power_at(0) {
            return Ok(self.special_power(base, special, tokens));
        }
        let exponent = budget.deeper(|budget| self.exponent(budget))?;
        Ok(raise(base, exponent))
    }

    fn special_power(&mut self, base: Expr, special: Kind, tokens: usize) -> Expr {
        let word = self.token(1);
        self.at += tokens;
        match special {
            Kind::Degree => self.degrees(base),
            Kind::Prime => self.prime(base),
            Kind::Transpose => Expr::Apply(Function::Transpose, vec![base]),
            Kind::Times => Expr::Apply(Function::Conjugate, vec![base]),
            Kind::Plus => Expr::Unknown("from above".into(), vec![base]),
            Kind::Minus => Expr::Unknown("from below".into(), vec![base]),
            _ => Expr::Quantity(Box::new(base), self.source(word).into()),
        }
    }

    /// Powers that are none: degrees, primes, transposes, conjugates, sides of a limit, ordinals; and how many tokens long.
    pub(super) fn special_power_at(&self, ahead: usize) -> Option<(Kind, usize)> {
        let grouped =
            usize::from(matches!(self.kind_at(ahead), Kind::Open(Bracket::Group | Bracket::Styled)));
        let closed = grouped == 0 || matches!(self.kind_at(ahead + 2), Kind::Close(_));
        let next = self.kind_at(ahead + grouped + 1);
        let ends = matches!(next, Kind::Close(_) | Kind::End | Kind::Comma | Kind::Rel(_) | Kind::Dot);
        let kind = self.kind_at(ahead + grouped);
        let special = match kind {
            Kind::Degree | Kind::Prime | Kind::Transpose => closed,
            Kind::Times | Kind::Plus | Kind::Minus => closed && ends,
            Kind::Word => grouped == 1 && closed && self.is_ordinal(ahead + 1),
            _ => false,
        };
        special.then_some((kind, 2 * grouped + 1))
    }

    fn is_ordinal(&self, ahead: usize) -> bool {
        matches!(self.source(self.token(ahead)), "th" | "st" | "nd" | "rd")
    }

    /// An exponent with those upon it: a tower of powers is read from the top.
    fn exponent(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let mut tower = Vec::with_capacity(1);
        loop {
            tower.push(self.script(budget)?);
            if self.kind() != Kind::Caret
                || self.kind_at(1) == Kind::End
                || self.special_power_at(1).is_some()
            {
                return Ok(topple(tower));
            }
            self.at += 1;
            self.wrap_again()?;
        }
    }

    /// What stands above or below: a group, a number, one letter or one command.
    pub(super) fn script(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let minus = self.eat(Kind::Minus);
        self.eat(Kind::Plus);
        let script = match self.kind() {
            Kind::Word => self.one_letter(),
            Kind::Digits => self.plain_digits(budget)?,
            _ => self.atom(budget)?,
        };
        Ok(if minus { negate(script) } else { script })
    }

    /// A subscript on something that is no letter: a number in another base, or nothing known.
    fn based(&mut self, base: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        let digits = self.previous_digits();
        let subscript = budget.deeper(|budget| self.script(budget))?;
        Ok(match (base, digits, subscript) {
            (Expr::Num(_), Some(digits), Expr::Num(number)) if is_base(&number, digits) => {
                let number = u32::try_from(number.into_parts().0).unwrap_or(10);
                Expr::InBase(digits.into(), number)
            }
            (base, _, subscript) => Expr::Unknown("_".into(), vec![base, subscript]),
        })
    }

    /// The digits just read, in brackets or not.
    fn previous_digits(&self) -> Option<&'t str> {
        let before = self.at.checked_sub(2)?;
        let token = *self.tokens.get(before)?;
        match token.kind {
            Kind::Digits => Some(self.source(token)),
            Kind::Close(Bracket::Paren | Bracket::Group | Bracket::Styled) => {
                let inner = *self.tokens.get(before.checked_sub(1)?)?;
                (inner.kind == Kind::Digits).then(|| self.source(inner))
            }
            _ => None,
        }
    }
}

/// Whether `digits` are digits to the base `number`.
fn is_base(number: &RBig, digits: &str) -> bool {
    let base = u32::try_from(number.numerator().clone()).unwrap_or(0);
    number.is_int() && (2..=36).contains(&base) && digits.chars().all(|c| c.is_digit(base))
}

/// The tower as one power.
fn topple(mut tower: Vec<Expr>) -> Expr {
    let mut exponent = tower.pop().unwrap_or_else(|| whole(1));
    while let Some(base) = tower.pop() {
        exponent = match base {
            Expr::Num(value) if value < RBig::ZERO => negate(raise(Expr::Num(-value), exponent)),
            base => raise(base, exponent),
        };
    }
    exponent
}

/// `base` to the power; ordinals and transposes are no powers.
fn raise(base: Expr, exponent: Expr) -> Expr {
    match exponent {
        Expr::Text(word) if matches!(&*word, "th" | "st" | "nd" | "rd") => {
            Expr::Quantity(Box::new(base), word)
        }
        Expr::Symbol(name) if &*name == "T" && is_matrix(&base) => {
            Expr::Apply(Function::Transpose, vec![base])
        }
        exponent => Expr::Pow(Box::new(base), Box::new(exponent)),
    }
}

fn is_matrix(base: &Expr) -> bool {
    match base {
        Expr::Symbol(name) => name.chars().all(char::is_uppercase),
        other => matches!(other, Expr::Matrix(_)),
    }
}

/// `base` to the power of one over `index`; the square root where there is none.
pub(super) fn root(base: Expr, index: Option<Expr>) -> Expr {
    let power = match index {
        None => Expr::Num(const { RBig::from_parts_const(dashu_int::Sign::Positive, 1, 2) }),
        Some(Expr::Num(number)) if number.is_int() && !number.is_zero() => Expr::Num(RBig::ONE / number),
        Some(other) => Expr::Pow(Box::new(other), Box::new(whole(-1))),
    };
    Expr::Pow(Box::new(base), Box::new(power))
}
