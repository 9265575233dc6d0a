//! A JSON reader that notes what is wrong and goes on, so that credit is defined on slightly broken text.
//!
//! In: text and limits. Out: the value as far as it could be read, every departure from strict JSON as a [`Fault`], and
//! the paths of keys that occur twice (of which the first value is kept). Text is JSON by the letter exactly when it has a value
//! and no fault; to be strict its keys have to be unique and its integers such that a value holds them, too. Size limits stop the
//! reading at once.

use super::lex;
use super::limits::{Limits, MAX_DEPTH, TooLarge};
use super::number;
use super::path::Pointer;
use super::repair;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A departure from strict JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Byte position in the text that was read.
    pub at: usize,
    pub what: String,
}

/// What could be read of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value; absent when nothing could be read or a limit was passed.
    pub value: Option<Value>,
    /// The first departures from strict JSON, at most [`FAULTS_KEPT`].
    pub faults: Vec<Fault>,
    /// Pointers of keys that occur more than once in their object, one entry per repetition, at most [`FAULTS_KEPT`].
    pub duplicates: Vec<String>,
    /// The first integer of more digits than a value holds exactly; in the value it stands as the text of its digits.
    pub too_long: Option<Fault>,
    /// The size limit that was passed, if any.
    pub too_large: Option<TooLarge>,
}

/// How many faults are kept as evidence.
pub const FAULTS_KEPT: usize = 16;

impl Parsed {
    /// Whether the text is strict JSON without repeated keys, and held as it was written.
    pub fn is_strict(&self) -> bool {
        self.value.is_some()
            && self.faults.is_empty()
            && self.duplicates.is_empty()
            && self.too_long.is_none()
    }

    /// Why the text is not strict, of the first kind that applies; positions are counted from `start`.
    pub(crate) fn objection(&self, start: usize) -> Option<String> {
        let describe = |fault: &Fault| format!("{} at byte {}", fault.what, start + fault.at);
        let twice = || self.duplicates.first().map(|path| format!("the key `{path}` is written twice"));
        self.faults.first().map(describe).or_else(twice).or_else(|| self.too_long.as_ref().map(describe))
    }
}

/// Reads `text`, noting what is wrong with it.
pub fn parse(text: &str, limits: &Limits) -> Parsed {
    let mut reader = Reader::new(text, limits);
    if text.len() > limits.bytes {
        reader.too_large = Some(TooLarge::Bytes(limits.bytes));
        return reader.finish(None);
    }
    let value = reader.value(0);
    reader.space();
    if value.is_some() && reader.at < text.len() && !reader.is_over {
        reader.fault("text after the end of the value");
    }
    reader.finish(value)
}

