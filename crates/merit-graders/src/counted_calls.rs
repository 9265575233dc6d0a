//! The calls of an episode as the verifiers of tool use see them: in order, with the turn each belongs to.

use crate::sources::answered;
use merit_core::{CallEnd, Episode, Role};
use merit_verify::calls::Step;

/// A trace with the turn of each of its calls.
pub(crate) struct Calls {
    pub(crate) trace: Vec<Step>,
    /// The turn of each call, in the order of the trace.
    pub(crate) turns: Vec<usize>,
}

impl Calls {
    /// The calls that may have changed the world: those that ran, or of which the record does not say.
    pub(crate) fn carried_out(episode: &Episode) -> Self {
        Self::kept(episode, answered)
    }

    /// Every call, and what the agent was shown before and after each.
    pub(crate) fn with_observations(episode: &Episode) -> Self {
        let mut calls = Self { trace: Vec::new(), turns: Vec::new() };
        let mut at = 0;
        for segment in episode.transcript.segments() {
            match segment.role {
                Role::Policy => {
                    calls.add(episode, at, |_| true);
                    let records = episode.turns.get(at).map_or(&[][..], |turn| &turn.calls);
                    let shown =
                        records.iter().map(|record| &record.output).filter(|output| !output.is_empty());
                    calls.trace.extend(shown.map(|text| Step::Observation { text: text.clone() }));
                    at += 1;
                }
                // Tools' answers stand with their calls.
                Role::Tool => {}
                Role::System | Role::User | Role::Environment | Role::Hint => {
                    calls.trace.push(Step::Observation { text: segment.text.clone() });
                }
            }
        }
        calls
    }

    pub(crate) fn all(episode: &Episode) -> Self {
        Self::kept(episode, |_| true)
    }

    fn kept(episode: &Episode, keep: impl Fn(CallEnd) -> bool) -> Self {
        let mut calls = Self { trace: Vec::new(), turns: Vec::new() };
        (0..episode.turns.len()).for_each(|at| calls.add(episode, at, &keep));
        calls
    }

    fn add(&mut self, episode: &Episode, turn: usize, keep: impl Fn(CallEnd) -> bool) {
        let records = episode.turns.get(turn).map_or(&[][..], |turn| &turn.calls);
        for record in records.iter().filter(|record| keep(record.end)) {
            let (tool, arguments) = (record.call.tool.clone(), record.call.input.clone());
            self.trace.push(Step::Call { tool, arguments });
            self.turns.push(turn);
        }
    }
}
