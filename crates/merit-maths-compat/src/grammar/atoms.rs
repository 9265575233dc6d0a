//! Symbols, numbers, brackets, fractions, matrices.

use super::build::{number, plain_symbol, power, quotient, symbol};
use super::tokens::{Bracket, Token};
use super::{Fail, Parsed, Parser};
use merit_maths::{Constant, Expr, Function, Quantifier};
use std::sync::Arc;

impl Parser<'_, '_> {
    /// `comp`: one thing that can have an exponent.
    pub(super) fn component(&mut self, functions: bool) -> Parsed {
        let token = self.peek().ok_or(Fail::Syntax)?;
        match token {
            Token::Open(Bracket::Angle) => Err(Fail::Syntax),
            Token::Open(bracket) => self.bracketed(bracket),
            Token::Phantom | Token::Boxed => {
                self.at += 1;
                self.bracketed(Bracket::Brace)
            }
            Token::Norm => self.between(Token::Norm, Token::Norm, Function::Norm),
            Token::Bar => self.between(Token::Bar, Token::Bar, Function::Abs),
            Token::LVert => self.between(Token::LVert, Token::RVert, Function::Abs),
            Token::Vert => self.between(Token::Vert, Token::Vert, Function::Abs),
            Token::LFloor => self.between(Token::LFloor, Token::RFloor, Function::Floor),
            Token::LCeil => self.between(Token::LCeil, Token::RCeil, Function::Ceiling),
            Token::Frac => self.fraction(),
            Token::Binom => self.binomial(),
            Token::MatrixStart | Token::ArrayStart | Token::DetStart => self.matrix(token),
            _ if functions => match self.attempt(Self::function)? {
                Some(value) => Ok(value),
                None => self.atom(),
            },
            _ => self.atom(),
        }
    }

    /// `(…)` and the like; in braces also `{n \choose k}`.
    pub(super) fn bracketed(&mut self, bracket: Bracket) -> Parsed {
        let at = self.at;
        // What did not close before does not close now: without this, nested failures double at each level.
        if self.unclosed.contains(&at) {
            return Err(Fail::Syntax);
        }
        let done = self.bracketed_anew(bracket);
        if let Err(Fail::Syntax) = done {
            self.unclosed.insert(at);
        }
        done
    }

    fn bracketed_anew(&mut self, bracket: Bracket) -> Parsed {
        self.expect(Token::Open(bracket))?;
        let inside = self.outside_bars(Self::expr)?;
        if bracket == Bracket::Brace && self.eat(Token::Choose) {
            let lower = self.outside_bars(Self::expr)?;
            self.close(bracket)?;
            return Ok(Expr::Apply(Function::Binomial, vec![inside, lower]));
        }
        self.close(bracket)?;
        Ok(inside)
    }

    fn binomial(&mut self) -> Parsed {
        self.expect(Token::Binom)?;
        let upper = self.bracketed(Bracket::Brace)?;
        let lower = self.bracketed(Bracket::Brace)?;
        Ok(Expr::Apply(Function::Binomial, vec![upper, lower]))
    }

    fn between(&mut self, open: Token, close: Token, function: Function) -> Parsed {
        self.expect(open)?;
        let before = std::mem::replace(&mut self.in_bars, close == Token::Bar);
        let inside = self.expr()?;
        self.in_bars = before;
        self.expect(close)?;
        if function == Function::Norm && !matches!(inside, Expr::Matrix(_)) {
            return Err(Fail::Syntax);
        }
        Ok(Expr::Apply(function, vec![inside]))
    }

    fn fraction(&mut self) -> Parsed {
        self.expect(Token::Frac)?;
        if let Some(derivative) = self.attempt(Self::derivative)? {
            return Ok(derivative);
        }
        let top = self.bracketed(Bracket::Brace)?;
        let bottom = self.bracketed(Bracket::Brace)?;
        Ok(quotient(top, bottom))
    }

    /// `{dy}{dx}` after `\frac`.
    fn derivative(&mut self) -> Parsed {
        self.expect(Token::Open(Bracket::Brace))?;
        let top = self.next()?;
        self.close(Bracket::Brace)?;
        self.expect(Token::Open(Bracket::Brace))?;
        let bottom = self.next()?;
        self.close(Bracket::Brace)?;
        if top.token != Token::Differential || bottom.token != Token::Differential {
            return Err(Fail::Syntax);
        }
        let name = |text: &str| text[1..].trim().trim_start_matches('\\').to_owned();
        Ok(Expr::Quantified {
            what: Quantifier::Derivative,
            body: Box::new(symbol(&name(top.text), self.real)),
            variable: Arc::from(name(bottom.text)),
            from: None,
            to: None,
        })
    }

