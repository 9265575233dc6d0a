//! Units of measure: what they measure, how large they are, and the one that a word names.
//!
//! In: a word such as `km`, `Miles` or `fl oz`. Out: the [`Unit`], with an exact size in base units. The table is in
//! `table.rs`. Knows nothing of compound units (`m/s^2`); answers and requests for a conversion write those differently.

mod dimension;
mod table;

pub use dimension::Dimension;

use dashu_int::UBig;
use dashu_ratio::RBig;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use table::{BINARY, Line, Prefixes, SI, TABLE};

/// One unit: a value `x` in it is `x · factor · π^pi + zero` base units.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    pub factor: RBig,
    /// Power of π in the size; the degree is the base of angles, so a radian is 180/π.
    pub pi: i8,
    /// Base units at 0 of this unit; only temperatures have one that is not 0.
    pub zero: RBig,
    pub dimension: Dimension,
}

impl Unit {
    /// The plain number 1.
    pub fn one() -> Self {
        Self { factor: RBig::ONE, pi: 0, zero: RBig::ZERO, dimension: Dimension::default() }
    }
}

/// Where the word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// After a number in an answer. Capitals are forgiven; words that mean something else more often (`are`, `turn`, `c`) and
    /// prefixes beyond tera and pico are no units.
    Answer,
    /// Where a unit is asked for. Every word of the table; symbols by case.
    Request,
}

/// The words of one reading: symbols by case, names in lower case.
#[derive(Default)]
struct Words {
    symbols: BTreeMap<&'static str, Known>,
    names: BTreeMap<&'static str, Known>,
    /// Words of the table that are no units in this reading, with a prefix or without.
    never: BTreeSet<&'static str>,
}

#[derive(Clone)]
struct Known {
    unit: Unit,
    prefixes: Prefixes,
}

static ANSWER: LazyLock<Words> = LazyLock::new(|| Words::of(Reading::Answer));
static REQUEST: LazyLock<Words> = LazyLock::new(|| Words::of(Reading::Request));

/// The unit that a word names, with or without a prefix; names also in the plural and with spaces for `_`.
///
/// ```
/// use merit_maths::units::{Reading, find};
/// let (inch, foot) = (find("in", Reading::Request).unwrap(), find("Feet", Reading::Answer).unwrap());
/// assert_eq!(foot.factor / inch.factor, 12.into());
/// assert_eq!(find("kilometres", Reading::Answer), find("km", Reading::Request));
/// assert_eq!(find("fl oz", Reading::Answer), find("fluid_ounces", Reading::Request));
/// ```
pub fn find(word: &str, reading: Reading) -> Option<Unit> {
    let words = Words::in_reading(reading);
    let joined = word.replace(' ', "_");
    let found = words.by_symbol(&joined, reading).or_else(|| words.by_name(&joined, reading));
    if found.is_some() || reading == Reading::Request {
        return found;
    }
    // A symbol in lower case may be another unit (`M` and `m`); only longer ones are looked up that way.
    let lower = joined.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let long = [lower.as_str(), singular].into_iter().filter(|symbol| symbol.chars().count() > 2);
    long.filter(|symbol| *symbol != joined).find_map(|symbol| words.by_symbol(symbol, reading))
}

/// Every word of the table that a request may use, without prefixes: symbols first.
pub fn words() -> impl Iterator<Item = &'static str> + Clone {
    REQUEST.symbols.keys().chain(REQUEST.names.keys()).copied()
}

impl Words {
    fn in_reading(reading: Reading) -> &'static Self {
        match reading {
            Reading::Answer => &ANSWER,
            Reading::Request => &REQUEST,
        }
    }

    fn of(reading: Reading) -> Self {
        let mut all = Self::default();
        for line in TABLE {
            let known = known(line);
            let (symbols, names) = line.words.split_once(';').unwrap_or((line.words, ""));
            for (list, into) in [(symbols, &mut all.symbols), (names, &mut all.names)] {
                for word in list.split_whitespace() {
                    let Some(asked) = word.strip_prefix('?') else {
                        into.entry(word).or_insert_with(|| known.clone());
                        continue;
                    };
                    match reading {
                        Reading::Answer => _ = all.never.insert(asked),
                        // What a word is in a request only goes before what it is everywhere.
                        Reading::Request => _ = into.insert(asked, known.clone()),
                    }
                }
            }
        }
        all
    }

    fn by_symbol(&self, word: &str, reading: Reading) -> Option<Unit> {
        if let Some(known) = self.symbols.get(word) {
            return Some(known.unit.clone());
        }
        if self.never.contains(word) {
            return None;
        }
        prefixed(word, reading, |(symbol, _)| symbol, |rest| self.symbols.get(rest))
    }

    fn by_name(&self, word: &str, reading: Reading) -> Option<Unit> {
        let lower = word.to_lowercase();
        let named = |name: &str| self.names.get(name).or_else(|| self.names.get(name.strip_suffix('s')?));
        if let Some(known) = named(&lower) {
            return Some(known.unit.clone());
        }
        let singular = lower.strip_suffix('s').unwrap_or(&lower);
        prefixed(singular, reading, |(_, name)| name, named)
    }
}

