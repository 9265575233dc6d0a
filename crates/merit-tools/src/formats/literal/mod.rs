//! Values as models write them: JSON with the slips that can mean only one thing, or Python literals.
//!
//! Repaired in JSON: a comma before `}` or `]`, strings in single quotes, `\'`, line breaks and other control characters inside
//! strings, `True`, `False`, `None`. Python adds tuples (as arrays), triple and raw strings, its own escapes, and takes `true`, `false`
//! and `null`. Never guessed at: missing quotes, commas or brackets, unknown escapes, names and expressions, `NaN`, comments,
//! keys written twice, whole numbers beyond 64 bits. Depth and size are bounded; time is linear.

mod number;
mod text;

use serde_json::{Map, Value};

/// Deepest nesting.
pub(super) const MAX_DEPTH: usize = 32;
/// Most values in one literal.
const MAX_VALUES: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grammar {
    /// JSON, repaired.
    Json,
    Python,
}

/// Where and why a literal cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) what: String,
    /// The text from there on, as it may be shown.
    pub(super) near: String,
}

impl Fault {
    pub(super) fn text(&self) -> String {
        if self.near.is_empty() { self.what.clone() } else { format!("{} at `{}`", self.what, self.near) }
    }
}

/// The value at the start of `text`, after white space, and the length read.
pub(super) fn prefix(text: &str, grammar: Grammar) -> Result<(Value, usize), Fault> {
    let mut reader = Reader { text, at: 0, values: 0, grammar };
    let value = reader.value(0)?;
    Ok((value, reader.at))
}

/// The only value in `text`.
pub(super) fn whole(text: &str, grammar: Grammar) -> Result<Value, Fault> {
    let mut reader = Reader { text, at: 0, values: 0, grammar };
    let value = reader.value(0)?;
    reader.space();
    if reader.at < text.len() { Err(reader.fault("more text after the value")) } else { Ok(value) }
}

/// A reader; recursion is bounded by `MAX_DEPTH`.
struct Reader<'a> {
    text: &'a str,
    /// Byte position, always on a character boundary.
    at: usize,
    values: usize,
    grammar: Grammar,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        let bytes = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += bytes.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn fault(&self, what: &str) -> Fault {
        if self.at >= self.text.len() {
            return Fault { what: format!("{what}, and the text ends there"), near: String::new() };
        }
        // No more than what is shown, so that a fault costs nothing on a long text.
        let near: String =
            self.rest().chars().take(12).map(|c| if c.is_control() { ' ' } else { c }).collect();
        Fault { what: what.to_owned(), near: near.trim().replace('`', "'") }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        self.space();
        self.values += 1;
        if depth > MAX_DEPTH || self.values > MAX_VALUES {
            return Err(self.fault("nested too deep or too large"));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => Ok(Value::Array(self.items(b']', depth)?.0)),
            Some(b'(') if self.grammar == Grammar::Python => self.tuple(depth),
            Some(b'"' | b'\'') => self.string(false).map(Value::String),
            Some(b'r' | b'R') if self.is_raw_string() => {
                self.at += 1;
                self.string(true).map(Value::String)
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn is_raw_string(&self) -> bool {
        let next = self.text.as_bytes().get(self.at.saturating_add(1));
        self.grammar == Grammar::Python && matches!(next, Some(b'"' | b'\''))
    }

    fn object(&mut self, depth: usize) -> Result<Value, Fault> {
        let mut map = Map::new();
        self.at += 1;
        loop {
            self.space();
            match self.peek() {
                Some(b'}') => break,
                Some(b'"' | b'\'') => {}
                _ => return Err(self.fault("a key in quotes is missing")),
            }
            let key_at = self.at;
            let key = self.string(false)?;
            self.space();
            self.take(b':', "a `:` is missing")?;
            let value = self.value(depth + 1)?;
            if map.insert(key, value).is_some() {
                self.at = key_at;
                return Err(self.fault("a key is written twice"));
            }
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.fault("a `,` or `}` is missing")),
            }
        }
        self.at += 1;
        Ok(Value::Object(map))
    }

    /// The values up to `close`, and whether a comma stood among them.
    fn items(&mut self, close: u8, depth: usize) -> Result<(Vec<Value>, bool), Fault> {
        let (mut items, mut comma) = (Vec::new(), false);
        self.at += 1;
        loop {
            self.space();
            if self.peek() == Some(close) {
                break;
            }
            items.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                Some(b',') => {
                    comma = true;
                    self.at += 1;
                }
                Some(found) if found == close => break,
                _ => return Err(self.fault(&format!("a `,` or `{}` is missing", char::from(close)))),
            }
        }
        self.at += 1;
        Ok((items, comma))
    }

    /// A tuple is an array; one value in parentheses is itself.
    fn tuple(&mut self, depth: usize) -> Result<Value, Fault> {
        let (mut items, comma) = self.items(b')', depth)?;
        match items.pop() {
            Some(only) if items.is_empty() && !comma => Ok(only),
            last => {
                items.extend(last);
                Ok(Value::Array(items))
            }
        }
    }

    fn take(&mut self, byte: u8, missing: &str) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return Err(self.fault(missing));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self) -> Result<Value, Fault> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let value = match rest.get(..end).unwrap_or_default() {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            "" => return Err(self.fault("a value is missing")),
            _ => return Err(self.fault("a name is no value; write strings in quotes")),
        };
        self.at += end;
        Ok(value)
    }
}
