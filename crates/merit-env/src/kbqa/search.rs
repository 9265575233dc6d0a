//! What a search finds, what has been found so far, and whether thoughts about it are right.

use super::command::{Query, Unit};
use super::info::flag;
use super::question::{Fact, Question};
use super::{Kbqa, Mode, Reader};
use merit_api::StepResult;
use serde::{Deserialize, Serialize};

/// Stands before what was found, so that a name has the same token everywhere.
const FOUND: &str = "got";
const NOTHING: &str = "nothing";

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Searched {
    /// The places of the facts that were found, in their order.
    pub found: Vec<u16>,
    /// The places of the facts that were looked for.
    pub asked: Vec<u16>,
    /// Searches, and those among them that found a fact of the chain that was not looked for before.
    pub queries: u32,
    pub useful: u32,
    /// Whether a note is due.
    pub owes_note: bool,
    /// The facts of the last note.
    pub note: Vec<Fact>,
    /// Thoughts, those since the last search, and how many of these were wrong.
    pub units: u32,
    pub thought: u32,
    pub thought_wrong: u32,
    pub turns: u32,
}

impl Kbqa {
    /// Facts that a search finds.
    pub(super) fn facts_found(&self) -> usize {
        self.passages * self.facts_a_passage()
    }

    pub(super) fn facts_a_passage(&self) -> usize {
        (1.0 / (1.0 - self.noise)).round() as usize
    }

    pub(super) fn who(&self) -> Reader {
        self.reader.unwrap_or_default()
    }

    /// The share of the entities that the reader knows.
    pub(super) fn share(&self) -> f64 {
        self.known.unwrap_or(0.3)
    }

    /// What a search finds, in words.
    pub(super) fn find(&self, question: &Question, state: &mut Searched, query: &Query) -> String {
        state.queries += 1;
        let place = question
            .place(query.entity, query.relation)
            .filter(|&place| query.indexed && question.fact(place).is_some());
        let Some(place) = place else { return NOTHING.to_owned() };
        let chain = question.chain();
        let worth = match self.mode {
            Mode::Planner => self.who().needs(self.share(), &chain),
            _ => chain.len(),
        };
        let news = !state.asked.contains(&(place as u16));
        let due = question.fact(place).is_some_and(|fact| chain.iter().take(worth).any(|due| *due == fact));
        state.useful += u32::from(news && due);
        state.asked.push(place as u16);
        let found = question.search(place, self.facts_found());
        state.found.extend(found.iter().map(|&at| at as u16));
        let words = |part: &[usize]| {
            let facts: Vec<String> =
                part.iter().filter_map(|&at| question.fact(at)).map(Fact::words).collect();
            facts.join(", ")
        };
        let passages: Vec<String> = found.chunks(self.facts_a_passage()).map(words).collect();
        format!("{FOUND} {}", passages.join(" | "))
    }

    /// Whether a thought is right: a fact that was found and leads on, whoever the facts found so far lead to, the relation to follow from there.
    pub(super) fn is_right(&self, question: &Question, state: &Searched, unit: &Unit) -> bool {
        let chain = question.chain();
        let found = facts_of(question, &state.found);
        let reached = chain.iter().take_while(|fact| found.contains(fact)).count();
        match unit {
            Unit::Observed(fact) => found.contains(fact) && chain.contains(fact),
            Unit::Supposed(entity) => match chain.get(reached) {
                Some(due) => due.0 == *entity,
                None => question.answer() == *entity,
            },
            Unit::Next(relation) => chain.get(reached).is_some_and(|due| due.1 == *relation),
        }
    }

    /// A search or an answer closes the thought before it.
    pub(super) fn acted(&self, state: &mut Searched, result: StepResult) -> StepResult {
        let (thought, wrong) = (state.thought, state.thought_wrong);
        (state.thought, state.thought_wrong) = (0, 0);
        match self.mode {
            Mode::Units => result.with_info([("thought_ok", flag(thought > 0 && wrong == 0))]),
            _ => result,
        }
    }
}

pub(super) fn facts_of(question: &Question, places: &[u16]) -> Vec<Fact> {
    places.iter().filter_map(|&at| question.fact(usize::from(at))).collect()
}
