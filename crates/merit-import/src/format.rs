//! The formats that can be imported, in one list.

use crate::draft::Draft;
use crate::fields::seen;
use crate::play::Errors;
use crate::{ImportError, ImportOptions, ItemError, Row, jsonl, openai, tau_bench};
use merit_core::About;
use merit_core::registry::find;
use serde_json::Value;

/// Every format. Detection takes the first that fits.
pub const FORMATS: &[Format] = &[tau_bench::FORMAT, openai::FORMAT, jsonl::FORMAT];

/// The name that stands for detection.
pub const AUTO: &str = "auto";

/// A format that can be imported.
#[derive(Debug)]
pub struct Format {
    pub about: About,
    /// An example entry of the format.
    pub example: &'static str,
    /// How it marks a tool's errors: an answer that begins so is one, and every other is not. Empty: it has no way.
    pub error_prefixes: &'static [&'static str],
    /// The reported reward from which on a task counts as solved. Absent: the format does not say.
    pub solved_at: Option<f64>,
    /// Whether an entry looks like one of this format.
    pub(crate) fits: fn(&Value) -> bool,
    pub(crate) read: fn(Row, &Rules) -> Result<Draft, ItemError>,
}

/// What holds for every entry of one import.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) errors: Errors,
    pub(crate) options: ImportOptions,
}

impl Format {
    pub(crate) fn rules(&self, options: &ImportOptions) -> Rules {
        let mut prefixes = options.error_prefixes.clone();
        if prefixes.is_empty() {
            prefixes = self.error_prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
        }
        Rules { errors: Errors { prefixes }, options: options.clone() }
    }
}

impl Rules {
    /// The world of the tasks: the person's name for it, or the format's.
    pub(crate) fn world(&self, by_format: &str) -> String {
        format!("imported/{}", self.options.world.as_deref().unwrap_or(by_format))
    }
}

/// The format called `name`, or the one that fits: the first of `entries` that any format knows decides.
pub(crate) fn choose(
    name: &str,
    entries: &[(usize, Result<Value, ItemError>)],
) -> Result<&'static Format, ImportError> {
    if name != AUTO {
        return Ok(find("import format", FORMATS, |format| format.about, name)?);
    }
    let readable = || entries.iter().filter_map(|(line, value)| Some((*line, value.as_ref().ok()?)));
    let fitting = readable().find_map(|(_, value)| FORMATS.iter().find(|format| (format.fits)(value)));
    fitting.ok_or_else(|| match readable().next() {
        Some((line, value)) => {
            let known: Vec<&str> = FORMATS.iter().map(|format| format.about.name).collect();
            ImportError::NotDetected { line, seen: seen(value), known: known.join(", ") }
        }
        None => {
            let (line, why) = match entries.first() {
                Some((line, Err(why))) => (*line, why.to_string()),
                _ => (1, "nothing is there".to_owned()),
            };
            ImportError::NotJson { line, why }
        }
    })
}
