//! A TOML document that knows where each of its values stands, and that can be changed by path.

use crate::toml_error::line_and_column;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// One step down into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The value of a key.
    Key(String),
    /// An item of a list, from 0.
    Item(usize),
}

pub(crate) type Value<'a> = Spanned<DeValue<'a>>;

/// A document as a value; its root is a table.
pub(crate) fn parse(text: &str) -> Result<Value<'_>, toml::de::Error> {
    let table = DeTable::parse(text)?;
    Ok(Spanned::new(table.span(), DeValue::Table(table.into_inner())))
}

/// What stands at `path`.
pub(crate) fn at<'v, 'a>(root: &'v Value<'a>, path: &[Step]) -> Option<&'v Value<'a>> {
    path.iter().try_fold(root, |value, step| match (step, value.get_ref()) {
        (Step::Key(key), DeValue::Table(table)) => table.get(key.as_str()),
        (Step::Item(index), DeValue::Array(items)) => items.get(*index),
        _ => None,
    })
}

fn at_mut<'v, 'a>(root: &'v mut Value<'a>, path: &[Step]) -> Option<&'v mut Value<'a>> {
    path.iter().try_fold(root, |value, step| match (step, value.get_mut()) {
        (Step::Key(key), DeValue::Table(table)) => table.get_mut(key.as_str()),
        (Step::Item(index), DeValue::Array(items)) => items.get_mut(*index),
        _ => None,
    })
}

fn table_mut<'v, 'a>(root: &'v mut Value<'a>, path: &[Step]) -> Option<&'v mut DeTable<'a>> {
    match at_mut(root, path)?.get_mut() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// Where the key at the end of `path` is written.
pub(crate) fn key_span(root: &Value<'_>, path: &[Step]) -> Option<Range<usize>> {
    let (Step::Key(key), above) = path.split_last()? else { return None };
    match at(root, above)?.get_ref() {
        DeValue::Table(table) => table.get_key_value(key.as_str()).map(|(key, _)| key.span()),
        _ => None,
    }
}

/// The dotted key of the value that begins at a line and column.
pub(crate) fn key_at(text: &str, place: (usize, usize)) -> Option<String> {
    fn below(text: &str, place: (usize, usize), table: &DeTable<'_>) -> Option<String> {
        table.iter().find_map(|(key, value)| match value.get_ref() {
            _ if line_and_column(text, value.span().start) == place => Some(key.get_ref().to_string()),
            DeValue::Table(inner) => Some(format!("{}.{}", key.get_ref(), below(text, place, inner)?)),
            _ => None,
        })
    }
    below(text, place, DeTable::parse(text).ok()?.get_ref())
}

/// The text at `path`, and where it is written.
pub(crate) fn text_at<'v>(root: &'v Value<'_>, path: &[Step]) -> Option<(&'v str, Range<usize>)> {
    let value = at(root, path)?;
    match value.get_ref() {
        DeValue::String(text) => Some((text, value.span())),
        _ => None,
    }
}

/// The document without what stands at `path`.
pub(crate) fn without<'a>(root: &Value<'a>, path: &[Step]) -> Option<Value<'a>> {
    let mut changed = root.clone();
    let (last, above) = path.split_last()?;
    match (last, at_mut(&mut changed, above)?.get_mut()) {
        (Step::Key(key), DeValue::Table(table)) => drop(table.remove(key.as_str())?),
        (Step::Item(index), DeValue::Array(items)) => {
            *items =
                items.iter().enumerate().filter(|(i, _)| i != index).map(|(_, item)| item.clone()).collect();
        }
        _ => return None,
    }
    Some(changed)
}

/// The document with the first `count` items of the list at `path`.
pub(crate) fn shortened<'a>(root: &Value<'a>, path: &[Step], count: usize) -> Option<Value<'a>> {
    let mut changed = root.clone();
    match at_mut(&mut changed, path)?.get_mut() {
        DeValue::Array(items) => *items = items.iter().take(count).cloned().collect::<DeArray<'a>>(),
        _ => return None,
    }
    Some(changed)
}

/// The document with another value at `path`.
pub(crate) fn with<'a>(root: &Value<'a>, path: &[Step], value: DeValue<'a>) -> Option<Value<'a>> {
    let mut changed = root.clone();
    *at_mut(&mut changed, path)?.get_mut() = value;
    Some(changed)
}

/// The document with one more key in the table at `path`.
pub(crate) fn with_key<'a>(
    root: &Value<'a>,
    path: &[Step],
    key: &str,
    value: Value<'a>,
) -> Option<Value<'a>> {
    let mut changed = root.clone();
    let key = Spanned::new(value.span(), Cow::Owned(key.to_owned()));
    table_mut(&mut changed, path)?.insert(key, value);
    Some(changed)
}

/// The document with the key at the end of `path` called otherwise; `None` where there is one of that name.
pub(crate) fn renamed<'a>(root: &Value<'a>, path: &[Step], name: &str) -> Option<Value<'a>> {
    let (Step::Key(key), above) = path.split_last()? else { return None };
    let mut changed = root.clone();
    let table = table_mut(&mut changed, above)?;
    if table.contains_key(name) {
        return None;
    }
    let (old, value) = table.remove_entry(key.as_str())?;
    table.insert(Spanned::new(old.span(), Cow::Owned(name.to_owned())), value);
    Some(changed)
}
