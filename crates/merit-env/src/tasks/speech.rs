//! How the agent of a task speaks: calls in a format, and an answer that may need a mark.

use merit_api::ToolSpec;
use merit_core::Action;
use merit_tools::formats::CallFormat;
use std::sync::Arc;

/// The settings of speech in one world.
pub(super) struct Speech {
    pub(super) format: Arc<dyn CallFormat>,
    /// What the answer follows. Empty: a turn without calls is the answer.
    pub(super) mark: String,
    /// What the agent is told first. Empty: nothing.
    pub(super) instructions: String,
    /// Whether tools and mark are told.
    pub(super) advertise: bool,
}

impl Speech {
    /// The system text. Absent: there is nothing to tell.
    pub(super) fn system(&self, cards: &[ToolSpec]) -> Option<String> {
        let mut parts = Vec::new();
        if !self.instructions.trim().is_empty() {
            parts.push(self.instructions.clone());
        }
        parts.extend(self.advert(cards));
        if self.advertise && !self.mark.is_empty() {
            parts.push(format!("When you know the answer, write it behind `{}`.", self.mark));
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// How the tools are told. Absent: they are not.
    pub(super) fn advert(&self, cards: &[ToolSpec]) -> Option<String> {
        (self.advertise && !cards.is_empty()).then(|| self.format.advertise(cards))
    }

    /// What a turn means. Calls come before an answer: an agent that still calls tools has not finished.
    pub(super) fn parse(&self, text: &str, cards: &[ToolSpec]) -> Action {
        let turn = match self.format.parse(text, cards) {
            Ok(turn) => turn,
            Err(malformed) => return Action::Malformed { why: malformed.why },
        };
        if !turn.calls.is_empty() {
            return Action::Calls { calls: turn.calls };
        }
        let said = without_thought(&turn.said);
        let answer = if self.mark.is_empty() {
            said
        } else {
            said.rfind(&self.mark).and_then(|at| said.get(at + self.mark.len()..)).unwrap_or_default()
        };
        match answer.trim() {
            "" => Action::Malformed { why: self.hint() },
            answer => Action::Answer { text: answer.to_owned() },
        }
    }

    /// What an agent is told whose turn is neither.
    pub(super) fn hint(&self) -> String {
        if self.mark.is_empty() {
            "say something: call a tool, or give your answer".to_owned()
        } else {
            format!("call a tool, or write your answer behind `{}`", self.mark)
        }
    }

    /// A turn that gives this answer.
    pub(super) fn answer(&self, text: &str) -> String {
        if self.mark.is_empty() { text.to_owned() } else { format!("{} {text}", self.mark) }
    }
}

/// What follows a thought at the start of what was said; the format has made sure that the thought ends.
fn without_thought(said: &str) -> &str {
    const END: &str = "</think>";
    match said.find(END).filter(|_| said.starts_with("<think>")) {
        Some(at) => said.get(at + END.len()..).unwrap_or_default(),
        None => said,
    }
}
