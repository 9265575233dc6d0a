//! Compound units: words with powers, joined by `*`, `/` and parentheses, and what one of them is in base units.

use super::factor::Factor;
use super::find::find;
use crate::excerpt::excerpt;
use dashu_ratio::RBig;
use merit_maths::units::{Dimension, Unit};

/// Longest unit, in bytes.
const MAX_LENGTH: usize = 120;
/// Deepest nesting of parentheses.
const MAX_DEPTH: usize = 8;
/// Largest power.
const MAX_POWER: i8 = 12;

/// A unit with all its parts multiplied.
#[derive(Debug, Clone)]
pub(super) struct Compound {
    pub(super) dimension: Dimension,
    factor: Factor,
    /// Base units at 0; other than 0 only for a temperature that stands alone.
    zero: RBig,
}

impl Compound {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > MAX_LENGTH {
            return Err(format!("the unit is too long: at most {MAX_LENGTH} bytes"));
        }
        if text.is_empty() {
            return Err("a unit is missing".to_owned());
        }
        if text.chars().all(|c| c.is_alphabetic() || matches!(c, '_' | '°')) {
            return find(text).map(Self::of);
        }
        let mut reader = Reader { rest: text, depth: 0 };
        let unit = reader.product()?;
        match reader.peek() {
            None => Ok(unit),
            Some(found) => {
                Err(format!("`{}` where *, / or ^ was expected in a unit", excerpt(&found.to_string(), 8)))
            }
        }
    }

    /// How many base units `amount` of this are.
    pub(super) fn base(&self, amount: RBig) -> Result<Factor, String> {
        let mut base = Factor { ratio: amount, pi: 0 }.times(&self.factor)?;
        if self.dimension == Dimension::TEMPERATURE {
            base.ratio += &self.zero;
            if base.ratio < RBig::ZERO {
                return Err("that is below absolute zero".to_owned());
            }
        }
        Ok(base)
    }

    /// How many of this `base` base units are.
    pub(super) fn of_base(&self, mut base: Factor) -> Result<Factor, String> {
        base.ratio -= &self.zero;
        base.times(&self.factor.inverse()?)
    }

    fn of(unit: Unit) -> Self {
        let factor = Factor { ratio: unit.factor, pi: i32::from(unit.pi) };
        Self { dimension: unit.dimension, factor, zero: unit.zero }
    }

    fn one() -> Self {
        Self::of(Unit::one())
    }

    fn times(&self, other: &Self, exponent: i8) -> Result<Self, String> {
        let dimension = self.dimension.times(other.dimension, exponent);
        let dimension = dimension.ok_or("the power of a unit is too large")?;
        let factor = self.factor.times(&other.factor.power(exponent)?)?;
        Ok(Self { dimension, factor, zero: RBig::ZERO })
    }
}

/// Recursive descent; only parentheses recurse, at most `MAX_DEPTH` deep.
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn product(&mut self) -> Result<Compound, String> {
        let mut total = Compound::one().times(&self.power()?, 1)?;
        loop {
            let exponent = match self.peek() {
                Some('*' | '·' | '⋅' | '×') => 1,
                Some('/') => -1,
                _ => return Ok(total),
            };
            self.skip();
            total = total.times(&self.power()?, exponent)?;
        }
    }

    /// A word, a 1 or something in parentheses, with its power.
    fn power(&mut self) -> Result<Compound, String> {
        let part = match self.peek() {
            Some('(') => self.parenthesis()?,
            Some('1') => {
                self.skip();
                Compound::one()
            }
            Some(c) if is_letter(c) => self.word()?,
            Some(c) => return Err(format!("`{}` where a unit was expected", excerpt(&c.to_string(), 8))),
            None => return Err("a unit must follow * or /".to_owned()),
        };
        let exponent = self.exponent()?;
        Compound::one().times(&part, exponent)
    }

    fn parenthesis(&mut self) -> Result<Compound, String> {
        if self.depth == MAX_DEPTH {
            return Err(format!("nested too deep: at most {MAX_DEPTH} parentheses"));
        }
        self.depth += 1;
        self.skip();
        let inside = self.product()?;
        if self.peek() != Some(')') {
            return Err("a `(` is not closed".to_owned());
        }
        self.skip();
        self.depth -= 1;
        Ok(inside)
    }

    fn word(&mut self) -> Result<Compound, String> {
        let word = self.take(is_letter);
        let unit = find(word)?;
        if !unit.zero.is_zero() {
            return Err(format!("{word} has a zero of its own; in a compound unit write K or degR"));
        }
        Ok(Compound::of(unit))
    }

    /// The power after `^`, as a superscript, or as digits that follow at once; 1 when there is none.
    fn exponent(&mut self) -> Result<i8, String> {
        let superscript = |c: char| "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|known| known == c);
        let text: String = match self.rest.chars().next() {
            Some(c) if superscript(c).is_some() => {
                let plain = |c: char| superscript(c).and_then(|at| "-0123456789".chars().nth(at));
                self.take(|c| superscript(c).is_some()).chars().filter_map(plain).collect()
            }
            Some(c) if c.is_ascii_digit() => self.take(|c| c.is_ascii_digit()).to_owned(),
            _ if self.peek() == Some('^') => {
                self.skip();
                self.peek();
                self.take(|c| c.is_ascii_digit() || c == '-').to_owned()
            }
            _ => return Ok(1),
        };
        let exponent = text.parse::<i8>().ok().filter(|power| (-MAX_POWER..=MAX_POWER).contains(power));
        exponent.ok_or_else(|| format!("a power must be a whole number from -{MAX_POWER} to {MAX_POWER}"))
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn skip(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    fn take(&mut self, inside: impl Fn(char) -> bool) -> &str {
        let end = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '°')
}
