//! One episode, turn by turn: who said what, which calls were made, what each term of the reward found.

use crate::html::{escape, number};
use crate::tokens::{Paint, Vocabulary, chips};
use merit_core::{
    Action, CallEnd, CallRecord, Known, Outcome, Reward, Role, Score, Segment, TermOutcome, Turn,
};
use merit_store::StoredEpisode;
use std::fmt::Write as _;

/// Longer texts are folded away.
const LONG: usize = 700;

pub(crate) fn episode(stored: &StoredEpisode, vocabulary: &Vocabulary, strongest: f32) -> String {
    let episode = &stored.scored.episode;
    let mut out = String::new();
    let (mut at, mut turns) = (0, episode.turns.iter());
    for segment in episode.transcript.segments() {
        let tokens = at..at + segment.tokens.len();
        at = tokens.end;
        if segment.role != Role::Policy {
            say(&mut out, segment.role.name(), &text(&segment.text));
            continue;
        }
        let advantages = stored.credit.as_ref().and_then(|credit| credit.advantages.get(tokens));
        // Chips are coloured by likelihood, which not every record has.
        let mut body = match segment.known {
            Known::Full => chips(segment, vocabulary, &Paint { advantages, strongest }),
            Known::Tokens | Known::Text => text(&segment.text),
        };
        if let Some(turn) = turns.next() {
            let later = episode
                .transcript
                .segments()
                .iter()
                .filter(|s| s.role != Role::Policy && s.turn >= segment.turn);
            body.push_str(&action(turn, &later.collect::<Vec<_>>()));
        }
        say(&mut out, "policy", &body);
    }
    say(&mut out, "end", &escape(&end_text(stored)));
    if let Some(score) = &stored.scored.score {
        out.push_str(&terms(score));
    }
    out
}

pub(crate) fn badge(outcome: Outcome) -> String {
    let class = match outcome {
        Outcome::Solved => "badge good",
        Outcome::PolicyWrong | Outcome::PolicyTimedOut => "badge bad",
        _ => "badge",
    };
    format!("<span class=\"{class}\">{}</span>", outcome.name())
}

pub(crate) fn reward(stored: &StoredEpisode) -> String {
    match stored.scored.score.as_ref().map(|score| &score.reward) {
        Some(Reward::Value { value }) => format!("reward {}", number(*value)),
        Some(Reward::Unscorable { why }) => format!("no reward: {}", escape(why)),
        Some(Reward::GraderFailed { why }) => format!("no reward: the grader failed, {}", escape(why)),
        None => "no reward: never scored".to_owned(),
    }
}

fn say(out: &mut String, who: &str, body: &str) {
    let _ = writeln!(out, "<div class=\"say\"><div class=\"who\">{who}</div><div>{body}</div></div>");
}

fn text(text: &str) -> String {
    let shown = format!("<div class=\"text\">{}</div>", escape(text));
    if text.len() <= LONG {
        return shown;
    }
    let head: String = text.chars().take(80).collect();
    format!("<details><summary class=\"call\">{} …</summary>{shown}</details>", escape(&head))
}

fn end_text(stored: &StoredEpisode) -> String {
    match &stored.scored.episode.end {
        merit_core::End::Failed { fault } => {
            format!("{}: {}", stored.scored.episode.end.label(), fault.message)
        }
        end => end.label(),
    }
}

fn action(turn: &Turn, later: &[&Segment]) -> String {
    let mut out = match &turn.action {
        Action::Answer { text } => format!("<div class=\"call\">answers <code>{}</code></div>", escape(text)),
        Action::Malformed { why } => format!("<div class=\"call\">malformed: {}</div>", escape(why)),
        Action::Say { .. } | Action::Calls { .. } => String::new(),
    };
    turn.calls.iter().for_each(|record| out.push_str(&call(record, later)));
    out
}

fn call(record: &CallRecord, later: &[&Segment]) -> String {
    let end = match record.end {
        CallEnd::Ok => "ok",
        CallEnd::Refused => "refused",
        CallEnd::TimedOut => "timed out",
        CallEnd::Broken => "broken",
        CallEnd::Unknown => "end not recorded",
    };
    // What the agent was shown usually follows as a segment of its own; it is not said twice.
    let follows = later.iter().any(|segment| segment.text.contains(&record.output));
    let output =
        if follows { String::new() } else { format!(" → <code>{}</code>", escape(&record.output)) };
    let (tool, input) = (escape(&record.call.tool), escape(&record.call.input));
    format!("<div class=\"call\">calls <code>{tool}</code> with <code>{input}</code>: {end}{output}</div>")
}

fn terms(score: &Score) -> String {
    let mut out =
        String::from("<details class=\"terms\"><summary class=\"call\">what the reward found</summary><ul>");
    for term in &score.terms {
        let value = match &term.outcome {
            TermOutcome::Value { value } => number(*value),
            TermOutcome::NotApplicable { why } => format!("does not apply: {}", escape(why)),
            TermOutcome::ParseFailure { why } => format!("could not parse: {}", escape(why)),
            TermOutcome::GraderFailed { why } => format!("broke: {}", escape(why)),
        };
        let _ = write!(
            out,
            "<li><b>{}</b> {value} <small>weight {}</small>",
            escape(&term.name),
            number(term.weight)
        );
        if !term.turns.is_empty() {
            let turns = term.turns.iter().map(|turn| turn.map_or_else(|| "–".to_owned(), number));
            let _ = write!(out, " <small>by turn: {}</small>", turns.collect::<Vec<_>>().join(", "));
        }
        if !term.evidence.is_empty() {
            let found =
                term.evidence.iter().map(|e| format!("<li>{}: {}</li>", escape(&e.act), escape(&e.finding)));
            let _ = write!(out, "<ul>{}</ul>", found.collect::<String>());
        }
        out.push_str("</li>");
    }
    if !score.turn_rewards.is_empty() {
        let turns = score.turn_rewards.iter().map(|turn| number(*turn)).collect::<Vec<_>>().join(", ");
        let _ = write!(out, "<li>reward by turn: {turns}</li>");
    }
    out.push_str("</ul></details>");
    out
}
