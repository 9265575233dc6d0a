//! Plays the moves that a line shows: each was checked when the file was read, so that a demonstration can be followed to its end.

use super::ABOUT;
use super::speech::Speech;
use crate::{EnvError, ExpertTurn};
use merit_api::ToolSpec;
use merit_core::{Action, Move, Seed, TaskLine, ToolCall};

/// The turns of a line's solution, in the format of the world. Where the agent has no tools, giving the answer is one. Empty: the
/// line shows none.
pub(super) fn turns(line: &TaskLine, speech: &Speech, cards: &[ToolSpec]) -> Result<Vec<String>, String> {
    if !line.shows_solution()
        && let Some(answer) = line.answer.as_ref().filter(|_| cards.is_empty())
    {
        let turns = vec![speech.answer(answer)];
        // An answer that the world cannot read back is nothing to imitate.
        return Ok(if check(&turns, "answer", speech, cards).is_ok() { turns } else { Vec::new() });
    }
    let field = if line.gold_moves.is_empty() { "demonstration" } else { "gold_moves" };
    let mut turns = line.demonstration.clone();
    let mut before = String::new();
    for gold in &line.gold_moves {
        let said = match gold {
            Move::Say { text } => {
                before.push_str(text);
                before.push('\n');
                continue;
            }
            Move::Call { tool, input, .. } => {
                let call = ToolCall { tool: tool.clone(), input: input.clone() };
                speech.format.write(&[call], cards)
            }
            Move::Answer { text } => speech.answer(text),
            Move::Raw { text } => text.clone(),
        };
        turns.push(format!("{}{said}", std::mem::take(&mut before)));
    }
    if !before.is_empty() {
        return Err(format!("`{field}` ends with something said; it must end with an answer"));
    }
    check(&turns, field, speech, cards)?;
    Ok(turns)
}

/// Only the last turn answers, and every turn can be read.
fn check(turns: &[String], field: &str, speech: &Speech, cards: &[ToolSpec]) -> Result<(), String> {
    for (at, said) in turns.iter().enumerate() {
        let is_last = at + 1 == turns.len();
        match (speech.parse(said, cards), is_last) {
            (Action::Malformed { why }, _) => return Err(format!("`{field}`, turn {}: {why}", at + 1)),
            (Action::Answer { .. }, false) => {
                return Err(format!("`{field}`, turn {} answers, but it is not the last", at + 1));
            }
            (Action::Calls { .. } | Action::Say { .. }, true) => {
                return Err(format!("`{field}` must end with an answer"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What to say next. With probability `p_correct` the episode follows its own turns; otherwise it guesses, and gives the answer
/// of some task of the split at once. The place in a demonstration is found by what was said of it, so that it goes on after
/// a disturbance.
pub(super) fn next(
    own: &[String],
    others: &[&[String]],
    turns: &[ExpertTurn],
    p_correct: f64,
    seed: &Seed,
) -> Result<String, EnvError> {
    EnvError::unless_probability(ABOUT.name, p_correct)?;
    let mut stream = seed.child("manner", 0).stream();
    if !stream.chance(p_correct)
        && let Some(guess) = stream.pick(others).and_then(|other| other.last())
    {
        return Ok(guess.clone());
    }
    let follow = |at: usize, turn: &ExpertTurn| {
        let is_own = own.get(at).is_some_and(|wanted| wanted.trim_end() == turn.said.trim_end());
        at + usize::from(is_own)
    };
    let at = turns.iter().fold(0, follow);
    Ok(own.get(at).or(own.last()).cloned().unwrap_or_default())
}
