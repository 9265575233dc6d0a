//! Names with subscripts and primes: `x_1`, `a_{n+1}`, `S_{\text{max}}`, `f'`.

use super::ParseError;
use super::cursor::Parser;
use super::kind::{Bracket, Kind, Token};
use super::wording::normalize;
use crate::Budget;
use std::sync::Arc;

impl Parser<'_> {
    /// The name with everything that belongs to it.
    pub(super) fn decorated(&mut self, name: Arc<str>, budget: &mut Budget) -> Result<Arc<str>, ParseError> {
        let mut full = name.to_string();
        loop {
            budget.spend(1)?;
            match self.kind() {
                Kind::Prime => {
                    self.at += 1;
                    full.push('\'');
                }
                Kind::Underscore => {
                    self.at += 1;
                    let subscript = self.subscript(budget)?;
                    let simple = subscript.chars().all(char::is_alphanumeric);
                    full.push('_');
                    full.push_str(if simple { "" } else { "{" });
                    full.push_str(&subscript);
                    full.push_str(if simple { "" } else { "}" });
                }
                _ => return Ok(full.into()),
            }
        }
    }

    fn subscript(&mut self, budget: &mut Budget) -> Result<String, ParseError> {
        let token = self.token(0);
        match token.kind {
            Kind::Open(Bracket::Group | Bracket::Styled | Bracket::Brace) => self.grouped_subscript(budget),
            Kind::Word => {
                let first = self.source(token).chars().next().map_or(1, char::len_utf8);
                Ok(self.take_front(first).to_owned())
            }
            Kind::Digits | Kind::Letter(_) | Kind::Text | Kind::Roman | Kind::Const(_) | Kind::Dots => {
                self.at += 1;
                Ok(self.spelling(token))
            }
            _ => self.unexpected("a subscript"),
        }
    }

    fn grouped_subscript(&mut self, budget: &mut Budget) -> Result<String, ParseError> {
        let mut text = String::new();
        let mut open = 0usize;
        loop {
            budget.spend(1)?;
            let token = self.token(0);
            match token.kind {
                Kind::End => return self.unexpected("the end of the subscript"),
                Kind::Open(Bracket::Group | Bracket::Styled | Bracket::Brace) => open += 1,
                Kind::Close(Bracket::Group | Bracket::Styled | Bracket::Brace) if open <= 1 => {
                    self.at += 1;
                    return Ok(text);
                }
                Kind::Close(Bracket::Group | Bracket::Styled | Bracket::Brace) => open -= 1,
                _ => text.push_str(&self.spelling(token)),
            }
            self.at += 1;
        }
    }

    fn spelling(&self, token: Token) -> String {
        match token.kind {
            Kind::Letter(name) => name.to_owned(),
            Kind::Text | Kind::Roman => normalize(self.source(token)),
            _ => self.source(token).to_owned(),
        }
    }
}
