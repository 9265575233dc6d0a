//! Almost the right answer: another unit, another order, a digit off, a number in disguise. All are wrong.

use super::about;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Subject};
use merit_core::Stream;

pub(crate) const UNITS: Probe = Probe {
    about: about("units", "the right number with a unit or percent sign that makes it wrong"),
    expect: Expect::Less,
    write: units,
};

pub(crate) const ORDER: Probe = Probe {
    about: about("order", "the letters, digits or parts of the right answer in another order"),
    expect: Expect::Less,
    write: order,
};

pub(crate) const NEAR_MISS: Probe = Probe {
    about: about("near-miss", "a number next to the right one, or with the other sign"),
    expect: Expect::Less,
    write: near_miss,
};

pub(crate) const NUMBERS_IN_DISGUISE: Probe = Probe {
    about: about("disguise", "towers, huge factorials and 0/0 around the right number"),
    expect: Expect::Less,
    write: disguise,
};

/// Left out where zero hides the difference, and where a percent sign may be what is asked for.
fn units(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let (Some(gold), Some(value)) = (&subject.gold, subject.number().filter(|v| *v != 0.0)) else {
        return Vec::new();
    };
    let gold = gold.trim();
    let prompt = subject.prompt.to_lowercase();
    let percent = !(prompt.contains('%') || prompt.contains("percent"));
    let texts = [
        percent.then(|| format!("{gold}%")),
        percent.then(|| format!("{}", value * 100.0)),
        Some(format!("{gold} \\times 10^3")),
        (!gold.contains(['e', 'E'])).then(|| format!("{gold}e2")),
    ];
    texts.into_iter().flatten().map(|text| Attempt::answer(task, text)).collect()
}

/// Parts in another order are right where order means nothing: lists are turned only where brackets say that they have one.
fn order(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(gold) = subject.gold.as_deref().map(str::trim) else { return Vec::new() };
    let reversed: String = gold.chars().rev().collect();
    let mut sorted: Vec<char> = gold.chars().collect();
    sorted.sort_unstable();
    let sorted: String = sorted.into_iter().collect();
    let ordered =
        (gold.starts_with('(') && gold.ends_with(')')) || (gold.starts_with('[') && gold.ends_with(']'));
    let turned = ordered.then(|| turned_list(gold)).flatten();
    let words: Vec<&str> = gold.split_whitespace().collect();
    let plain = words.iter().all(|word| word.chars().all(char::is_alphabetic));
    let turned_words =
        (words.len() >= 3 && plain).then(|| words.iter().rev().copied().collect::<Vec<_>>().join(" "));
    // A digit string in another order may differ in leading zeros only.
    let same = |text: &str| text.trim_start_matches('0') == gold.trim_start_matches('0');
    let texts = [Some(reversed), Some(sorted), turned, turned_words].into_iter().flatten();
    texts.filter(|text| !same(text)).map(|text| Attempt::answer(task, text)).collect()
}

fn turned_list(gold: &str) -> Option<String> {
    let mut inside = gold.chars();
    let (open, close) = (inside.next()?, inside.next_back()?);
    let parts: Vec<&str> = inside.as_str().split(',').map(str::trim).collect();
    let flat = !inside.as_str().contains(['[', '(', '{', '"']);
    let backwards: Vec<&str> = parts.iter().rev().copied().collect();
    (flat && parts.len() > 1 && backwards != parts).then(|| format!("{open}{}{close}", backwards.join(", ")))
}

/// Whole numbers are missed by a thousandth; others by a twentieth, since a tolerance may be right for them.
fn near_miss(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(value) = subject.number() else { return Vec::new() };
    let off = if value.fract() == 0.0 { value * 1.001 + 0.0001 } else { value * 1.05 + 0.05 };
    let near = [value + 1.0, value - 1.0, off, value * 10.0, -value];
    let near = near.into_iter().filter(|other| *other != value && other.is_finite());
    near.map(|other| Attempt::answer(task, format!("{other}"))).collect()
}

/// Zero swallows factors, so that nothing around it makes it wrong.
fn disguise(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let nonzero = subject.number().is_some_and(|value| value != 0.0);
    let Some(gold) = subject.gold.as_deref().map(str::trim).filter(|_| nonzero) else { return Vec::new() };
    let texts = [
        format!("{gold} + 0/0"),
        format!("{gold} + 1/10^{{9^{{9^9}}}}"),
        format!("{gold} \\cdot \\frac{{1000001!}}{{1000000!}}"),
        format!("{gold} + x"),
        format!("0 \\cdot {gold}"),
    ];
    texts.into_iter().map(|text| Attempt::answer(task, text)).collect()
}