/// A prefix, as `spelled` of its symbol and name, before a unit that takes it.
fn prefixed<'a>(
    word: &str,
    reading: Reading,
    spelled: impl Fn((&'static str, &'static str)) -> &'static str,
    named: impl Fn(&str) -> Option<&'a Known>,
) -> Option<Unit> {
    /// Powers of ten that answers use: pico to tera. Beyond them `as`, `am` and `at` would be units.
    const IN_ANSWERS: i32 = 12;
    let within = |power: i32| reading == Reading::Request || power.abs() <= IN_ANSWERS;
    let si = SI.iter().filter(|(_, _, power)| within(*power)).filter_map(|(symbol, name, power)| {
        let known = named(word.strip_prefix(spelled((symbol, name)))?)?;
        (known.prefixes != Prefixes::None).then(|| scaled(&known.unit, ten_to(*power)))
    });
    let binary = BINARY.iter().filter_map(|(symbol, name, power)| {
        let known = named(word.strip_prefix(spelled((symbol, name)))?)?;
        let kibi = RBig::from(UBig::from(1024u16).pow(*power));
        (known.prefixes == Prefixes::Binary).then(|| scaled(&known.unit, kibi))
    });
    si.chain(binary).next()
}

fn scaled(unit: &Unit, by: RBig) -> Unit {
    Unit { factor: &unit.factor * by, ..unit.clone() }
}

fn ten_to(exponent: i32) -> RBig {
    let power = RBig::from(UBig::from(10u8).pow(exponent.unsigned_abs() as usize));
    if exponent < 0 { RBig::ONE / power } else { power }
}

fn known(line: &Line) -> Known {
    let (factor, zero) = (product(line.factor), product(line.zero));
    let unit = Unit { factor, pi: line.pi, zero, dimension: line.dimension };
    Known { unit, prefixes: line.prefixes }
}

/// The value of a factor as the table writes it.
fn product(text: &str) -> RBig {
    let (over, under) = text.split_once('/').unwrap_or((text, ""));
    let all =
        |words: &str| words.split_whitespace().map(decimal).fold(RBig::ONE, |product, one| product * one);
    all(over) / all(under)
}

fn decimal(text: &str) -> RBig {
    let places = text.split_once('.').map_or(0, |(_, places)| places.len());
    let digits: UBig = text.replace('.', "").parse().expect("the table holds decimals");
    RBig::from(digits) * ten_to(-(places as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbols and names of a line, without marks.
    fn words_of(line: &Line) -> impl Iterator<Item = (bool, &'static str)> {
        let (symbols, names) = line.words.split_once(';').unwrap_or((line.words, ""));
        let each =
            |is_name: bool, list: &'static str| list.split_whitespace().map(move |word| (is_name, word));
        each(false, symbols).chain(each(true, names))
    }

    #[test]
    fn every_word_is_one_unit() {
        let mut seen = BTreeSet::new();
        for (is_name, word) in TABLE.iter().flat_map(words_of) {
            assert!(seen.insert((is_name, word)), "{word}");
            assert!(!is_name || word == word.to_lowercase(), "{word}");
        }
        assert!(seen.len() > 200, "{}", seen.len());
        // In a request these are temperatures; in an answer they are a charge and a capacitance.
        for (word, asked) in [("C", "celsius"), ("F", "fahrenheit")] {
            assert_eq!(find(word, Reading::Request), find(asked, Reading::Request), "{word}");
            assert_ne!(find(word, Reading::Answer), find(asked, Reading::Answer), "{word}");
        }
    }

    #[test]
    fn a_symbol_is_itself_before_it_is_a_prefix_and_another() {
        // Not a milli-inch, a femto-tonne, a peta-annum, a centi-day or a pico-tonne.
        for (word, is) in [
            ("min", "a time"),
            ("ft", "a length"),
            ("Pa", "a pressure"),
            ("cd", "a luminous intensity"),
            ("pt", "a volume"),
        ] {
            for reading in [Reading::Answer, Reading::Request] {
                assert_eq!(find(word, reading).unwrap().dimension.to_string(), is, "{word}");
            }
        }
    }

    #[test]
    fn words_of_sentences_are_no_units_in_an_answer() {
        for word in ["are", "turn", "turns", "stone", "c", "ct", "st", "am", "as", "at", "AM", "the", "x", ""]
        {
            assert_eq!(find(word, Reading::Answer), None, "{word}");
        }
        for word in ["are", "turns", "stone", "c", "ct", "st", "am", "as"] {
            assert!(find(word, Reading::Request).is_some(), "{word}");
        }
    }

    #[test]
    fn names_that_people_use() {
        let same = [
            ("in", "inches"),
            ("mpg", "miles per gallon"),
            ("fl oz", "floz"),
            ("months", "mo"),
            ("hrs", "h"),
            ("mins", "min"),
            ("secs", "s"),
            ("yds", "yd"),
            ("yrs", "year"),
            ("lbs", "lb"),
            ("MPH", "mph"),
            ("KMPH", "kph"),
            ("nautical miles", "nmi"),
            ("metric tons", "t"),
            ("light years", "ly"),
            ("degrees Celsius", "°C"),
            ("Mbyte", "MB"),
            ("kilowatt hours", "kWh"),
            ("kohm", "kΩ"),
            ("Dollars", "$"),
            ("µs", "microseconds"),
        ];
        for (said, unit) in same {
            let known = find(unit, Reading::Answer).or_else(|| find(unit, Reading::Request));
            assert!(known.is_some(), "{unit}");
            assert_eq!(find(said, Reading::Answer), known, "{said}");
        }
    }
}
