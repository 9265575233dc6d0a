//! `merit verify sql`: does the query find what it should?

use super::kept::Kept;
use super::verifier::{Common, Judged, Verifier};
use crate::terminal::{count, piece};
use merit_verify::sql::{
    Cell, Database, Difference, Expected, ExpectedRows, ResultShape, RowDifference, SqlConclusion, SqlConfig,
    SqlVerdict, SqlVerifier,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Databases that are kept open.
const DATABASES: usize = 16;

pub(super) struct Sql {
    verifier: SqlVerifier,
    databases: Kept<Database>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    policy: Option<&'a RawValue>,
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
#[derive(Deserialize)]
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

impl Verifier for Sql {
    type Policy = SqlConfig;
    type Record<'a> = Record<'a>;
    type Verdict = SqlVerdict;

    fn compile(config: SqlConfig) -> Result<Self, String> {
        let verifier = SqlVerifier::compile(config).map_err(|e| e.to_string())?;
        Ok(Self { verifier, databases: Kept::new(DATABASES) })
    }

    fn common<'a>(record: &Self::Record<'a>) -> Common<'a> {
        Common { id: record.id, policy: record.policy }
    }

    fn judge(&self, record: &Record<'_>) -> Result<Judged<SqlVerdict>, String> {
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
        let verdict = self.verifier.verify(&database, &record.response, &expected);
        Ok(Judged { passed: verdict.passed(), score: verdict.score, verdict })
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
        lines.extend(conclusion(&verdict.conclusion));
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

fn conclusion(conclusion: &SqlConclusion) -> Vec<String> {
    match conclusion {
        SqlConclusion::Equal => vec!["the same result".to_owned()],
        SqlConclusion::Different { how } => difference(how),
        SqlConclusion::QueryError { why } => vec![format!("the query cannot be used: {}", piece(why))],
        SqlConclusion::LimitReached { limit } => vec![format!("the query reaches a limit: {limit:?}")],
        SqlConclusion::BadReference { why } => vec![format!("the reference is at fault: {}", piece(why))],
        SqlConclusion::GraderFailed { why } => vec![format!("the grader failed: {}", piece(why))],
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
