//! Functions by name, functions by letter, roots, sums, integrals, limits.

use super::build::{integer, plain_symbol, power, quotient};
use super::named::{apply, raised, several};
use super::tokens::{Bracket, Token};
use super::{Fail, Parsed, Parser};
use merit_maths::{Constant, Expr, Quantifier};
use std::sync::Arc;

impl Parser<'_, '_> {
    /// `func`.
    pub(super) fn function(&mut self) -> Parsed {
        match self.peek() {
            Some(Token::Function | Token::Gamma) => self.named(),
            Some(Token::Functions) => self.of_several(),
            Some(Token::Operatorname) => self.operator(),
            Some(Token::Letter | Token::Greek | Token::OtherSymbol | Token::Accent) => self.unknown(),
            Some(Token::Sqrt) => self.root(),
            Some(Token::ExpE) => {
                self.at += 1;
                let e = Expr::Constant(Constant::E);
                Ok(match self.attempt(Self::superscript)? {
                    Some(exponent) => power(e, exponent),
                    None => e,
                })
            }
            Some(Token::Sum) => self.quantified(Quantifier::Sum),
            Some(Token::Prod) => self.quantified(Quantifier::Product),
            Some(Token::Int) => self.integral(),
            Some(Token::Lim) => self.limit(),
            _ => Err(Fail::Syntax),
        }
    }

    /// `\sin x`, `\log_2(8)`, `\tan^{-1} y`.
    fn named(&mut self) -> Parsed {
        let name = self.next()?.text.trim_start_matches('\\');
        let (base, exponent) = self.scripts()?;
        let argument = self.argument()?;
        apply(name, argument, base, exponent).ok_or(Fail::Syntax)
    }

    /// A subscript's value and a superscript's, in either order.
    fn scripts(&mut self) -> Parsed<(Option<Expr>, Option<Expr>)> {
        let (mut base, mut exponent) = (None, None);
        loop {
            match self.peek() {
                Some(Token::Underscore) if base.is_none() => {
                    self.at += 1;
                    base = Some(self.braced_or_atom()?);
                }
                Some(Token::Caret) if exponent.is_none() => exponent = Some(self.superscript()?),
                _ => return Ok((base, exponent)),
            }
        }
    }

    /// `(…)`, or factors without brackets, among them no further function.
    fn argument(&mut self) -> Parsed {
        let bracketed = self.attempt(|p| p.bracketed(Bracket::Paren))?;
        match bracketed {
            Some(inside) => Ok(inside),
            None => self.deeper(|p| p.product(true)),
        }
    }

    fn of_several(&mut self) -> Parsed {
        let name = self.next()?.text.trim_start_matches('\\');
        let function = several(name).ok_or(Fail::Syntax)?;
        let (_, exponent) = self.scripts()?;
        let arguments = self.arguments()?;
        Ok(raised(Expr::Apply(function, arguments), exponent))
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect(Token::Open(Bracket::Paren))?;
        let mut arguments = vec![self.outside_bars(Self::expr)?];
        while self.eat(Token::Comma) {
            arguments.push(self.outside_bars(Self::expr)?);
        }
        self.close(Bracket::Paren)?;
        Ok(arguments)
    }

    fn operator(&mut self) -> Parsed {
        self.expect(Token::Operatorname)?;
        self.expect(Token::Open(Bracket::Brace))?;
        let name = self.next()?;
        self.close(Bracket::Brace)?;
        if name.token != Token::Name {
            return Err(Fail::Syntax);
        }
        let (base, exponent) = self.scripts()?;
        if let Some(function) = several(name.text) {
            let arguments = self.arguments()?;
            return Ok(raised(Expr::Apply(function, arguments), exponent));
        }
        let argument = self.argument()?;
        apply(name.text, argument, base, exponent).ok_or(Fail::Syntax)
    }

    /// An unknown function: a symbol, perhaps a power, and in brackets one atom or a list.
    fn unknown(&mut self) -> Parsed {
        let at = self.at;
        if self.no_function.contains(&at) {
            return Err(Fail::Syntax);
        }
        let done = self.unknown_anew();
        if let Err(Fail::Syntax) = done {
            self.no_function.insert(at);
        }
        done
    }

    fn unknown_anew(&mut self) -> Parsed {
        let from = self.at;
        self.at += 1;
        if self.peek() == Some(Token::Underscore) {
            self.attempt(Self::subscript)?;
        }
        let name = self.text_since(from);
        let exponent = match self.peek() {
            Some(Token::Caret) => Some(self.superscript()?),
            _ => None,
        };
        let braced = self.peek() == Some(Token::Open(Bracket::Brace))
            && matches!(self.peek_at(1), Some(Token::Open(Bracket::Paren | Bracket::Square)))
            && self.open(Bracket::Brace);
        let bracket = match self.peek() {
            Some(Token::Open(bracket @ (Bracket::Paren | Bracket::Square))) => bracket,
            _ => return Err(Fail::Syntax),
        };
        self.at += 1;
        let arguments = self.outside_bars(|p| p.common_arguments(bracket))?;
        self.close(bracket)?;
        if braced {
            self.close(Bracket::Brace)?;
        }
        Ok(raised(Expr::Unknown(Arc::from(name), arguments), exponent))
    }

