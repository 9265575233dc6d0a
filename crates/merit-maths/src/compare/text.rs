//! Answers in words: equal when they are the same letters and digits in the same order, whatever their case, spacing and
//! punctuation.

use super::verdict::Outcome;
use crate::{Budget, Constant, Exhausted, Expr};
use dashu_int::IBig;
use dashu_int::UBig;
use dashu_ratio::RBig;

/// Lower case, words separated by one space, without the punctuation of prose. A mark between two digits stays: 1.5 is
/// not 15, and 12:30 is not 1230.
pub(crate) fn normalized(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut gap, mut before) = (false, ' ');
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let inside = before.is_ascii_digit() && rest.peek().is_some_and(char::is_ascii_digit);
        before = c;
        if matches!(c, '\'' | '’') {
            continue;
        }
        if c.is_whitespace() || is_prose(c) && !inside {
            gap = true;
            continue;
        }
        if gap && !plain.is_empty() {
            plain.push(' ');
        }
        gap = false;
        match c {
            '−' | '–' => plain.push('-'),
            _ => plain.extend(c.to_lowercase()),
        }
    }
    plain
}

fn is_prose(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '"'
            | '“'
            | '”'
            | '‘'
            | '`'
            | '$'
            | '\\'
            | '~'
            | '*'
            | '_'
            | '。'
            | '，'
    )
}

/// What an expression says in words; `None` where it is a formula.
pub(crate) fn words(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Text(text) => Some(normalized(text)),
        Expr::Symbol(name) => Some(normalized(name)),
        Expr::Truth(truth) => Some(if *truth { "true".into() } else { "false".into() }),
        Expr::Constant(Constant::E) => Some("e".into()),
        Expr::Constant(Constant::I) => Some("i".into()),
        Expr::Constant(Constant::Pi) => Some("pi".into()),
        // A word read as a product of its letters.
        Expr::Mul(parts) => {
            let mut word = String::new();
            for part in parts {
                match part {
                    Expr::Symbol(name) if name.chars().count() == 1 => word.push_str(&name.to_lowercase()),
                    Expr::Constant(Constant::E) => word.push('e'),
                    Expr::Constant(Constant::I) => word.push('i'),
                    _ => return None,
                }
            }
            Some(word)
        }
        _ => None,
    }
}

/// Yes or no, where the words say just that.
pub(crate) fn truth(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Truth(truth) => Some(*truth),
        Expr::Text(text) => match normalized(text).as_str() {
            "yes" | "true" | "correct" => Some(true),
            "no" | "false" | "incorrect" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Compares where at least one side is words.
pub(crate) fn compare(gold: &Expr, response: &Expr, budget: &mut Budget) -> Result<Outcome, Exhausted> {
    for side in [gold, response] {
        if let Expr::Text(text) = side {
            budget.spend(text.len() as u64 / 8)?;
        }
    }
    if let (Some(a), Some(b)) = (truth(gold), truth(response)) {
        return Ok(Outcome::said(
            a == b,
            "truth",
            if a == b { "both say the same" } else { "one affirms, the other denies" },
        ));
    }
    if is_none(gold) && is_none(response) {
        return Ok(Outcome::said(true, "text", "both say that there is none"));
    }
    let (Some(a), Some(b)) = (words(gold), words(response)) else {
        return Ok(Outcome::said(false, "kind", "one is words, the other mathematics"));
    };
    // Words without any letter or digit say nothing.
    let letters = |words: &str| !words.is_empty() && !words.bytes().any(|b| b.is_ascii_digit());
    let equal = !a.is_empty() && (a == b || letters(&a) && joined(&a) == joined(&b));
    let why = if equal { "the same words" } else { "different words" };
    Ok(Outcome::said(equal, "text", why))
}

/// The empty set, in a sign or in words.
fn is_none(expr: &Expr) -> bool {
    match expr {
        Expr::Set(parts) => parts.is_empty(),
        Expr::Text(text) => matches!(
            normalized(text).as_str(),
            "no solution"
                | "no solutions"
                | "no real solution"
                | "no real solutions"
                | "empty set"
                | "the empty set"
        ),
        _ => false,
    }
}

fn joined(words: &str) -> String {
    words.split(' ').collect()
}

/// A whole or decimal number written as words.
pub(crate) fn number(text: &str) -> Option<Expr> {
    if let Some(value) = crate::parse::number_in_words(text) {
        return Some(Expr::Num(value));
    }
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(places) || digits.len() > 40 {
        return None;
    }
    let value: UBig = format!("{whole}{places}").parse().ok()?;
    let value = RBig::from_parts(IBig::from(value), UBig::from(10u8).pow(places.len()));
    Some(Expr::Num(if negative { -value } else { value }))
}
