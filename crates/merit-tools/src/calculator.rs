//! Exact arithmetic for agents: `+ - * /`, `**`, parentheses, unary minus and decimals, on exact fractions of 128 bits.
//!
//! In: an expression the agent wrote. Out: an integer, a terminating decimal or a fraction `a/b`, or a refusal that says what
//! to write instead. Length and nesting are limited before anything is computed, so hostile input costs nothing.

use crate::decimal::{exact, ten_to};
use crate::{Tool, ToolAnswer, ToolError, ToolSession, ToolSettings, ToolSpec, pure};
use dashu_int::UBig;
use dashu_ratio::RBig;
use merit_core::registry::Component;
use merit_core::{About, Task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::str::FromStr as _;
use std::sync::{Arc, LazyLock};

/// Longest expression, in bytes.
pub const MAX_LENGTH: usize = 200;
/// Deepest nesting of parentheses.
pub const MAX_DEPTH: u32 = 24;
/// Largest power; larger ones of anything but 0 and 1 would not fit anyway.
const MAX_POWER: u32 = 128;

/// What the registry says of it.
const ABOUT: About = About { name: "calc", summary: "Exact arithmetic: + - * / and parentheses.", paper: "" };

static CARD: LazyLock<ToolSpec> =
    LazyLock::new(|| ToolSpec::text(ABOUT.name, ABOUT.summary, "expression", "a sum", "141+4*12"));

/// Decimals with more places than this are printed as fractions.
const MAX_PLACES: usize = 20;

/// `calc`: it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalcConfig {}

impl Component for CalcConfig {
    const ABOUT: About = ABOUT;
}

impl ToolSettings for CalcConfig {
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(vec![Arc::new(Calculator)])
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Calculator;

impl Tool for Calculator {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn open(&self, _task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        pure::open(ABOUT.name, state, |input| {
            evaluate(input).map_or_else(ToolAnswer::Refused, ToolAnswer::Ok)
        })
    }
}

/// The value of an expression as the tool writes it, or in words why it has none.
///
/// ```
/// use merit_tools::evaluate;
/// assert_eq!(evaluate("141 + 4*12").unwrap(), "189");
/// assert_eq!(evaluate("(1-3)/4").unwrap(), "-0.5");
/// assert_eq!(evaluate("0.1+0.2").unwrap(), "0.3");
/// assert_eq!(evaluate("2**10").unwrap(), "1024");
/// assert_eq!(evaluate("3*").unwrap_err(), "a number must follow `*`");
/// ```
pub fn evaluate(expression: &str) -> Result<String, String> {
    if expression.len() > MAX_LENGTH {
        return Err(format!("too long: at most {MAX_LENGTH} characters"));
    }
    if expression.trim().is_empty() {
        return Err("write a sum, as in 141+4*12".to_owned());
    }
    let mut reader = Reader { text: expression, at: 0, depth: 0 };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(exact(&value, MAX_PLACES, usize::MAX).unwrap_or_else(|| value.to_string())),
        Some(')') => Err("`)` without `(`".to_owned()),
        Some(found) => Err(format!("{} where + - * or / was expected", shown(found))),
    }
}

/// Recursive descent; recursion is bounded by `MAX_DEPTH` because only parentheses recurse.
struct Reader<'a> {
    text: &'a str,
    /// Byte position, always on a character boundary.
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn sum(&mut self) -> Result<RBig, String> {
        let mut total = self.product()?;
        while let Some(sign @ ('+' | '-')) = self.peek() {
            self.at += 1;
            let next = self.product()?;
            total = bounded(if sign == '+' { total + next } else { total - next })?;
        }
        Ok(total)
    }

    fn product(&mut self) -> Result<RBig, String> {
        let mut total = self.factor()?;
        while let Some(sign @ ('*' | '/')) = self.peek() {
            if self.at_power() {
                return Err("powers of powers need parentheses, as in (2**3)**2".to_owned());
            }
            self.at += 1;
            let next = self.factor()?;
            if sign == '/' && next.is_zero() {
                return Err("division by zero".to_owned());
            }
            total = bounded(if sign == '*' { total * next } else { total / next })?;
        }
        Ok(total)
    }

    fn factor(&mut self) -> Result<RBig, String> {
        let mut negative = false;
        while self.peek() == Some('-') {
            self.at += 1;
            negative = !negative;
        }
        let value = match self.peek() {
            Some('(') => self.parenthesis()?,
            Some(c) if c.is_ascii_digit() || c == '.' => self.number()?,
            found => return Err(self.missing_number(found)),
        };
        // As everywhere, a power binds closer than the sign before it: -2**2 is -4.
        let value = if self.at_power() { self.power(&value)? } else { value };
        if negative { bounded(-value) } else { Ok(value) }
    }

    fn at_power(&mut self) -> bool {
        self.peek();
        self.text[self.at..].starts_with("**")
    }

    /// `base` to the whole power that follows `**`.
    fn power(&mut self, base: &RBig) -> Result<RBig, String> {
        self.at += 2;
        let inverse = self.peek() == Some('-');
        self.at += usize::from(inverse);
        let exponent = match self.peek() {
            Some('(') => self.parenthesis()?,
            Some(c) if c.is_ascii_digit() || c == '.' => self.number()?,
            found => return Err(self.missing_number(found)),
        };
        let times = i64::try_from(exponent.numerator().clone()).ok().filter(|_| exponent.is_int());
        let inverse = inverse != times.is_some_and(|times| times < 0);
        let times = times.map(i64::unsigned_abs).filter(|times| *times <= u64::from(MAX_POWER));
        let times = times.ok_or_else(|| format!("a power is a whole number up to {MAX_POWER}"))?;
        if inverse && base.is_zero() {
            return Err("division by zero".to_owned());
        }
        let value = (0..times).try_fold(RBig::ONE, |product, _| bounded(product * base))?;
        if inverse { bounded(RBig::ONE / value) } else { Ok(value) }
    }

    fn parenthesis(&mut self) -> Result<RBig, String> {
        if self.depth == MAX_DEPTH {
            return Err(format!("nested too deep: at most {MAX_DEPTH} parentheses"));
        }
        self.depth += 1;
        self.at += 1;
        let value = self.sum()?;
        match self.peek() {
            Some(')') => self.at += 1,
            Some(found) => return Err(format!("{} where + - * / or ) was expected", shown(found))),
            None => return Err("a `(` is not closed".to_owned()),
        }
        self.depth -= 1;
        Ok(value)
    }

    fn number(&mut self) -> Result<RBig, String> {
        let rest = &self.text[self.at..];
        let (mut end, mut point) = (0, None);
        for c in rest.chars() {
            match c {
                '.' if point.is_none() => point = Some(end),
                '0'..='9' => {}
                _ => break,
            }
            end += 1;
        }
        self.at += end;
        let (whole, places) = point.map_or((&rest[..end], ""), |at| (&rest[..at], &rest[at + 1..end]));
        if point.is_some() && places.is_empty() {
            return Err("a digit must follow `.`".to_owned());
        }
        let digits = UBig::from_str(&[whole, places].concat()).map_err(|error| error.to_string())?;
        bounded(RBig::from(digits) * ten_to(-(places.len() as i32)))
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
        self.text[self.at..].chars().next()
    }

    fn missing_number(&self, found: Option<char>) -> String {
        if let Some(c) = found.filter(|c| !"+*/)".contains(*c)) {
            return format!("{} is not a number: only numbers, + - * / and ( )", shown(c));
        }
        match self.text[..self.at].trim_end().chars().next_back() {
            Some(before) => format!("a number must follow {}", shown(before)),
            None => "start with a number".to_owned(),
        }
    }
}

/// The value, or the refusal of one whose numerator or denominator needs more than 128 bits.
fn bounded(value: RBig) -> Result<RBig, String> {
    let fits = i128::try_from(value.numerator().clone()).is_ok()
        && i128::try_from(value.denominator().clone()).is_ok();
    if fits { Ok(value) } else { Err("number too large".to_owned()) }
}

/// A character as the agent may be shown it.
fn shown(c: char) -> String {
    if c.is_ascii_graphic() { format!("`{c}`") } else { "that character".to_owned() }
}
