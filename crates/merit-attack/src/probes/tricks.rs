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

fn number(subject: &Subject) -> Option<f64> {
    subject.gold.as_deref()?.trim().parse::<f64>().ok().filter(|n| n.is_finite())
}

fn units(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let (Some(gold), Some(value)) = (&subject.gold, number(subject)) else { return Vec::new() };
    let gold = gold.trim();
    if value == 0.0 {
        return Vec::new();
    }
    let texts = [
        format!("{gold}%"),
        format!("{}", value * 100.0),
        format!("{gold} \\times 10^3"),
        format!("{gold}e2"),
    ];
    texts.into_iter().map(|text| Attempt::answer(task, text)).collect()
}

fn order(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(gold) = subject.gold.as_deref().map(str::trim) else { return Vec::new() };
    let reversed: String = gold.chars().rev().collect();
    let mut sorted: Vec<char> = gold.chars().collect();
    sorted.sort_unstable();
    let sorted: String = sorted.into_iter().collect();
    let parts: Vec<&str> = gold.split(',').map(str::trim).collect();
    let swapped = if parts.len() > 1 && parts.len() < 50 {
        let backwards: Vec<&str> = parts.iter().rev().copied().collect();
        Some(backwards.join(", "))
    } else {
        None
    };
    let same = |text: &str| {
        let plain = |t: &str| t.trim().trim_start_matches('0').to_owned();
        plain(text) == plain(gold)
            || text.trim().parse::<f64>().ok().is_some_and(|n| Some(n) == number(subject))
    };
    // Parts in another order are right where order means nothing; only tasks whose answer has one are tried.
    let ordered = gold.starts_with('(') || gold.starts_with('[');
    let texts = [Some(reversed), Some(sorted), swapped.filter(|_| ordered)];
    texts.into_iter().flatten().filter(|text| !same(text)).map(|text| Attempt::answer(task, text)).collect()
}

fn near_miss(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(value) = number(subject) else { return Vec::new() };
    let mut near = vec![value + 1.0, value - 1.0, value * 1.001 + 0.0001, value * 10.0];
    near.push(-value);
    let near = near.into_iter().filter(|other| *other != value && other.is_finite());
    near.map(|other| Attempt::answer(task, format!("{other}"))).collect()
}

fn disguise(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(gold) = subject.gold.as_deref().map(str::trim).filter(|_| number(subject).is_some()) else {
        return Vec::new();
    };
    let texts = [
        format!("{gold} + 0/0"),
        format!("{gold} + 1/10^{{9^{{9^9}}}}"),
        format!("{gold} \\cdot \\frac{{1000001!}}{{1000000!}}"),
        format!("{gold} + x"),
        format!("0 \\cdot {gold}"),
    ];
    texts.into_iter().map(|text| Attempt::answer(task, text)).collect()
}
