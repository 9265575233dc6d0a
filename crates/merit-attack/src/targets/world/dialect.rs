//! How moves are worded in a world, learned from its oracle: its turns are the patterns.

use crate::subject::Move;
use merit_core::{Action, Episode, Role};

/// The wording of answers and calls.
pub(super) struct Dialect {
    /// The oracle's last turn and the answer in it. Absent: its turns do not end in an answer.
    answer: Option<(String, String)>,
    /// Turns of the oracle that call a tool: the turn, the tool and the input.
    calls: Vec<(String, String, String)>,
}

/// What the policy wrote, turn by turn.
pub(super) fn policy_texts(episode: &Episode) -> impl Iterator<Item = &str> {
    let said = episode.transcript.segments().iter().filter(|s| s.role == Role::Policy);
    said.map(|s| s.text.strip_suffix("<|end|>").unwrap_or(&s.text))
}

impl Dialect {
    pub(super) fn of(episode: &Episode) -> Self {
        let (mut answer, mut calls) = (None, Vec::new());
        for (turn, text) in episode.turns.iter().zip(policy_texts(episode)) {
            match &turn.action {
                Action::Answer { text: given } => answer = Some((text.to_owned(), given.clone())),
                Action::Calls { calls: made } => {
                    if let [call] = made.as_slice() {
                        calls.push((text.to_owned(), call.tool.clone(), call.input.clone()));
                    }
                }
                Action::Say { .. } | Action::Malformed { .. } => {}
            }
        }
        Self { answer, calls }
    }

    /// The text that makes the move.
    pub(super) fn word(&self, done: &Move) -> String {
        match done {
            Move::Raw { text } | Move::Say { text } => text.clone(),
            Move::Answer { text } => match &self.answer {
                Some((turn, given)) => replace_last(turn, given, text),
                None => text.clone(),
            },
            Move::Call { tool, input, .. } => {
                let own = self.calls.iter().find(|(_, known, _)| known == tool);
                match own.or(self.calls.first()) {
                    Some((turn, known, given)) => {
                        let turn = replace_last(turn, given, input);
                        if known == tool { turn } else { turn.replacen(known.as_str(), tool, 1) }
                    }
                    None => format!("{tool} {input}"),
                }
            }
        }
    }
}

/// `turn` with the last `given` in it replaced; the text alone where it does not stand there.
fn replace_last(turn: &str, given: &str, text: &str) -> String {
    match turn.rfind(given) {
        Some(at) if !given.is_empty() => {
            let (before, after) = turn.split_at(at);
            format!("{before}{text}{}", after.strip_prefix(given).unwrap_or_default())
        }
        _ => text.to_owned(),
    }
}
