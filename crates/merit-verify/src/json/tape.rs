//! A flat reading of strict JSON that borrows from the text: one entry per value, no allocation per string or object.
//!
//! A container's entry knows where its contents end, so a walk can step over it. Object entries alternate key, value.
//! Repeated keys are refused, since what they mean differs from reader to reader.

use super::decimal::Decimal;
use super::lex;
use super::limits::{Limits, TooLarge};
use super::unreadable::Unreadable;
use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    True,
    False,
    Number,
    String,
    Array,
    Object,
}

/// One value of a tape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    is_escaped: bool,
    start: u32,
    end: u32,
    /// Index of the entry after this value and all it contains.
    pub(super) next: u32,
    /// Elements of an array, pairs of an object.
    pub(super) len: u32,
}

/// Reads `text` into `entries`, which is cleared first and may be reused from text to text.
pub(super) fn read(text: &str, limits: &Limits, entries: &mut Vec<Entry>) -> Result<(), Unreadable> {
    entries.clear();
    if text.len() > limits.bytes || u32::try_from(text.len()).is_err() {
        return Err(TooLarge::Bytes(limits.bytes).into());
    }
    // A value takes some six bytes; one allocation is enough for a small text.
    entries.reserve((text.len() / 4 + 4).min(64));
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, limits, entries, why: None };
    let Err(Stop) = reader.document() else { return Ok(()) };
    Err(reader.why.unwrap_or(Unreadable::Syntax { at: 0, what: "nothing that can be read" }))
}

