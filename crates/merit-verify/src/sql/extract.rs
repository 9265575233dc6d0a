//! Where a response's query stands, and what its text alone rules out.

use super::Extract;
use super::lexer::{Kind, Token, tokens};

/// The query of a response, or why there is none.
pub(super) fn extract(extract: Extract, response: &str) -> Result<&str, &'static str> {
    match extract {
        Extract::Whole => Ok(response.trim()),
        Extract::LastFence => {
            last_fence(response).ok_or("the response has no block between lines of three backticks")
        }
    }
}

/// What stands in the last closed block.
fn last_fence(response: &str) -> Option<&str> {
    let mut open: Option<usize> = None;
    let mut last = None;
    let mut at = 0;
    for line in response.split_inclusive('\n') {
        let next = at + line.len();
        if line.trim_start().starts_with("```") {
            match open.take() {
                Some(start) => last = response.get(start..at),
                None => open = Some(next),
            }
        }
        at = next;
    }
    last.map(str::trim)
}

/// What is wrong with a query before SQLite sees it.
pub(super) fn refusal(query: &str, allow_clock: bool) -> Option<&'static str> {
    let tokens = tokens(query);
    if let Some(why) = not_one_statement(query, &tokens) {
        return Some(why);
    }
    let first = tokens.iter().find(|token| !token.is_mark(";"));
    if !["select", "with", "values"].iter().any(|word| first.is_some_and(|first| first.is_word(word))) {
        return Some("the statement is not a query: it must begin with SELECT, WITH or VALUES");
    }
    (!allow_clock && asks_the_clock(&tokens)).then_some("the query asks for the current time")
}

/// Why a text is not exactly one statement.
pub(super) fn not_one_statement(text: &str, tokens: &[Token<'_>]) -> Option<&'static str> {
    if text.contains('\0') {
        return Some("the query has a NUL character");
    }
    let Some(first) = tokens.iter().find(|token| !token.is_mark(";")) else {
        return Some("the query is empty");
    };
    let ended = tokens.iter().position(|token| token.is_mark(";") && token.at > first.at);
    ended
        .is_some_and(|at| tokens.iter().skip(at).any(|token| !token.is_mark(";")))
        .then_some("there is more than one statement")
}

/// Date functions take the text `now`, or its absence, for the current time.
pub(super) fn asks_the_clock(tokens: &[Token<'_>]) -> bool {
    let says_now = |token: &Token<'_>| {
        matches!(token.kind, Kind::Text | Kind::Quoted) && token.unquoted().trim().eq_ignore_ascii_case("now")
    };
    let has_dates = tokens.iter().any(is_date_function);
    let without_time = tokens.windows(4).any(|window| match window {
        [name, open, close, _] if is_date_function(name) && open.is_mark("(") && close.is_mark(")") => true,
        [name, open, _, close] => name.is_word("strftime") && open.is_mark("(") && close.is_mark(")"),
        _ => false,
    });
    let ends_bare = matches!(tokens, [.., name, open, close]
        if is_date_function(name) && open.is_mark("(") && close.is_mark(")"));
    without_time || ends_bare || (has_dates && tokens.iter().any(says_now))
}

fn is_date_function(token: &Token<'_>) -> bool {
    ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"].iter().any(|name| {
        token.is_word(name) || (token.kind == Kind::Quoted && token.unquoted().eq_ignore_ascii_case(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_closed_block_is_the_query() {
        let text = "try\n```sql\nSELECT 1\n```\nor\n```\nSELECT 2;\n```\n```sql\nSELECT 3";
        assert_eq!(extract(Extract::LastFence, text), Ok("SELECT 2;"));
        let none = Err("the response has no block between lines of three backticks");
        assert_eq!(extract(Extract::LastFence, "SELECT 1"), none);
        assert_eq!(extract(Extract::Whole, " SELECT 1 "), Ok("SELECT 1"));
    }

    fn check(query: &str, refused: bool) {
        assert_eq!(refusal(query, false).is_some(), refused, "{query:?}: {:?}", refusal(query, false));
    }

    #[test]
    fn one_query_and_nothing_else() {
        check("SELECT ';' -- ; x\n;", false);
        check(";;WITH a AS (SELECT 1) SELECT * FROM a;;", false);
        check("SELECT 1; SELECT 2", true);
        check("DELETE FROM t", true);
        check("PRAGMA user_version", true);
        check(" -- nothing", true);
        check("SELECT 1\0", true);
    }

    #[test]
    fn the_clock_is_not_asked() {
        check("SELECT date('now')", true);
        check("SELECT date ( ' NOW ' , '+1 day')", true);
        check("SELECT date()", true);
        check("SELECT julianday() - 1", true);
        check("SELECT strftime('%Y')", true);
        check("SELECT strftime('%Y', born) FROM people", false);
        check("SELECT 'now' FROM t", false);
        assert_eq!(refusal("SELECT date('now')", true), None);
    }
}
