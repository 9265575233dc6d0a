//! The tokens of a statement: enough to tell words from what is quoted, commented out or between brackets.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name.
    Word,
    /// A name in quotes or brackets; a text, where SQLite finds no such name.
    Quoted,
    Text,
    Number,
    /// Anything else, one character.
    Mark,
}

/// A token with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Open round brackets around it.
    pub(super) depth: usize,
}

impl Token<'_> {
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    pub(super) fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// What stands between the quotes of a name or text; the token itself otherwise.
    pub(super) fn unquoted(&self) -> &str {
        match self.kind {
            Kind::Quoted | Kind::Text => {
                let mut inner = self.text.chars();
                inner.next();
                inner.next_back();
                inner.as_str()
            }
            _ => self.text,
        }
    }
}

/// The tokens of `sql`, without white space and comments. A quote that is never closed runs to the end.
pub(super) fn tokens(sql: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(rest) = sql.get(at..)
        && let Some(first) = rest.chars().next()
    {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if let Some(length) = comment(rest) {
            at += length;
            continue;
        }
        let (kind, length) = token(rest, first);
        if first == ')' {
            depth = depth.saturating_sub(1);
        }
        let text = rest.get(..length).unwrap_or(rest);
        found.push(Token { kind, text, at, depth });
        if first == '(' {
            depth += 1;
        }
        at += length.max(1);
    }
    found
}

fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("--") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    let inside = rest.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(rest.len(), |end| end + 4))
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    match first {
        '\'' => (Kind::Text, quoted(rest, first, first)),
        '"' | '`' => (Kind::Quoted, quoted(rest, first, first)),
        '[' => (Kind::Quoted, rest.find(']').map_or(rest.len(), |end| end + 1)),
        _ if first.is_ascii_digit() => (Kind::Number, run(rest, |c| c.is_ascii_alphanumeric() || c == '.')),
        _ if is_name(first) => (Kind::Word, run(rest, |c| is_name(c) || c.is_ascii_digit())),
        _ => (Kind::Mark, first.len_utf8()),
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$' || !c.is_ascii()
}

fn run(rest: &str, inside: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !inside(c)).unwrap_or(rest.len())
}

/// The length of a quoted token; a doubled quote stands for itself.
fn quoted(rest: &str, open: char, close: char) -> usize {
    let mut from = open.len_utf8();
    while let Some(end) = rest.get(from..).and_then(|inside| inside.find(close)) {
        let after = from + end + close.len_utf8();
        if !rest.get(after..).is_some_and(|more| more.starts_with(close)) {
            return after;
        }
        from = after + close.len_utf8();
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, want: &[(&str, usize)]) {
        let got: Vec<_> = tokens(sql).into_iter().map(|t| (t.text, t.depth)).collect();
        assert_eq!(got, want, "{sql:?}");
    }

    #[test]
    fn quotes_comments_and_brackets_are_told_apart() {
        check("a -- b\n /* c ; */ d", &[("a", 0), ("d", 0)]);
        check("'it''s; (' x", &[("'it''s; ('", 0), ("x", 0)]);
        check(
            "f(a,(b))c",
            &[("f", 0), ("(", 0), ("a", 1), (",", 1), ("(", 1), ("b", 2), (")", 1), (")", 0), ("c", 0)],
        );
        check("[a b]\"c\"", &[("[a b]", 0), ("\"c\"", 0)]);
        check("1.5e3>=2", &[("1.5e3", 0), (">", 0), ("=", 0), ("2", 0)]);
    }

    #[test]
    fn what_is_never_closed_runs_to_the_end() {
        check("'abc", &[("'abc", 0)]);
        check("/* abc", &[]);
        check(")))a", &[(")", 0), (")", 0), (")", 0), ("a", 0)]);
    }
}
