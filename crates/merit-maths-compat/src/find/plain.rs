//! Numbers and arithmetic in running text, without LaTeX.

use super::text::{Meter, char_at, is_space, skip_digits, skip_space, starts};
use std::ops::Range;

/// What was found: a number in its two parts, or an expression.
#[derive(Debug, Clone)]
pub(super) enum Plain {
    Number { integer: Range<usize>, decimal: Range<usize>, percent: bool },
    Expr(Range<usize>),
}

/// Asked with what was found and where it ends, until it says yes.
pub(super) type Accept<'a> = &'a mut dyn FnMut(Plain, usize) -> bool;

const CURRENCY: &str = "$€£¥₹₽₪₩₫฿₡₢₣₤₥₦₧₨₭₮₯₰₱₲₳₴₵₶₷₸₺₻₼₾₿";

/// An expression or a number, with what must stand before it.
pub(super) fn expr_or_number(text: &str, at: usize, meter: &mut Meter<'_>, accept: Accept<'_>) -> bool {
    expr(text, at, meter, accept) || number(text, at, accept)
}

/// The positions after what may stand before: the start of the text, white space or an equals sign, then perhaps `**`.
fn after_prefix(text: &str, at: usize) -> impl Iterator<Item = usize> + '_ {
    let start = (at == 0).then_some(0);
    let one = char_at(text, at).filter(|c| is_space(*c) || *c == '=').map(|c| at + c.len_utf8());
    [start, one].into_iter().flatten().flat_map(|at| {
        let bold = starts(text, at, "**").then_some(at + 2);
        [bold, Some(at)].into_iter().flatten()
    })
}

/// A number, perhaps after a currency sign.
pub(super) fn number(text: &str, at: usize, accept: Accept<'_>) -> bool {
    after_prefix(text, at).any(|at| {
        let paid = char_at(text, at).filter(|c| CURRENCY.contains(*c)).map(|c| at + c.len_utf8());
        paid.is_some_and(|at| bare_number(text, at, accept)) || bare_number(text, at, accept)
    })
}

fn bare_number(text: &str, at: usize, accept: Accept<'_>) -> bool {
    if at > 0 && text.as_bytes()[at - 1].is_ascii_digit() {
        return false;
    }
    let digits = if starts(text, at, "-") { at + 1 } else { at };
    let end = skip_digits(text, digits);
    if end == digits {
        return starts(text, at, ".") && decimals(text, at..at, at, accept);
    }
    grouped(text, at, digits, accept)
        || ((starts(text, end, ".") || starts(text, end, ",")) && decimals(text, at..end, end, accept))
        || (digits + 1..=end).rev().any(|end| with_percent(text, at..end, end..end, end, accept))
}

/// A number in groups of three: `1,234.5`, `1 234`.
fn grouped(text: &str, at: usize, digits: usize, accept: Accept<'_>) -> bool {
    let bytes = text.as_bytes();
    let first = skip_digits(text, digits);
    if bytes[digits] == b'0' || first - digits > 3 {
        return false;
    }
    let mut ends = Vec::new();
    let mut end = first;
    while matches!(bytes.get(end), Some(b' ' | b','))
        && bytes.get(end + 1..end + 4).is_some_and(|group| group.iter().all(u8::is_ascii_digit))
    {
        end += 4;
        ends.push(end);
        if bytes.get(end).is_some_and(u8::is_ascii_digit) {
            break;
        }
    }
    ends.into_iter().rev().any(|end| {
        (starts(text, end, ".") && decimals(text, at..end, end, accept))
            || with_percent(text, at..end, end..end, end, accept)
    })
}

/// The decimals from the separator at `from`: all of them, then fewer.
fn decimals(text: &str, integer: Range<usize>, from: usize, accept: Accept<'_>) -> bool {
    let end = skip_digits(text, from + 1);
    (from + 2..=end).rev().any(|end| with_percent(text, integer.clone(), from..end, end, accept))
}

fn with_percent(
    text: &str,
    integer: Range<usize>,
    decimal: Range<usize>,
    end: usize,
    accept: Accept<'_>,
) -> bool {
    let after = skip_space(text, end);
    let sign = ["%", "Percent", "percent", "Pct", "pct"].iter().find(|w| starts(text, after, w));
    let number = |percent| Plain::Number { integer: integer.clone(), decimal: decimal.clone(), percent };
    sign.is_some_and(|w| accept(number(true), after + w.len())) || accept(number(false), end)
}

fn is_operator(c: char) -> bool {
    matches!(c, '+' | '-' | '*' | '×' | '/' | '^' | '(' | ')' | '÷')
}

/// Arithmetic that starts with a digit, has an operator, and ends where a word could end.
pub(super) fn expr(text: &str, at: usize, meter: &mut Meter<'_>, accept: Accept<'_>) -> bool {
    after_prefix(text, at).any(|at| bare_expr(text, at, meter, accept))
}

fn bare_expr(text: &str, at: usize, meter: &mut Meter<'_>, accept: Accept<'_>) -> bool {
    let bytes = text.as_bytes();
    let mut digit = at;
    for optional in [b'-', b'(', b'-'] {
        digit += usize::from(bytes.get(digit) == Some(&optional));
    }
    if !bytes.get(digit).is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let run = run_of_expr(text, digit + 1);
    if !meter.spend(run.len()) {
        return false;
    }
    // An operator, at least one more character, then the end: the longest that ends well.
    let Some(operator) = run.iter().position(|at| char_at(text, *at).is_some_and(is_operator)) else {
        return false;
    };
    (operator + 2..run.len()).rev().any(|end| end_of_expr(text, at, run[end], accept))
}

/// The positions of the characters from `from` that arithmetic may have, and the position after the last.
fn run_of_expr(text: &str, from: usize) -> Vec<usize> {
    let mut positions = Vec::new();
    let mut at = from;
    while let Some(c) = char_at(text, at) {
        positions.push(at);
        if !(c.is_ascii_digit() || c == '.' || is_space(c) || is_operator(c)) {
            return positions;
        }
        at += c.len_utf8();
    }
    positions.push(at);
    positions
}

fn end_of_expr(text: &str, from: usize, end: usize, accept: Accept<'_>) -> bool {
    let closed = starts(text, end, ")").then_some(end + 1);
    [closed, Some(end)].into_iter().flatten().any(|end| {
        let bold = starts(text, end, "**").then_some(end + 2);
        [bold, Some(end)].into_iter().flatten().any(|at| match char_at(text, at) {
            None => accept(Plain::Expr(from..end), at),
            Some(c) if matches!(c, '.' | ',' | ':' | ')' | '$') || is_space(c) => {
                accept(Plain::Expr(from..end), at + c.len_utf8())
            }
            Some(_) => false,
        })
    })
}
