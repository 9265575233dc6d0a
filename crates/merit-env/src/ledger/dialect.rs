//! How the ledger's agent speaks: one action per line, a verb and what it applies to.

use merit_core::{Action, ToolCall};

/// The dialect in words, for models that were not warm-started on it.
pub const INSTRUCTIONS: &str = "Find the total of the purchases; returns are subtracted. Say one line per turn: \
`lookup NAME` for the unit price of an item, `calc SUM` for arithmetic such as 141+4*12, \
and at the end `answer NUMBER`.";

/// What an agent is told that said something else.
pub(super) const HINT: &str = "say lookup NAME, calc SUM or answer NUMBER";
const MAX_VERB_LENGTH: usize = 16;
const MAX_ANSWER_LENGTH: usize = 20;

/// What a line means. Never fails: what cannot be understood is `Action::Malformed`.
///
/// ```
/// use merit_core::Action;
/// use merit_env::ledger::parse;
/// assert_eq!(parse("answer 159\n"), Action::Answer { text: "159".to_owned() });
/// assert!(matches!(parse("calc 3*47"), Action::Calls { .. }));
/// assert!(matches!(parse("I think 159"), Action::Malformed { .. }));
/// ```
pub fn parse(text: &str) -> Action {
    // The stop string may or may not be part of the turn. Spaces around the line carry no meaning; any other character does.
    let line = text.strip_suffix('\n').unwrap_or(text).trim_matches(' ');
    let Some((verb, rest)) = line.split_once(' ') else {
        return malformed(HINT);
    };
    let rest = rest.trim_start_matches(' ');
    if line.contains(['\n', '\r']) {
        return malformed("one action per line");
    }
    if verb.is_empty() || verb.len() > MAX_VERB_LENGTH || !verb.bytes().all(|b| b.is_ascii_lowercase()) {
        return malformed(HINT);
    }
    match verb {
        "answer" if is_number(rest) => Action::Answer { text: rest.to_owned() },
        "answer" => malformed("answer with a number"),
        tool => Action::Calls { calls: vec![ToolCall { tool: tool.to_owned(), input: rest.to_owned() }] },
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && text.len() <= MAX_ANSWER_LENGTH && digits.bytes().all(|b| b.is_ascii_digit())
}

fn malformed(why: &str) -> Action {
    Action::Malformed { why: why.to_owned() }
}
