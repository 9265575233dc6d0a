//! From characters to tokens. White space, spacing commands, `\left`, `\boxed` and other looks disappear here; what
//! remains of them is that a token knows whether a gap stands before it.

use super::Mode;
use super::ParseError;
use super::commands;
use super::commas;
use super::kind::{Bracket, Kind, Token};
use crate::{Budget, Relation};

pub(super) struct Tokenizer<'t> {
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
        let name = format!("{lost}{}", String::from_utf8_lossy(rest));
        if (3..=12).contains(&rest.len()) {
            if let Some(kind) = commands::find(&name) {
                let length = rest.len() + 1;
                return self.command(kind, self.at, length);
            }
        }
        self.skip(1);
    }

    fn sign(&mut self, byte: u8) {
        let second = self.peek(1);
        let (kind, length) = match (byte, second) {
            (b'{', _) => return self.open_group(),
            (b'}', _) => return self.close_group(),
            (b'$', _) => return self.dollar(),
            (b'!', _) => return self.bang(),
            (b'&', _) if self.environments.last() != Some(&true) => return self.skip(1),
            (b'~', Some(b'=')) if self.peek(2) != Some(b'~') => (Kind::Rel(Relation::About), 2),
            (b'~' | b'"' | b'`', _) => return self.skip(1),
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

    /// In LaTeX a bare `$` only delimits; in plain text it is money where a digit stands next to it.
    fn dollar(&mut self) {
        let digit_after = self.peek(1).is_some_and(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
        let digit_before = self.tokens.last().is_some_and(|t| matches!(t.kind, Kind::Digits));
        match self.mode {
            Mode::Plain if digit_after || digit_before => self.push(Kind::Currency("$"), 1),
            _ => self.skip(1),
        }
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

    fn backslash(&mut self) {
        let slashes =
            self.bytes.get(self.at..).unwrap_or_default().iter().take_while(|b| **b == b'\\').count();
        let name = letters(self.bytes.get(self.at + slashes..).unwrap_or_default());
        let name = std::str::from_utf8(name).unwrap_or_default();
        match slashes {
            1 => self.single(name),
            // A command whose backslash was escaped once too often; in an environment `\\` ends the row.
            2 | 4 if name.len() > 1 && (self.environments.is_empty() || matches!(name, "begin" | "end")) => {
                match commands::find(name) {
                    Some(kind) => self.command(kind, self.at, slashes + name.len()),
                    None => self.push(Kind::RowBreak, slashes),
                }
            }
            _ => self.push(Kind::RowBreak, slashes - slashes % 2),
        }
    }

    fn single(&mut self, name: &str) {
        if !name.is_empty() {
            let start = self.at;
            return match commands::find(name) {
                Some(kind) => self.command(kind, start, name.len() + 1),
                None => match commands::find_prefix(name) {
                    Some((kind, length)) => self.command(kind, start, length + 1),
                    None => self.push(Kind::Unknown, name.len() + 1),
                },
            };
        }
        match self.peek(1) {
            Some(b'{') => self.push(Kind::Open(Bracket::Brace), 2),
            Some(b'}') => self.push(Kind::Close(Bracket::Brace), 2),
            Some(b'%') => self.push(Kind::Percent, 2),
            Some(b'$') => self.push(Kind::Currency("$"), 2),
            Some(b'|') => self.push(Kind::DoubleBar, 2),
            Some(b'!') => self.negative_space(2),
            Some(byte) if byte > b' ' && byte < 0x80 && !byte.is_ascii_digit() => self.skip(2),
            _ => self.skip(1),
        }
    }

    /// `,\!` is a comma within a number.
    fn negative_space(&mut self, length: usize) {
        self.at += length;
        while self.peek(0) == Some(b' ') {
            self.at += 1;
        }
        let digit = self.peek(0).is_some_and(|b| b.is_ascii_digit());
        if let Some(last) = self.tokens.last_mut() {
            if digit && last.kind == Kind::Comma {
                last.kind = Kind::InnerComma;
            }
        }
    }

    fn command(&mut self, kind: Kind, start: usize, length: usize) {
        self.at = start;
        match kind {
            Kind::Space => self.skip(length),
            Kind::NegativeSpace => self.negative_space(length),
            Kind::Style => self.style(length),
            Kind::Left | Kind::Right => self.delimiter(kind, length),
            Kind::Dropped => {
                self.skip(length);
                self.braced();
            }
            Kind::TextCommand => self.raw(Kind::Text, length),
            Kind::RomanCommand => self.roman(length),
            Kind::BlackboardCommand => self.blackboard(length),
            Kind::Begin | Kind::EndOf => self.environment(kind, length),
            _ => self.push(kind, length),
        }
    }

    fn style(&mut self, length: usize) {
        let boxed = self
            .text
            .get(self.at..self.at + length)
            .is_some_and(|name| name.ends_with("box") || name.ends_with("boxed"));
        self.skip(length);
        while self.peek(0) == Some(b' ') {
            self.at += 1;
        }
        // Two boxes side by side are two answers.
        if boxed && self.box_closed == self.tokens.len() {
            self.push(Kind::Comma, 0);
        }
        self.style_next = true;
        self.box_next = boxed;
    }

    fn delimiter(&mut self, side: Kind, length: usize) {
        self.skip(length);
        while self.peek(0) == Some(b' ') {
            self.at += 1;
        }
        match self.peek(0) {
            Some(b'.') => self.skip(1),
            _ => self.side = Some(side),
        }
    }

    /// The inside of the braced group that begins here, as a span; the position moves past it.
    fn braced(&mut self) -> Option<(usize, usize)> {
        self.braced_within(self.bytes.len())
    }

    fn braced_within(&mut self, limit: usize) -> Option<(usize, usize)> {
        let mut at = self.at;
        while self.bytes.get(at) == Some(&b' ') || self.bytes.get(at) == Some(&b'*') {
            at += 1;
        }
        if self.bytes.get(at) != Some(&b'{') {
            return None;
        }
        let start = at + 1;
        let mut open = 0usize;
        while let Some(&byte) = self.bytes.get(at) {
            if at.saturating_sub(start) > limit {
                return None;
            }
            match byte {
                b'{' => open += 1,
                b'}' if open == 1 => break,
                b'}' => open -= 1,
                _ => {}
            }
            at += 1;
        }
        self.at = (at + 1).min(self.bytes.len());
        Some((start, at))
    }

    fn raw(&mut self, kind: Kind, length: usize) {
        self.at += length;
        match self.braced() {
            Some((start, end)) => self.span(kind, start, end),
            None => self.gap = true,
        }
    }

    /// An upright group holds a name or a unit; where there is a command inside, it is mathematics.
    fn roman(&mut self, length: usize) {
        self.at += length;
        let from = self.at;
        // A name is short; looking no farther keeps nested groups linear.
        match self.braced_within(256) {
            Some((start, end)) if !self.has_command(start, end) => self.span(Kind::Roman, start, end),
            _ => {
                self.at = from;
                self.gap = true;
            }
        }
    }

    fn has_command(&self, start: usize, end: usize) -> bool {
        let inside = self.bytes.get(start..end).unwrap_or_default();
        inside.windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_alphabetic())
    }

    fn blackboard(&mut self, length: usize) {
        self.at += length;
        match self.braced() {
            Some((start, end)) => self.span(Kind::Blackboard, start, end),
            None => {
                while self.peek(0) == Some(b' ') {
                    self.at += 1;
                }
                match self.peek(0) {
                    Some(letter) if letter.is_ascii_alphabetic() => self.push(Kind::Blackboard, 1),
                    _ => self.gap = true,
                }
            }
        }
    }

    fn environment(&mut self, kind: Kind, length: usize) {
        self.at += length;
        let Some((start, end)) = self.braced() else { return self.gap = true };
        let name = self.text.get(start..end).unwrap_or_default();
        if kind == Kind::Begin {
            self.environments.push(
                name.contains("matrix") || name.contains("cases") || matches!(name, "array" | "tabular"),
            );
            if matches!(name, "array" | "tabular") {
                self.braced();
            }
        } else {
            self.environments.pop();
        }
        self.span(kind, start, end);
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
