//! From characters to tokens. White space, spacing commands, `\left`, `\boxed` and other looks disappear here; what
//! remains of them is that a token knows whether a gap stands before it.

use super::Mode;
use super::ParseError;
use super::commands;
use super::commas;
use super::kind::{Bracket, Kind, Token};
use crate::{Budget, Relation};

mod latex;
mod signs;

struct Tokenizer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    mode: Mode,
    tokens: Vec<Token>,
    gap: bool,
    /// Which side `\left` or `\right` announced for the next bracket.
    side: Option<Kind>,
    /// Open braces: what kind, and whether it is a box.
    groups: Vec<(Bracket, bool)>,
    /// Whether the group that opens next is the argument of a styling command, and of a box.
    style_next: bool,
    box_next: bool,
    /// Bare `$` so far.
    dollars: usize,
    /// How many tokens there were when the last box closed.
    box_closed: usize,
    /// Open environments; true where `&` and `\\` divide cells.
    environments: Vec<bool>,
}

/// All tokens of `text`, an `End` last.
pub(super) fn tokenize(text: &str, mode: Mode, budget: &mut Budget) -> Result<Vec<Token>, ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(crate::Exhausted::Size.into());
    }
    let mut tokenizer = Tokenizer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        mode,
        tokens: Vec::with_capacity(text.len().min(64) / 2 + 4),
        gap: false,
        side: None,
        groups: Vec::new(),
        style_next: false,
        box_next: false,
        dollars: 0,
        box_closed: usize::MAX,
        environments: Vec::new(),
    };
    while let Some(&byte) = tokenizer.bytes.get(tokenizer.at) {
        budget.spend(1)?;
        tokenizer.next(byte);
    }
    tokenizer.finish();
    commas::settle(&mut tokenizer.tokens);
    Ok(tokenizer.tokens)
}

impl Tokenizer<'_> {
    fn next(&mut self, byte: u8) {
        match byte {
            b'0'..=b'9' => self.run(Kind::Digits, |b| b.is_ascii_digit()),
            b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            b'\\' => self.backslash(),
            _ if byte <= b' ' => self.blank(byte),
            _ if byte < 0x80 => self.sign(byte),
            _ => self.word(),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// A token from here on, `length` bytes long.
    fn push(&mut self, kind: Kind, length: usize) {
        let (start, end) = (self.at, self.at + length);
        self.span(kind, start, end);
        self.at = end;
    }

    fn span(&mut self, kind: Kind, start: usize, end: usize) {
        let kind = match (self.side.take(), kind) {
            (Some(Kind::Left), Kind::Bar) => Kind::Open(Bracket::Bar),
            (Some(Kind::Right), Kind::Bar) => Kind::Close(Bracket::Bar),
            (Some(Kind::Left), Kind::DoubleBar) => Kind::Open(Bracket::DoubleBar),
            (Some(Kind::Right), Kind::DoubleBar) => Kind::Close(Bracket::DoubleBar),
            (Some(Kind::Left), Kind::Rel(Relation::Less)) => Kind::Open(Bracket::Angle),
            (Some(Kind::Right), Kind::Rel(Relation::Greater)) => Kind::Close(Bracket::Angle),
            _ => kind,
        };
        self.tokens.push(Token { kind, start: start as u32, end: end as u32, gap: self.gap });
        self.gap = false;
        (self.style_next, self.box_next) = (false, false);
    }

    fn run(&mut self, kind: Kind, belongs: fn(&u8) -> bool) {
        let length =
            self.bytes.get(self.at..).map_or(0, |rest| rest.iter().take_while(|b| belongs(b)).count());
        self.push(kind, length);
    }

    /// Letters of any alphabet; another character beyond ASCII is a token of its own.
    fn word(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length: usize = rest.chars().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
        match length {
            0 => self.push(Kind::Unknown, rest.chars().next().map_or(1, char::len_utf8)),
            _ => self.push(Kind::Word, length),
        }
    }

    fn skip(&mut self, length: usize) {
        self.at += length;
        self.gap = true;
    }

    /// White space, or a control character where an escape such as `\f` of `\frac` was damaged.
    fn blank(&mut self, byte: u8) {
        let lost = match byte {
            0x07 => 'a',
            0x08 => 'b',
            b'\t' => 't',
            0x0b => 'v',
            0x0c => 'f',
            b'\r' => 'r',
            _ => return self.skip(1),
        };
        let rest = letters(self.bytes.get(self.at + 1..).unwrap_or_default());
        let name = format!("{lost}{}", String::from_utf8_lossy(rest.get(..12).unwrap_or(rest)));
        match commands::find(&name).filter(|_| rest.len() > 2) {
            Some(kind) => self.command(kind, self.at, rest.len() + 1),
            None => self.skip(1),
        }
    }

    fn finish(&mut self) {
        // A box that was cut off is closed, with whatever is open inside it.
        if self.groups.iter().any(|(_, boxed)| *boxed) {
            while let Some((brace, _)) = self.groups.pop() {
                self.push(Kind::Close(brace), 0);
            }
        }
        self.push(Kind::End, 0);
    }
}

fn letters(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    bytes.get(..length).unwrap_or_default()
}
