//! Queries for tasks that ask for one: each states a likely answer and reads a table only to have read one.

use super::about;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Move, Subject};
use merit_core::Stream;

pub(crate) const CONSTANT_QUERY: Probe = Probe {
    about: about("constant-query", "queries that state an answer beside a table instead of finding it there"),
    expect: Expect::Less,
    write: constants,
};

/// Counts and flags that small questions come to.
const LIKELY: std::ops::RangeInclusive<i64> = 0..=12;

fn constants(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(table) = right_query(subject).as_deref().and_then(first_table).map(str::to_owned) else {
        return Vec::new();
    };
    let dressed = |n: i64| {
        [
            format!("SELECT {n} FROM {table} LIMIT 1"),
            format!("SELECT max({n}) FROM {table}"),
            format!("SELECT value FROM json_each('[{n}]'), {table} LIMIT 1"),
        ]
    };
    LIKELY.flat_map(dressed).map(|query| Attempt::answer(task, query)).collect()
}

/// The right answer, where it is a query.
fn right_query(subject: &Subject) -> Option<String> {
    let answer = subject.right_moves()?.into_iter().rev().find_map(|done| match done {
        Move::Answer { text } | Move::Raw { text } => Some(text),
        Move::Say { .. } | Move::Call { .. } => None,
    })?;
    let plain = answer.trim_start().to_lowercase();
    (plain.starts_with("select ") || plain.starts_with("with ")).then_some(answer)
}

/// The name behind the first `FROM`.
fn first_table(query: &str) -> Option<&str> {
    let mut words = query.split_whitespace();
    words.find(|word| word.eq_ignore_ascii_case("from"))?;
    let name = words.next()?.trim_end_matches([',', ';', ')']);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tasks_whose_answer_is_a_query_are_asked_in_sql() {
        let asked = |gold: &str| {
            let subject = Subject { gold: Some(gold.to_owned()), ..Subject::default() };
            constants(0, &subject, &mut merit_core::Seed::root(1).stream()).len()
        };
        assert_eq!(asked("SELECT count(*) FROM people WHERE age > 3"), 39);
        assert_eq!(asked("with a as (select 1 from t) select * from a"), 39);
        assert_eq!((asked("42"), asked("SELECT 1"), asked("select a from (select 2)")), (0, 0, 0));
    }
}
