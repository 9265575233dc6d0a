//! Frozen readers: they answer from what they know and what was found for them, and are never trained.

use super::question::{Fact, NAMES, Question};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many facts `g2` can read; those found last.
const LIMIT: usize = 12;

/// The frozen readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reader {
    /// Knows everything about the first names, and reads all that was found.
    #[default]
    G1,
    /// Knows everything about the last names, and reads only the twelve facts that were found last.
    G2,
}

impl Reader {
    /// Whether it knows the facts about an entity by itself, where it knows a share `known` of all entities.
    pub(super) fn knows(self, known: f64, entity: u8) -> bool {
        let share = |places_before: usize| (places_before as f64) < known * NAMES.len() as f64;
        match self {
            Self::G1 => share(usize::from(entity)),
            Self::G2 => share(NAMES.len().saturating_sub(usize::from(entity) + 1)),
        }
    }

    /// Hops up to the last one that it does not know: what a searcher who only knows the question has to find.
    pub(super) fn needs(self, known: f64, chain: &[Fact]) -> usize {
        chain.iter().rposition(|fact| !self.knows(known, fact.0)).map_or(0, |last| last + 1)
    }

    /// Whether it answers right: from the whole chain where it has it, otherwise by a guess that may be lucky.
    pub(super) fn is_right(self, known: f64, question: &Question, found: &[Fact]) -> bool {
        let read = match self {
            Self::G1 => found,
            Self::G2 => &found[found.len().saturating_sub(LIMIT)..],
        };
        let has = |fact: &Fact| self.knows(known, fact.0) || read.contains(fact);
        question.chain().iter().all(has) || self.guess(question) == question.answer()
    }

    /// Its answer to a question that it cannot answer: always the same.
    fn guess(self, question: &Question) -> u8 {
        let at = question.salt as usize % question.entities.len().max(1);
        question.entities.get(at).copied().unwrap_or_default()
    }
}
