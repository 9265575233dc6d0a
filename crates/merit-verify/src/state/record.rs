//! The verifier over records, each with a state, its goal and perhaps where it began; and its verdict in words.

use super::{Change, ChangeKind, StateConfig, StateDetail, StateVerdict, StateVerifier};
use crate::json::given::given_as;
use crate::records::present;
use merit_core::printable::{count, piece};
use merit_core::{Envelope, Verifier};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Changes of each kind that are shown.
const SHOWN: usize = 10;

/// Where a world ended, and where it should have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateRecord<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "policy")]
    settings: Option<&'a RawValue>,
    /// Where the world ended.
    #[serde(borrow)]
    state: &'a RawValue,
    /// Where it should have.
    #[serde(borrow)]
    goal: &'a RawValue,
    #[serde(borrow, default, deserialize_with = "present")]
    initial: Option<&'a RawValue>,
}

impl Verifier for StateVerifier {
    type Settings = StateConfig;
    type Record<'a> = StateRecord<'a>;
    type Detail = StateDetail;

    fn compile(config: StateConfig) -> Result<Self, String> {
        Self::compile(config).map_err(|e| e.to_string())
    }

    fn envelope<'a>(record: &Self::Record<'a>) -> Envelope<'a> {
        Envelope { id: record.id, settings: record.settings }
    }

    fn judge(&self, record: &StateRecord<'_>) -> Result<StateVerdict, String> {
        let state = given_as("state", record.state.get())?;
        let goal = given_as("goal", record.goal.get())?;
        let initial = record.initial.map(|given| given_as("initial", given.get())).transpose()?;
        self.verify(initial.as_ref(), &state, &goal).map_err(|e| e.to_string())
    }

    fn explain(verdict: &StateVerdict) -> Vec<String> {
        let mut lines =
            vec![format!("{} of {} asked for achieved", verdict.achieved, count(verdict.asked, "fact"))];
        if verdict.was_satisfied {
            lines.push("the goal held from the start: only leaving things alone was right".to_owned());
        }
        if verdict.was_idle == Some(true) {
            lines.push("nothing was changed at all".to_owned());
        }
        lines.extend(changes("missed", &verdict.missed));
        lines.extend(changes("nobody asked for", &verdict.collateral));
        lines
    }
}

fn changes(name: &str, changes: &[Change]) -> Vec<String> {
    let mut lines: Vec<String> =
        changes.iter().take(SHOWN).map(|c| format!("{name}: {}", change(c))).collect();
    if changes.len() > SHOWN {
        lines.push(format!("{name}: {} more", changes.len() - SHOWN));
    }
    lines
}

fn change(change: &Change) -> String {
    let shown = |value: &Value| piece(&value.to_string());
    let path = piece(&change.path);
    match &change.kind {
        ChangeKind::Added { value } => format!("`{path}` added as {}", shown(value)),
        ChangeKind::Removed { value } => format!("`{path}` removed, was {}", shown(value)),
        ChangeKind::Changed { from, to } => format!("`{path}` from {} to {}", shown(from), shown(to)),
    }
}
