//! Fenced blocks as Markdown has them: a line of three or more backticks with a word behind it, up to a line of at least as many.

/// A block in a text; positions are bytes.
pub(super) struct Block<'a> {
    /// Where its opening line begins.
    pub(super) start: usize,
    /// The first word behind the backticks.
    pub(super) word: &'a str,
    /// What is inside, without the line break before the closing line.
    pub(super) body: &'a str,
    /// Behind its closing line. Absent: it never closes.
    pub(super) end: Option<usize>,
}

/// The first block at or behind `from`, which must be the start of a line.
pub(super) fn next_block(text: &str, from: usize) -> Option<Block<'_>> {
    let mut opened: Option<(usize, usize, &str, usize)> = None;
    let mut at = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        let (ticks, behind) = ticks(line);
        let next = at + line.len();
        match opened {
            None if ticks >= 3 && !behind.contains('`') => {
                opened = Some((at, ticks, behind.split_whitespace().next().unwrap_or_default(), next));
            }
            Some((start, needed, word, inside)) if ticks >= needed && behind.trim().is_empty() => {
                let body = text.get(inside..at).unwrap_or_default();
                let body = body.strip_suffix('\n').unwrap_or(body);
                // The line break behind the block is left to the text.
                return Some(Block { start, word, body, end: Some(at + line.trim_end_matches('\n').len()) });
            }
            _ => {}
        }
        at = next;
    }
    let (start, _, word, inside) = opened?;
    Some(Block { start, word, body: text.get(inside..).unwrap_or_default(), end: None })
}

/// How many backticks a line begins with, after at most three spaces, and what follows them.
fn ticks(line: &str) -> (usize, &str) {
    let indented = line.trim_start_matches(' ');
    if line.len() - indented.len() > 3 {
        return (0, line);
    }
    let behind = indented.trim_start_matches('`');
    (indented.len() - behind.len(), behind)
}

/// The body in a block that nothing in it can close.
pub(super) fn fenced(word: &str, body: &str) -> String {
    let longest = body.split('\n').map(|line| ticks(line).0).max().unwrap_or(0);
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    format!("{fence}{word}\n{body}\n{fence}")
}
