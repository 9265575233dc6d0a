//! The form of an answer: equal mathematics is not yet an answer.
//!
//! `7 < 2x + 1` is the same inequality as `2x + 1 > 7`, and solves nothing. In: the reference and the response as trees, the
//! wanted [`Form`] and the task's words where they are known. Out: why an equal response is no answer, or nothing. What a form
//! is derived from, the reference must have itself: a response need not give more than the reference does.

mod factors;
mod question;
mod restated;
mod simplest;
mod solved;
mod worked_out;

pub(crate) use restated::restates;
pub(crate) use worked_out::disguised;

use crate::{Budget, Exhausted, Expr};
use dashu_ratio::RBig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The form in which an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// What the reference and the task's words ask for: a number where the reference is one, a solution where it is one, and
    /// simplified, expanded, factored and so on where the task says so and the reference is.
    #[default]
    Auto,
    /// Any: equal is enough.
    Any,
    /// Worked out: a number, or a collection of numbers.
    Number,
    /// A decimal number.
    Decimal,
    /// A fraction or a whole number.
    Fraction,
    /// With a percent sign.
    Percent,
    /// In scientific notation.
    Scientific,
    /// Every fraction of whole numbers reduced.
    LowestTerms,
    /// Nothing left to be collected, cancelled or taken out of a root.
    Simplified,
    /// A sum without brackets to multiply out.
    Expanded,
    /// A product, with no fewer factors than the reference.
    Factored,
    /// A variable alone on one side of every relation.
    Solved,
    /// The digits of a whole number in this base, 2 to 36.
    Base(u32),
}

/// What the task asked, in its own words.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'q> {
    pub question: &'q str,
    /// Whether the question's own formula may be the answer; the words then ask for no form.
    pub may_restate: bool,
}

/// The reference as the wanted form means it: `1101` asked for in base 2 is `1101_2`.
pub(crate) fn meant(gold: Expr, form: Form, asked: Option<Asked<'_>>) -> Expr {
    let base = match form {
        Form::Base(base) => Some(base),
        Form::Auto => asked.and_then(|asked| question::base(asked.question)),
        _ => None,
    };
    let (Some(base), Expr::Num(value)) = (base.filter(|base| *base != 10), &gold) else { return gold };
    let digits = value.to_string();
    match digits.chars().all(|c| c.is_digit(base)) {
        true => Expr::InBase(Arc::from(digits), base),
        false => gold,
    }
}

/// Why a response that equals the reference is no answer. `text` is the response's answer as it was written.
pub(crate) fn objection(
    form: Form,
    asked: Option<Asked<'_>>,
    (gold, gold_text): (&Expr, &str),
    (response, text): (&Expr, &str),
    budget: &mut Budget,
) -> Result<Option<String>, Exhausted> {
    // Words and digits of another base are compared as they are written.
    let written = |expr: &Expr| matches!(expr, Expr::Text(_) | Expr::Truth(_));
    if form == Form::Any
        || gold == response
        || written(gold)
        || written(response)
        || matches!(gold, Expr::InBase(..))
    {
        return Ok(None);
    }
    let mut wanted = Vec::new();
    for derived in [Form::Number, Form::Solved] {
        if has(derived, gold, gold, gold_text, budget)? {
            wanted.push(derived);
        }
    }
    if form != Form::Auto {
        wanted.push(form);
    } else if let Some(asked) = asked {
        for said in question::forms(asked.question) {
            if has(said, gold, gold, gold_text, budget)? {
                wanted.push(said);
            }
        }
    }
    for form in wanted {
        if !has(form, response, gold, text, budget)? {
            return Ok(Some(form.lacking().to_owned()));
        }
    }
    Ok(solved::left_undone(response, gold, budget)?.then(|| Form::Number.lacking().to_owned()))
}

/// Whether an expression has a form, beside a reference that does.
fn has(form: Form, expr: &Expr, gold: &Expr, text: &str, budget: &mut Budget) -> Result<bool, Exhausted> {
    budget.spend(8)?;
    Ok(match form {
        Form::Auto | Form::Any | Form::Base(_) => true,
        Form::Number => worked_out::worked_out(expr),
        Form::Decimal => every_number(expr, |n| matches!(n, Expr::Decimal(_)) || is_whole(n)),
        Form::Fraction => {
            worked_out::worked_out(expr) && every_number(expr, |n| !matches!(n, Expr::Decimal(_)))
        }
        Form::Percent => every_number(expr, |n| matches!(n, Expr::Percent(_))) || bare_percent(expr, gold),
        Form::Scientific => is_scientific(text),
        Form::LowestTerms => simplest::lowest_terms(expr),
        Form::Simplified => simplest::simplified(expr, gold, budget)?,
        Form::Expanded => factors::expanded(expr, budget)?,
        Form::Factored => factors::factored(expr, gold),
        Form::Solved => solved::solved(expr, budget)?,
    })
}

impl Form {
    /// What is wrong with an answer that does not have this form, after "equal, but".
    fn lacking(self) -> &'static str {
        match self {
            Self::Auto | Self::Any => "not in the wanted form",
            Self::Number => "not worked out",
            Self::Decimal => "not a decimal",
            Self::Fraction => "not a fraction",
            Self::Percent => "not a percentage",
            Self::Scientific => "not in scientific notation",
            Self::LowestTerms => "not in lowest terms",
            Self::Simplified => "not simplified",
            Self::Expanded => "not expanded",
            Self::Factored => "not factored",
            Self::Solved => "not solved",
            Self::Base(_) => "not in the wanted base",
        }
    }
}

/// Whether every number that an answer consists of is as `test` says. Signs are looked through.
fn every_number(expr: &Expr, test: fn(&Expr) -> bool) -> bool {
    match expr {
        Expr::Quantity(part, _) | Expr::Labelled(_, part) | Expr::Relation(_, _, part) => {
            every_number(part, test)
        }
        Expr::Set(parts) | Expr::Tuple(parts) | Expr::List(parts) => {
            parts.iter().all(|part| every_number(part, test))
        }
        Expr::Mul(parts) => match parts.as_slice() {
            [Expr::Num(sign), rest] if *sign == RBig::from(-1) => test(rest),
            _ => test(expr),
        },
        other => test(other),
    }
}

fn is_whole(expr: &Expr) -> bool {
    matches!(expr, Expr::Num(value) if value.is_int())
}

/// `50` for `50%`: the sign may go without saying.
fn bare_percent(expr: &Expr, gold: &Expr) -> bool {
    let value = |expr: &Expr| match expr {
        Expr::Num(value) => Some(value.clone()),
        Expr::Decimal(rounded) => Some(rounded.value.clone()),
        _ => None,
    };
    matches!(gold, Expr::Percent(part) if value(part).is_some() && value(part) == value(expr))
}

fn is_scientific(text: &str) -> bool {
    let exponent = |(at, _): (usize, &str)| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let after = text[at + 1..].trim_start_matches(['+', '-']);
        digit(text[..at].chars().next_back()) && digit(after.chars().next())
    };
    text.contains("10^") || text.contains("10⁻") || text.match_indices(['e', 'E']).any(exponent)
}
