//! Demonstrations that are a list of lines.

use merit_api::Demonstration;

/// The line of a script that comes next: whatever else was said, its lines are said in order, and the last one again and again.
pub(crate) fn next_line(script: &[String], play: &Demonstration<'_>) -> Option<String> {
    let said = |at: usize, line: &str| script.get(at).is_some_and(|due| due == line.trim());
    let at = play.turns.iter().fold(0, |at, turn| at + usize::from(said(at, &turn.said)));
    script.get(at).or(script.last()).cloned()
}
