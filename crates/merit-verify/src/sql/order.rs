//! The order a reference asks for. Rows that tie under its `ORDER BY` may come in any order, and where a `LIMIT` cuts
//! through a tie, any of the tied rows may fill the places.
//!
//! To see ties, the values ordered by are needed. They are taken from the result where it shows them; else the reference is
//! run again with them as further columns and without its limit. Where neither works, the order must be the reference's own.

use super::execute::{Stopped, run};
use super::shape::{Limit, Shape, Term, shape};
use super::{Cell, Database, SqlConfig, Table};
use std::ops::Range;

/// What a response is compared with.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) table: Table,
    /// Rows that may fill places; those of `table`, or more where a limit cut through a tie.
    pub(super) pool: Vec<Vec<Cell>>,
    /// Which places of the result may be filled from where in the pool. One segment when the order does not count.
    pub(super) segments: Vec<Segment>,
    pub(super) ordered: bool,
    /// Tables it reads. Absent: rows were given instead of a query.
    pub(super) tables: Option<Vec<String>>,
}

/// Places of the result and the rows that may stand there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segment {
    pub(super) places: Range<usize>,
    pub(super) pool: Range<usize>,
}

impl Reference {
    /// Rows in any order.
    pub(super) fn unordered(table: Table, tables: Option<Vec<String>>) -> Self {
        let all = 0..table.rows.len();
        let segments = vec![Segment { places: all.clone(), pool: all }];
        Self { pool: table.rows.clone(), table, segments, ordered: false, tables }
    }

    /// Rows in this order and no other.
    pub(super) fn in_order(table: Table, tables: Option<Vec<String>>) -> Self {
        let segments = (0..table.rows.len()).map(|i| Segment { places: i..i + 1, pool: i..i + 1 }).collect();
        Self { pool: table.rows.clone(), table, segments, ordered: true, tables }
    }

    pub(super) fn query(database: &Database, config: &SqlConfig, sql: &str) -> Result<Self, Stopped> {
        let ran = run(database, config, sql)?;
        let tables = Some(ran.tables);
        let Some(shape) = shape(sql) else { return Ok(Self::unordered(ran.table, tables)) };
        match ties(database, config, sql, &shape, &ran.table) {
            Some((pool, segments)) => Ok(Self { table: ran.table, pool, segments, ordered: true, tables }),
            None => Ok(Self::in_order(ran.table, tables)),
        }
    }
}

type Ties = (Vec<Vec<Cell>>, Vec<Segment>);

/// The rows and segments of ties. Absent: they cannot be known.
fn ties(
    database: &Database,
    config: &SqlConfig,
    sql: &str,
    shape: &Shape<'_>,
    table: &Table,
) -> Option<Ties> {
    let places: Vec<Option<usize>> = shape.terms.iter().map(|term| place(term, &table.columns)).collect();
    let shown: Option<Vec<usize>> = places.iter().copied().collect();
    if let (Some(keys), Limit::None) = (&shown, shape.limit) {
        return Some(segments(table.rows.clone(), keys, 0, table));
    }
    let whole = match shape.limit {
        Limit::From(offset) => wider(database, config, shape.unlimited, shape, &places, table, offset),
        Limit::None | Limit::Unknown => None,
    };
    whole.or_else(|| match shown {
        Some(keys) => Some(segments(table.rows.clone(), &keys, 0, table)),
        None => wider(database, config, sql, shape, &places, table, 0),
    })
}

/// Runs the reference with the values it orders by as further columns. The result must begin as the reference's does.
fn wider(
    database: &Database,
    config: &SqlConfig,
    sql: &str,
    shape: &Shape<'_>,
    places: &[Option<usize>],
    table: &Table,
    offset: usize,
) -> Option<Ties> {
    let width = table.columns.len();
    let mut further = String::new();
    let mut keys = Vec::new();
    let mut count = 0;
    for (term, place) in shape.terms.iter().zip(places) {
        match (place, term) {
            (Some(place), _) => keys.push(*place),
            (None, Term::Name(text) | Term::Expression(text)) => {
                further += &format!(", ({text}) ");
                keys.push(width + count);
                count += 1;
            }
            (None, Term::Place(_)) => return None,
        }
    }
    let query = if further.is_empty() {
        sql.to_owned()
    } else {
        let (columns, rest) = sql.split_at_checked(shape.columns_end?)?;
        format!("{columns}{further}{rest}")
    };
    let ran = run(database, config, &query).ok()?;
    if ran.table.columns.len() != width + count || ran.table.rows.len() < offset + table.rows.len() {
        return None;
    }
    let (pool, segments) = segments(ran.table.rows, &keys, offset, table);
    let pool: Vec<Vec<Cell>> = pool
        .into_iter()
        .map(|mut row| {
            row.truncate(width);
            row
        })
        .collect();
    // The reference itself must fit; else the further columns changed more than was meant.
    let fits = super::matcher::Matcher::new(&table.rows, &pool, 0.0);
    let all_fit = segments.iter().all(|s| fits.unmatched(s.places.clone(), s.pool.clone()).ours.is_empty());
    all_fit.then_some((pool, segments))
}

/// Which column of the result a term names.
fn place(term: &Term<'_>, columns: &[String]) -> Option<usize> {
    match term {
        Term::Place(place) => (*place < columns.len()).then_some(*place),
        Term::Name(name) => {
            let name = name.trim_matches(['"', '`', '[', ']']);
            columns.iter().position(|column| column.eq_ignore_ascii_case(name))
        }
        Term::Expression(_) => None,
    }
}

/// Cuts the pool where the keys change, and keeps what reaches into the places of the table.
fn segments(pool: Vec<Vec<Cell>>, keys: &[usize], offset: usize, table: &Table) -> Ties {
    let same = |a: &Vec<Cell>, b: &Vec<Cell>| {
        keys.iter().all(|key| matches!((a.get(*key), b.get(*key)), (Some(x), Some(y)) if x.same(y, 0.0)))
    };
    let mut found = Vec::new();
    let mut start = 0;
    for group in pool.chunk_by(same) {
        let range = start..start + group.len();
        start = range.end;
        let first = range.start.max(offset).saturating_sub(offset);
        let last = range.end.min(offset + table.rows.len()).saturating_sub(offset);
        if first < last {
            found.push(Segment { places: first..last, pool: range });
        }
    }
    (pool, found)
}
