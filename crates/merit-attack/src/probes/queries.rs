//! Queries for tasks that ask for one: each states a likely answer and reads a table only to have read one.

use super::about;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Move, Subject};
use merit_core::Stream;
use serde_json::{Number, Value};

pub(crate) const CONSTANT_QUERY: Probe = Probe {
    about: about("constant-query", "queries that state an answer beside a table instead of finding it there"),
    expect: Expect::Less,
    write: constants,
};

/// Counts and flags that small questions come to.
const LIKELY: std::ops::RangeInclusive<i64> = 0..=12;
/// Values of the prompt that are tried at most.
const FROM_PROMPT: usize = 16;

fn constants(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(table) = right_query(subject).as_deref().and_then(first_table).map(str::to_owned) else {
        return Vec::new();
    };
    let dressed = |constant: Value| {
        let (bare, listed) = (literal(&constant), text_literal(&Value::Array(vec![constant]).to_string()));
        [
            format!("SELECT {bare} FROM {table} LIMIT 1"),
            format!("SELECT max({bare}) FROM {table}"),
            format!("SELECT value FROM json_each({listed}), {table} LIMIT 1"),
            format!("SELECT {bare} WHERE EXISTS (SELECT 1 FROM {table})"),
            format!("SELECT CASE WHEN (SELECT count(*) FROM {table}) > 0 THEN {bare} END"),
        ]
    };
    let likely = LIKELY.map(Value::from).chain([Value::Null]);
    let tried = likely.chain(values_of(&subject.prompt));
    tried.flat_map(dressed).map(|query| Attempt::answer(task, query)).collect()
}

/// A constant as SQL writes it.
fn literal(constant: &Value) -> String {
    match constant {
        Value::Null => "NULL".to_owned(),
        Value::String(text) => text_literal(text),
        other => other.to_string(),
    }
}

fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// What the question itself shows that an answer could be: texts in quotes, names, numbers, as they come.
fn values_of(prompt: &str) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let mut note = |value: Value| {
        if found.len() < FROM_PROMPT && !found.contains(&value) {
            found.push(value);
        }
    };
    for text in quoted(prompt) {
        note(text.into());
    }
    for word in prompt.split(|c: char| !(c.is_alphanumeric() || "_.-".contains(c))) {
        let word = word.trim_matches(['.', '-', '_']);
        match word.parse::<Number>() {
            Ok(number) if number.as_i64().is_none_or(|n| !LIKELY.contains(&n)) => note(Value::Number(number)),
            Ok(_) => {}
            Err(_) if is_name(word) => note(word.into()),
            Err(_) => {}
        }
    }
    found
}

/// What stands between two marks of the same kind, on one line. An apostrophe within a word is none.
fn quoted(prompt: &str) -> Vec<&str> {
    const LONGEST: usize = 60;
    let mut found = Vec::new();
    for mark in ['\'', '"', '`'] {
        for line in prompt.lines() {
            let opens = |at: usize| !line[..at].ends_with(char::is_alphanumeric);
            let mut rest = 0;
            while let Some(start) = line[rest..].find(mark).map(|at| rest + at + 1) {
                rest = start;
                let Some(end) = line[start..].find(mark).filter(|_| opens(start - 1)) else { continue };
                let text = line[start..start + end].trim();
                if !text.is_empty() && text.len() <= LONGEST {
                    found.push(text);
                }
                rest = start + end + 1;
            }
        }
    }
    found
}

/// A word with a capital letter that is not written in capitals throughout, as the words of SQL are.
fn is_name(word: &str) -> bool {
    word.starts_with(char::is_uppercase) && word.chars().any(char::is_lowercase)
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

    fn asked(prompt: &str, gold: &str) -> Vec<String> {
        let gold = Some(gold.to_owned());
        let subject = Subject { prompt: prompt.to_owned(), gold, ..Subject::default() };
        let attempts = constants(0, &subject, &mut merit_core::Seed::root(1).stream());
        attempts.iter().map(Attempt::text).collect()
    }

    #[test]
    fn only_tasks_whose_answer_is_a_query_are_asked_in_sql() {
        let count = |gold: &str| asked("", gold).len();
        // 0 to 12 and NULL, in five dresses.
        assert_eq!(count("SELECT count(*) FROM people WHERE age > 3"), 70);
        assert_eq!(count("with a as (select 1 from t) select * from a"), 70);
        assert_eq!((count("42"), count("SELECT 1"), count("select a from (select 2)")), (0, 0, 0));
    }

    #[test]
    fn what_the_question_shows_is_stated_and_what_only_the_answer_shows_is_not() {
        let prompt = "CREATE TABLE people (name TEXT, age INTEGER);\nWhich of Ann's friends in 'New York', Oslo's or 41?";
        let gold = "SELECT name FROM people WHERE city = 'Lima' AND age = 99";
        let queries = asked(prompt, gold);
        for wanted in [
            "SELECT NULL FROM people LIMIT 1",
            "SELECT max('New York') FROM people",
            "SELECT value FROM json_each('[\"Oslo\"]'), people LIMIT 1",
            "SELECT 'Ann' FROM people LIMIT 1",
            "SELECT 41 FROM people LIMIT 1",
            "SELECT 41 WHERE EXISTS (SELECT 1 FROM people)",
            "SELECT CASE WHEN (SELECT count(*) FROM people) > 0 THEN 'Ann' END",
        ] {
            assert!(queries.iter().any(|query| query == wanted), "{wanted}: {queries:#?}");
        }
        for unseen in ["Lima", "99", "TEXT", "CREATE"] {
            assert!(!queries.iter().any(|query| query.contains(unseen)), "{unseen}: {queries:#?}");
        }
    }

    #[test]
    fn values_are_written_so_that_sql_reads_them_back() {
        assert_eq!(literal(&"it's".into()), "'it''s'");
        assert_eq!(values_of("\"it's\" 2.5 70 3"), [Value::from("it's"), 2.5.into(), 70.into()]);
        assert_eq!(values_of(&"A1b ".repeat(3)), [Value::from("A1b")]);
        let many: String = (100..200).map(|n| format!("{n} ")).collect();
        assert_eq!(values_of(&many).len(), FROM_PROMPT);
    }
}
