//! Sums, products and juxtaposition, with the units and words that stand beside them.

use super::ParseError;
use super::cursor::{Parser, whole};
use super::decimal;
use super::kind::{Bracket, Kind};
use super::units::{scale, spelled};
use crate::compare::CROSS;
use crate::{Budget, Expr, Function, Rounded};
use dashu_ratio::RBig;
use std::sync::Arc;

/// The signs before a term, taken together.
#[derive(Default)]
struct Signs {
    minus: bool,
    either: bool,
}

impl Parser<'_> {
    /// Terms joined by `+`, `-` and `\pm`.
    pub(super) fn sum(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let first = self.term(budget)?;
        if !self.at_sign() {
            return Ok(first);
        }
        budget.deeper(|budget| self.terms(first, budget))
    }

    fn terms(&mut self, first: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        let mut parts = vec![first];
        while self.at_sign() {
            parts.push(self.term(budget)?);
        }
        Ok(lift_unit(parts))
    }

    fn term(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let signs = self.signs();
        let unsigned = self.product(budget)?;
        Ok(if signs.minus || signs.either { signed(unsigned, &signs) } else { unsigned })
    }

    fn at_sign(&self) -> bool {
        matches!(self.kind(), Kind::Plus | Kind::Minus | Kind::PlusMinus | Kind::MinusPlus)
            && !matches!(self.kind_at(1), Kind::End)
    }

    fn signs(&mut self) -> Signs {
        let mut signs = Signs::default();
        loop {
            match self.kind() {
                Kind::Plus => {}
                Kind::Minus => signs.minus = !signs.minus,
                Kind::PlusMinus => signs.either = true,
                Kind::MinusPlus => (signs.either, signs.minus) = (true, !signs.minus),
                _ => return signs,
            }
            self.at += 1;
        }
    }

    /// Factors joined by `*`, `/`, `\bmod` or nothing at all.
    pub(super) fn product(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let mut factors = Vec::with_capacity(2);
        self.run(&mut factors, false, budget)?;
        let goes_on = matches!(self.kind(), Kind::Times | Kind::Slash | Kind::Mod)
            || self.unit_ahead()
            || self.starts_factor();
        if !goes_on {
            return Ok(multiply(factors));
        }
        budget.deeper(|budget| self.operations(factors, budget))
    }

    fn operations(&mut self, mut factors: Vec<Expr>, budget: &mut Budget) -> Result<Expr, ParseError> {
        let mut explicit = 0usize;
        loop {
            match self.kind() {
                Kind::Times | Kind::Slash if self.nothing_after() => {
                    self.at += 1;
                    break;
                }
                Kind::Times => {
                    explicit += 1;
                    let sign = self.take();
                    let after_vector = self.source(sign) == "\\times" && self.ends_in_vector(&factors);
                    let (from, start) = (factors.len(), self.at);
                    self.signed_run(&mut factors, budget)?;
                    if after_vector && self.begins_with_vector(start, factors.get(from)) {
                        cross(&mut factors, from);
                    }
                }
                Kind::Slash => {
                    self.at += 1;
                    self.divide(&mut factors, budget)?;
                }
                Kind::Mod => {
                    self.at += 1;
                    self.remainder(&mut factors, budget)?;
                }
                _ => match self.unit() {
                    Some(unit) => {
                        self.measure(&mut factors, unit)?;
                        if matches!(self.kind(), Kind::Digits) {
                            return self.compound(multiply(factors), budget);
                        }
                    }
                    None if self.starts_factor() => self.run(&mut factors, false, budget)?,
                    None => break,
                },
            }
        }
        if explicit == 1 {
            decimal::join_scientific(&mut factors);
        }
        Ok(multiply(factors))
    }

    /// Whether the last factor is a vector: marked by an arrow, set in bold, or made of such.
    fn ends_in_vector(&self, factors: &[Expr]) -> bool {
        self.is_bold(self.factor_start) || factors.last().is_some_and(is_vector)
    }

    fn begins_with_vector(&self, start: usize, first: Option<&Expr>) -> bool {
        self.is_bold(start) || first.is_some_and(is_vector)
    }

    /// Whether the token there is set in bold.
    fn is_bold(&self, at: usize) -> bool {
        const BOLD: [&str; 5] = ["\\mathbf", "\\bm", "\\boldsymbol", "\\bold", "\\bf"];
        let before = self.tokens.get(at).and_then(|token| self.text.get(..token.start as usize));
        before.is_some_and(|before| BOLD.iter().any(|command| before.trim_end().ends_with(command)))
    }

    fn remainder(&mut self, factors: &mut Vec<Expr>, budget: &mut Budget) -> Result<(), ParseError> {
        let mut divisor = Vec::new();
        self.signed_run(&mut divisor, budget)?;
        let dividend = multiply(std::mem::take(factors));
        factors.push(Expr::Apply(Function::Mod, vec![dividend, multiply(divisor)]));
        Ok(self.wrap_again()?)
    }

    /// The unit belongs to everything so far.
    fn measure(&mut self, factors: &mut Vec<Expr>, unit: Arc<str>) -> Result<(), ParseError> {
        if matches!(factors.as_slice(), [Expr::Quantity(..) | Expr::Percent(_)]) {
            self.wrap_again()?;
        }
        let mut amount = multiply(std::mem::take(factors));
        let mut unit = &*unit;
        loop {
            let (first, rest) = unit.split_once(' ').unwrap_or((unit, ""));
            let Some(by) = scale(first) else { break };
            self.wrap_again()?;
            (amount, unit) = (scaled(amount, by), rest.strip_prefix("of ").unwrap_or(rest));
        }
        factors.push(if unit.is_empty() { amount } else { with_unit(amount, spelled(unit).into()) });
        Ok(())
    }

    /// `3 hours 20 minutes`: quantities side by side add up.
    fn compound(&mut self, first: Expr, budget: &mut Budget) -> Result<Expr, ParseError> {
        Ok(match (first, budget.deeper(|budget| self.product(budget))?) {
            (first @ Expr::Quantity(..), second @ Expr::Quantity(..)) => Expr::Add(vec![first, second]),
            (first, Expr::Add(mut rest)) => {
                rest.insert(0, first);
                Expr::Add(rest)
            }
            (first, second) => Expr::Mul(vec![first, second]),
        })
    }

    fn nothing_after(&self) -> bool {
        matches!(self.kind_at(1), Kind::End)
    }

    fn signed_run(&mut self, factors: &mut Vec<Expr>, budget: &mut Budget) -> Result<(), ParseError> {
        let signs = self.signs();
        let from = factors.len();
        self.run(factors, false, budget)?;
        if let (true, Some(first)) = (signs.minus || signs.either, factors.get_mut(from)) {
            let unsigned = std::mem::replace(first, whole(1));
            *first = signed(unsigned, &signs);
        }
        Ok(())
    }

    fn divide(&mut self, factors: &mut Vec<Expr>, budget: &mut Budget) -> Result<(), ParseError> {
        let signs = self.signs();
        let of_numbers = matches!(factors.last(), Some(Expr::Num(_)));
        let mut divisor = Vec::with_capacity(1);
        self.run(&mut divisor, of_numbers, budget)?;
        let divisor = signed(multiply(divisor), &signs);
        let inverse = Expr::Pow(Box::new(divisor), Box::new(whole(-1)));
        match factors.as_mut_slice() {
            // Twelve litres over three, and twelve litres over three seconds: the unit stays outermost.
            [Expr::Quantity(amount, _)] => {
                let inner = std::mem::replace(amount.as_mut(), whole(1));
                **amount = multiply(vec![inner, inverse]);
            }
            _ => factors.push(inverse),
        }
        Ok(())
    }

    /// Factors side by side. With `divisor`, the first is the denominator of a fraction of numbers, which a gap ends.
    pub(super) fn run(
        &mut self,
        factors: &mut Vec<Expr>,
        divisor: bool,
        budget: &mut Budget,
    ) -> Result<(), ParseError> {
        let from = factors.len();
        loop {
            budget.spend(1)?;
            let start = self.at;
            factors.push(self.factor(budget)?);
            self.factor_start = start;
            let divisor = divisor && matches!(factors.get(from), Some(Expr::Num(_)));
            if !self.starts_factor() || divisor && self.token(0).gap || self.unit_ahead() {
                return Ok(());
            }
        }
    }

    /// Whether the token here can begin a factor of the product so far.
    pub(super) fn starts_factor(&self) -> bool {
        let after_number = self.previous().is_some_and(|t| matches!(t.kind, Kind::Digits | Kind::Dot));
        match self.kind() {
            Kind::Digits => !after_number,
            Kind::Dot => !after_number && matches!(self.kind_at(1), Kind::Digits) && !self.token(1).gap,
            Kind::Word => self.connective().is_none() && !self.at_differential(),
            Kind::Roman => self.connective().is_none() && !self.at_differential(),
            Kind::Bar | Kind::DoubleBar => self.bars == 0 && !self.in_set,
            Kind::Open(Bracket::Square) => !self.closes_reversed(),
            Kind::Open(Bracket::Paren) => !self.condition_ahead(),
            Kind::Open(_) => true,
            Kind::Frac | Kind::Binom | Kind::Sqrt | Kind::Fun(_) | Kind::Letter(_) | Kind::Const(_) => true,
            Kind::Named(_)
            | Kind::Dots
            | Kind::Big(_)
            | Kind::Blackboard
            | Kind::Mark(_)
            | Kind::Overline => true,
            Kind::Begin | Kind::Unknown | Kind::EmptySet | Kind::Currency(_) => true,
            _ => false,
        }
    }
}

