//! A unit by its symbol or name, or the nearest that there is.

use crate::excerpt::excerpt;
use merit_core::registry;
use merit_maths::units::{self, Reading, Unit};

/// Longest word that can be a unit, in bytes.
const MAX_WORD: usize = 40;

pub(super) fn find(word: &str) -> Result<Unit, String> {
    let found = (word.len() <= MAX_WORD).then(|| units::find(word, Reading::Request)).flatten();
    found.ok_or_else(|| unknown(word))
}

fn unknown(word: &str) -> String {
    let shown = excerpt(word, MAX_WORD);
    if word.len() > MAX_WORD {
        return format!("no unit `{shown}`");
    }
    // A wrong letter in a short symbol says little, so names come first where the case is all that differs.
    let by_case = units::words().find(|name| name.eq_ignore_ascii_case(word)).map(str::to_owned);
    match by_case.or_else(|| registry::nearest(word, units::words())) {
        Some(nearest) => format!("no unit `{shown}`; nearest: {nearest}"),
        None => format!("no unit `{shown}`; write it as in km, lb, degC, kWh or m/s^2"),
    }
}
