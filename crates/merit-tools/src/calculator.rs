//! Exact arithmetic for agents: `+ - * /`, parentheses, unary minus and decimals, on checked 128-bit fractions.
//!
//! In: an expression the agent wrote. Out: an integer, a terminating decimal or a fraction `a/b`, or a refusal that says what
//! to write instead. Length and nesting are limited before anything is computed, so hostile input costs nothing.

use crate::{
    Rational, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSettings, ToolSpec, no_state,
};
use merit_core::registry::Component;
use merit_core::{About, Task};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// Longest expression, in bytes.
pub const MAX_LENGTH: usize = 200;
/// Deepest nesting of parentheses.
pub const MAX_DEPTH: u32 = 24;

/// What the registry says of it.
const ABOUT: About = About { name: "calc", summary: "Exact arithmetic: + - * / and parentheses.", paper: "" };

static CARD: LazyLock<ToolSpec> =
    LazyLock::new(|| ToolSpec::text(ABOUT.name, ABOUT.summary, "expression", "a sum", "141+4*12"));

const TOO_LARGE: &str = "number too large";

/// `calc`: it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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

/// The calculator.
#[derive(Debug, Clone, Copy, Default)]
pub struct Calculator;

struct Session;

impl Tool for Calculator {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn open(&self, _task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        no_state(ABOUT.name, state)?;
        Ok(Arc::new(Session))
    }
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let answer =
            evaluate(&input).map_or_else(ToolAnswer::Refused, |value| ToolAnswer::Ok(value.to_string()));
        Box::pin(std::future::ready(answer))
    }
}

/// The value of an expression, or in words why it has none.
///
/// ```
/// use merit_tools::evaluate;
/// assert_eq!(evaluate("141 + 4*12").unwrap().to_string(), "189");
/// assert_eq!(evaluate("(1-3)/4").unwrap().to_string(), "-0.5");
/// assert_eq!(evaluate("0.1+0.2").unwrap().to_string(), "0.3");
/// assert_eq!(evaluate("3*").unwrap_err(), "a number must follow `*`");
/// ```
pub fn evaluate(expression: &str) -> Result<Rational, String> {
    if expression.len() > MAX_LENGTH {
        return Err(format!("too long: at most {MAX_LENGTH} characters"));
    }
    if expression.trim().is_empty() {
        return Err("write a sum, as in 141+4*12".to_owned());
    }
    let mut reader = Reader { text: expression, at: 0, depth: 0 };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
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
    fn sum(&mut self) -> Result<Rational, String> {
        let mut total = self.product()?;
        while let Some(sign @ ('+' | '-')) = self.peek() {
            self.at += 1;
            let next = self.product()?;
            let result = if sign == '+' { total.plus(next) } else { total.minus(next) };
            total = result.ok_or(TOO_LARGE)?;
        }
        Ok(total)
    }

    fn product(&mut self) -> Result<Rational, String> {
        let mut total = self.factor()?;
        while let Some(sign @ ('*' | '/')) = self.peek() {
            self.at += 1;
            let next = self.factor()?;
            if sign == '/' && next.is_zero() {
                return Err("division by zero".to_owned());
            }
            let result = if sign == '*' { total.times(next) } else { total.over(next) };
            total = result.ok_or(TOO_LARGE)?;
        }
        Ok(total)
    }

    fn factor(&mut self) -> Result<Rational, String> {
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
        if negative { value.negated().ok_or_else(|| TOO_LARGE.to_owned()) } else { Ok(value) }
    }

    fn parenthesis(&mut self) -> Result<Rational, String> {
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

    fn number(&mut self) -> Result<Rational, String> {
        let (mut digits, mut scale, mut after_point) = (0_i128, 1_i128, false);
        let start = self.at;
        for c in self.text[start..].chars() {
            match c {
                '.' if !after_point => after_point = true,
                '0'..='9' => {
                    let shifted =
                        digits.checked_mul(10).and_then(|d| d.checked_add(i128::from(c as u8 - b'0')));
                    digits = shifted.ok_or(TOO_LARGE)?;
                    scale = if after_point { scale.checked_mul(10).ok_or(TOO_LARGE)? } else { scale };
                }
                _ => break,
            }
            self.at += 1;
        }
        if self.text[start..self.at].ends_with('.') {
            return Err("a digit must follow `.`".to_owned());
        }
        Rational::new(digits, scale).ok_or_else(|| TOO_LARGE.to_owned())
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

/// A character as the agent may be shown it.
fn shown(c: char) -> String {
    if c.is_ascii_graphic() { format!("`{c}`") } else { "that character".to_owned() }
}
