//! Numerals in other bases, ratios, labelled answers, and values by cases.

use super::verdict::Outcome;
use super::{answers, collections, text};
use crate::parse::negate;
use crate::qualifiers::{self, Change};
use crate::{Budget, Exhausted, Expr, MathsConfig};
use dashu_int::UBig;
use dashu_ratio::RBig;

/// Compares where at least one side is written in one of these ways; `None` where neither is.
pub(crate) fn compare(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Option<Outcome>, Exhausted> {
    if matches!(gold, Expr::Labelled(..)) || matches!(response, Expr::Labelled(..)) {
        return labelled(gold, response, config, budget).map(Some);
    }
    match (gold, response) {
        (Expr::InBase(digits, base), _) => numeral(digits, *base, response, config, budget).map(Some),
        (_, Expr::InBase(digits, base)) => match value_in_base(digits, *base, budget)? {
            Some(value) => answers::decide(gold, &Expr::Num(value), config, budget).map(Some),
            None => Ok(Some(Outcome::said(false, "numeral", "a digit that its base does not have"))),
        },
        (Expr::Ratio(a), Expr::Ratio(b)) => proportion(a, b, config, budget).map(Some),
        (Expr::Ratio(a), other) if !is_labelled_value(other) => against_quotient(a, other, config, budget),
        (other, Expr::Ratio(b)) if !is_labelled_value(other) => against_quotient(b, other, config, budget),
        (Expr::Piecewise(a), Expr::Piecewise(b)) => cases(a, b, config, budget).map(Some),
        (Expr::Piecewise(_), other) | (other, Expr::Piecewise(_)) if !is_labelled_value(other) => {
            Ok(Some(Outcome::said(false, "kind", "one has cases, the other has none")))
        }
        _ => Ok(None),
    }
}

/// Answers whose value stands further in.
fn is_labelled_value(expr: &Expr) -> bool {
    super::assignment::is_relation(expr) || matches!(expr, Expr::List(_) | Expr::Set(_))
}

/// The value of digits in a base up to 36; `None` where a digit is too large.
pub(crate) fn value_in_base(digits: &str, base: u32, budget: &mut Budget) -> Result<Option<RBig>, Exhausted> {
    budget.size(digits.len().saturating_mul(6))?;
    if !(2..=36).contains(&base) || digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return Ok(None);
    }
    Ok(UBig::from_str_radix(digits, base).ok().map(RBig::from))
}

/// A reference in a base asks for that notation: the number in another base, ten included, is not the answer; the digits
/// alone are.
fn numeral(
    digits: &str,
    base: u32,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let plain = |text: &str| text.trim_start_matches('0').to_string();
    Ok(match response {
        Expr::InBase(other, same) if *same == base => {
            let same = plain(digits).eq_ignore_ascii_case(&plain(other));
            Outcome::said(same, "numeral", "digits in the same base")
        }
        Expr::InBase(..) => Outcome::said(false, "numeral", "written in different bases"),
        other => match text::number(digits) {
            Some(bare) if !matches!(other, Expr::Ratio(_)) => {
                let outcome = answers::decide(&bare, other, config, budget)?;
                Outcome { rule: "numeral", ..outcome }
            }
            _ => {
                let same =
                    text::words(other).is_some_and(|word| plain(&word) == plain(&digits.to_lowercase()));
                Outcome::said(
                    same,
                    "numeral",
                    if same { "the same digits" } else { "not the digits of the reference" },
                )
            }
        },
    })
}

/// `a : b = c : d` when `a d = b c`; a part that is zero has no proportion, so such parts must be equal (and times of day
/// like 12:00 stay what they are).
fn proportion(
    a: &[Expr],
    b: &[Expr],
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    if let (Some(x), Some(y)) = (time_of_day(a), time_of_day(b))
        && (x.marked || y.marked)
    {
        let same = x.minutes == y.minutes || x.marked != y.marked && x.shown == y.shown;
        return Ok(Outcome::said(same, "time", "times of day"));
    }
    let plain = collections::in_order(a, b, "ratio", config, budget)?;
    if plain.equal || a.len() != b.len() {
        return Ok(plain);
    }
    let zero = Expr::Num(RBig::ZERO);
    for part in a.iter().chain(b) {
        if answers::decide(&zero, part, config, budget)?.equal {
            return Ok(plain);
        }
    }
    let (Some(x), Some(y)) = (a.first(), b.first()) else { return Ok(plain) };
    for (p, q) in a.iter().zip(b).skip(1) {
        let left = Expr::Mul(vec![x.clone(), q.clone()]);
        let right = Expr::Mul(vec![y.clone(), p.clone()]);
        if !answers::decide(&left, &right, config, budget)?.equal {
            return Ok(Outcome::said(false, "ratio", "not in the same proportion"));
        }
    }
    Ok(Outcome::said(true, "ratio", "in the same proportion"))
}

