//! Tokens of one to three ASCII signs, and braces.

use super::Tokenizer;
use crate::Relation;
use crate::parse::Mode;
use crate::parse::kind::{Bracket, Kind};

impl Tokenizer<'_> {
    pub(super) fn sign(&mut self, byte: u8) {
        let second = self.peek(1);
        let (kind, length) = match (byte, second) {
            (b'{', _) => return self.open_group(),
            (b'}', _) => return self.close_group(),
            (b'$', _) => return self.dollar(),
            (b'!', _) => return self.bang(),
            (b'&', _) if self.environments.last() != Some(&true) => return self.skip(1),
            (b'~', Some(b'=')) if self.peek(2) != Some(b'~') => (Kind::Rel(Relation::About), 2),
            (b'~' | b'"' | b'`' | b'?', _) => return self.skip(1),
            (b'(', _) => (Kind::Open(Bracket::Paren), 1),
            (b')', _) => (Kind::Close(Bracket::Paren), 1),
            (b'[', _) => (Kind::Open(Bracket::Square), 1),
            (b']', _) => (Kind::Close(Bracket::Square), 1),
            (b'*', Some(b'*')) => (Kind::Caret, 2),
            (b'*', _) => (Kind::Times, 1),
            (b'+', Some(b'/')) if self.peek(2) == Some(b'-') => (Kind::PlusMinus, 3),
            (b'+', _) => (Kind::Plus, 1),
            (b'-', Some(b'>')) => (Kind::Rel(Relation::Tends), 2),
            (b'-', _) => (Kind::Minus, 1),
            (b'/', _) => (Kind::Slash, 1),
            (b'^', _) => (Kind::Caret, 1),
            (b'_', _) => (Kind::Underscore, 1),
            (b'.', Some(b'.')) if self.peek(2) == Some(b'.') => (Kind::Dots, 3),
            (b'.', _) => (Kind::Dot, 1),
            (b',', _) => (Kind::Comma, 1),
            (b';', _) => (Kind::Semicolon, 1),
            (b':', Some(b'=')) => (Kind::Rel(Relation::Equal), 2),
            (b':', _) => (Kind::Colon, 1),
            (b'%', _) => (Kind::Percent, 1),
            (b'\'', _) => (Kind::Prime, 1),
            (b'|', _) => (Kind::Bar, 1),
            (b'&', _) => (Kind::Ampersand, 1),
            (b'=', Some(b'=')) => (Kind::Rel(Relation::Equal), 2),
            (b'=', Some(b'>')) => (Kind::Rel(Relation::Implies), 2),
            (b'=', _) => (Kind::Rel(Relation::Equal), 1),
            (b'<', Some(b'=')) => (Kind::Rel(Relation::AtMost), 2),
            (b'<', Some(b'>')) => (Kind::Rel(Relation::NotEqual), 2),
            (b'<', _) => (Kind::Rel(Relation::Less), 1),
            (b'>', Some(b'=')) => (Kind::Rel(Relation::AtLeast), 2),
            (b'>', _) => (Kind::Rel(Relation::Greater), 1),
            _ => (Kind::Unknown, 1),
        };
        self.push(kind, length);
    }

    /// `!=` directly after a number or a closing bracket is a factorial and an equals sign.
    fn bang(&mut self) {
        let after_value = self
            .tokens
            .last()
            .is_some_and(|t| matches!(t.kind, Kind::Digits | Kind::Close(_) | Kind::Bang) && !self.gap);
        match self.peek(1) {
            Some(b'=') if !after_value => self.push(Kind::Rel(Relation::NotEqual), 2),
            _ => self.push(Kind::Bang, 1),
        }
    }

    /// In LaTeX a bare `$` only delimits, unless it has no partner and stands before a digit; in plain text it is money where a
    /// digit stands next to it.
    fn dollar(&mut self) {
        let opens = self.dollars.is_multiple_of(2);
        self.dollars += 1;
        let before_digit = self.peek(1).is_some_and(|b| b.is_ascii_digit());
        if self.mode == Mode::Latex && opens && before_digit && !self.has_partner() {
            return self.push(Kind::Currency("$"), 1);
        }
        let digit_after = self.peek(1).is_some_and(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
        let digit_before = self.tokens.last().is_some_and(|t| matches!(t.kind, Kind::Digits));
        match self.mode {
            Mode::Plain if digit_after || digit_before => self.push(Kind::Currency("$"), 1),
            _ => self.skip(1),
        }
    }

    /// Whether a bare `$` stands after the one here.
    fn has_partner(&self) -> bool {
        let after = self.bytes.get(self.at + 1..).unwrap_or_default();
        let mut escaped = false;
        after.iter().any(|byte| {
            let bare = *byte == b'$' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            bare
        })
    }

    fn open_group(&mut self) {
        let inside = self.bytes.get(self.at + 1..).unwrap_or_default();
        let blanks = inside.iter().take_while(|b| **b == b' ').count();
        if inside.get(blanks) == Some(&b',') {
            let after = inside.iter().skip(blanks + 1).take_while(|b| **b == b' ').count();
            if inside.get(blanks + 1 + after) == Some(&b'}') {
                self.gap = false;
                return self.push(Kind::InnerComma, blanks + after + 3);
            }
        }
        let brace = self.brace();
        self.groups.push((brace, self.box_next));
        self.push(Kind::Open(brace), 1);
    }

    /// A closing brace without an opening one is what remains of a cut, and is dropped.
    fn close_group(&mut self) {
        match self.groups.pop() {
            // An empty group only keeps letters apart.
            Some(_)
                if self.mode == Mode::Latex
                    && self.tokens.last().is_some_and(|t| t.kind == Kind::Open(Bracket::Group)) =>
            {
                self.tokens.pop();
                self.skip(1);
            }
            Some((brace, boxed)) => {
                self.push(Kind::Close(brace), 1);
                if boxed {
                    self.box_closed = self.tokens.len();
                }
            }
            None => self.skip(1),
        }
    }

    /// In plain text a brace groups only where a command or a power asks for an argument; elsewhere it is a set.
    fn brace(&self) -> Bracket {
        let wanted = self.tokens.last().is_some_and(|last| match last.kind {
            Kind::Caret | Kind::Underscore | Kind::Frac | Kind::Binom | Kind::Sqrt | Kind::Fun(_) => true,
            Kind::Mark(_) | Kind::Overline | Kind::ModWithBase => true,
            Kind::Close(Bracket::Group | Bracket::Square) => !self.gap,
            _ => false,
        });
        match (self.style_next, self.mode) {
            (true, _) => Bracket::Styled,
            (_, Mode::Latex) => Bracket::Group,
            (_, Mode::Plain) if wanted => Bracket::Group,
            (_, Mode::Plain) => Bracket::Brace,
        }
    }
}