/// Whether an expression is a vector by the arrows in it.
fn is_vector(expr: &Expr) -> bool {
    match expr {
        Expr::Symbol(name) => name.starts_with("vec("),
        Expr::Unknown(name, _) => &**name == CROSS,
        Expr::Mul(parts) => parts.iter().any(is_vector),
        Expr::Add(parts) => parts.iter().all(is_vector),
        _ => false,
    }
}

/// The factor before `from` and the one at it become their cross product, which is no product of numbers.
fn cross(factors: &mut Vec<Expr>, from: usize) {
    if from > 0 && from < factors.len() {
        let right = factors.remove(from);
        let left = std::mem::replace(&mut factors[from - 1], whole(1));
        factors[from - 1] = Expr::Unknown(CROSS.into(), vec![left, right]);
    }
}

/// The product of the factors, in their order.
pub(super) fn multiply(mut factors: Vec<Expr>) -> Expr {
    match factors.len() {
        1 => factors.swap_remove(0),
        _ => Expr::Mul(factors),
    }
}

fn signed(term: Expr, signs: &Signs) -> Expr {
    let term = if signs.minus { negate(term) } else { term };
    if signs.either { Expr::PlusMinus(Box::new(term)) } else { term }
}

/// Minus the term: within a number, a percentage or a quantity where it is one, else times −1.
pub(crate) fn negate(term: Expr) -> Expr {
    match term {
        Expr::Num(value) => Expr::Num(-value),
        Expr::Decimal(mut rounded) => {
            rounded.value = -rounded.value;
            Expr::Decimal(rounded)
        }
        Expr::Percent(part) => Expr::Percent(Box::new(negate(*part))),
        Expr::Quantity(part, unit) => Expr::Quantity(Box::new(negate(*part)), unit),
        Expr::Mul(mut factors) => {
            factors.insert(0, whole(-1));
            Expr::Mul(factors)
        }
        other => Expr::Mul(vec![whole(-1), other]),
    }
}

