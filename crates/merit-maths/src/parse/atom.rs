//! The smallest parts: what a token by itself, or a command with its arguments, stands for.

use super::ParseError;
use super::cursor::{Parser, twice_deeper, whole};
use super::kind::{Bracket, Kind};
use super::superscript::root;
use crate::{Budget, Constant, Expr, Function, Quantifier};
use std::sync::Arc;

impl Parser<'_> {
    pub(super) fn atom(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        match self.kind() {
            Kind::Digits => self.number(budget),
            Kind::Dot if matches!(self.kind_at(1), Kind::Digits | Kind::Overline) => self.number(budget),
            Kind::Word => self.letters(budget),
            Kind::Open(_) | Kind::Close(Bracket::Square) => self.bracket(budget),
            Kind::Bar | Kind::DoubleBar => self.bars(budget),
            Kind::Frac => self.fraction(budget),
            Kind::Fun(function) => self.function(function, budget),
            Kind::Letter(name) => self.named_letter(name, budget),
            Kind::Sqrt | Kind::Binom | Kind::Mark(_) | Kind::Overline => self.with_argument(budget),
            Kind::Currency(sign) => self.money(sign, budget),
            Kind::Big(big) => self.big(big, budget),
            Kind::Begin => budget.deeper(|budget| self.environment(budget)),
            Kind::Text => self.text_atom(),
            Kind::Roman => self.roman(budget),
            Kind::Named(name) => self.named_set(name.into(), budget),
            Kind::Blackboard => self.named_set(self.source(self.token(0)).trim().into(), budget),
            _ => self.single_token(),
        }
    }

    /// Atoms that need nothing after them.
    fn single_token(&mut self) -> Result<Expr, ParseError> {
        let token = self.token(0);
        let atom = match token.kind {
            Kind::Const(constant) => Expr::Constant(constant),
            Kind::EmptySet => Expr::Set(Vec::new()),
            Kind::Dots => Expr::Symbol("…".into()),
            Kind::Unknown if self.source(token).starts_with('\\') => Expr::Symbol(self.source(token).into()),
            _ => return self.unexpected("a number, a letter or an opening bracket"),
        };
        self.at += 1;
        Ok(atom)
    }

    /// `\mathbb{Z}`, `\mathbb{Z}^+`, `\mathbb{N}_0`.
    fn named_set(&mut self, name: Arc<str>, budget: &mut Budget) -> Result<Expr, ParseError> {
        self.at += 1;
        let mut name = self.decorated(name, budget)?;
        if let (Kind::Caret, Some((sign @ (Kind::Plus | Kind::Minus | Kind::Times), tokens))) =
            (self.kind(), self.special_power_at(1))
        {
            self.at += 1 + tokens;
            name = format!(
                "{name}^{}",
                match sign {
                    Kind::Plus => '+',
                    Kind::Minus => '-',
                    _ => '*',
                }
            )
            .into();
        }
        Ok(Expr::NamedSet(name))
    }

    /// The argument of a command: a group, else one digit, one letter or one command.
    pub(super) fn argument(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        // A fraction makes two nodes of the tree, so an argument is two levels.
        twice_deeper(budget, |budget| match self.kind() {
            Kind::Digits => {
                let digit = self.take_front(1);
                Ok(whole(digit.parse().unwrap_or(0)))
            }
            Kind::Word => Ok(self.one_letter()),
            _ => self.atom(budget),
        })
    }

    /// Like `argument`, but all the digits that stand there: the denominator of `\frac1{72}` or `\frac172`.
    fn long_argument(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        match self.kind() {
            Kind::Digits => self.plain_digits(budget),
            _ => self.argument(budget),
        }
    }

    fn fraction(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        self.at += 1;
        match self.derivative_ahead() {
            Some(found) => self.derivative(found, budget),
            None => self.ordinary_fraction(budget),
        }
    }

    fn ordinary_fraction(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let top = self.argument(budget)?;
        let bottom = self.long_argument(budget)?;
        Ok(quotient(top, bottom))
    }

    /// `\frac{dy}{dx}`, `\frac{d}{dx} f` and `\frac{d^2}{dx^2} f`, which is a derivative of a derivative.
    fn derivative(&mut self, found: Differentials, budget: &mut Budget) -> Result<Expr, ParseError> {
        let Differentials { tokens, body, variable, order } = found;
        self.at += tokens;
        let mut derived = match body {
            Some(name) => Expr::Symbol(name),
            None => budget.deeper(|budget| self.factor(budget))?,
        };
        for _ in 0..order {
            let body = Box::new(derived);
            let variable = variable.clone();
            derived = Expr::Quantified { what: Quantifier::Derivative, body, variable, from: None, to: None };
        }
        Ok(derived)
    }

    /// What `{dy}{dx}` says; nothing where it is an ordinary fraction.
    fn derivative_ahead(&self) -> Option<Differentials> {
        let over = self.differential_group(0)?;
        let under = self.differential_group(over.end)?;
        let order = over.order.unwrap_or(1);
        let agree = over.power.is_none() && under.order.is_none() && under.power.unwrap_or(1) == order;
        let variable = under.name.filter(|_| agree)?;
        Some(Differentials { tokens: under.end, body: over.name, variable, order })
    }

    /// A group of `d` or `\partial` and at most one name after it, with orders as in `d^2y` and `dx^2`.
    fn differential_group(&self, ahead: usize) -> Option<Differential> {
        if !matches!(self.kind_at(ahead), Kind::Open(_)) {
            return None;
        }
        let order = |at: usize| match self.kind_at(at) {
            Kind::Caret => self.index_at(at + 1).filter(|(order, _)| (2..=MAX_ORDER).contains(order)),
            _ => None,
        };
        let first = self.token(ahead + 1);
        let (name, above, next) = match (first.kind, self.source(first)) {
            (Kind::Word | Kind::Roman, "d") | (Kind::Letter("partial"), _) => {
                let above = order(ahead + 2);
                let at = above.map_or(ahead + 2, |(_, after)| after);
                let second = self.token(at);
                match second.kind {
                    Kind::Word if second.end - second.start == 1 => {
                        (Some(self.source(second).into()), above, at + 1)
                    }
                    Kind::Letter(name) => (Some(name.into()), above, at + 1),
                    _ => (None, above, at),
                }
            }
            (Kind::Word, word) if word.len() == 2 && self.integrals == 0 => {
                (Some(word.strip_prefix('d')?.into()), None, ahead + 2)
            }
            _ => return None,
        };
        let power = if name.is_some() { order(next) } else { None };
        let next = power.map_or(next, |(_, after)| after);
        let end = matches!(self.kind_at(next), Kind::Close(_)).then_some(next + 1)?;
        Some(Differential { name, order: above.map(|(n, _)| n), power: power.map(|(n, _)| n), end })
    }

    fn with_argument(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        match self.take().kind {
            Kind::Sqrt => self.root(budget),
            Kind::Binom => self.binomial(budget),
            Kind::Mark(mark) => self.marked(mark, budget),
            _ => self.marked("bar", budget),
        }
    }

    fn binomial(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let top = self.argument(budget)?;
        let bottom = self.argument(budget)?;
        Ok(Expr::Apply(Function::Binomial, vec![top, bottom]))
    }

    fn root(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let index = match self.kind() {
            Kind::Open(Bracket::Square) => Some(Box::new(self.argument(budget)?)),
            _ => None,
        };
        let base = self.long_argument(budget)?;
        Ok(root(base, index.map(|index| *index)))
    }

    /// A mark upon letters makes a name; upon anything else a bar is the conjugate.
    fn marked(&mut self, mark: &'static str, budget: &mut Budget) -> Result<Expr, ParseError> {
        let marked = self.argument(budget)?;
        Ok(with_mark(mark, marked))
    }

    /// A sign of money before its amount.
    fn money(&mut self, sign: &'static str, budget: &mut Budget) -> Result<Expr, ParseError> {
        self.at += 1;
        let minus = self.eat(Kind::Minus);
        let amount = budget.deeper(|budget| self.factor(budget))?;
        let amount = if minus { super::product::negate(amount) } else { amount };
        Ok(Expr::Quantity(Box::new(amount), sign.into()))
    }
}

