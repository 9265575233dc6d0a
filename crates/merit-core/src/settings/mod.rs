//! Settings as TOML: one reader and one writer for everything that a document may hold.
//!
//! serde compiles the reading and writing of every struct anew for every format and for every kind of map inside it; with the readers
//! of `toml` that was a fifth of the program. Here a struct is read from one small tree, wherever the tree came from, and written
//! through one trait object, whatever it is written to. Mistakes know where they stand in the text.

mod node;
mod reader;

use node::Node;
use serde::de::DeserializeOwned;
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Anything that can be written.
pub use erased_serde::Serialize as Writable;

/// Why settings could not be read.
#[derive(Clone, PartialEq, Eq)]
pub struct ReadError(Box<Complaint>);

#[derive(Clone, PartialEq, Eq)]
struct Complaint {
    message: String,
    /// Where in the text; absent where the text is not known, or where the whole is meant.
    span: Option<Range<usize>>,
    /// The keys that lead there, the outermost last.
    keys: Vec<String>,
}

impl ReadError {
    fn new(message: String) -> Self {
        Self(Box::new(Complaint { message, span: None, keys: Vec::new() }))
    }

    /// What is wrong, in words; the place in the text is not part of it.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where in the text, in bytes; absent where the text is not known, or where the whole is meant.
    pub fn span(&self) -> Option<Range<usize>> {
        self.0.span.clone()
    }

    /// The same, standing at `span` unless a smaller part is known already.
    fn within(mut self, span: &Option<Range<usize>>) -> Self {
        if self.0.span.is_none() {
            self.0.span.clone_from(span);
        }
        self
    }

    fn below(mut self, key: String) -> Self {
        self.0.keys.push(key);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Complaint { message, keys, .. } = &*self.0;
        f.write_str(message)?;
        if keys.is_empty() {
            return Ok(());
        }
        let keys: Vec<&str> = keys.iter().rev().map(String::as_str).collect();
        write!(f, " in `{}`", keys.join("."))
    }
}

impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} at {:?}", self.0.span)
    }
}

impl std::error::Error for ReadError {}

impl serde::de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

/// A mistake in the syntax.
impl From<toml::de::Error> for ReadError {
    fn from(error: toml::de::Error) -> Self {
        Self::new(error.message().trim().to_owned()).within(&error.span())
    }
}

/// Reads settings out of a text in TOML.
///
/// ```
/// use std::collections::BTreeMap;
///
/// let read = merit_core::settings::from_toml::<BTreeMap<String, u32>>("steps = 3\nturns = -1\n");
/// let error = read.unwrap_err();
/// assert_eq!(error.to_string(), "invalid value: integer `-1`, expected u32 in `turns`");
/// assert_eq!(error.span(), Some(18..20));
/// ```
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, ReadError> {
    T::deserialize(parsed(text)?)
}

fn parsed(text: &str) -> Result<Node, ReadError> {
    Ok(Node::root(DeTable::parse(text)?.into_inner()))
}

/// Reads settings out of a document that was parsed, and perhaps changed, before.
pub fn from_document<T: DeserializeOwned>(document: &Spanned<DeValue<'_>>) -> Result<T, ReadError> {
    T::deserialize(match document.get_ref() {
        DeValue::Table(table) => Node::root(table.clone()),
        other => Node::written(Spanned::new(document.span(), other.clone())),
    })
}

/// Reads settings out of a table.
pub fn from_table<T: DeserializeOwned>(table: toml::Table) -> Result<T, ReadError> {
    T::deserialize(Node::plain(toml::Value::Table(table)))
}

/// Writes settings as a text in TOML, in the order of their fields.
pub fn to_toml(settings: &dyn Writable) -> Result<String, toml::ser::Error> {
    toml::to_string(settings)
}

/// Writes settings as a value of TOML.
pub fn to_value(settings: &dyn Writable) -> Result<toml::Value, toml::ser::Error> {
    toml::Value::try_from(settings)
}

/// Writes settings as a table.
pub fn to_table(settings: &dyn Writable) -> Result<toml::Table, toml::ser::Error> {
    toml::Table::try_from(settings)
}

