//! Strings in literals: quotes, escapes, and line breaks inside them.

use super::{Fault, Grammar, Reader};

impl Reader<'_> {
    /// The string whose quote comes next.
    pub(super) fn string(&mut self, raw: bool) -> Result<String, Fault> {
        let opened = self.at;
        let quote = if self.peek() == Some(b'\'') { "'" } else { "\"" };
        let triple = quote.repeat(3);
        let is_triple = self.grammar == Grammar::Python && self.rest().starts_with(&triple);
        let quote = if is_triple { triple.as_str() } else { quote };
        self.at += quote.len();
        let mut text = String::new();
        loop {
            let first = quote.chars().next().unwrap_or('"');
            let Some(length) = self.rest().find([first, '\\']) else {
                self.at = opened;
                return Err(self.fault("a string is not closed"));
            };
            text.push_str(self.rest().get(..length).unwrap_or_default());
            self.at += length;
            if self.rest().starts_with(quote) {
                self.at += quote.len();
                return Ok(text);
            }
            if self.peek() != Some(b'\\') {
                text.push(first);
                self.at += 1;
            } else if raw {
                text.push('\\');
                self.at += 1;
                // A raw string keeps its backslashes, but a quote behind one does not end it.
                if let Some(next) = self.rest().chars().next() {
                    text.push(next);
                    self.at += next.len_utf8();
                }
            } else {
                self.escape(&mut text)?;
            }
        }
    }

    /// What the backslash that comes next stands for.
    fn escape(&mut self, text: &mut String) -> Result<(), Fault> {
        let Some(kind) = self.rest().chars().nth(1) else { return Err(self.fault("a string is not closed")) };
        let plain = match kind {
            '"' | '\'' | '\\' | '/' => Some(kind),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            _ => None,
        };
        if kind == '/' && self.grammar == Grammar::Python {
            text.push('\\');
        }
        if let Some(plain) = plain {
            text.push(plain);
            self.at += 1 + kind.len_utf8();
            return Ok(());
        }
        match (kind, self.grammar) {
            ('u', _) => self.utf16(text),
            (_, Grammar::Json) => Err(self.fault("no such escape; write a backslash as `\\\\`")),
            ('x', _) => self.coded(2, text),
            ('U', _) => self.coded(8, text),
            ('\n', _) => {
                self.at += 2;
                Ok(())
            }
            ('0'..='7' | 'N' | 'a' | 'v', _) => {
                Err(self.fault("write this character itself, not its escape"))
            }
            // Python keeps a backslash that begins no escape.
            (other, _) => {
                text.extend(['\\', other]);
                self.at += 1 + other.len_utf8();
                Ok(())
            }
        }
    }

    /// `digits` of a hexadecimal number, `skip` bytes on.
    fn hex(&self, skip: usize, digits: usize) -> Option<u32> {
        let written = self.rest().get(skip..skip + digits)?;
        let is_hex = written.bytes().all(|b| b.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(written, 16).ok()).flatten()
    }

    fn coded(&mut self, digits: usize, text: &mut String) -> Result<(), Fault> {
        match self.hex(2, digits).and_then(char::from_u32) {
            Some(c) => {
                text.push(c);
                self.at += 2 + digits;
                Ok(())
            }
            None => Err(self.fault("an escape without its digits")),
        }
    }

    /// `\u` and four digits; characters outside the basic plane take two of them.
    fn utf16(&mut self, text: &mut String) -> Result<(), Fault> {
        let Some(high) = self.hex(2, 4) else { return Err(self.fault("`\\u` without four digits")) };
        if let Some(c) = char::from_u32(high) {
            text.push(c);
            self.at += 6;
            return Ok(());
        }
        let low = self.rest().get(6..8).filter(|mark| *mark == "\\u").and_then(|_| self.hex(8, 4));
        let pair = low.filter(|low| (0xdc00..0xe000).contains(low) && (0xd800..0xdc00).contains(&high));
        match pair.and_then(|low| char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))) {
            Some(c) => {
                text.push(c);
                self.at += 12;
                Ok(())
            }
            None => Err(self.fault("half a character")),
        }
    }
}
