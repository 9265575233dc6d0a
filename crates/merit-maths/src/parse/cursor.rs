//! The parser's place among the tokens, and what it must remember from outside in: which bars are open, whether a comma
//! may belong to a number, which letters a sum has bound.

use super::kind::{Kind, Token};
use super::{Mode, ParseError, tokens};
use crate::{Budget, Exhausted, Expr};
use std::sync::Arc;

pub(super) struct Parser<'t> {
    /// The text the tokens span.
    pub(super) text: &'t str,
    /// The text as it was given, before its characters were rewritten.
    pub(super) original: &'t str,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) mode: Mode,
    /// Bars opened as absolute values in the innermost bracket, waiting to be closed.
    pub(super) bars: u32,
    /// Brackets open around this place, braces of LaTeX groups not counted.
    pub(super) brackets: u32,
    /// Whether a bar or colon here divides a set from its condition.
    pub(super) in_set: bool,
    /// Up to this token, commas between groups of three are known to separate.
    pub(super) listed_until: usize,
    /// Integrals open around this place, waiting for their differential.
    pub(super) integrals: u32,
    pub(super) differential: Option<Arc<str>>,
    /// How many sums around this place bind `i` and `e`.
    pub(super) bound: [u32; 2],
    /// The token at which the last factor of a product began.
    pub(super) factor_start: usize,
    /// How many more times one thing may be wrapped again and again, as in `x!!!!`: bounds the height of the tree.
    pub(super) wraps_left: usize,
    end: Token,
}

impl<'t> Parser<'t> {
    pub(super) fn new(
        text: &'t str,
        original: &'t str,
        mode: Mode,
        budget: &mut Budget,
    ) -> Result<Self, ParseError> {
        let tokens = tokens::tokenize(text, mode, budget)?;
        let last = text.len() as u32;
        Ok(Self {
            text,
            original,
            tokens,
            at: 0,
            mode,
            bars: 0,
            brackets: 0,
            in_set: false,
            listed_until: 0,
            integrals: 0,
            differential: None,
            bound: [0; 2],
            factor_start: 0,
            wraps_left: budget.limits().depth / 4,
            end: Token { kind: Kind::End, start: last, end: last, gap: false },
        })
    }

    pub(super) fn token(&self, ahead: usize) -> Token {
        self.tokens.get(self.at + ahead).copied().unwrap_or(self.end)
    }

    pub(super) fn kind(&self) -> Kind {
        self.token(0).kind
    }

    pub(super) fn kind_at(&self, ahead: usize) -> Kind {
        self.token(ahead).kind
    }

    pub(super) fn previous(&self) -> Option<Token> {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).copied()
    }

    /// The token here, and past it.
    pub(super) fn take(&mut self) -> Token {
        let token = self.token(0);
        self.at += 1;
        token
    }

    /// Past the token if it is of this kind.
    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let found = self.kind() == kind;
        self.at += usize::from(found);
        found
    }

    pub(super) fn source(&self, token: Token) -> &'t str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    /// Takes `length` bytes off the front of the token here, or the whole of it.
    pub(super) fn take_front(&mut self, length: usize) -> &'t str {
        let token = self.token(0);
        let length = length as u32;
        if token.end - token.start <= length {
            self.at += 1;
            return self.source(token);
        }
        if let Some(rest) = self.tokens.get_mut(self.at) {
            rest.start += length;
            rest.gap = false;
        }
        self.source(Token { end: token.start + length, ..token })
    }

    pub(super) fn unexpected<T>(&self, expected: &'static str) -> Result<T, ParseError> {
        let token = self.token(0);
        let found = match token.kind {
            Kind::End => "the end".into(),
            _ => format!("`{}`", self.source(token).chars().take(20).collect::<String>()).into(),
        };
        Err(ParseError::Unexpected { at: token.start as usize, expected, found })
    }

    /// Pays for wrapping one thing once more.
    pub(super) fn wrap_again(&mut self) -> Result<(), Exhausted> {
        self.wraps_left = self.wraps_left.checked_sub(1).ok_or(Exhausted::Depth)?;
        Ok(())
    }

    /// Runs `inside` with a clean memory of bars, as within brackets of its own.
    pub(super) fn enclosed<T>(
        &mut self,
        budget: &mut Budget,
        counted: bool,
        inside: impl FnOnce(&mut Self, &mut Budget) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let before = (self.bars, self.in_set, self.brackets);
        (self.bars, self.in_set) = (0, false);
        self.brackets += u32::from(counted);
        let result = thrice_deeper(budget, |budget| inside(self, budget));
        (self.bars, self.in_set, self.brackets) = before;
        result
    }
}

/// Three levels at once. A bracket passes through more functions than other nesting does, and pays for their stack: a
/// limit of 200 levels allows 50 brackets in one another.
fn thrice_deeper<T>(
    budget: &mut Budget,
    inside: impl FnOnce(&mut Budget) -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    budget.deeper(|budget| twice_deeper(budget, inside))
}

/// Two levels at once.
pub(super) fn twice_deeper<T>(
    budget: &mut Budget,
    inside: impl FnOnce(&mut Budget) -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    budget.deeper(|budget| budget.deeper(inside))
}

/// One as a number.
pub(super) fn whole(value: i64) -> Expr {
    Expr::Num(value.into())
}
