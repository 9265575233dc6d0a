//! An episode as text for a terminal: what was said, what came back, what it was worth.

use merit_core::{Action, CallEnd, End, Known, Role, ScoredEpisode, TermOutcome};
use std::fmt::Write as _;

/// The whole episode, turn by turn.
pub(crate) fn render(scored: &ScoredEpisode) -> String {
    let episode = &scored.episode;
    let mut text = format!("{}  task {}\n", visible(&episode.id.to_string()), visible(&episode.task.id));
    let mut turns = episode.turns.iter();
    for segment in episode.transcript.segments() {
        let turn = if segment.role == Role::Policy { turns.next() } else { None };
        // A policy of ours writes its calls as text; a record of text alone keeps them apart.
        let calls = turn.filter(|_| segment.known == Known::Text).map_or(&[][..], |turn| &turn.calls);
        if segment.text.is_empty() && calls.is_empty() {
            continue;
        }
        let who = segment.role.name();
        let said = visible(segment.text.trim_end());
        let sure = match segment.role {
            Role::Policy if segment.known.is_full() => {
                format!("   (log-prob {:.2})", segment.logprobs.iter().sum::<f32>())
            }
            _ => String::new(),
        };
        if !segment.text.is_empty() {
            put(&mut text, &format!("  {who:>11} │ {said}{sure}"));
        }
        for record in calls {
            let (tool, input) = (visible(&record.call.tool), visible(&record.call.input));
            put(&mut text, &format!("  {who:>11} │ calls {tool} {input}"));
        }
    }
    for turn in &episode.turns {
        if let Action::Malformed { why } = &turn.action {
            put(&mut text, &format!("  turn {} could not be understood: {why}", turn.index));
        }
        for call in turn.calls.iter().filter(|c| c.end != CallEnd::Ok) {
            let tool = visible(&call.call.tool);
            put(&mut text, &format!("  turn {}: `{tool}` ended as {:?}", turn.index, call.end));
        }
    }
    if let End::Failed { fault } = &episode.end {
        let side = format!("{:?}", fault.boundary).to_lowercase();
        put(&mut text, &format!("  broke ({side}): {}", visible(&fault.message)));
    }
    let reward = scored.reward().map_or("none".to_owned(), |r| format!("{r:.3}"));
    put(&mut text, &format!("  {}, {}; reward {reward}", episode.end.label(), scored.outcome().name()));
    for term in scored.score.iter().flat_map(|s| &s.terms) {
        let value = match &term.outcome {
            TermOutcome::Value { value } => format!("{value:.3}"),
            TermOutcome::NotApplicable { why } => format!("not applicable: {why}"),
            TermOutcome::ParseFailure { why } => format!("could not be parsed: {why}"),
            TermOutcome::GraderFailed { why } => format!("grader failed: {why}"),
        };
        let evidence: Vec<String> = term.evidence.iter().map(|e| visible(&e.finding)).collect();
        put(&mut text, &format!("    {} × {}: {value}   [{}]", term.name, term.weight, evidence.join("; ")));
    }
    text
}

/// The text without anything a terminal would obey: a policy can say every byte.
fn visible(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' => "\n                ".to_owned(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

fn put(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes every line");
}
