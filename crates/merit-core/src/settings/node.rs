//! A value of a document, and where it stands.

use std::ops::Range;
use std::vec;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value, and where it stands in the text.
pub(super) struct Node {
    pub(super) value: Plain,
    /// Absent where the text is not known, and for the whole.
    pub(super) span: Option<Range<usize>>,
}

pub(super) enum Plain {
    Text(String),
    /// The name of an entry, which may stand for a number.
    Key(String),
    Whole(i64),
    /// Above what the other holds.
    Large(u64),
    Number(f64),
    Flag(bool),
    /// Neither of use in settings nor known to serde.
    Date,
    /// A number that no machine holds.
    Overflow,
    List(vec::IntoIter<Node>),
    Table(vec::IntoIter<(Node, Node)>),
}

impl Node {
    /// A whole document. It has no place of its own: what is wrong with it is wrong everywhere.
    pub(super) fn root(table: DeTable<'_>) -> Self {
        Self { value: entries(table), span: None }
    }

    pub(super) fn written(value: Spanned<DeValue<'_>>) -> Self {
        let span = Some(value.span());
        let value = match value.into_inner() {
            DeValue::String(text) => Plain::Text(text.into_owned()),
            DeValue::Integer(digits) => whole(digits.as_str(), digits.radix()),
            DeValue::Float(digits) => number(digits.as_str()),
            DeValue::Boolean(flag) => Plain::Flag(flag),
            DeValue::Datetime(_) => Plain::Date,
            DeValue::Array(items) => {
                Plain::List(items.into_iter().map(Self::written).collect::<Vec<_>>().into_iter())
            }
            DeValue::Table(table) => entries(table),
        };
        Self { value, span }
    }

    pub(super) fn plain(value: toml::Value) -> Self {
        let value = match value {
            toml::Value::String(text) => Plain::Text(text),
            toml::Value::Integer(whole) => Plain::Whole(whole),
            toml::Value::Float(number) => Plain::Number(number),
            toml::Value::Boolean(flag) => Plain::Flag(flag),
            toml::Value::Datetime(_) => Plain::Date,
            toml::Value::Array(items) => {
                Plain::List(items.into_iter().map(Self::plain).collect::<Vec<_>>().into_iter())
            }
            toml::Value::Table(table) => {
                let entry = |(key, value)| (Self { value: Plain::Key(key), span: None }, Self::plain(value));
                Plain::Table(table.into_iter().map(entry).collect::<Vec<_>>().into_iter())
            }
        };
        Self { value, span: None }
    }
}

fn entries(table: DeTable<'_>) -> Plain {
    let entry = |(key, value): (Spanned<_>, _)| {
        let span = Some(key.span());
        let key: std::borrow::Cow<'_, str> = key.into_inner();
        (Node { value: Plain::Key(key.into_owned()), span }, Node::written(value))
    };
    Plain::Table(table.into_iter().map(entry).collect::<Vec<_>>().into_iter())
}

fn whole(digits: &str, radix: u32) -> Plain {
    let small = i64::from_str_radix(digits, radix).map(Plain::Whole);
    small.or_else(|_| u64::from_str_radix(digits, radix).map(Plain::Large)).unwrap_or(Plain::Overflow)
}

fn number(digits: &str) -> Plain {
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() || digits.contains("inf") || digits.contains("nan") => {
            Plain::Number(number)
        }
        _ => Plain::Overflow,
    }
}
