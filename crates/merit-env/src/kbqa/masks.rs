//! Masks: some of the facts about one entity are hidden in a paragraph, and all of them are to be filled in.
//!
//! `fill bak boss _ home lux mate _` hides the boss and the mate of bak; `fill dov tal` fills them in, in their order. Nobody stands in a
//! paragraph twice, so that what is hidden cannot be read off what is shown.

use super::info::flag;
use super::question::{Fact, NAMES, Question, name, name_of, relation};
use merit_core::Stream;
use std::collections::BTreeSet;

const MASK: &str = "_";

impl Question {
    /// A base, and a paragraph about one of its entities in which so many facts are hidden, each once.
    pub(super) fn draw_masked(entities: usize, relations: usize, masks: usize, rng: &mut Stream) -> Self {
        let mut drawn = Self::draw(entities, relations, 1, 0.0, rng);
        let mut others: Vec<u8> = (0..entities as u8).filter(|&at| at != drawn.start).collect();
        rng.shuffle(&mut others);
        let row = drawn.objects.iter_mut().skip(usize::from(drawn.start) * relations);
        row.take(relations).zip(others).for_each(|(object, other)| *object = other);
        let mut hidden: Vec<u8> = (0..relations as u8).collect();
        rng.shuffle(&mut hidden);
        hidden.truncate(masks);
        hidden.sort_unstable();
        Self { hops: Vec::new(), reworded: Vec::new(), masks: hidden, ..drawn }
    }

    /// Whether it is a paragraph with masks instead of a question.
    pub fn is_masked(&self) -> bool {
        !self.masks.is_empty()
    }

    /// The facts about the entity of the paragraph, each with whether it is hidden.
    fn paragraph(&self) -> impl Iterator<Item = (Fact, bool)> {
        let first = usize::from(self.start) * self.relations.len();
        let fact =
            move |column: usize| Some((self.fact(first + column)?, self.masks.contains(&(column as u8))));
        (0..self.relations.len()).filter_map(fact)
    }

    /// The hidden facts, in their order.
    pub(super) fn hidden(&self) -> Vec<Fact> {
        self.paragraph().filter(|(_, hidden)| *hidden).map(|(fact, _)| fact).collect()
    }

    /// What is wrong with it as a paragraph of so many masks.
    pub(super) fn check_masks(&self, size: u32) -> Result<(), String> {
        if self.masks.len() != size as usize || !self.hops.is_empty() || !self.reworded.is_empty() {
            return Err(format!(
                "{} masks and {} hops, its size is {size}",
                self.masks.len(),
                self.hops.len()
            ));
        }
        // Distinct masks in their order: what is hidden is as much as the size says.
        if !self.masks.is_sorted_by(|a, b| a < b) || self.hidden().len() != self.masks.len() {
            return Err("a mask hides nothing, or is there twice".to_owned());
        }
        let met: BTreeSet<u8> = self.paragraph().map(|(fact, _)| fact.2).chain([self.begins()]).collect();
        match met.len() == self.relations.len() + 1 {
            true => Ok(()),
            false => Err("somebody is in the paragraph twice".to_owned()),
        }
    }

    pub(super) fn masked_words(&self) -> String {
        let told = |(fact, hidden): (Fact, bool)| {
            [relation(fact.1), if hidden { MASK } else { name(fact.2) }].join(" ")
        };
        let facts: Vec<String> = self.paragraph().map(told).collect();
        format!("fill {} {}", name(self.begins()), facts.join(" "))
    }

    /// What fills the masks, in words.
    pub(super) fn filling(&self) -> String {
        let names: Vec<&str> = self.hidden().iter().map(|fact| name(fact.2)).collect();
        names.join(" ")
    }

    /// Everybody who can be seen in the paragraph, after those who fill it: too much of an answer.
    pub(super) fn everybody(&self, taken: &[u8]) -> String {
        let shown = self.paragraph().filter(|(_, hidden)| !hidden).map(|(fact, _)| fact.2);
        let all = taken.iter().copied().chain(shown).chain([self.begins()]);
        all.map(name).collect::<Vec<&str>>().join(" ")
    }

    /// What a filling is worth: whether it is all and nothing more, the share of masks whose word is in it, the words of masks in it over
    /// all its words, and how many these are.
    pub(super) fn filled(&self, words: &[u8]) -> [(&'static str, f64); 4] {
        let hidden: Vec<u8> = self.hidden().iter().map(|fact| fact.2).collect();
        let right = hidden.iter().filter(|object| words.contains(object)).count() as f64;
        [
            ("filled", flag(hidden == words)),
            ("recall", right / hidden.len().max(1) as f64),
            ("penalised", right / words.len().max(1) as f64),
            ("spans", words.len() as f64),
        ]
    }
}

/// The names of a filling, at most as many as there are.
pub(super) fn names_of(words: &[&str]) -> Option<Vec<u8>> {
    if !(1..=NAMES.len()).contains(&words.len()) {
        return None;
    }
    words.iter().map(|word| name_of(word)).collect()
}
