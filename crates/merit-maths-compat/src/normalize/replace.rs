//! Spellings of one thing made one: font commands, fraction commands, "and" and "or", percent words, infinity.

use merit_maths::{Budget, Exhausted};

/// Removes what says nothing: dollar signs, quotes, empty texts, negative spaces.
pub(super) fn remove(text: &str, budget: &mut Budget) -> Result<String, Exhausted> {
    rewrite(text, budget, |rest, before| {
        if rest.starts_with("\\mathrm{th}") {
            return Some(("\\mathrm{th}".len(), ""));
        }
        if let Some(after) = rest.strip_prefix("\\!") {
            return Some((rest.len() - after.trim_start().len(), ""));
        }
        if let Some(after) = rest.strip_prefix("\\text")
            && let Some(inside) = after.trim_start().strip_prefix('{')
            && let Some(end) = inside.trim_start().strip_prefix('}')
        {
            return Some((rest.len() - end.len(), ""));
        }
        for (word, escaped_too) in
            [("\\$", true), ("$", true), ("\"", false), ("'", false), ("\\displaystyle", true)]
        {
            if rest.starts_with(word) && (escaped_too || before != Some('\\')) {
                return Some((word.len(), ""));
            }
        }
        None
    })
}

/// Replaces each spelling by the one the grammar knows.
pub(super) fn replace(text: &str, budget: &mut Budget) -> Result<String, Exhausted> {
    rewrite(text, budget, |rest, before| match rest.chars().next()? {
        '\\' => command(rest, before),
        '{' if rest.starts_with("{.") => Some((2, "{0.")),
        '~' if rest.starts_with("~=") => Some((2, "\\approx")),
        _ => comma(rest)
            .or_else(|| decimal_after_space(rest))
            .or_else(|| and_or(rest, before))
            .or_else(|| dots(rest))
            .or_else(|| word(rest, before)),
    })
}

fn command(rest: &str, before: Option<char>) -> Option<(usize, &'static str)> {
    const FONTS: [(&str, &str); 10] = [
        ("\\mathrm", "\\text"),
        ("\\mathit", "\\text"),
        ("\\mathbf", "\\text"),
        ("\\textnormal", "\\text"),
        ("\\textbf", "\\text"),
        ("\\textit", "\\text"),
        ("\\textrm", "\\text"),
        ("\\dfrac", "\\frac"),
        ("\\tfrac", "\\frac"),
        ("\\cfrac", "\\frac"),
    ];
    if let Some((from, to)) = FONTS.iter().find(|(from, _)| rest.starts_with(from)) {
        return Some((from.len(), to));
    }
    if let Some(end) = and_or_text(rest) {
        return Some((end, ","));
    }
    let spaced = rest[1..].chars().next().filter(|c| c.is_whitespace());
    if let (Some(space), true) = (spaced, before != Some('\\')) {
        return Some((1 + space.len_utf8(), " "));
    }
    for (from, to) in
        [("\\ldots", " "), ("\\text{percentage}", "%"), ("\\text{percent}", "%"), ("\\text{pct}", "%")]
    {
        if rest.starts_with(from) {
            return Some((from.len(), to));
        }
    }
    None
}

/// `\text{ and }`.
fn and_or_text(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix("\\text{")?.trim_start();
    let after = inside.strip_prefix("and").or_else(|| inside.strip_prefix("or"))?;
    let end = after.trim_start().strip_prefix('}')?;
    Some(rest.len() - end.len())
}

/// A white space before a point stands for a leading nought.
fn decimal_after_space(rest: &str) -> Option<(usize, &'static str)> {
    let space = rest.chars().next().filter(|c| c.is_whitespace())?;
    rest[space.len_utf8()..].starts_with('.').then(|| (space.len_utf8() + 1, " 0."))
}

/// `{,}` with the white space before it.
fn comma(rest: &str) -> Option<(usize, &'static str)> {
    let inside = rest.trim_start().strip_prefix('{')?.trim_start();
    let end = inside.strip_prefix(',')?.trim_start().strip_prefix('}')?;
    Some((rest.len() - end.len(), ","))
}

/// "and", "or", with a comma and white space before; then the same inside `\text{…}`.
fn and_or(rest: &str, before: Option<char>) -> Option<(usize, &'static str)> {
    let after = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    if !before.is_some_and(|c| c.is_ascii_alphabetic()) {
        for joint in ["and", "or"] {
            if let Some(end) = after.strip_prefix(joint)
                && !end.starts_with(|c: char| c.is_ascii_alphabetic())
            {
                return Some((rest.len() - end.len(), ","));
            }
        }
    }
    let length = and_or_text(after)?;
    Some((rest.len() - after.len() + length, ","))
}

fn dots(rest: &str) -> Option<(usize, &'static str)> {
    rest.starts_with(",\\ldots").then_some((",\\ldots".len(), " "))
}

fn word(rest: &str, before: Option<char>) -> Option<(usize, &'static str)> {
    if rest.starts_with("infinity") {
        return Some(("infinity".len(), "\\infty"));
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let after = rest.trim_start();
    let bounded = after.len() < rest.len() || !before.is_some_and(is_word);
    for name in ["percentage", "percent", "pct"] {
        if bounded && after.strip_prefix(name).is_some_and(|end| !end.starts_with(is_word)) {
            return Some((rest.len() - after.len() + name.len(), "\\%"));
        }
    }
    if rest.starts_with("inf") && before != Some('\\') {
        return Some(("inf".len(), "\\infty"));
    }
    rest.starts_with(" sqrt").then_some((" sqrt".len(), "\\sqrt"))
}

/// Copies `text`, replacing what `step` recognises. `step` sees the rest and the character before it, and says how many
/// bytes to drop and what to put there. It may look past white space, so runs of it are paid for again at each position.
pub(super) fn rewrite<'t>(
    text: &'t str,
    budget: &mut Budget,
    step: impl Fn(&'t str, Option<char>) -> Option<(usize, &'static str)>,
) -> Result<String, Exhausted> {
    budget.spend(1 + text.len() as u64 / 8)?;
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut before = None;
    let mut run_end = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            if at >= run_end {
                run_end = text.len() - text[at..].trim_start().len();
            }
            budget.spend((run_end - at) as u64 / 16)?;
        }
        match step(&text[at..], before) {
            Some((length, new)) if length > 0 => {
                out.push_str(new);
                before = text[..at + length].chars().next_back();
                at += length;
            }
            _ => {
                out.push(c);
                before = Some(c);
                at += c.len_utf8();
            }
        }
    }
    Ok(out)
}