/// Highest order of a derivative that is read.
const MAX_ORDER: i64 = 9;

/// A derivative written as a fraction.
struct Differentials {
    tokens: usize,
    /// The name above, if any.
    body: Option<Arc<str>>,
    variable: Arc<str>,
    order: i64,
}

/// One half of such a fraction.
struct Differential {
    name: Option<Arc<str>>,
    /// Of `d`, as in `d^2y`.
    order: Option<i64>,
    /// Of the name, as in `dx^2`.
    power: Option<i64>,
    /// The token after it.
    end: usize,
}

/// A fraction; of two words it is one unit.
pub(super) fn quotient(top: Expr, bottom: Expr) -> Expr {
    match (top, bottom) {
        (Expr::Text(top), Expr::Text(bottom)) => Expr::Text(format!("{top}/{bottom}").into()),
        (top, bottom) => Expr::Mul(vec![top, Expr::Pow(Box::new(bottom), Box::new(whole(-1)))]),
    }
}

fn with_mark(mark: &str, marked: Expr) -> Expr {
    match name_of(&marked) {
        // A bar upon a letter that stands for a complex number.
        Some(_) if mark == "bar" && is_complex(&marked) => Expr::Apply(Function::Conjugate, vec![marked]),
        Some(name) => Expr::Symbol(format!("{mark}({name})").into()),
        None if mark == "bar" => Expr::Apply(Function::Conjugate, vec![marked]),
        None => Expr::Unknown(mark.into(), vec![marked]),
    }
}

fn is_complex(marked: &Expr) -> bool {
    matches!(marked, Expr::Symbol(name) if crate::compare::is_complex_name(name))
}

fn name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Symbol(name) => Some(name.to_string()),
        Expr::Constant(Constant::E) => Some("e".into()),
        Expr::Constant(Constant::I) => Some("i".into()),
        Expr::Mul(letters) if letters.len() <= 8 => letters.iter().map(name_of).collect(),
        _ => None,
    }
}
