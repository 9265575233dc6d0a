//! What a judge of answers may compute with: `eval 3*(x+4) at 7` and `change 47 min s`.

use crate::sums;
use merit_api::{Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSpec, no_state};
use merit_core::Task;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// Units by their kind, each with how many of the smallest it is.
pub const UNITS: [&[(&str, i64)]; 3] = [
    &[("mm", 1), ("cm", 10), ("m", 1000), ("km", 1_000_000)],
    &[("g", 1), ("kg", 1000), ("t", 1_000_000)],
    &[("s", 1), ("min", 60), ("h", 3600), ("d", 86_400)],
];

/// The kind of a unit and how many of the smallest it is.
pub(super) fn unit(name: &str) -> Option<(usize, i64)> {
    let found = |(kind, units): (usize, &&[(&str, i64)])| {
        units.iter().find(|(known, _)| *known == name).map(|(_, of)| (kind, *of))
    };
    UNITS.iter().enumerate().find_map(found)
}

/// A whole number of up to nine digits.
pub(super) fn whole(text: &str) -> Option<i64> {
    let digits = (1..=9).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// The value of an expression of whole numbers, with `x` at a point.
pub(super) fn value_at(expression: &str, x: i64) -> Option<i128> {
    sums::evaluate(&expression.replace('x', &format!("({x})"))).ok()
}

/// What `eval` answers: the value of an expression, or why it has none.
///
/// ```
/// use merit_env::pairs::eval;
/// assert_eq!(eval("34*7"), Ok("238".to_owned()));
/// assert_eq!(eval("3*(x+4) at 7"), Ok("33".to_owned()));
/// assert_eq!(eval("3*(x+4)"), Err("where is x"));
/// ```
pub fn eval(input: &str) -> Result<String, &'static str> {
    let (expression, x) = match input.trim().split_once(" at ") {
        Some((expression, x)) => (expression, Some(whole(x.trim()).ok_or("x is no number")?)),
        None => (input.trim(), None),
    };
    if x.is_none() && expression.contains('x') {
        return Err("where is x");
    }
    value_at(expression, x.unwrap_or_default()).map(|value| value.to_string()).ok_or("no sum")
}

/// What `change` answers: a quantity in another unit, or why there is none.
///
/// ```
/// use merit_env::pairs::change;
/// assert_eq!(change("47 min s"), Ok("2820 s".to_owned()));
/// assert_eq!(change("47 kg m"), Err("not of a kind"));
/// ```
pub fn change(input: &str) -> Result<String, &'static str> {
    let words: Vec<&str> = input.split_whitespace().take(4).collect();
    let &[amount, from, to] = words.as_slice() else { return Err("say how much of what in what") };
    let amount = whole(amount).ok_or("no number")?;
    let ((kind, of), (other, by)) = (unit(from).ok_or("no such unit")?, unit(to).ok_or("no such unit")?);
    if kind != other {
        return Err("not of a kind");
    }
    match amount * of {
        base if base % by == 0 => Ok(format!("{} {to}", base / by)),
        _ => Err("not whole"),
    }
}

/// A tool that is a function of its input.
#[derive(Clone, Copy)]
pub struct Pure {
    spec: &'static LazyLock<ToolSpec>,
    run: fn(&str) -> Result<String, &'static str>,
}

static EVAL: LazyLock<ToolSpec> = LazyLock::new(|| {
    let about = "The value of an expression of whole numbers, with x at a point.";
    ToolSpec::text(
        "eval",
        about,
        "expression",
        "an expression, and `at` a number where it has an x",
        "3*(x+4) at 7",
    )
});
static CHANGE: LazyLock<ToolSpec> = LazyLock::new(|| {
    ToolSpec::text("change", "A quantity in another unit.", "quantity", "a number and two units", "47 min s")
});

impl Pure {
    pub const ALL: [Self; 2] = [Self { spec: &EVAL, run: eval }, Self { spec: &CHANGE, run: change }];
}

impl Tool for Pure {
    fn spec(&self) -> &ToolSpec {
        self.spec
    }

    fn open(&self, _task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        no_state(&self.spec.name, state)?;
        Ok(Arc::new(*self))
    }
}

impl ToolSession for Pure {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(std::future::ready(match (self.run)(&input) {
            Ok(text) => ToolAnswer::Ok(text),
            Err(why) => ToolAnswer::Refused(why.to_owned()),
        }))
    }
}