/// Reads one strict value that starts at `at`; the value and the position after it, or where the reading stopped.
pub(super) fn parse_prefix(text: &str, at: usize, limits: &Limits) -> Result<(Parsed, usize), usize> {
    let mut reader = Reader::new(text, limits);
    reader.at = at;
    reader.is_strict_only = true;
    let value = reader.value(0);
    let end = reader.at;
    if value.is_none() || !reader.faults.is_empty() || reader.too_large.is_some() {
        return Err(end);
    }
    Ok((reader.finish(value), end))
}

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    limits: Limits,
    nodes: usize,
    pointer: Pointer,
    faults: Vec<Fault>,
    duplicates: Vec<String>,
    too_long: Option<Fault>,
    too_large: Option<TooLarge>,
    /// Nothing more can be read: open containers are closed as they stand.
    is_over: bool,
    /// The first fault ends the reading.
    is_strict_only: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, limits: &Limits) -> Self {
        Self {
            text,
            at: 0,
            limits: Limits { depth: limits.depth.min(MAX_DEPTH), ..*limits },
            nodes: 0,
            pointer: Pointer::default(),
            faults: Vec::new(),
            duplicates: Vec::new(),
            too_long: None,
            too_large: None,
            is_over: false,
            is_strict_only: false,
        }
    }

    fn finish(self, value: Option<Value>) -> Parsed {
        let value = value.filter(|_| self.too_large.is_none());
        let Self { faults, duplicates, too_long, too_large, .. } = self;
        Parsed { value, faults, duplicates, too_long, too_large }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn fault(&mut self, what: &str) {
        if self.faults.len() < FAULTS_KEPT {
            self.faults.push(Fault { at: self.at, what: what.to_owned() });
        }
        self.is_over |= self.is_strict_only;
    }

    fn give_up(&mut self, what: &str) {
        self.fault(what);
        self.is_over = true;
    }

    fn refuse(&mut self, limit: TooLarge) {
        self.too_large.get_or_insert(limit);
        self.is_over = true;
    }

    /// White space and, with a fault, comments.
    fn space(&mut self) {
        loop {
            self.at = lex::skip_space(self.text.as_bytes(), self.at);
            let Some(length) = repair::comment(self.rest()) else { return };
            self.fault("a comment");
            self.at += length;
        }
    }

    /// One value; `None` when there is none to read.
    fn value(&mut self, depth: usize) -> Option<Value> {
        self.space();
        if self.is_over {
            return None;
        }
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            self.refuse(TooLarge::Nodes(self.limits.nodes));
            return None;
        }
        match self.peek() {
            None => {
                self.give_up("the text ends where a value should be");
                None
            }
            Some(b'{' | b'[') if depth >= self.limits.depth => {
                self.refuse(TooLarge::Depth(self.limits.depth));
                None
            }
            Some(b'{') => Some(self.object(depth)),
            Some(b'[') => Some(self.array(depth)),
            Some(b'"' | b'\'') => Some(Value::String(self.string())),
            Some(_) => self.scalar(),
        }
    }

    fn array(&mut self, depth: usize) -> Value {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.space();
            if self.ended(b']', items.is_empty()) {
                return Value::Array(items);
            }
            let mark = self.pointer.index(items.len());
            let item = self.value(depth + 1);
            self.pointer.back(mark);
            items.extend(item);
            self.comma(b']');
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut map = Map::new();
        self.at += 1;
        loop {
            self.space();
            if self.ended(b'}', map.is_empty()) {
                return Value::Object(map);
            }
            let Some(key) = self.key() else { continue };
            self.space();
            if self.peek() == Some(b':') {
                self.at += 1;
            } else {
                self.fault("a key without a colon");
            }
            let mark = self.pointer.key(&key);
            let value = self.value(depth + 1);
            if map.contains_key(&key) {
                if self.duplicates.len() < FAULTS_KEPT {
                    self.duplicates.push(self.pointer.as_str().to_owned());
                }
            } else if let Some(value) = value {
                map.insert(key, value);
            }
            self.pointer.back(mark);
            self.comma(b'}');
        }
    }

    /// Whether the container ends here: at its bracket, at the end of the text, or because the reading is over.
    fn ended(&mut self, bracket: u8, is_empty: bool) -> bool {
        match self.peek() {
            _ if self.is_over => true,
            Some(c) if c == bracket => {
                if !is_empty && self.text.as_bytes().get(..self.at).is_some_and(repair::ends_with_comma) {
                    self.fault("a comma before the closing bracket");
                }
                self.at += 1;
                true
            }
            Some(b']' | b'}') => {
                self.give_up("a bracket that does not match");
                true
            }
            None => {
                self.give_up("the text ends inside an array or object");
                true
            }
            Some(_) => false,
        }
    }

    fn comma(&mut self, bracket: u8) {
        self.space();
        match self.peek() {
            _ if self.is_over => {}
            Some(b',') => self.at += 1,
            Some(c) if c == bracket => {}
            None => {}
            Some(_) => self.fault("a missing comma"),
        }
    }

    fn key(&mut self) -> Option<String> {
        match self.peek() {
            Some(b'"' | b'\'') => Some(self.string()),
            _ => match repair::word(self.rest()) {
                "" => {
                    self.give_up("no key where one should be");
                    None
                }
                word => {
                    self.fault("a key without quotes");
                    self.at += word.len();
                    Some(word.to_owned())
                }
            },
        }
    }

    fn string(&mut self) -> String {
        let bytes = self.text.as_bytes();
        if self.peek() == Some(b'"')
            && let Ok((end, _)) = lex::string_end(bytes, self.at + 1)
            && let Ok(text) = lex::unescape(self.text.get(self.at + 1..end).unwrap_or_default())
        {
            self.at = end + 1;
            return text.into_owned();
        }
        repair::string(self)
    }

    fn scalar(&mut self) -> Option<Value> {
        if let Some(end) = lex::number_end(self.text.as_bytes(), self.at) {
            let digits = self.text.get(self.at..end).unwrap_or_default();
            let number = self.number(digits);
            self.at = end;
            return Some(number);
        }
        let word = repair::word(self.rest());
        let literal = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => {
                let repaired = repair::scalar(self);
                if repaired.is_none() {
                    self.give_up("no value where one should be");
                }
                return repaired;
            }
        };
        self.at += word.len();
        Some(literal)
    }

    /// The value of a number that is well formed.
    fn number(&mut self, written: &str) -> Value {
        let Ok(value) = serde_json::from_str::<Value>(written) else {
            self.fault("a number that is out of range");
            return Value::Null;
        };
        if value.as_number().is_none_or(|number| number::is_held(written, number)) {
            return value;
        }
        let what = "an integer of more digits than are compared (write it as a text)".to_owned();
        self.too_long.get_or_insert(Fault { at: self.at, what });
        Value::String(written.to_owned())
    }
}
