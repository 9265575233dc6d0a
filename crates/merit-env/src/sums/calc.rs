//! The tool of `sums`: a small strict language of whole numbers, whose refusals have a type.
//!
//! `12*(3+4)`, `mod(35,11)`, `-7/7`. Other names, a wrong number of arguments, a division by zero, a result that is not whole or
//! too large and everything else that is not in the language are refused, each in its own words. The calculator of merit-tools
//! knows no names and computes fractions; here an agent can make, and repair, more kinds of mistakes.

use merit_api::{Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSpec, no_state};
use merit_core::Task;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// Longest expression, in bytes.
const MAX_LENGTH: usize = 80;
/// Deepest nesting.
const MAX_DEPTH: u32 = 12;
const NAME: &str = "calc";

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let about = "Whole numbers: + - * /, parentheses and mod(a,b).";
    ToolSpec::text(NAME, about, "expression", "an expression", "12*(3+4)")
});

/// Why an expression has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It is not in the language.
    Syntax = 1,
    /// A name that nothing has; only `mod` has one.
    UnknownName = 2,
    /// Too few or too many arguments.
    Arity = 3,
    DivisionByZero = 4,
    /// The result is not whole, or too large.
    Range = 5,
}

impl Fault {
    /// What the agent is told.
    pub fn words(self) -> &'static str {
        match self {
            Self::Syntax => "error: syntax",
            Self::UnknownName => "error: unknown name",
            Self::Arity => "error: mod takes two numbers",
            Self::DivisionByZero => "error: division by zero",
            Self::Range => "error: not a whole number in range",
        }
    }
}

/// The value of an expression, or the first fault in it.
///
/// ```
/// use merit_env::sums::{Fault, evaluate};
/// assert_eq!(evaluate("12*(3+4)"), Ok(84));
/// assert_eq!(evaluate("mod(3-5,7)"), Ok(5));
/// assert_eq!(evaluate("pow(2,3)"), Err(Fault::UnknownName));
/// assert_eq!(evaluate("7/2"), Err(Fault::Range));
/// ```
pub fn evaluate(expression: &str) -> Result<i128, Fault> {
    if expression.len() > MAX_LENGTH {
        return Err(Fault::Syntax);
    }
    let mut reader = Reader { rest: expression, depth: 0 };
    let value = reader.sum()?;
    if reader.peek().is_none() { Ok(value) } else { Err(Fault::Syntax) }
}

/// Recursive descent, bounded by `MAX_DEPTH`.
struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn sum(&mut self) -> Result<i128, Fault> {
        let mut total = self.product()?;
        while let Some(sign @ ('+' | '-')) = self.peek() {
            self.skip();
            let next = self.product()?;
            total = bounded(if sign == '+' { total.checked_add(next) } else { total.checked_sub(next) })?;
        }
        Ok(total)
    }

    fn product(&mut self) -> Result<i128, Fault> {
        let mut total = self.factor()?;
        while let Some(sign @ ('*' | '/')) = self.peek() {
            self.skip();
            let next = self.factor()?;
            total = if sign == '*' { bounded(total.checked_mul(next))? } else { divided(total, next)? };
        }
        Ok(total)
    }

    fn factor(&mut self) -> Result<i128, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Syntax);
        }
        let value = match self.peek().ok_or(Fault::Syntax)? {
            '-' => {
                self.skip();
                self.factor().map(|value| -value)
            }
            '(' => {
                self.skip();
                let value = self.sum()?;
                self.expect(')').map(|()| value)
            }
            c if c.is_ascii_digit() => {
                let digits = self.take(|c| c.is_ascii_digit());
                bounded(digits.parse().ok())
            }
            c if c.is_ascii_lowercase() => self.function(),
            _ => Err(Fault::Syntax),
        }?;
        self.depth -= 1;
        Ok(value)
    }

    /// The name is judged before its arguments, their number before their values.
    fn function(&mut self) -> Result<i128, Fault> {
        if self.take(|c| c.is_ascii_lowercase()) != "mod" {
            return Err(Fault::UnknownName);
        }
        self.expect('(')?;
        let mut values = Vec::new();
        if self.peek() != Some(')') {
            values.push(self.sum()?);
        }
        while self.peek() == Some(',') {
            self.skip();
            values.push(self.sum()?);
        }
        self.expect(')')?;
        match values.as_slice() {
            [_, 0] => Err(Fault::DivisionByZero),
            [value, by] => Ok(value.rem_euclid(*by)),
            _ => Err(Fault::Arity),
        }
    }

    /// The next letter that is not a space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches(' ');
        self.rest.chars().next()
    }

    /// Goes past an ASCII letter that was peeked at.
    fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    fn expect(&mut self, wanted: char) -> Result<(), Fault> {
        if self.peek() != Some(wanted) {
            return Err(Fault::Syntax);
        }
        self.skip();
        Ok(())
    }

    fn take(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !holds(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }
}

/// Results of up to 18 digits, so that every one can be answered.
fn bounded(value: Option<i128>) -> Result<i128, Fault> {
    value.filter(|value| value.unsigned_abs() < 10_u128.pow(18)).ok_or(Fault::Range)
}

fn divided(value: i128, by: i128) -> Result<i128, Fault> {
    match (by, value.checked_rem(by)) {
        (0, _) => Err(Fault::DivisionByZero),
        (_, Some(0)) => Ok(value / by),
        _ => Err(Fault::Range),
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct StrictCalc;

impl Tool for StrictCalc {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn open(&self, _task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        no_state(NAME, state)?;
        Ok(Arc::new(Self))
    }
}

impl ToolSession for StrictCalc {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(std::future::ready(match evaluate(&input) {
            Ok(value) => ToolAnswer::Ok(value.to_string()),
            Err(fault) => ToolAnswer::Refused(fault.words().to_owned()),
        }))
    }
}
