//! A unit by its symbol or name, with or without a prefix, or the nearest that there is.

use super::dimension::Dimension;
use super::factor::Factor;
use super::number;
use super::units::{BINARY, Prefixes, SI, UNITS, Unit};
use crate::decimal::ten_to;
use crate::excerpt::excerpt;
use dashu_int::UBig;
use dashu_ratio::RBig;
use merit_core::registry;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Longest word that can be a unit, in bytes.
const MAX_WORD: usize = 40;

/// A unit ready to compute with.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) dimension: Dimension,
    pub(super) factor: Factor,
    /// Base units at 0 of this unit.
    pub(super) zero: RBig,
    prefixes: Prefixes,
}

/// Every word, symbols by case and names in lower case.
struct Words {
    symbols: BTreeMap<&'static str, Known>,
    names: BTreeMap<String, Known>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let (mut symbols, mut names) = (BTreeMap::new(), BTreeMap::new());
    for unit in UNITS {
        let known = known(unit);
        let (by_case, by_name) = unit.words.split_once(';').unwrap_or((unit.words, ""));
        symbols.extend(by_case.split_whitespace().map(|symbol| (symbol, known.clone())));
        names.extend(by_name.split_whitespace().map(|name| (name.to_owned(), known.clone())));
    }
    Words { symbols, names }
});

fn known(unit: &Unit) -> Known {
    Known {
        dimension: Dimension(unit.dimension),
        factor: Factor { ratio: product(unit.factor), pi: unit.pi },
        zero: product(unit.zero),
        prefixes: unit.prefixes,
    }
}

/// The value of a factor as the table writes it.
fn product(text: &str) -> RBig {
    let (over, under) = text.split_once('/').unwrap_or((text, ""));
    let all = |words: &str| {
        let numbers = words.split_whitespace().map(number::read);
        numbers.fold(RBig::ONE, |product, number| product * number.expect("the table holds decimals"))
    };
    all(over) / all(under)
}

/// The unit called `word`.
pub(super) fn find(word: &str) -> Result<Known, String> {
    let found = (word.len() <= MAX_WORD).then(|| by_symbol(word).or_else(|| by_name(word))).flatten();
    found.ok_or_else(|| unknown(word))
}

fn by_symbol(word: &str) -> Option<Known> {
    let symbols = &WORDS.symbols;
    if let Some(known) = symbols.get(word) {
        return Some(known.clone());
    }
    let si = SI.iter().filter_map(|(prefix, _, power)| {
        let known = symbols.get(word.strip_prefix(prefix)?)?;
        (known.prefixes != Prefixes::None).then(|| prefixed(known, ten_to(*power)))
    });
    let binary = BINARY.iter().filter_map(|(prefix, _, power)| {
        let known = symbols.get(word.strip_prefix(prefix)?)?;
        (known.prefixes == Prefixes::Binary).then(|| prefixed(known, kibi_to(*power)))
    });
    si.chain(binary).next()
}

fn by_name(word: &str) -> Option<Known> {
    let lower = word.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let named = |name: &str| {
        let names = &WORDS.names;
        names.get(name).or_else(|| names.get(name.strip_suffix('s')?)).cloned()
    };
    if let Some(known) = named(&lower) {
        return Some(known);
    }
    let si = SI.iter().filter_map(|(_, prefix, power)| {
        let known = named(singular.strip_prefix(prefix)?)?;
        (known.prefixes != Prefixes::None).then(|| prefixed(&known, ten_to(*power)))
    });
    let binary = BINARY.iter().filter_map(|(_, prefix, power)| {
        let known = named(singular.strip_prefix(prefix)?)?;
        (known.prefixes == Prefixes::Binary).then(|| prefixed(&known, kibi_to(*power)))
    });
    si.chain(binary).next()
}

fn kibi_to(power: usize) -> RBig {
    RBig::from(UBig::from(1024u16).pow(power))
}

fn prefixed(known: &Known, by: RBig) -> Known {
    let factor = Factor { ratio: &known.factor.ratio * by, pi: known.factor.pi };
    Known { factor, ..known.clone() }
}

fn unknown(word: &str) -> String {
    let shown = excerpt(word, MAX_WORD);
    if word.len() > MAX_WORD {
        return format!("no unit `{shown}`");
    }
    let known = WORDS.symbols.keys().copied().chain(WORDS.names.keys().map(String::as_str));
    // A wrong letter in a short symbol says little, so names come first where the case is all that differs.
    let by_case = known.clone().find(|name| name.eq_ignore_ascii_case(word)).map(str::to_owned);
    match by_case.or_else(|| registry::nearest(word, known)) {
        Some(nearest) => format!("no unit `{shown}`; nearest: {nearest}"),
        None => format!("no unit `{shown}`; write it as in km, lb, degC, kWh or m/s^2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_one_unit() {
        let words: Vec<&str> = UNITS.iter().flat_map(|unit| unit.words.split([' ', ';'])).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for unit in UNITS {
            let (symbols, names) = unit.words.split_once(';').unwrap_or((unit.words, ""));
            for list in [symbols, names] {
                list.split_whitespace().for_each(|word| *counts.entry(word).or_default() += 1);
            }
            assert!(names.split_whitespace().all(|name| name == name.to_lowercase()), "{names}");
        }
        // `bar`, `bit` and `erg` are symbol and name of the same unit.
        let twice: Vec<&&str> =
            counts.iter().filter(|(_, count)| **count > 1).map(|(word, _)| word).collect();
        assert_eq!(twice, [&"bar", &"bit", &"erg"]);
        assert!(words.len() > 100);
    }

    #[test]
    fn a_symbol_is_itself_before_it_is_a_prefix_and_another() {
        // Not a milli-inch, a femto-tonne, a peta-annum or a centi-day.
        for (word, dimension) in [("min", "a time"), ("ft", "a length"), ("Pa", "a pressure"), ("cd", "")] {
            match find(word) {
                Ok(known) => assert_eq!(known.dimension.to_string(), dimension, "{word}"),
                Err(_) => assert_eq!(dimension, "", "{word}"),
            }
        }
    }
}