/// A time of day: its minutes since midnight, what the clock shows, and whether AM or PM says which half it is.
struct Time {
    minutes: u64,
    shown: (u64, u64),
    marked: bool,
}

fn time_of_day(parts: &[Expr]) -> Option<Time> {
    let whole = |expr: &Expr| match expr {
        Expr::Num(value) if value.is_int() => u64::try_from(value.numerator().clone()).ok(),
        _ => None,
    };
    let [hours, minutes] = parts else { return None };
    let (minutes, half) = match minutes {
        Expr::Quantity(minutes, half) => (whole(minutes)?, Some(half.to_ascii_uppercase())),
        other => (whole(other)?, None),
    };
    let hours = whole(hours).filter(|hours| *hours <= 24 && minutes < 60)?;
    let since = match half.as_deref() {
        None => hours,
        Some("AM") => hours % 12,
        Some("PM") => hours % 12 + 12,
        Some(_) => return None,
    };
    Some(Time { minutes: 60 * since + minutes, shown: (hours, minutes), marked: half.is_some() })
}

/// `a : b` against a number: the quotient.
fn against_quotient(
    parts: &[Expr],
    other: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Option<Outcome>, Exhausted> {
    let [a, b] = parts else {
        return Ok(Some(Outcome::said(false, "kind", "one is a ratio of several parts")));
    };
    let over = Expr::Pow(Box::new(b.clone()), Box::new(Expr::Num(RBig::from(-1))));
    let outcome = answers::decide(&Expr::Mul(vec![a.clone(), over]), other, config, budget)?;
    Ok(Some(Outcome { rule: "ratio", ..outcome }))
}

/// Words before an answer are dropped, unless they are the letter of a choice, which then counts, or change the answer:
/// `minus 4` is −4, and `not 4` is neither 4 nor `half of 4`.
fn labelled(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let letter = |expr: &Expr| match expr {
        Expr::Labelled(label, _) => Some(text::normalized(label)).filter(|label| label.chars().count() == 1),
        _ => None,
    };
    let bare = |expr: &Expr| match expr {
        Expr::Text(_) | Expr::Symbol(_) => text::words(expr).filter(|word| word.chars().count() == 1),
        _ => None,
    };
    let (a, b) = (letter(gold), letter(response));
    if let (Some(a), Some(b)) = (&a, &b)
        && a != b
    {
        return Ok(Outcome::said(false, "choice", "different letters"));
    }
    match (&a, &b) {
        (Some(a), None) if bare(response).as_ref() == Some(a) => {
            return Ok(Outcome::said(true, "choice", "the letter of the reference"));
        }
        (None, Some(b)) if bare(gold).as_ref() == Some(b) => {
            return Ok(Outcome::said(true, "choice", "the letter of the reference"));
        }
        _ => {}
    }
    let denial = |expr: &Expr| match expr {
        Expr::Labelled(label, _) => qualifiers::before(label)
            .filter(|(change, _)| *change == Change::Other)
            .map(|(_, at)| text::normalized(&label[at..])),
        _ => None,
    };
    if denial(gold) != denial(response) {
        return Ok(Outcome::said(false, "label", "the words before the answer change it"));
    }
    let inside = |expr: &Expr| match expr {
        Expr::Labelled(label, inner) => match qualifiers::before(label) {
            Some((Change::Sign, _)) => negate(inner.as_ref().clone()),
            _ => inner.as_ref().clone(),
        },
        other => other.clone(),
    };
    answers::decide(&inside(gold), &inside(response), config, budget)
}

/// Every case has its counterpart: the same value under the same condition.
fn cases(
    a: &[(Expr, Expr)],
    b: &[(Expr, Expr)],
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    // Lists keep value and condition apart without being read as points or intervals.
    let rows = |cases: &[(Expr, Expr)]| -> Vec<Expr> {
        cases
            .iter()
            .map(|(value, condition)| Expr::Matrix(vec![vec![value.clone(), condition.clone()]]))
            .collect()
    };
    collections::unordered(&rows(a), &rows(b), "cases", config, budget)
}
