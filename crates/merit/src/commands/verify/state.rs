//! `merit verify state`: did the world end where it should, and was nothing else touched?

use super::verifier::{Common, Judged, Verifier, present};
use crate::terminal::{count, piece};
use merit_verify::state::{Change, ChangeKind, StateConfig, StateVerdict, StateVerifier};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Changes of each kind that are shown.
const SHOWN: usize = 10;

pub(super) struct State(StateVerifier);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    policy: Option<&'a RawValue>,
    /// Where the world ended.
    state: Value,
    /// Where it should have.
    goal: Value,
    /// Where it began.
    #[serde(default, deserialize_with = "present")]
    initial: Option<Value>,
}

impl Verifier for State {
    type Policy = StateConfig;
    type Record<'a> = Record<'a>;
    type Verdict = StateVerdict;

    fn compile(config: StateConfig) -> Result<Self, String> {
        StateVerifier::compile(config).map(Self).map_err(|e| e.to_string())
    }

    fn common<'a>(record: &Self::Record<'a>) -> Common<'a> {
        Common { id: record.id, policy: record.policy }
    }

    fn judge(&self, record: &Record<'_>) -> Result<Judged<StateVerdict>, String> {
        let verdict = self.0.verify(record.initial.as_ref(), &record.state, &record.goal);
        let verdict = verdict.map_err(|e| e.to_string())?;
        Ok(Judged { passed: Some(verdict.is_goal), score: Some(verdict.score), verdict })
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
