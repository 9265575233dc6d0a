//! What stands in the boxes of a piece of LaTeX, several joined by commas.

/// Which boxes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boxes {
    All,
    /// The last, with those before it that belong to it.
    Last,
}

/// The contents of the boxes, searched from the right; the text itself where there is none.
pub(super) fn boxed_content(text: &str, boxes: Boxes) -> String {
    let mut results: Vec<&str> = Vec::new();
    let mut limit = text.len();
    let mut next_start = None;
    for (start, after) in box_commands(text).into_iter().rev() {
        let open = after + text[after..limit].len() - text[after..limit].trim_start().len();
        if open >= limit {
            break;
        }
        if !text[open..limit].starts_with('{') {
            if results.is_empty() {
                results.push(&text[open..]);
            }
            break;
        }
        let Some(close) = closing(&text[..limit], open) else {
            if results.is_empty() {
                results.push(&text[open..]);
            }
            break;
        };
        let content = text[open + 1..close].trim();
        if let (Boxes::Last, Some(next)) = (boxes, next_start) {
            let following = results.last().copied().unwrap_or("");
            if !belongs(&text[close + 1..next], content, following) {
                break;
            }
        }
        if results.last() != Some(&content) {
            results.push(content);
        }
        next_start = Some(start);
        limit = start;
    }
    if results.is_empty() {
        return text.to_owned();
    }
    results.reverse();
    results.join(",")
}

/// Every `\boxed` and `\fbox`: where it starts and where the command ends.
fn box_commands(text: &str) -> Vec<(usize, usize)> {
    let of = |word: &'static str| text.match_indices(word).map(move |(at, _)| (at, at + word.len()));
    let mut commands: Vec<_> = of("\\boxed").chain(of("\\fbox")).collect();
    commands.sort_unstable();
    commands
}

/// The brace that closes the one at `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

/// Whether a box belongs to the one that follows it: near, or a little farther with a separator between.
fn belongs(between: &str, content: &str, following: &str) -> bool {
    let length = between.chars().count();
    length < 10 || (following != content && length < 70 && separates(between))
}

fn separates(between: &str) -> bool {
    between.contains([',', ';'])
        || between
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| word == "and" || word == "or")
}
