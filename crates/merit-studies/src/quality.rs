//! Is a question fit to be asked? Solvers try it, and every cue is held against what they read.
//!
//! In: a question and the trails of its solvers. Out: whether it passes either check. It knows the truth only by pages that a
//! solver has read.

use crate::questions::{Cue, Question, Test};
use crate::searcher::Trail;
use crate::worlds::encyclopaedia::Encyclopaedia;

/// What the solvers made of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// Not known by heart, solved by somebody, and not all of one other mind.
    pub consensus: bool,
    /// Every cue is borne out for the answer, and every rival fails one.
    pub structure: bool,
}

impl Checked {
    pub fn of(book: &Encyclopaedia, question: &Question, by_heart: bool, trails: &[Trail]) -> Self {
        let solved = trails.iter().any(|trail| trail.answer == Some(question.answer));
        // With a solver that is right they are not all of one other mind.
        let consensus = !by_heart && solved;
        let mut read: Vec<usize> = trails.iter().flat_map(|trail| trail.read.iter().copied()).collect();
        read.sort_unstable();
        let bears = |cue: &Cue, entity: usize| evidence(book, cue, entity, &read);
        let borne_out = question.cues.iter().all(|cue| bears(cue, question.answer) == Some(true));
        let rivals =
            trails.iter().filter_map(|trail| trail.answer).filter(|answer| *answer != question.answer);
        let fails = |rival: usize| question.cues.iter().any(|cue| bears(cue, rival) == Some(false));
        Self { consensus, structure: borne_out && { rivals }.all(fails) }
    }
}

/// Whether a cue holds for an entity, as pages that were read show it; `None` where they do not show it.
pub fn evidence(book: &Encyclopaedia, cue: &Cue, entity: usize, read: &[usize]) -> Option<bool> {
    let known = |page: usize| read.binary_search(&page).is_ok();
    let seen = match cue {
        Cue::Own(_) | Cue::Via(_, Test::Name(_)) => known(entity),
        Cue::Via(relation, _) => known(entity) && known(book.links[entity][*relation]),
        Cue::Path { start, relations } => {
            let mut at = *start;
            relations.iter().all(|relation| {
                let here = known(at);
                at = book.links[at][*relation];
                here
            })
        }
    };
    seen.then(|| cue.holds(book, entity))
}