    fn matrix(&mut self, start: Token) -> Parsed {
        self.at += 1;
        let end = match start {
            Token::MatrixStart => Token::MatrixEnd,
            Token::ArrayStart => Token::ArrayEnd,
            _ => Token::DetEnd,
        };
        let mut rows = Vec::new();
        loop {
            let mut row = vec![self.outside_bars(Self::expr)?];
            while self.eat(Token::Column) {
                row.push(self.outside_bars(Self::expr)?);
            }
            rows.push(row);
            let more = self.eat(Token::Row);
            if self.eat(end) {
                break;
            }
            if !more {
                return Err(Fail::Syntax);
            }
        }
        let width = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != width) || (end == Token::DetEnd && rows.len() != width) {
            return Err(Fail::Syntax);
        }
        let matrix = Expr::Matrix(rows);
        Ok(if end == Token::DetEnd { Expr::Apply(Function::Determinant, vec![matrix]) } else { matrix })
    }

    pub(super) fn atom(&mut self) -> Parsed {
        let lexeme = *self.tokens.get(self.at).ok_or(Fail::Syntax)?;
        match lexeme.token {
            Token::Letter | Token::Greek | Token::OtherSymbol | Token::Accent => {
                return self.symbol_with_scripts();
            }
            Token::Number => {
                self.at += 1;
                if self.peek() == Some(Token::Underscore) {
                    self.attempt(Self::subscript)?;
                }
                return number(lexeme.text).ok_or(Fail::Syntax);
            }
            _ => self.at += 1,
        }
        match lexeme.token {
            Token::Scientific => number(lexeme.text).ok_or(Fail::Syntax),
            Token::Percent => {
                let digits = lexeme.text.trim_end_matches(['%', '\\', ' ', '\t', '\r', '\n']);
                Ok(Expr::Percent(Box::new(number(digits).ok_or(Fail::Syntax)?)))
            }
            Token::Infinity => Ok(Expr::Constant(Constant::Infinity)),
            Token::BigE => Ok(plain_symbol("e", self.real)),
            Token::Gamma => Ok(symbol(lexeme.text, self.real)),
            Token::Differential => {
                let name = lexeme.text[1..].trim_start().trim_start_matches('\\');
                Ok(plain_symbol(&format!("d{name}"), self.real))
            }
            _ => Err(Fail::Syntax),
        }
    }

    /// A symbol, its subscript in the name, its superscript an exponent.
    fn symbol_with_scripts(&mut self) -> Parsed {
        let lexeme = self.next()?;
        let mut name = written_name(lexeme.token, lexeme.text);
        let mut exponent = None;
        let mut subscript = None;
        loop {
            match self.peek() {
                Some(Token::Underscore) if subscript.is_none() => match self.attempt(Self::subscript)? {
                    Some(text) => subscript = Some(text),
                    None => break,
                },
                Some(Token::Caret) if exponent.is_none() => match self.attempt(Self::superscript)? {
                    Some(value) => exponent = Some(value),
                    None => break,
                },
                _ => break,
            }
        }
        if lexeme.token == Token::Letter && name == "I" {
            return Ok(Expr::Constant(Constant::I));
        }
        match subscript {
            Some(text) if text.chars().count() > 1 => name.push_str(&format!("_{{{text}}}")),
            Some(text) => name.push_str(&format!("_{text}")),
            None => {}
        }
        let symbol = symbol(&name, self.real);
        Ok(match exponent {
            Some(exponent) => power(symbol, exponent),
            None => symbol,
        })
    }

    /// `_…`: its text.
    pub(super) fn subscript(&mut self) -> Parsed<String> {
        self.expect(Token::Underscore)?;
        if !self.open(Bracket::Brace) {
            let from = self.at;
            self.deeper(Self::atom)?;
            return Ok(self.text_since(from));
        }
        let from = self.at;
        self.outside_bars(Self::expr)?;
        while self.eat(Token::Comma) {
            self.outside_bars(Self::expr)?;
        }
        let text = self.text_since(from);
        self.close(Bracket::Brace)?;
        Ok(text)
    }

    /// `^…`: its value.
    pub(super) fn superscript(&mut self) -> Parsed {
        self.expect(Token::Caret)?;
        self.braced_or_atom()
    }
}

/// The name of a symbol as it will be compared: accents spelled out, texts bare.
fn written_name(token: Token, text: &str) -> String {
    if token != Token::Accent {
        return text.trim().to_owned();
    }
    let (command, inside) = text.split_once('{').unwrap_or((text, ""));
    let command = command.trim_start_matches('\\').trim_end();
    let inside: String = inside.strip_suffix('}').unwrap_or(inside).chars().filter(|c| *c != ' ').collect();
    let command = match command {
        "bar" | "overline" => "bar",
        "vec" | "overrightarrow" => "vec",
        "tilde" | "widetilde" => "tilde",
        other if other.contains("text") || other.contains("mbox") => {
            return inside.replace(['(', ')'], "");
        }
        other if other.contains("math") => "math",
        other => other,
    };
    format!("{command}{{{inside}}}")
}
