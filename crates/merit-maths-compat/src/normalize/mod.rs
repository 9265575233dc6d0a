//! A piece of LaTeX brought into the form Math-Verify's grammar reads.

mod boxed;
mod operators;
mod replace;
mod units;

pub(super) use boxed::Boxes;
use merit_maths::{Budget, Exhausted};

/// The normalised text: boxes opened, spellings unified, units dropped, loose operators repaired.
pub(super) fn normalize(text: &str, boxes: Boxes, budget: &mut Budget) -> Result<String, Exhausted> {
    budget.spend(1 + text.len() as u64 / 4)?;
    let text = boxed::boxed_content(text, boxes);
    if is_plain(&text) {
        return Ok(if text == "0.5" { "\\frac{1}{2}".to_owned() } else { text });
    }
    let text = basic(&text, budget)?;
    let mut text = units::drop_units(text);
    if text.starts_with('.') {
        text.insert(0, '0');
    }
    if text == "0.5" {
        text = "\\frac{1}{2}".to_owned();
    }
    Ok(operators::repair(&text).trim().to_owned())
}

/// A plain number, which nothing below would change.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.bytes().filter(|b| *b == b'.').count() <= 1
}

fn basic(text: &str, budget: &mut Budget) -> Result<String, Exhausted> {
    let mut text = text.to_owned();
    for (from, to) in [
        ("\\mathrm{T}", "T"),
        ("\\mathrm{d}", "d"),
        ("{\\rm d}", "d"),
        ("\\left[\\begin{matrix}", "\\begin{bmatrix}"),
        ("\\end{matrix}\\right]", "\\end{bmatrix}"),
    ] {
        if text.contains(from) {
            text = text.replace(from, to);
        }
    }
    let text = unsized_delimiters(&text, "left", &LEFT, budget)?;
    let text = unsized_delimiters(&text, "right", &RIGHT, budget)?;
    let text = permutations(&text);
    let text = replace::remove(&text, budget)?;
    let mut text = replace::replace(&text, budget)?.replace(['\n', '\t'], " ");
    if !text.contains("matrix") {
        text = single_backslashes(&text, budget)?;
    }
    Ok(text)
}

const LEFT: [&str; 16] = [
    "\\{",
    "{",
    "\\|",
    "|",
    "[",
    "(",
    "\\rbracl",
    "\\lgroup",
    "\\lbrace",
    "\\lbrack",
    "\\vert",
    "\\lvert",
    "\\lceil",
    "\\lfloor",
    "\\langle",
    "\\llcorner",
];

const RIGHT: [&str; 15] = [
    "\\}",
    "}",
    "\\|",
    "|",
    "]",
    ")",
    "\\rbrack",
    "\\rgroup",
    "\\rbrace",
    "\\vert",
    "\\rvert",
    "\\rceil",
    "\\rfloor",
    "\\rangle",
    "\\lrcorner",
];

/// `\left(` and `\mleft(` become `(`.
fn unsized_delimiters(
    text: &str,
    word: &str,
    delimiters: &[&str],
    budget: &mut Budget,
) -> Result<String, Exhausted> {
    if !text.contains(word) {
        return Ok(text.to_owned());
    }
    replace::rewrite(text, budget, |rest, _| {
        let after = rest.strip_prefix('\\')?;
        let after = after.strip_prefix(word).or_else(|| after.strip_prefix('m')?.strip_prefix(word))?;
        let known = delimiters.iter().any(|d| after.starts_with(d))
            || after.starts_with("\\ulcorner")
            || after.starts_with("\\urcorner");
        known.then_some((rest.len() - after.len(), ""))
    })
}

/// A doubled backslash before a command becomes one.
fn single_backslashes(text: &str, budget: &mut Budget) -> Result<String, Exhausted> {
    if !text.contains("\\\\") {
        return Ok(text.to_owned());
    }
    replace::rewrite(text, budget, |rest, _| {
        let after = rest.strip_prefix("\\\\")?;
        after.starts_with(|c: char| c.is_ascii_alphabetic()).then_some((2, "\\"))
    })
}

/// `(n)_{k}`, the falling factorial.
fn permutations(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '*' | '/' | '\\' | ' ');
    let simple = |s: &str| !s.is_empty() && s.chars().all(allowed);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(")_{") {
        let (head, tail) = (&rest[..at], &rest[at + 3..]);
        let open = head.rfind(|c| !allowed(c)).filter(|i| head[*i..].starts_with('('));
        let close = tail.find(|c| !allowed(c)).filter(|end| *end > 0 && tail[*end..].starts_with('}'));
        match (open, close) {
            (Some(open), Some(close)) if simple(&head[open + 1..]) => {
                let (n, k) = (&head[open + 1..], &tail[..close]);
                out.push_str(&format!("{}\\frac{{({n})!}}{{(({n})-({k}))!}}", &head[..open]));
                rest = &tail[close + 1..];
            }
            _ => {
                out.push_str(&rest[..at + 3]);
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}
