//! Sums, products, signs, juxtaposition and powers.

use super::build::{beside, negated, power, product, quotient, sum};
use super::tokens::{Bracket, Token};
use super::{Fail, Parsed, Parser};
use merit_maths::{Expr, Function};

impl Parser<'_, '_> {
    /// `expr`: a sum.
    pub(super) fn expr(&mut self) -> Parsed {
        self.deeper(|p| {
            let mut left = p.product(false)?;
            loop {
                if p.eat(Token::Add) {
                    left = sum(left, p.product(false)?);
                } else if p.eat(Token::Sub) {
                    left = sum(left, negated(p.product(false)?));
                } else {
                    return Ok(left);
                }
            }
        })
    }

    /// `mp`: factors with an operator between them. As a function's bare argument it holds no further functions.
    pub(super) fn product(&mut self, as_argument: bool) -> Parsed {
        let mut left = self.signed(as_argument)?;
        let mut divisions = 0;
        loop {
            match self.peek() {
                Some(Token::Mul) => {
                    self.at += 1;
                    left = product(left, self.signed(as_argument)?);
                }
                Some(Token::Div | Token::Colon) => {
                    self.at += 1;
                    divisions += 1;
                    self.nested(divisions)?;
                    left = quotient(left, self.signed(as_argument)?);
                }
                Some(Token::Mod) => {
                    self.at += 1;
                    divisions += 1;
                    self.nested(divisions)?;
                    left = Expr::Apply(Function::Mod, vec![left, self.signed(as_argument)?]);
                }
                _ => return Ok(left),
            }
        }
    }

    fn signed(&mut self, as_argument: bool) -> Parsed {
        let mut negative = false;
        while let Some(sign @ (Token::Add | Token::Sub)) = self.peek() {
            self.budget.spend(1)?;
            self.at += 1;
            negative ^= sign == Token::Sub;
        }
        let factors = self.factors(as_argument)?;
        Ok(if negative { negated(factors) } else { factors })
    }

    /// Factors side by side.
    fn factors(&mut self, as_argument: bool) -> Parsed {
        let mut factors = vec![self.postfix(true)?];
        while self.starts_factor(!as_argument) {
            self.budget.spend(1)?;
            match self.attempt(|p| p.postfix(!as_argument))? {
                Some(factor) => factors.push(factor),
                None => break,
            }
        }
        let mut right = factors.pop().ok_or(Fail::Syntax)?;
        while let Some(left) = factors.pop() {
            right = beside(left, right);
        }
        Ok(right)
    }

    fn starts_factor(&self, functions: bool) -> bool {
        match self.peek() {
            Some(Token::Bar) => !self.in_bars,
            Some(
                Token::Function
                | Token::Functions
                | Token::Operatorname
                | Token::Sqrt
                | Token::Int
                | Token::Sum
                | Token::Prod
                | Token::Lim
                | Token::ExpE,
            ) => functions,
            Some(
                Token::Open(_)
                | Token::Phantom
                | Token::Boxed
                | Token::LVert
                | Token::Vert
                | Token::Norm
                | Token::LFloor
                | Token::LCeil
                | Token::Gamma
                | Token::Letter
                | Token::Greek
                | Token::OtherSymbol
                | Token::Accent
                | Token::Infinity
                | Token::Number
                | Token::Percent
                | Token::Scientific
                | Token::BigE
                | Token::Differential
                | Token::Frac
                | Token::Binom
                | Token::MatrixStart
                | Token::ArrayStart
                | Token::DetStart,
            ) => true,
            _ => false,
        }
    }

    /// A power with what may follow it: `!`, degrees, a transposition.
    fn postfix(&mut self, functions: bool) -> Parsed {
        let mut value = self.power(functions)?;
        let mut marks = 0;
        loop {
            match self.peek() {
                Some(Token::Bang) => {
                    marks += 1;
                    self.nested(marks)?;
                    value = Expr::Apply(Function::Factorial, vec![value]);
                }
                Some(Token::Transpose) if matches!(value, Expr::Matrix(_)) => value = transposed(value),
                // Degrees are dropped; a number transposed is itself.
                Some(Token::Transpose | Token::Degree) => {}
                _ => return Ok(value),
            }
            self.budget.spend(1)?;
            self.at += 1;
        }
    }

    fn power(&mut self, functions: bool) -> Parsed {
        let mut base = self.component(functions)?;
        let mut powers = 0;
        while self.peek() == Some(Token::Caret) {
            powers += 1;
            self.nested(powers)?;
            self.at += 1;
            let exponent = self.braced_or_atom()?;
            if self.peek() == Some(Token::Underscore) {
                self.subscript()?;
            }
            base = power(base, exponent);
        }
        Ok(base)
    }

    /// What stands in an exponent: one atom, or an expression in braces.
    pub(super) fn braced_or_atom(&mut self) -> Parsed {
        if self.open(Bracket::Brace) {
            let inside = self.outside_bars(Self::expr)?;
            self.close(Bracket::Brace)?;
            return Ok(inside);
        }
        self.deeper(Self::atom)
    }

    /// Runs a rule inside brackets, where a bar opens again.
    pub(super) fn outside_bars<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let before = std::mem::replace(&mut self.in_bars, false);
        let done = rule(self);
        self.in_bars = before;
        done
    }
}

fn transposed(matrix: Expr) -> Expr {
    let Expr::Matrix(rows) = matrix else { return matrix };
    let columns = rows.first().map_or(0, Vec::len);
    let column = |c: usize| rows.iter().filter_map(|row| row.get(c).cloned()).collect();
    Expr::Matrix((0..columns).map(column).collect())
}
