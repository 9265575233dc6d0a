//! Tokens that begin with a backslash, and what their braces hold.

use super::{Tokenizer, letters};
use crate::parse::commands;
use crate::parse::kind::{Bracket, Kind};

impl Tokenizer<'_> {
    pub(super) fn backslash(&mut self) {
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
            _ => self.row_break(slashes - slashes % 2),
        }
    }

    /// The end of a row, with the space after it as in `\\[2pt]`.
    fn row_break(&mut self, length: usize) {
        self.push(Kind::RowBreak, length);
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let space = rest.iter().take(12).position(|b| *b == b']');
        let inside = space.and_then(|end| rest.get(1..end)).filter(|_| rest.first() == Some(&b'['));
        if inside.is_some_and(|inside| {
            inside.ends_with(b"pt") || inside.ends_with(b"ex") || inside.ends_with(b"em")
        }) {
            self.skip(space.unwrap_or(0) + 1);
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
        if let Some(last) = self.tokens.last_mut().filter(|last| digit && last.kind == Kind::Comma) {
            last.kind = Kind::InnerComma;
        }
    }

    pub(super) fn command(&mut self, kind: Kind, start: usize, length: usize) {
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
}