/// So many times the amount: `1.5 million`.
fn scaled(amount: Expr, by: u64) -> Expr {
    match amount {
        Expr::Num(value) => Expr::Num(value * RBig::from(by)),
        Expr::Decimal(Rounded { value, places }) => {
            let zeros = by.ilog10() as i32;
            let power = by == 10_u64.pow(by.ilog10());
            let places = if power { places.saturating_sub(zeros) } else { places };
            Expr::Decimal(Rounded { value: value * RBig::from(by), places })
        }
        Expr::Quantity(part, unit) => Expr::Quantity(Box::new(scaled(*part, by)), unit),
        Expr::Percent(part) => Expr::Percent(Box::new(scaled(*part, by))),
        other => Expr::Mul(vec![other, Expr::Num(RBig::from(by))]),
    }
}

/// The amount with its unit; `percent` is the sign.
pub(super) fn with_unit(amount: Expr, unit: Arc<str>) -> Expr {
    match &*unit {
        "%" => Expr::Percent(Box::new(amount)),
        _ => Expr::Quantity(Box::new(amount), unit),
    }
}

/// `2 + 3\sqrt2 \text{ cm}`: a unit in words on the last part alone belongs to the whole sum.
fn lift_unit(mut parts: Vec<Expr>) -> Expr {
    let others = parts.len() - 1;
    let bare = parts.iter().take(others).all(|part| !matches!(part, Expr::Quantity(..) | Expr::Percent(_)));
    match parts.pop() {
        Some(Expr::Quantity(last, unit)) if bare && unit.starts_with(char::is_alphabetic) => {
            parts.push(*last);
            Expr::Quantity(Box::new(Expr::Add(parts)), unit)
        }
        Some(last) => {
            parts.push(last);
            Expr::Add(parts)
        }
        None => Expr::Add(parts),
    }
}
