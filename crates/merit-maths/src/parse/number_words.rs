//! Numbers in English words: `twenty-one`, `two thirds`, `three and a half`, `one million five hundred thousand`.

use super::units::scale;
use dashu_ratio::RBig;

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const PARTS: [(&str, u64); 9] = [
    ("half", 2),
    ("third", 3),
    ("quarter", 4),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("eighth", 8),
    ("tenth", 10),
    ("hundredth", 100),
];

/// The number that a text names, where it is nothing but that.
pub(crate) fn number_in_words(text: &str) -> Option<RBig> {
    const LONGEST: usize = 120;
    let text = text.trim();
    if text.len() > LONGEST || !text.starts_with(|c: char| c.is_ascii_alphabetic()) || text.contains('\\') {
        return None;
    }
    let text = text.to_ascii_lowercase();
    let text = text.trim_end_matches('.');
    let words: Vec<&str> = text.split([' ', '-', ',']).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["minus" | "negative", rest @ ..] => unsigned(rest).map(|value| -value),
        all => unsigned(all),
    }
}

fn unsigned(words: &[&str]) -> Option<RBig> {
    let part = words.last().and_then(|last| {
        let singular = last.strip_suffix('s').unwrap_or(last);
        PARTS.iter().find(|(name, _)| *name == singular || *last == "halves" && *name == "half")
    });
    let Some((_, parts)) = part else { return whole(words).map(RBig::from) };
    let before = words.get(..words.len() - 1)?;
    let (whole_part, top) = match before.iter().rposition(|word| *word == "and") {
        Some(at) => (whole(before.get(..at)?)?, before.get(at + 1..)?),
        None => (0, before),
    };
    let top = match top {
        ["a" | "an"] => 1,
        [] if *parts == 2 => 1,
        top => whole(top)?,
    };
    Some(RBig::from(whole_part) + RBig::from(top) / RBig::from(*parts))
}

fn whole(words: &[&str]) -> Option<u64> {
    let (mut total, mut current, mut any) = (0_u64, 0_u64, false);
    for (at, word) in words.iter().enumerate() {
        if let Some(n) = ONES.iter().position(|name| name == word) {
            let room = current % 100 == 0 || n < 10 && current % 10 == 0 && current % 100 >= 20;
            current = Some(current + n as u64).filter(|_| room && !(any && n == 0))?;
        } else if let Some(n) = TENS.iter().position(|name| name == word) {
            current = Some(current + 10 * (n as u64 + 2)).filter(|_| current.is_multiple_of(100))?;
        } else if let Some(by) = scale(word) {
            current = current.max(1).checked_mul(by)?;
            if by >= 1000 {
                total = total.checked_add(current)?;
                current = 0;
            }
        } else {
            let article = *word == "a" && words.get(at + 1).is_some_and(|next| scale(next).is_some());
            let and = *word == "and" && any;
            if !article && !and {
                return None;
            }
            continue;
        }
        any = true;
    }
    any.then_some(total + current)
}
