//! Answers that a query states: values of the result that come from the query's own text instead of from the data, also behind a
//! condition (`CASE WHEN count(*) = 5 THEN 3 END`).
//!
//! Each number and text of the query is replaced in turn by two others. Where a value of the result goes along with it, it was
//! stated: as a copy on the given database, or, for an answer of one row, in the same way on every variation that it speaks in
//! (`1 + 2`). Two kinds are left: words that stand nowhere in the database (`yes`, `old`), which only a query can state, and
//! several values that the data choose among for more rows than there are values.

use super::execute::run;
use super::lexer::{Kind, Token, tokens};
use super::{Cell, Database, SqlConfig, Table};
use std::collections::HashSet;

/// Numbers and texts of a query that are looked at; those further on are not.
const MOST: usize = 64;
/// What is added to a number, and written in place of the letters and digits of a text. Two, of different lengths.
const OTHERS: [(i64, &str, &str); 2] = [(1_000_003, "zqxjk", "918273"), (70_000_037, "jvwqzxk", "46372819")];

/// A number or text of the query that came out in the result.
struct Source<'a> {
    token: Token<'a>,
    /// The places in the result that it was seen in: column and value.
    cells: Vec<(usize, Cell)>,
}

/// One value that follows a literal: its column, the value, and what it becomes.
type Flow = (usize, Cell, [Cell; 2]);

/// What of the answer `given` the query states, as it is written there. Absent: nothing that counts.
pub(super) fn stated(database: &Database, config: &SqlConfig, query: &str, given: &Table) -> Option<String> {
    let all = tokens(query);
    let literals = all.iter().filter(|token| is_literal(token, given)).take(MOST);
    let sources: Vec<Source<'_>> = literals
        .map(|token| Source { token: *token, cells: cells_of(database, config, query, token, given) })
        .filter(|source| !source.cells.is_empty())
        .collect();
    let words = (!sources.is_empty()).then(|| Words::of(database, config))?;
    let columns: Vec<Column<'_>> =
        (0..given.columns.len()).map(|at| Column::of(at, given, &sources, &words)).collect();
    let whole = columns.iter().all(|column| column.is_stated || column.is_null);
    let counts = |column: &&Column<'_>| {
        column.is_stated
            && !column.is_label
            && !column.is_chosen
            && (whole || (column.sources.len() == 1 && !is_echo(&all, column.sources.first())))
    };
    let told = columns.iter().find(counts)?;
    told.sources.first().map(|source| source.token.text.to_owned())
}

/// A column of the answer, and what states it.
struct Column<'a> {
    sources: Vec<&'a Source<'a>>,
    is_null: bool,
    /// Every value comes from the query.
    is_stated: bool,
    /// Its words stand nowhere in the database.
    is_label: bool,
    /// The data choose among its values.
    is_chosen: bool,
}

impl<'a> Column<'a> {
    fn of(at: usize, given: &Table, sources: &'a [Source<'a>], words: &Words) -> Self {
        let values: Vec<&Cell> =
            given.rows.iter().filter_map(|row| row.get(at)).filter(|c| **c != Cell::Null).collect();
        let states = |source: &Source<'_>, value: &Cell| {
            source.cells.iter().any(|(c, cell)| *c == at && cell == value)
        };
        let sources: Vec<&Source<'_>> =
            sources.iter().filter(|source| values.iter().any(|value| states(source, value))).collect();
        let is_stated = !values.is_empty()
            && values.iter().all(|value| sources.iter().any(|source| states(source, value)));
        Self {
            is_null: values.is_empty(),
            is_stated,
            is_label: values.iter().all(|value| words.lack(value)),
            is_chosen: sources.len() > 1 && values.len() > sources.len(),
            sources,
        }
    }
}

