//! What is true after a turn, which the agent is not told.

use super::fixed::{Said, fixed_names};
use super::question::{Fact, Question};
use super::search::facts_of;
use super::{Kbqa, Mode, Searched};
use merit_api::StepResult;

/// What is told of masks before they are filled.
const NOT_FILLED: [(&str, f64); 4] = [("filled", 0.0), ("recall", 0.0), ("penalised", 0.0), ("spans", 0.0)];

impl Kbqa {
    /// The infos of every turn.
    pub(super) fn told(&self, question: &Question, state: &Searched, result: StepResult) -> StepResult {
        let (chain, found) = (question.chain(), facts_of(question, &state.found));
        let evidence = chain.iter().filter(|fact| found.contains(fact)).count();
        let result = result.with_info([
            ("evidence_share", share(evidence, chain.len())),
            ("queries", f64::from(state.queries)),
            ("idle_queries", f64::from(state.queries) - f64::from(state.useful)),
            ("turns", f64::from(state.turns)),
        ]);
        if question.is_masked() && !result.info.contains_key("filled") {
            return result.with_info(NOT_FILLED);
        }
        let result = self.told_of_label(question, state, result);
        match self.mode {
            Mode::Answer | Mode::Mask => result,
            Mode::Notes => {
                // Before the answer a note supports none.
                let given = result.info.get("note_supports_pred").copied().unwrap_or(0.0);
                let note = &state.note;
                let relevant = note.iter().filter(|fact| chain.contains(fact)).count();
                let kept = chain.iter().filter(|fact| note.contains(fact)).count();
                let short = note.len() <= self.note_cap.unwrap_or(6);
                result.with_info([
                    ("note_supports_pred", given),
                    ("note_facts", note.len() as f64),
                    ("note_formed", flag(!note.is_empty())),
                    ("note_short", flag(short)),
                    ("note_precision", share(relevant, note.len())),
                    ("note_recall", share(kept, chain.len())),
                    ("note_supports_gold", flag(question.derived(note).contains(&question.answer()))),
                ])
            }
            Mode::Units => result.with_info([("units", f64::from(state.units))]),
            Mode::Planner => self.told_of_reader(question, state, &chain, &found, result),
        }
    }

    /// What is told where facts are fixed: whether others are needed, and whether the search was as the question said.
    fn told_of_label(&self, question: &Question, state: &Searched, result: StepResult) -> StepResult {
        let Some(fixed) = self.fixed.map(fixed_names) else { return result };
        let result = result.with_info([("stored", flag(question.is_stored(fixed)))]);
        if self.label.is_none() {
            return result;
        }
        let answered = result.is_last();
        // A line is a search, the answer, or unreadable.
        let unread = state.turns.saturating_sub(state.queries + u32::from(answered));
        let against = match question.label {
            Some(Said::Look) => u32::from(answered && state.queries == 0),
            Some(Said::Tell) => state.queries,
            Some(Said::Nothing) | None => 0,
        };
        let fits = match question.label {
            Some(Said::Look) => state.queries > 0,
            Some(Said::Tell) => state.queries == 0,
            Some(Said::Nothing) | None => true,
        };
        result.with_info([("search_fit", flag(fits)), ("violations", f64::from(unread + against))])
    }

    fn told_of_reader(
        &self,
        question: &Question,
        state: &Searched,
        chain: &[Fact],
        found: &[Fact],
        result: StepResult,
    ) -> StepResult {
        let (who, known) = (self.who(), self.share());
        let right = |found: &[Fact]| flag(who.is_right(known, question, found));
        let one_search = chain.first().and_then(|fact| question.place(fact.0, fact.1)).map(|place| {
            let found = question.search(place, self.facts_found());
            found.into_iter().filter_map(|at| question.fact(at)).collect::<Vec<Fact>>()
        });
        let reference = right(&[]).max(right(&one_search.unwrap_or_default()));
        let needed = who.needs(known, chain) as u32;
        let most = needed.max(state.queries);
        let process = if most == 0 { 1.0 } else { f64::from(state.useful.min(needed)) / f64::from(most) };
        let result = result.with_info([
            ("reader_right", right(found)),
            ("gain", right(found) - reference),
            ("process", process),
        ]);
        if needed == 0 { result.with_info([("queries_known", f64::from(state.queries))]) } else { result }
    }
}

pub(super) fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}