impl Entry {
    /// The text of a scalar: a string without its quotes, a number as written.
    pub(super) fn raw<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// What a string says; the reader has checked its escapes.
    pub(super) fn string<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let raw = self.raw(text);
        if self.is_escaped { lex::unescape(raw).unwrap_or(Cow::Borrowed(raw)) } else { Cow::Borrowed(raw) }
    }

    /// Whether two strings say the same.
    pub(super) fn says_same(&self, text: &str, other: &Entry, other_text: &str) -> bool {
        if self.is_escaped || other.is_escaped {
            self.string(text) == other.string(other_text)
        } else {
            self.raw(text) == other.raw(other_text)
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    limits: &'a Limits,
    entries: &'a mut Vec<Entry>,
    /// Why the reading stopped. Kept aside, so that the results of the small steps stay small.
    why: Option<Unreadable>,
}

/// The reading stopped; the reader knows why.
struct Stop;

type Read<T = ()> = Result<T, Stop>;

impl Reader<'_> {
    #[cold]
    fn stop<T>(&mut self, why: Unreadable) -> Read<T> {
        self.why = Some(why);
        Err(Stop)
    }

    #[cold]
    fn syntax<T>(&mut self, what: &'static str) -> Read<T> {
        self.stop(Unreadable::Syntax { at: self.at, what })
    }

    fn document(&mut self) -> Read {
        self.value(0)?;
        self.at = lex::skip_space(self.bytes, self.at);
        if self.at < self.bytes.len() { self.syntax("text after the end of the value") } else { Ok(()) }
    }

    fn push(&mut self, kind: Kind, is_escaped: bool, start: usize, end: usize) -> Read<usize> {
        let index = self.entries.len();
        if index >= self.limits.nodes {
            return self.stop(TooLarge::Nodes(self.limits.nodes).into());
        }
        // Both fit: the text was measured against u32, and no entry is shorter than a byte.
        let (start, end, next) = (start as u32, end as u32, index as u32 + 1);
        self.entries.push(Entry { kind, is_escaped, start, end, next, len: 0 });
        Ok(index)
    }

    fn value(&mut self, depth: usize) -> Read {
        self.at = lex::skip_space(self.bytes, self.at);
        match self.bytes.get(self.at) {
            Some(b'{' | b'[') if depth >= self.limits.depth => {
                self.stop(TooLarge::Depth(self.limits.depth).into())
            }
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string(),
            Some(b't') => self.literal("true", Kind::True),
            Some(b'f') => self.literal("false", Kind::False),
            Some(b'n') => self.literal("null", Kind::Null),
            Some(_) => self.number(),
            None => self.syntax("the text ends where a value should be"),
        }
    }

    fn literal(&mut self, word: &'static str, kind: Kind) -> Read {
        let end = self.at + word.len();
        if self.bytes.get(self.at..end) != Some(word.as_bytes()) {
            return self.syntax("an unknown word");
        }
        self.push(kind, false, self.at, end)?;
        self.at = end;
        Ok(())
    }

    fn number(&mut self) -> Read {
        let Some(end) = lex::number_end(self.bytes, self.at) else {
            return self.syntax("no value where one should be");
        };
        let digits = self.text.get(self.at..end).unwrap_or_default();
        // Only an exponent or hundreds of digits can pass the range of a double.
        let may_overflow = digits.len() > 300 || digits.bytes().any(|b| matches!(b, b'e' | b'E'));
        if may_overflow && Decimal::read(digits).is_out_of_range() {
            return self.syntax("a number that is out of range");
        }
        self.push(Kind::Number, false, self.at, end)?;
        self.at = end;
        Ok(())
    }

    fn string(&mut self) -> Read {
        let start = self.at + 1;
        let (end, is_escaped) = match lex::string_end(self.bytes, start) {
            Ok(found) => found,
            Err(what) => return self.syntax(what),
        };
        if is_escaped && let Err(what) = lex::unescape(self.text.get(start..end).unwrap_or_default()) {
            return self.syntax(what);
        }
        self.push(Kind::String, is_escaped, start, end)?;
        self.at = end + 1;
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Read {
        let index = self.push(Kind::Array, false, self.at, self.at)?;
        self.at += 1;
        let mut len = 0;
        while self.goes_on(b']', len)? {
            self.value(depth + 1)?;
            len += 1;
        }
        self.close(index, len);
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Read {
        let index = self.push(Kind::Object, false, self.at, self.at)?;
        self.at += 1;
        let mut len = 0;
        while self.goes_on(b'}', len)? {
            if self.bytes.get(self.at) != Some(&b'"') {
                return self.syntax("no key where one should be");
            }
            self.string()?;
            self.at = lex::skip_space(self.bytes, self.at);
            if self.bytes.get(self.at) != Some(&b':') {
                return self.syntax("a key without a colon");
            }
            self.at += 1;
            self.value(depth + 1)?;
            len += 1;
        }
        self.close(index, len);
        self.refuse_duplicates(index)
    }

    /// Steps over the comma to the next element; false at the closing bracket, which is stepped over too.
    fn goes_on(&mut self, bracket: u8, len: u32) -> Read<bool> {
        self.at = lex::skip_space(self.bytes, self.at);
        match self.bytes.get(self.at) {
            Some(c) if *c == bracket => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if len > 0 => {
                self.at = lex::skip_space(self.bytes, self.at + 1);
                if self.bytes.get(self.at) == Some(&bracket) {
                    return self.syntax("a comma before the closing bracket");
                }
                Ok(true)
            }
            Some(_) if len == 0 => Ok(true),
            Some(_) => self.syntax("a missing comma"),
            None => self.syntax("the text ends inside an array or object"),
        }
    }

    fn close(&mut self, index: usize, len: u32) {
        let next = self.entries.len() as u32;
        if let Some(entry) = self.entries.get_mut(index) {
            entry.next = next;
            entry.len = len;
        }
    }

    fn refuse_duplicates(&mut self, object: usize) -> Read {
        if self.entries[object].len < 2 {
            return Ok(());
        }
        match duplicate_key(self.entries, object, self.text) {
            Some(key) => {
                let at = self.entries[object].start as usize;
                self.stop(Unreadable::DuplicateKey { at, key })
            }
            None => Ok(()),
        }
    }
}

fn duplicate_key(entries: &[Entry], object: usize, text: &str) -> Option<String> {
    let keys = Pairs::of(entries, object).map(|(key, _)| &entries[key]);
    let duplicate = if entries[object].len <= 8 {
        let mut seen: [Option<&Entry>; 8] = [None; 8];
        keys.enumerate().find_map(|(i, key)| {
            let is_seen = seen[..i].iter().flatten().any(|other| key.says_same(text, other, text));
            seen[i] = Some(key);
            is_seen.then_some(key)
        })
    } else {
        let mut sorted: Vec<(Cow<'_, str>, &Entry)> = keys.map(|key| (key.string(text), key)).collect();
        sorted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        sorted.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].1)
    };
    duplicate.map(|key| key.string(text).into_owned())
}

/// The pairs of an object: indices of key and value.
pub(super) struct Pairs<'a> {
    entries: &'a [Entry],
    at: usize,
    end: usize,
}

impl<'a> Pairs<'a> {
    pub(super) fn of(entries: &'a [Entry], object: usize) -> Self {
        Self { entries, at: object + 1, end: entries[object].next as usize }
    }
}

impl Iterator for Pairs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        if self.at >= self.end {
            return None;
        }
        let pair = (self.at, self.at + 1);
        self.at = self.entries[pair.1].next as usize;
        Some(pair)
    }
}