    fn common_arguments(&mut self, bracket: Bracket) -> Parsed<Vec<Expr>> {
        let alone = self.attempt(|p| {
            let atom = p.deeper(Self::atom)?;
            if p.peek() == Some(Token::Close(bracket)) { Ok(atom) } else { Err(Fail::Syntax) }
        })?;
        if let Some(atom) = alone {
            return Ok(vec![atom]);
        }
        let mut arguments = vec![self.expr()?];
        self.expect(Token::Comma)?;
        if self.peek() != Some(Token::Close(bracket)) {
            arguments.push(self.expr()?);
            while self.eat(Token::Comma) {
                arguments.push(self.expr()?);
            }
        }
        Ok(arguments)
    }

    fn root(&mut self) -> Parsed {
        self.expect(Token::Sqrt)?;
        let mut degree = integer(2);
        if self.open(Bracket::Square) {
            degree = self.outside_bars(Self::expr)?;
            self.close(Bracket::Square)?;
        }
        self.expect(Token::Open(Bracket::Brace))?;
        let base = self.outside_bars(Self::expr)?;
        self.close(Bracket::Brace)?;
        Ok(power(base, quotient(integer(1), degree)))
    }

    /// `\sum_{k=1}^{n} …`.
    fn quantified(&mut self, what: Quantifier) -> Parsed {
        self.at += 1;
        let before = self.attempt(Self::superscript)?;
        self.expect(Token::Underscore)?;
        self.expect(Token::Open(Bracket::Brace))?;
        let variable = self.expr()?;
        if !self.eat(Token::Assign) {
            self.expect(Token::Equal)?;
        }
        let from = self.expr()?;
        self.close(Bracket::Brace)?;
        let to = match before {
            Some(to) => to,
            None => self.superscript()?,
        };
        let body = self.deeper(|p| p.product(false))?;
        let Expr::Symbol(variable) = variable else { return Err(Fail::Syntax) };
        let (from, to) = (Some(Box::new(from)), Some(Box::new(to)));
        Ok(Expr::Quantified { what, body: Box::new(body), variable, from, to })
    }

    /// `\int_a^b … dx`; the differential is found among the factors.
    fn integral(&mut self) -> Parsed {
        self.at += 1;
        let (from, to) = self.scripts()?;
        let body = self.expr()?;
        let (body, variable) = without_differential(body, self.real);
        let (from, to) = (from.map(Box::new), to.map(Box::new));
        Ok(Expr::Quantified { what: Quantifier::Integral, body: Box::new(body), variable, from, to })
    }

    fn limit(&mut self) -> Parsed {
        self.at += 1;
        self.expect(Token::Underscore)?;
        self.expect(Token::Open(Bracket::Brace))?;
        let variable = self.next()?;
        if !matches!(variable.token, Token::Letter | Token::Greek | Token::OtherSymbol) {
            return Err(Fail::Syntax);
        }
        self.expect(Token::Approach)?;
        let point = self.expr()?;
        self.close(Bracket::Brace)?;
        let body = self.deeper(|p| p.product(false))?;
        let Expr::Symbol(variable) = plain_symbol(variable.text.trim().trim_start_matches('\\'), self.real)
        else {
            return Err(Fail::Syntax);
        };
        let from = Some(Box::new(point));
        Ok(Expr::Quantified { what: Quantifier::Limit, body: Box::new(body), variable, from, to: None })
    }
}

/// Takes the factor `dx` out of a product; without one the variable is `x`.
fn without_differential(body: Expr, real: bool) -> (Expr, Arc<str>) {
    let named = |expr: &Expr| match expr {
        Expr::Symbol(name) => name.strip_prefix('d').filter(|rest| !rest.is_empty()).map(Arc::<str>::from),
        _ => None,
    };
    if let Some(variable) = named(&body) {
        return (integer(1), variable);
    }
    if let Expr::Mul(mut factors) = body {
        if let Some(variable) = factors.last().and_then(named) {
            factors.pop();
            let rest = if factors.len() == 1 { factors.remove(0) } else { Expr::Mul(factors) };
            return (rest, variable);
        }
        return (Expr::Mul(factors), default_variable(real));
    }
    (body, default_variable(real))
}

fn default_variable(real: bool) -> Arc<str> {
    match plain_symbol("x", real) {
        Expr::Symbol(name) => name,
        _ => Arc::from("x"),
    }
}
