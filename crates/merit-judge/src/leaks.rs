//! Rows that know nothing of quality: how far one gets with length alone, with words alone, with the last message alone.
//!
//! Each learns from one part of the pairs and is tried on another, by groups, so that no prompt is in both. A judge that is no
//! better than these has learned a leak of the data.

use crate::{Choice, Label, Pair};
use merit_core::Episode;
use merit_reward::terms::policy_texts;
use std::collections::BTreeSet;

/// Places that words are hashed to.
const PLACES: usize = 4096;
/// Passes over the pairs.
const PASSES: usize = 30;
/// The learning rate of the first pass.
const RATE: f64 = 0.5;
/// What weights lose in each step.
const DECAY: f64 = 1e-3;

/// What a row knows that says nothing of quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leak {
    /// How long the answer is.
    Length,
    /// Which words are in it.
    Words,
    /// Which words are in the last message.
    LastMessage,
}

impl Leak {
    pub const ALL: [Self; 3] = [Self::Length, Self::Words, Self::LastMessage];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "length only",
            Self::Words => "bag of words",
            Self::LastMessage => "last message",
        }
    }

    /// Learns from `train` and says which of each pair of `test` is better.
    pub fn choices(self, train: &[&Pair], test: &[&Pair]) -> Vec<Choice> {
        match self {
            Self::Length => lengths(train, test),
            Self::Words => bag(train, test, |episode| policy_texts(episode).collect::<Vec<_>>().join("\n")),
            Self::LastMessage => {
                bag(train, test, |episode| policy_texts(episode).last().unwrap_or_default().to_owned())
            }
        }
    }
}

/// The same by folds of groups: each pair is judged by what was learned from the other folds.
pub fn cross_fitted(leak: Leak, pairs: &[Pair], folds: usize) -> Vec<Choice> {
    let groups: Vec<&str> =
        pairs.iter().map(|pair| pair.group.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
    let folds = folds.clamp(1, groups.len().max(1));
    let fold = |pair: &Pair| groups.binary_search(&pair.group.as_str()).unwrap_or(0) % folds;
    let mut choices = vec![Choice::Tie; pairs.len()];
    for at in 0..folds {
        let train: Vec<&Pair> = pairs.iter().filter(|pair| fold(pair) != at).collect();
        let places: Vec<usize> = (0..pairs.len()).filter(|place| fold(&pairs[*place]) == at).collect();
        let test: Vec<&Pair> = places.iter().map(|place| &pairs[*place]).collect();
        for (place, choice) in places.into_iter().zip(leak.choices(&train, &test)) {
            choices[place] = choice;
        }
    }
    choices
}

pub(crate) fn length(episode: &Episode) -> usize {
    policy_texts(episode).map(|text| text.chars().count()).sum()
}

/// Longer or shorter, whichever was better more often.
fn lengths(train: &[&Pair], test: &[&Pair]) -> Vec<Choice> {
    let longer = |pair: &Pair| length(&pair.a).cmp(&length(&pair.b));
    let mut longer_is_better = 0_i64;
    for pair in train {
        let sign = match pair.label {
            Label::A => 1,
            Label::B => -1,
            Label::Tie => 0,
        };
        longer_is_better += sign * longer(pair) as i64;
    }
    let choose = |pair: &&Pair| match longer(pair) as i64 * longer_is_better.signum() {
        0 => Choice::Tie,
        1 => Choice::First,
        _ => Choice::Second,
    };
    test.iter().map(choose).collect()
}

/// A logistic model of which words the better one has.
fn bag(train: &[&Pair], test: &[&Pair], text: impl Fn(&Episode) -> String) -> Vec<Choice> {
    let difference = |pair: &Pair| {
        let (a, b) = (places(&text(&pair.a)), places(&text(&pair.b)));
        let only_a = a.difference(&b).map(|place| (*place, 1.0));
        let only_b = b.difference(&a).map(|place| (*place, -1.0));
        only_a.chain(only_b).collect::<Vec<(usize, f64)>>()
    };
    let mut weights = vec![0.0; PLACES];
    let learned: Vec<(Vec<(usize, f64)>, f64)> = train
        .iter()
        .filter(|pair| pair.label != Label::Tie)
        .map(|pair| (difference(pair), if pair.label == Label::A { 1.0 } else { -1.0 }))
        .collect();
    for pass in 0..PASSES {
        let rate = RATE / (1.0 + pass as f64);
        for (words, sign) in &learned {
            let margin: f64 = words.iter().map(|(place, value)| weights[*place] * value).sum();
            let wrong = 1.0 / (1.0 + (sign * margin).exp());
            let norm = (words.len() as f64).max(1.0).sqrt();
            for (place, value) in words {
                weights[*place] += rate * (wrong * sign * value / norm - DECAY * weights[*place]);
            }
        }
    }
    let choose = |pair: &&Pair| {
        let sum: f64 = difference(pair).iter().map(|(place, value)| weights[*place] * value).sum();
        match sum {
            sum if sum.abs() <= 1e-12 => Choice::Tie,
            sum if sum > 0.0 => Choice::First,
            _ => Choice::Second,
        }
    };
    test.iter().map(choose).collect()
}

/// The places of the words of a text, by FNV-1a.
fn places(text: &str) -> BTreeSet<usize> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let place = |word: &str| {
        let word = word.to_lowercase();
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (hash % PLACES as u64) as usize
    };
    words.map(place).collect()
}
