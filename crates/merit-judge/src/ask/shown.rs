//! An episode as plain text: what was asked, what was said, which calls were made and what they answered.
//!
//! In: an episode and a limit. Out: text that says what it left out. Nothing of the score, the reference or the record's numbers.

use merit_core::{Action, CallEnd, CallRecord, End, Episode, Role, Segment, Turn};

/// What the agent did, in at most about `limit` characters.
pub fn shown(episode: &Episode, limit: usize) -> String {
    let mut pieces = pieces(episode);
    match &episode.end {
        End::Truncated { .. } | End::Left | End::Failed { .. } => {
            pieces.push(format!("[it ended so: {}]", episode.end.label()))
        }
        End::Answered | End::EnvironmentDone | End::Unknown => {}
    }
    fitted(&pieces, limit)
}

/// What the agent was asked: everything before its first word.
pub(super) fn opening(episode: &Episode, limit: usize) -> String {
    let opening = episode.transcript.segments().iter().take_while(|segment| segment.role != Role::Policy);
    let pieces: Vec<String> = opening.map(|segment| said(segment.role.name(), &segment.text)).collect();
    match pieces.is_empty() {
        true => fitted(&[format!("{}: {}", episode.task.id, episode.task.payload)], limit),
        false => fitted(&pieces, limit),
    }
}

/// One piece for each thing that was said or done.
fn pieces(episode: &Episode) -> Vec<String> {
    let segments = episode.transcript.segments();
    let first = segments.iter().position(|segment| segment.role == Role::Policy);
    let Some(first) = first else { return episode.turns.iter().flat_map(bare_turn).collect() };
    let mut turns = episode.turns.iter();
    let mut pieces = Vec::new();
    for (at, segment) in segments.iter().enumerate().skip(first) {
        if segment.role != Role::Policy {
            pieces.push(said(segment.role.name(), &segment.text));
            continue;
        }
        pieces.push(said("agent", &segment.text));
        if let Some(turn) = turns.next() {
            pieces.extend(outcome(turn, &segments[at..]));
        }
    }
    pieces
}

/// A turn of an episode that has no text of its own.
fn bare_turn(turn: &Turn) -> Vec<String> {
    let mut pieces = match &turn.action {
        Action::Answer { text } => vec![said("agent", &format!("answer: {text}"))],
        Action::Say { text } => vec![said("agent", text)],
        Action::Calls { .. } | Action::Malformed { .. } => Vec::new(),
    };
    pieces.extend(outcome(turn, &[]));
    pieces
}

/// What came of a turn, where no later segment says so.
fn outcome(turn: &Turn, later: &[Segment]) -> Vec<String> {
    let mut pieces = Vec::new();
    if let Action::Malformed { why } = &turn.action {
        pieces.push(format!("[not understood: {why}]"));
    }
    pieces.extend(turn.calls.iter().map(|record| call(record, later)));
    pieces
}

fn call(record: &CallRecord, later: &[Segment]) -> String {
    let end = match record.end {
        CallEnd::Ok => "",
        CallEnd::Refused => ", refused",
        CallEnd::TimedOut => ", timed out",
        CallEnd::Broken => ", broken",
        CallEnd::Unknown => ", end not recorded",
    };
    let follows = later.iter().any(|s| s.role != Role::Policy && s.text.contains(&record.output));
    let output = if follows { String::new() } else { format!(" -> {}", record.output) };
    format!("[calls {}({}){end}]{output}", record.call.tool, record.call.input)
}

fn said(who: &str, text: &str) -> String {
    format!("{who}: {text}")
}

/// The pieces within the limit: the first and the last of them, and a line that says what is missing between.
fn fitted(pieces: &[String], limit: usize) -> String {
    let limit = limit.max(1);
    let cut: Vec<String> = pieces.iter().map(|piece| middle_cut(piece, limit.div_ceil(2))).collect();
    let sizes: Vec<usize> = cut.iter().map(|piece| piece.chars().count() + 1).collect();
    if sizes.iter().sum::<usize>() <= limit.saturating_add(1) {
        return cut.join("\n");
    }
    // The last piece is kept first: it is most often the answer.
    let (mut head, mut tail, mut used) = (0, 0, 0);
    while head + tail < cut.len() {
        let from_tail = tail <= head;
        let next = if from_tail { cut.len() - 1 - tail } else { head };
        if used + sizes[next] > limit && head + tail > 0 {
            break;
        }
        used += sizes[next];
        if from_tail { tail += 1 } else { head += 1 }
    }
    let missing = &cut[head..cut.len() - tail];
    let characters: usize = missing.iter().map(|piece| piece.chars().count()).sum();
    let mark = format!("[{} messages left out, {characters} characters]", missing.len());
    let kept = cut[..head].iter().map(String::as_str).chain([mark.as_str()]);
    kept.chain(cut[cut.len() - tail..].iter().map(String::as_str)).collect::<Vec<_>>().join("\n")
}

/// The text, or its two ends with a line between them.
fn middle_cut(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let head: String = text.chars().take(limit.div_ceil(2)).collect();
    let tail: String = text.chars().skip(count - limit / 2).collect();
    format!("{head}\n[{} characters left out]\n{tail}", count - limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_core::{EpisodeId, Limit, Task, ToolCall};

    fn episode(turns: Vec<Turn>, end: End) -> Episode {
        let id = EpisodeId { phase: "t".into(), step: 0, group: 0, member: 0, branch: 0 };
        Episode::new(id, Task::new("quiz", "quiz/1"), end).with_turns(turns)
    }

    #[test]
    fn an_episode_is_told_in_the_order_in_which_it_happened() {
        let call = ToolCall { tool: "calc".into(), input: "2+2".into() };
        let record =
            CallRecord { call: call.clone(), end: CallEnd::Refused, output: "no".into(), seconds: None };
        let turns = vec![
            Turn::new(0, Action::Calls { calls: vec![call] }).with_calls(vec![record]),
            Turn::new(1, Action::Answer { text: "4".into() }),
        ];
        let text = shown(&episode(turns, End::Truncated { limit: Limit::Turns }), 1000);
        assert_eq!(
            text,
            "[calls calc(2+2), refused] -> no\nagent: answer: 4\n[it ended so: truncated (turns)]"
        );
    }

    #[test]
    fn what_is_left_out_is_said() {
        let say = |at: u32, text: &str| Turn::new(at, Action::Say { text: text.into() });
        let turns = (0..6).map(|at| say(at, "0123456789")).collect();
        // Six pieces of 17 characters and a line end each; three fit into 60: the last, the first, the last but one.
        let text = shown(&episode(turns, End::Answered), 60);
        assert_eq!(text.lines().nth(1), Some("[3 messages left out, 51 characters]"));
        assert_eq!(text.lines().count(), 4);
        // "agent: " and 93 letters against a piece of at most 50: 50 are left out.
        let text = shown(&episode(vec![say(0, &"x".repeat(93))], End::Answered), 100);
        assert!(text.contains("\n[50 characters left out]\n"), "{text}");
    }
}
