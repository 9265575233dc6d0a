//! What chat templates expect of the Python around them: JSON as Python writes it, dates, and exceptions.
//!
//! In: values of the template. Out: text. Templates are written for Jinja in Python, where `tojson` puts a space after every
//! comma and colon and escapes nothing for HTML.

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};

/// The words that begin the error of [`raise_exception`], by which a refusal is told from a fault.
pub(super) const REFUSED: &str = "refused: ";

pub(super) fn install(environment: &mut Environment<'_>) {
    environment.add_filter("tojson", to_json);
    environment.add_function("raise_exception", raise_exception);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, format!("{REFUSED}{message}")))
}

/// `value | tojson(indent=…)`, as Python's `json.dumps` writes it, with letters of all scripts as they are.
fn to_json(value: &Value, indent: Option<usize>, options: Kwargs) -> Result<String, Error> {
    let indent = indent.or(options.get::<Option<usize>>("indent")?).map(|indent| indent.min(16));
    let sorted = options.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    let ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    let (comma, colon) = match options.get::<Option<Vec<String>>>("separators")?.as_deref() {
        Some([comma, colon]) => (comma.clone(), colon.clone()),
        Some(_) => return Err(invalid("tojson: `separators` are two texts".to_owned())),
        None => ((if indent.is_some() { "," } else { ", " }).to_owned(), ": ".to_owned()),
    };
    options.assert_all_used()?;
    let mut out = String::new();
    Writer { indent, sorted, ascii, comma, colon }.write(value, 0, &mut out)?;
    Ok(out)
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

struct Writer {
    indent: Option<usize>,
    sorted: bool,
    /// Whether letters beyond ASCII are escaped.
    ascii: bool,
    comma: String,
    colon: String,
}

/// Deeper than any message or tool needs.
const DEEPEST: usize = 64;

impl Writer {
    fn write(&self, value: &Value, depth: usize, out: &mut String) -> Result<(), Error> {
        if depth > DEEPEST {
            return Err(invalid(format!("JSON nested over {DEEPEST} deep")));
        }
        match value.kind() {
            ValueKind::Map => self.map(value, depth, out),
            ValueKind::Seq | ValueKind::Iterable => self.sequence(value, depth, out),
            _ => {
                let text = serde_json::to_string(value).map_err(|error| invalid(error.to_string()))?;
                text.chars().for_each(|letter| self.letter(letter, out));
                Ok(())
            }
        }
    }

    fn letter(&self, letter: char, out: &mut String) {
        if !self.ascii || letter.is_ascii() {
            return out.push(letter);
        }
        letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
    }

    fn map(&self, value: &Value, depth: usize, out: &mut String) -> Result<(), Error> {
        let mut keys: Vec<Value> = value.try_iter()?.collect();
        if self.sorted {
            keys.sort();
        }
        self.items(('{', '}'), keys.len(), depth, out, |at, out| {
            let key = &keys[at];
            let name = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            self.write(&Value::from(name), depth + 1, out)?;
            out.push_str(&self.colon);
            self.write(&value.get_item(key)?, depth + 1, out)
        })
    }

    fn sequence(&self, value: &Value, depth: usize, out: &mut String) -> Result<(), Error> {
        let items: Vec<Value> = value.try_iter()?.collect();
        self.items(('[', ']'), items.len(), depth, out, |at, out| self.write(&items[at], depth + 1, out))
    }

    fn items(
        &self,
        around: (char, char),
        count: usize,
        depth: usize,
        out: &mut String,
        write: impl Fn(usize, &mut String) -> Result<(), Error>,
    ) -> Result<(), Error> {
        out.push(around.0);
        for at in 0..count {
            if at > 0 {
                out.push_str(&self.comma);
            }
            self.line(depth + 1, out);
            write(at, out)?;
        }
        if count > 0 {
            self.line(depth, out);
        }
        out.push(around.1);
        Ok(())
    }

    fn line(&self, depth: usize, out: &mut String) {
        if let Some(indent) = self.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }
}
