//! Questions that a memory is held against, so that a gate can say whether an item helps: no model is asked.

use crate::shelf::name_of;
use crate::{Memory, MemoryError, Query};
use serde::{Deserialize, Serialize};

/// A query, and words that must stand in what is found for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub query: String,
    pub expect: String,
}

/// For every question 1 over the rank of the first item that has the expected words, among the best `k`; 0 without one.
pub fn answered(memory: &mut Memory, questions: &[Question], k: usize) -> Result<Vec<f64>, MemoryError> {
    let mut found = Vec::with_capacity(questions.len());
    for question in questions {
        let expected = format!(" {} ", name_of(&question.expect));
        let items = memory.retrieve(&Query::new(&question.query, k))?.items;
        let rank = items.iter().position(|item| format!(" {} ", name_of(&item.text)).contains(&expected));
        found.push(rank.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0)));
    }
    Ok(found)
}