/// Writes settings as a value of JSON.
pub fn to_json(settings: &dyn Writable) -> Result<serde_json::Value, serde_json::Error> {
    serde_json::to_value(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Shape {
        Point,
        Round(f64),
        Box { width: u32 },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Drawing {
        name: String,
        seed: u64,
        scale: f32,
        #[serde(default)]
        shown: Option<bool>,
        shapes: Vec<Shape>,
        by_name: BTreeMap<String, (i8, char)>,
    }

    const TEXT: &str = "name = \"a\"\nseed = 18446744073709551615\nscale = 2\nshown = true\nshapes = [\"point\", { round = 0.5 }, { box = { width = 3 } }]\n[by_name]\nb = [-1, \"x\"]\n";

    fn drawing() -> Drawing {
        let shapes = vec![Shape::Point, Shape::Round(0.5), Shape::Box { width: 3 }];
        let by_name = BTreeMap::from([("b".into(), (-1, 'x'))]);
        Drawing { name: "a".into(), seed: u64::MAX, scale: 2.0, shown: Some(true), shapes, by_name }
    }

    #[test]
    fn text_and_table_are_read_alike() {
        assert_eq!(from_toml::<Drawing>(TEXT).unwrap(), drawing());
        let small = TEXT.replace("18446744073709551615", "7");
        let table: toml::Table = small.parse().unwrap();
        assert_eq!(from_table::<Drawing>(table).unwrap(), Drawing { seed: 7, ..drawing() });
    }

    #[test]
    fn what_is_written_is_read_again_and_is_what_toml_writes() {
        let drawing = Drawing { seed: 7, ..drawing() };
        let text = to_toml(&drawing).unwrap();
        assert_eq!(text, toml::to_string(&drawing).unwrap());
        assert_eq!(from_toml::<Drawing>(&text).unwrap(), drawing);
        assert_eq!(to_table(&drawing).unwrap(), toml::Table::try_from(&drawing).unwrap());
    }

    fn complaint(change: (&str, &str)) -> (String, String) {
        let text = TEXT.replace(change.0, change.1);
        assert_ne!(text, TEXT);
        let error = from_toml::<Drawing>(&text).unwrap_err();
        let at = error.span().map_or_else(String::new, |span| text[span].to_owned());
        (error.message().to_owned(), at)
    }

    #[test]
    fn a_mistake_is_told_at_its_place() {
        for (change, message, at) in [
            (
                ("scale", "scael"),
                "unknown field `scael`, expected one of `name`, `seed`, `scale`, `shown`, `shapes`, `by_name`",
                "scael",
            ),
            (("\"a\"", "3"), "invalid type: integer `3`, expected a string", "3"),
            (("= 2\n", "= \"2\"\n"), "invalid type: string \"2\", expected f32", "\"2\""),
            (("true", "1979-05-27"), "invalid type: date, expected a boolean", "1979-05-27"),
            (("0.5", "[]"), "invalid type: sequence, expected f64", "[]"),
            (
                ("\"point\"", "\"ponit\""),
                "unknown variant `ponit`, expected one of `point`, `round`, `box`",
                "\"ponit\"",
            ),
            (("width", "widht"), "unknown field `widht`, expected `width`", "widht"),
            (("name = \"a\"", ""), "missing field `name`", ""),
        ] {
            assert_eq!(complaint(change), (message.to_owned(), at.to_owned()));
        }
    }

    #[test]
    fn a_key_may_stand_for_a_number() {
        let read = from_toml::<BTreeMap<u32, bool>>;
        assert_eq!(read("4 = true"), Ok(BTreeMap::from([(4, true)])));
        assert_eq!(read("four = true").unwrap_err().message(), "`four` is no whole number");
    }

    #[test]
    fn a_mistake_in_the_syntax_is_told_at_its_place() {
        let error = from_toml::<Drawing>("name = \"a\nseed = 1").unwrap_err();
        assert!(error.span().is_some(), "{error}");
    }
}