/// Whether the value is also one that a column is compared with, as in `SELECT 'Oslo', count(*) … WHERE city = 'Oslo'`.
fn is_echo(all: &[Token<'_>], source: Option<&&Source<'_>>) -> bool {
    let Some(source) = source else { return false };
    all.windows(3).any(|near| match near {
        [column, mark, value] => {
            matches!(column.kind, Kind::Word | Kind::Quoted)
                && mark.kind == Kind::Mark
                && "=<>".contains(mark.text)
                && value.text == source.token.text
                && value.at != source.token.at
        }
        _ => false,
    })
}

fn is_literal(token: &Token<'_>, given: &Table) -> bool {
    match token.kind {
        Kind::Number | Kind::Text => true,
        // A name, unless no column has it.
        Kind::Quoted => {
            let text = Cell::Text(token.unquoted().to_owned());
            given.rows.iter().flatten().any(|cell| *cell == text)
        }
        Kind::Word | Kind::Mark => false,
    }
}

/// The values of `given` that follow the literal.
fn cells_of(
    database: &Database,
    config: &SqlConfig,
    query: &str,
    token: &Token<'_>,
    given: &Table,
) -> Vec<(usize, Cell)> {
    let Some(changed) = changed(query, token) else { return Vec::new() };
    let here = flows(database, config, &changed, given);
    let copied = |(_, cell, others): &Flow| {
        let is_copy = *cell == value(token)
            && OTHERS
                .iter()
                .zip(others)
                .all(|(other, cell)| written(token, other).is_some_and(|w| is(cell, &w)));
        // 0 and 1 are what sums and products of data leave as it is.
        is_copy && !cell.number().is_some_and(|n| n == 0.0 || n == 1.0)
    };
    let alike = given.rows.len() == 1 && here.iter().any(|flow| !copied(flow)) && {
        let mut varied = 0;
        let stays = database.variations().chain(database.doubled()).all(|other| {
            let Ok(ran) = run(other, config, query) else { return true };
            varied += 1;
            flows(other, config, &changed, &ran.table).iter().all(|flow| here.contains(flow))
        });
        stays && varied > 0
    };
    here.into_iter().filter(|flow| alike || copied(flow)).map(|(column, cell, _)| (column, cell)).collect()
}

/// The values that follow the literal on one database, where `base` is what the query gives there.
fn flows(database: &Database, config: &SqlConfig, changed: &[String; 2], base: &Table) -> Vec<Flow> {
    let ran = |query: &String| run(database, config, query).ok().map(|ran| ran.table);
    let [first, second] = changed;
    let Some(one) = ran(first).filter(|table| table.rows.len() == base.rows.len()) else { return Vec::new() };
    let (gone, came) = (left_over(base, &one), left_over(&one, base));
    if gone.is_empty() || gone.len() != came.len() {
        return Vec::new();
    }
    let Some(two) = ran(second).filter(|table| table.rows.len() == base.rows.len()) else {
        return Vec::new();
    };
    let also = left_over(&two, base);
    if left_over(base, &two) != gone || also.len() != came.len() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for ((before, one), two) in gone.iter().zip(&came).zip(&also) {
        for (column, ((before, one), two)) in before.iter().zip(*one).zip(*two).enumerate() {
            if before != one && before != two && one != two {
                found.push((column, before.clone(), [one.clone(), two.clone()]));
            }
        }
    }
    found
}

/// The rows of `of` that are not in `without`, each as often as it is missing there.
fn left_over<'t>(of: &'t Table, without: &Table) -> Vec<&'t Vec<Cell>> {
    let key = |row: &Vec<Cell>| format!("{row:?}");
    let mut counts = std::collections::HashMap::new();
    for row in &without.rows {
        *counts.entry(key(row)).or_insert(0_usize) += 1;
    }
    let mut is_left = |row: &&Vec<Cell>| match counts.get_mut(&key(row)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    of.rows.iter().filter(|row| is_left(row)).collect()
}

/// The query with two others in place of the literal. Absent: it cannot be replaced.
fn changed(query: &str, token: &Token<'_>) -> Option<[String; 2]> {
    let [first, second] = OTHERS.map(|other| {
        let (before, after) = (query.get(..token.at)?, query.get(token.end()..)?);
        Some(format!("{before}{}{after}", written(token, &other)?))
    });
    Some([first?, second?])
}

/// Another literal of the same kind.
fn written(token: &Token<'_>, (number, letters, digits): &(i64, &str, &str)) -> Option<String> {
    if token.kind == Kind::Number {
        return match value(token) {
            Cell::Integer(n) => Some(n.checked_add(*number)?.to_string()),
            Cell::Real(x) => Some(format!("{:?}", x + *number as f64)),
            _ => None,
        };
    }
    let mut text = String::new();
    let mut rest = token.text;
    while let Some(first) = rest.chars().next() {
        let kind = |c: char| {
            if c.is_ascii_digit() {
                'd'
            } else if c.is_alphabetic() {
                'a'
            } else {
                ' '
            }
        };
        let end = rest.find(|c| kind(c) != kind(first)).unwrap_or(rest.len());
        let (run, further) = rest.split_at(end);
        text.push_str(match kind(first) {
            'd' => digits,
            'a' => letters,
            _ => run,
        });
        rest = further;
    }
    (text != token.text).then_some(text)
}

/// What a literal means.
fn value(token: &Token<'_>) -> Cell {
    if token.kind != Kind::Number {
        return Cell::Text(token.unquoted().replace("''", "'"));
    }
    let hex = token.text.strip_prefix("0x").or_else(|| token.text.strip_prefix("0X"));
    let whole = hex.map_or_else(|| token.text.parse(), |digits| i64::from_str_radix(digits, 16));
    whole.map(Cell::Integer).or_else(|_| token.text.parse().map(Cell::Real)).unwrap_or(Cell::Null)
}

/// Whether a value is the one that a literal writes.
fn is(cell: &Cell, literal: &str) -> bool {
    tokens(literal).first().is_some_and(|token| *cell == value(token))
}

/// The words of the database's texts, in lower case. Absent: they could not be read.
struct Words(Option<HashSet<String>>);

impl Words {
    fn of(database: &Database, config: &SqlConfig) -> Self {
        let rows = |query: &str| run(database, config, query).ok().map(|ran| ran.table.rows);
        let read = || -> Option<HashSet<String>> {
            let mut words = HashSet::new();
            for row in rows("SELECT name FROM sqlite_schema WHERE type = 'table'")? {
                let [Cell::Text(name)] = row.as_slice() else { return None };
                for cell in
                    rows(&format!("SELECT * FROM \"{}\"", name.replace('"', "\"\"")))?.iter().flatten()
                {
                    if let Cell::Text(text) = cell {
                        words.extend(in_words(text));
                    }
                }
            }
            Some(words)
        };
        Self(read())
    }

    /// Whether it is a text none of whose words the database has.
    fn lack(&self, cell: &Cell) -> bool {
        let (Some(words), Cell::Text(text)) = (&self.0, cell) else { return false };
        let has_letters = text.chars().any(char::is_alphabetic);
        has_letters && in_words(text).all(|word| !words.contains(&word))
    }
}

fn in_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
