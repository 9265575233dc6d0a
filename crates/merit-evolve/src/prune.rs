//! Pruning: entries whose removal costs nothing are removed. Each alone is tried first; then all of them together are tried once more, because
//! entries that are each idle beside the other can be needed as a pair.

use crate::evolve::{EvolveError, Part, Phase, State};
use crate::{Edit, Library};
use merit_core::gate::{GateRule, gate};
use merit_core::stats::mean;

/// Leave-one-out over the head; then the joint deletion, halved until what it costs is within the margin.
pub(crate) fn prune(state: &mut State<'_>) -> Result<(), EvolveError> {
    let whole = state.right(&state.head.clone(), Part::Validation)?;
    let mut idle: Vec<(f64, String)> = Vec::new();
    let names: Vec<String> = state.head.entries().map(|(id, _)| id.to_owned()).collect();
    for id in names {
        let without = deleted(&state.head, std::slice::from_ref(&id));
        let right = state.right(&without, Part::Validation)?;
        let cost = mean(&whole).unwrap_or_default() - mean(&right).unwrap_or_default();
        if cost <= 0.0 {
            idle.push((cost, id));
        }
    }
    // Those whose absence helps most are the last to be spared.
    idle.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let mut ids: Vec<String> = idle.into_iter().map(|(_, id)| id).collect();
    let rule = GateRule::Margin { margin: state.settings.prune_margin };
    while !ids.is_empty() {
        let without = deleted(&state.head, &ids);
        let right = state.right(&without, Part::Validation)?;
        let gated = gate(&whole, &right, &rule, 0)?;
        let edits = ids.iter().map(|id| Edit::Delete { id: id.clone() }).collect();
        if gated.keep {
            state.head = without;
        }
        let why = format!("{} entries are not missed one by one", ids.len());
        state.record(Phase::Pruned, edits, (mean(&right).unwrap_or_default(), Some(gated), gated.keep), why);
        if gated.keep {
            state.offer(&right);
            return Ok(());
        }
        ids.truncate(ids.len() / 2);
    }
    Ok(())
}

fn deleted(library: &Library, ids: &[String]) -> Library {
    let edits: Vec<Edit> = ids.iter().map(|id| Edit::Delete { id: id.clone() }).collect();
    // They are names of its own entries.
    library.edited(&edits).unwrap_or_else(|_| library.clone())
}
