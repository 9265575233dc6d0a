//! Tasks of recorded episodes: what was asked, and what an agent did that solved it.

use super::{Given, with_others};
use crate::error::AttackError;
use crate::subject::Subject;
use merit_core::{Action, Episode, Move, Role};
use merit_store::{EpisodeFilter, EpisodeRow, RunFolder, StoreError};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The first `most` tasks of a run or an import. An episode that solved its task is the gold; a task that no episode solved has
/// only its answer, if it has one.
pub(super) fn read(path: &Path, most: usize) -> Result<Vec<Given>, AttackError> {
    let bad =
        |error: StoreError| AttackError::Read { file: path.display().to_string(), why: error.to_string() };
    let folder = RunFolder::open_read_only(path).map_err(bad)?;
    let rows = folder.episode_rows(&EpisodeFilter::default()).map_err(bad)?;
    let mut order: Vec<&str> = Vec::new();
    let mut chosen: HashMap<&str, &EpisodeRow> = HashMap::new();
    for row in &rows {
        match chosen.get(row.task_id.as_str()) {
            None => {
                order.push(&row.task_id);
                chosen.insert(&row.task_id, row);
            }
            Some(known) if !solved(known) && solved(row) => {
                chosen.insert(&row.task_id, row);
            }
            Some(_) => {}
        }
    }
    let mut tasks = Vec::new();
    for id in order.into_iter().take(most) {
        let row = chosen[id];
        if let Some(stored) = folder.episode(&row.id).map_err(bad)? {
            tasks.push(given(&stored.scored.episode, solved(row)));
        }
    }
    Ok(with_others(tasks))
}

fn solved(row: &EpisodeRow) -> bool {
    row.solved == Some(true)
}

fn given(episode: &Episode, solved: bool) -> Given {
    let prompt = episode.transcript.segments().iter().find(|segment| segment.role == Role::User);
    let mut tools: Vec<String> =
        episode.turns.iter().flat_map(|turn| &turn.calls).map(|record| record.call.tool.clone()).collect();
    tools.sort();
    tools.dedup();
    let subject = Subject {
        id: episode.task.id.clone(),
        prompt: prompt.map(|segment| segment.text.clone()).unwrap_or_default(),
        gold: episode.task.answer.clone(),
        gold_moves: if solved { moves(episode) } else { Vec::new() },
        reported: false,
        others: Vec::new(),
        tools,
    };
    (Arc::clone(&episode.task), subject)
}

/// What was done, one move per call: several calls of one turn become several turns.
fn moves(episode: &Episode) -> Vec<Move> {
    let mut moves = Vec::new();
    for turn in &episode.turns {
        match &turn.action {
            Action::Answer { text } => moves.push(Move::Answer { text: text.clone() }),
            Action::Say { text } => moves.push(Move::Say { text: text.clone() }),
            Action::Malformed { .. } => moves.push(Move::Raw { text: policy_text(episode, turn.index) }),
            Action::Calls { .. } => moves.extend(turn.calls.iter().map(|record| Move::Call {
                tool: record.call.tool.clone(),
                input: record.call.input.clone(),
                output: record.output.clone(),
            })),
        }
    }
    moves
}

fn policy_text(episode: &Episode, turn: u32) -> String {
    let segments = episode.transcript.segments().iter();
    let said = segments.filter(|s| s.role == Role::Policy && s.turn == turn).map(|s| s.text.as_str());
    said.collect()
}
