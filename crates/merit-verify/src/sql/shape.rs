//! The outline of a query that orders: its terms, where its column list ends, and what it is limited to.

use super::lexer::{Kind, Token, tokens};

#[derive(Debug, PartialEq)]
pub(super) struct Shape<'a> {
    pub(super) terms: Vec<Term<'a>>,
    /// Where another column may be added. Absent: that would change the rows (`DISTINCT`, `UNION`), or is not known.
    pub(super) columns_end: Option<usize>,
    /// The query without its top-level `LIMIT`.
    pub(super) unlimited: &'a str,
    pub(super) limit: Limit,
}

/// What a query is limited to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Limit {
    /// The query has no limit.
    None,
    /// The rows from this one on.
    From(usize),
    /// An expression.
    Unknown,
}

/// What a query orders by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Term<'a> {
    /// The column of the result at this place, from 0.
    Place(usize),
    /// A bare name, of a column of the result or of a table.
    Name(&'a str),
    /// Anything else, as it is written.
    Expression(&'a str),
}

/// The outline of `sql`. Absent: it does not order its rows as a whole.
pub(super) fn shape(sql: &str) -> Option<Shape<'_>> {
    let all = tokens(sql);
    let last = all.iter().rposition(|token| !token.is_mark(";"))?;
    let all = all.get(..=last)?;
    let top: Vec<&Token<'_>> = all.iter().filter(|token| token.depth == 0).collect();
    let by = top.windows(2).rposition(|pair| match pair {
        [order, by] => order.is_word("order") && by.is_word("by"),
        _ => false,
    })?;
    let limit_at = top.iter().skip(by).find(|token| token.is_word("limit")).map(|token| token.at);
    let end = all.last()?.end();
    let terms_start = top.get(by + 1)?.end();
    let terms_end = limit_at.unwrap_or(end);
    let within: Vec<Token<'_>> =
        all.iter().filter(|t| t.at >= terms_start && t.at < terms_end).copied().collect();
    let terms = within
        .split(|token| token.depth == 0 && token.is_mark(","))
        .map(|t| term(sql, t))
        .collect::<Option<_>>()?;
    Some(Shape {
        terms,
        columns_end: columns_end(&top),
        unlimited: sql.get(..terms_end)?,
        limit: limit(all, limit_at),
    })
}

/// One term without its direction.
fn term<'a>(sql: &'a str, mut tokens: &[Token<'a>]) -> Option<Term<'a>> {
    let ends_with = |tokens: &[Token<'_>], words: &[&str]| {
        tokens.last().is_some_and(|last| words.iter().any(|word| last.is_word(word)))
    };
    if ends_with(tokens, &["first", "last"]) && tokens.len() > 2 {
        tokens = tokens.get(..tokens.len() - 2)?;
    }
    if ends_with(tokens, &["asc", "desc"]) && tokens.len() > 1 {
        tokens = tokens.get(..tokens.len() - 1)?;
    }
    match tokens {
        [only] if only.kind == Kind::Number => {
            only.text.parse::<usize>().ok()?.checked_sub(1).map(Term::Place)
        }
        [only] if matches!(only.kind, Kind::Word | Kind::Quoted) => {
            sql.get(only.at..only.end()).map(Term::Name)
        }
        [first, .., last] => sql.get(first.at..last.end()).map(Term::Expression),
        _ => None,
    }
}

fn columns_end(top: &[&Token<'_>]) -> Option<usize> {
    let compound = ["union", "intersect", "except", "values"];
    if top.iter().any(|token| compound.iter().any(|word| token.is_word(word))) {
        return None;
    }
    let select = top.iter().position(|token| token.is_word("select"))?;
    if top.get(select + 1)?.is_word("distinct") {
        return None;
    }
    // `IS DISTINCT FROM` compares; it ends no list of columns.
    let pairs = top.get(select..)?.windows(2);
    let mut ends = pairs.filter_map(|pair| match pair {
        [before, from] if from.is_word("from") && !before.is_word("distinct") => Some(from.at),
        _ => None,
    });
    ends.next()
}

fn limit(all: &[Token<'_>], limit_at: Option<usize>) -> Limit {
    let Some(at) = limit_at else { return Limit::None };
    let after: Vec<&Token<'_>> = all.iter().filter(|token| token.at > at).collect();
    let number = |token: &Token<'_>| token.text.parse::<usize>().ok();
    let offset = match after.as_slice() {
        [count] if number(count).is_some() => Some(0),
        [count, word, offset] if word.is_word("offset") && number(count).is_some() => number(offset),
        [offset, comma, count] if comma.is_mark(",") && number(count).is_some() => number(offset),
        _ => None,
    };
    offset.map_or(Limit::Unknown, Limit::From)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(sql: &str) -> Option<Vec<Term<'_>>> {
        shape(sql).map(|shape| shape.terms)
    }

    #[test]
    fn only_the_order_of_the_whole_counts() {
        assert_eq!(terms("SELECT a FROM (SELECT a FROM t ORDER BY a)"), None);
        assert_eq!(terms("SELECT row_number() OVER (ORDER BY a) FROM t"), None);
        assert_eq!(terms("SELECT 'ORDER BY a' FROM t -- ORDER BY a"), None);
        assert_eq!(terms("SELECT a FROM t ORDER BY a;"), Some(vec![Term::Name("a")]));
        assert_eq!(terms("select a from t\norder  by 1 desc"), Some(vec![Term::Place(0)]));
    }

    #[test]
    fn directions_are_not_part_of_a_term() {
        let sql = "SELECT a FROM t ORDER BY count(*) DESC NULLS LAST, t.b ASC, \"c d\" LIMIT 3";
        let want = vec![Term::Expression("count(*)"), Term::Expression("t.b"), Term::Name("\"c d\"")];
        assert_eq!(terms(sql), Some(want));
    }

    #[test]
    fn the_limit_is_read() {
        let check = |sql: &str, want: Limit| assert_eq!(shape(sql).map(|s| s.limit), Some(want), "{sql}");
        check("SELECT a FROM t ORDER BY a", Limit::None);
        check("SELECT a FROM t ORDER BY a LIMIT 3", Limit::From(0));
        check("SELECT a FROM t ORDER BY a LIMIT 3 OFFSET 2;", Limit::From(2));
        check("SELECT a FROM t ORDER BY a LIMIT 2, 3", Limit::From(2));
        check("SELECT a FROM t ORDER BY a LIMIT (SELECT 1)", Limit::Unknown);
    }

    #[test]
    fn columns_end_where_the_tables_begin() {
        let check = |sql: &str, want: Option<&str>| {
            let end = shape(sql).and_then(|s| s.columns_end);
            assert_eq!(end.map(|at| &sql[..at]), want, "{sql}");
        };
        check("SELECT a, (SELECT 1 FROM u) FROM t ORDER BY b", Some("SELECT a, (SELECT 1 FROM u) "));
        check(
            "WITH c AS (SELECT 1 FROM u) SELECT a FROM c ORDER BY 1",
            Some("WITH c AS (SELECT 1 FROM u) SELECT a "),
        );
        check("SELECT a IS DISTINCT FROM b FROM t ORDER BY b", Some("SELECT a IS DISTINCT FROM b "));
        check("SELECT DISTINCT a FROM t ORDER BY b", None);
        check("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", None);
    }
}
