//! The verifier over records, each with a database, a response and what is expected; and its verdict in words.

use super::{
    Cell, Database, Difference, Expected, ExpectedRows, ResultShape, RowDifference, SqlConfig, SqlDetail,
    SqlVerdict, SqlVerifier,
};
use crate::records::Kept;
use merit_core::printable::{count, piece};
use merit_core::{Conclusion, Envelope, Verifier};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Databases that are kept open.
const DATABASES: usize = 16;

/// Judges records of queries; databases that records name are opened once.
#[derive(Debug)]
pub struct SqlRecords {
    verifier: SqlVerifier,
    databases: Kept<String, Database>,
}

/// A response, its database and what is expected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlRecord<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "policy")]
    settings: Option<&'a RawValue>,
    /// Path of a database file.
    #[serde(default)]
    database: Option<String>,
    /// Statements that make the database.
    #[serde(default)]
    script: Option<String>,
    #[serde(borrow)]
    response: Cow<'a, str>,
    expected: Wanted,
}

/// A query, or rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    rows: Option<Vec<Vec<Cell>>>,
    #[serde(default)]
    columns: Option<Vec<String>>,
    #[serde(default)]
    ordered: Option<bool>,
}

impl Verifier for SqlRecords {
    type Settings = SqlConfig;
    type Record<'a> = SqlRecord<'a>;
    type Detail = SqlDetail;

    fn compile(config: SqlConfig) -> Result<Self, String> {
        let verifier = SqlVerifier::compile(config).map_err(|e| e.to_string())?;
        Ok(Self { verifier, databases: Kept::new(DATABASES) })
    }

    fn envelope<'a>(record: &Self::Record<'a>) -> Envelope<'a> {
        Envelope { id: record.id, settings: record.settings }
    }

    fn judge(&self, record: &SqlRecord<'_>) -> Result<SqlVerdict, String> {
        let expected = record.expected.read()?;
        let database = match (&record.database, &record.script) {
            (Some(path), None) => self
                .databases
                .get(&format!("file {path}"), || Database::open(path).map_err(|e| e.to_string())),
            (None, Some(script)) => {
                let name = format!("script {script}");
                self.databases.get(&name, || Database::script(script).map_err(|e| e.to_string()))
            }
            _ => Err("give either `database`, the path of a file, or `script`, which makes one".to_owned()),
        }?;
        Ok(self.verifier.verify(&database, &record.response, &expected))
    }

    fn explain(verdict: &SqlVerdict) -> Vec<String> {
        let shape = |shape: Option<ResultShape>| match shape {
            Some(shape) => format!("{} of {}", count(shape.rows, "row"), count(shape.columns, "column")),
            None => "nothing".to_owned(),
        };
        let order = if verdict.ordered { "their order counts" } else { "in any order" };
        let mut lines = vec![
            format!("reference: {}, {order}", shape(verdict.reference)),
            format!("response: {}, read from {:?}", shape(verdict.response), verdict.tables),
        ];
        match (&verdict.conclusion, &verdict.difference) {
            (Conclusion::Pass, _) => lines.push("the same result".to_owned()),
            (Conclusion::Fail, Some(how)) => lines.extend(difference(how)),
            (other, _) => lines.push(piece(&other.to_string())),
        }
        lines
    }
}

impl Wanted {
    fn read(&self) -> Result<Expected, String> {
        match (&self.query, &self.rows) {
            (Some(_), None) if self.columns.is_some() || self.ordered.is_some() => {
                Err("`expected`: `columns` and `ordered` go with `rows`; a query has its own".to_owned())
            }
            (Some(query), None) => Ok(Expected::Query(query.clone())),
            (None, Some(rows)) => {
                let (columns, ordered) = (self.columns.clone(), self.ordered.unwrap_or(false));
                Ok(Expected::Rows(ExpectedRows { columns, rows: rows.clone(), ordered }))
            }
            _ => Err("`expected`: give either `query` or `rows`".to_owned()),
        }
    }
}

fn difference(how: &Difference) -> Vec<String> {
    let (what, rows) = match how {
        Difference::ColumnCount => ("the number of columns differs".to_owned(), &[][..]),
        Difference::ColumnName { column, response, reference } => {
            let (response, reference) = (piece(response), piece(reference));
            (format!("column {column} is called `{response}`, not `{reference}`"), &[][..])
        }
        Difference::Rows { unmatched, first } => {
            (format!("{} of the response have no counterpart", count(*unmatched, "row")), first.as_slice())
        }
        Difference::Order { first } => ("the same rows in another order".to_owned(), first.as_slice()),
    };
    std::iter::once(what).chain(rows.iter().map(row)).collect()
}

fn row(difference: &RowDifference) -> String {
    let side = |side: &Option<(usize, Vec<Cell>)>| match side {
        Some((at, cells)) => {
            format!("row {at} {}", piece(&serde_json::to_string(cells).expect("cells are plain JSON")))
        }
        None => "no row".to_owned(),
    };
    format!("  response: {}; reference: {}", side(&difference.response), side(&difference.reference))
}
