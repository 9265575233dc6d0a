//! The result of a comparison before it is put into words.

use super::Decision;

/// Why, without building a string.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reason {
    SameNumber,
    OtherNumber,
    SameInfinity,
    OtherInfinity,
    SameForm,
    OtherForm,
    Agree(u32),
    Differ,
    NotShown,
    NoValue,
    Rounded(i32),
    /// Fixed words.
    Said(&'static str),
    /// Words about one part, by its place from one.
    Part(usize, Box<Outcome>),
    /// Numbers of parts that do not match: reference, response.
    Lengths(usize, usize),
    /// An element of the reference without a counterpart, by its place from one.
    Missing(usize),
    /// An element of the response without a counterpart, by its place from one.
    Extra(usize),
    /// Units that do not go together.
    Units(String, String),
}

/// Equal or not, by which rule, and why.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) equal: bool,
    pub(crate) rule: &'static str,
    pub(crate) reason: Reason,
}

impl Outcome {
    pub(crate) fn new(equal: bool, rule: &'static str, reason: Reason) -> Self {
        Outcome { equal, rule, reason }
    }

    pub(crate) fn equal(rule: &'static str, reason: Reason) -> Self {
        Outcome::new(true, rule, reason)
    }

    pub(crate) fn different(rule: &'static str, reason: Reason) -> Self {
        Outcome::new(false, rule, reason)
    }

    pub(crate) fn said(equal: bool, rule: &'static str, words: &'static str) -> Self {
        Outcome::new(equal, rule, Reason::Said(words))
    }

    pub(crate) fn decision(self) -> Decision {
        Decision { equal: self.equal, rule: self.rule, why: self.words() }
    }

    fn words(&self) -> String {
        match &self.reason {
            Reason::SameNumber => "the two are the same number".into(),
            Reason::OtherNumber => "the two are different numbers".into(),
            Reason::SameInfinity => "both are the same infinity".into(),
            Reason::OtherInfinity => "one is infinite and the other is not the same infinity".into(),
            Reason::SameForm => "both have the same normal form".into(),
            Reason::OtherForm => "their normal forms differ, and the parts are independent".into(),
            Reason::Agree(points) => {
                format!("they agree to thirty digits or more at all {points} points compared")
            }
            Reason::Differ => "they differ at a point by more than the error of evaluation".into(),
            Reason::NotShown => "nothing showed them to be equal".into(),
            Reason::NoValue => "one of them has no value, and what has no value equals nothing".into(),
            Reason::Rounded(places) => {
                format!("compared as numbers rounded to {places} digits after the point")
            }
            Reason::Said(words) => (*words).into(),
            Reason::Part(at, outcome) => format!("part {at}: {}", outcome.words()),
            Reason::Lengths(gold, response) => {
                format!("the reference has {gold} parts, the response {response}")
            }
            Reason::Missing(at) => format!("nothing in the response equals element {at} of the reference"),
            Reason::Extra(at) => format!("element {at} of the response equals nothing in the reference"),
            Reason::Units(gold, response) => format!("the units `{gold}` and `{response}` do not convert"),
        }
    }
}
