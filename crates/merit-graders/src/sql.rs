//! Runs the answer's query and the reference's on the same database, read-only, and compares what comes back.
//!
//! 1 where the results are the same, else 0, or the matching share where the check pays partial credit. A query that cannot
//! run, reaches a limit or states its answer instead of finding it is the policy's doing. A database that cannot be opened
//! and a reference that cannot run are the grader's failures. The reference is a query, or rows: a list of lists, or a table
//! with `rows`, `columns` and `ordered`.

use crate::KEPT;
use merit_reward::prelude::*;
use merit_reward::terms::{check_pointer, excerpt};
use merit_verify::Conclusion;
use merit_verify::records::Kept;
use merit_verify::sql::{
    Database, Expected, ExpectedRows, ResultShape, SqlConfig as Check, SqlVerdict, SqlVerifier,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// 1 where the query's result on the task's database is the reference's; 0 where it is not.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sql {
    /// Where the query is looked for.
    #[serde(default)]
    pub reading: Reading,
    /// The reference query, or the rows it should give.
    #[serde(default)]
    pub reference: Reference,
    /// The database that queries run on.
    pub database: SqlDatabase,
    /// What counts as the same result.
    #[serde(default)]
    pub check: Check,
}

impl Component for Sql {
    const ABOUT: About = About {
        name: "sql",
        summary: "1 where the query's result on the task's database is the reference's; 0 where it is not.",
        paper: "TableGPT-R1: Advancing Tabular Reasoning Through Reinforcement Learning (2025), arXiv:2512.20312",
    };
    const EXAMPLE: &'static str = r#"
reference = { pointer = "/query" }
database = { script-at = "/script" }
check = { extract = "last-fence", partial_credit = true }
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()?;
        self.reference.check()?;
        match &self.database {
            SqlDatabase::ScriptAt(pointer) | SqlDatabase::FileAt(pointer) => {
                check_pointer("database", pointer)
            }
            SqlDatabase::Script(_) | SqlDatabase::File(_) => Ok(()),
        }
    }
}

impl PreparedTerm for Sql {
    type Prepared = Prepared;

    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn prepare(&self) -> Result<Prepared, Refusal> {
        let verifier = SqlVerifier::compile(self.check.clone());
        let verifier = verifier.map_err(|why| Refusal::new(format!("`check`: {why}")))?;
        Ok(Prepared { verifier, kept: Kept::new(KEPT) })
    }

    fn evaluate(&self, with: &Prepared, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let reference = &self.reference;
        let value = reference.of(episode).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| TermResult::not_applicable(reference.missing()))?;
        let expected = expected(&value).map_err(TermResult::broken)?;
        let database = self.open(with, episode)?;
        let text = self.reading.judged(episode)?;
        Ok(result(&text, &with.verifier.verify(&database, &text, &expected)))
    }
}

/// The verifier, and the databases that were opened.
pub struct Prepared {
    verifier: SqlVerifier,
    kept: Kept<String, Database>,
}

/// Where a database comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqlDatabase {
    /// This script of `CREATE TABLE` and `INSERT` statements, the same for every task.
    Script(String),
    /// This file, the same for every task. It must not change while it is in use.
    File(String),
    /// A script at this place of the task's payload.
    ScriptAt(String),
    /// The path of a file at this place of the task's payload.
    FileAt(String),
}

impl Sql {
    fn open(&self, with: &Prepared, episode: &Episode) -> Result<Arc<Database>, TermResult> {
        let at = |pointer: &str| {
            let missing =
                || TermResult::not_applicable(format!("the task's payload has no database at `{pointer}`"));
            let value = episode.task.payload.pointer(pointer).filter(|v| !v.is_null()).ok_or_else(missing)?;
            let no_text = || TermResult::broken(format!("the task's database at `{pointer}` is no text"));
            value.as_str().map(str::to_owned).ok_or_else(no_text)
        };
        let (text, is_file) = match &self.database {
            SqlDatabase::Script(script) => (script.clone(), false),
            SqlDatabase::File(path) => (path.clone(), true),
            SqlDatabase::ScriptAt(pointer) => (at(pointer)?, false),
            SqlDatabase::FileAt(pointer) => (at(pointer)?, true),
        };
        let open = || {
            let opened = if is_file { Database::open(&text) } else { Database::script(&text) };
            opened.map_err(|why| why.to_string())
        };
        with.kept.get(&text, open).map_err(TermResult::broken)
    }
}

fn expected(value: &Value) -> Result<Expected, String> {
    let bad = |why: serde_json::Error| format!("the reference is neither a query nor rows: {why}");
    match value {
        Value::String(query) => Ok(Expected::Query(query.clone())),
        Value::Array(_) => {
            let rows = Vec::deserialize(value).map_err(bad)?;
            Ok(Expected::Rows(ExpectedRows { columns: None, rows, ordered: false }))
        }
        other => Ok(Expected::Rows(ExpectedRows::deserialize(other).map_err(bad)?)),
    }
}

fn result(text: &str, verdict: &SqlVerdict) -> TermResult {
    let shape = |shape: Option<ResultShape>| {
        shape.map_or_else(|| "nothing".to_owned(), |s| format!("{} rows of {} columns", s.rows, s.columns))
    };
    let ran = format!(
        "`{}` read {:?} in {} steps and gave {}, the reference {}",
        excerpt(text.trim()),
        verdict.tables,
        verdict.steps,
        shape(verdict.response),
        shape(verdict.reference)
    );
    let result = TermResult::judged(verdict, Pay::Score, Evidence::new("executed", ran));
    let order = if verdict.ordered { "in order" } else { "in any order" };
    match (&verdict.conclusion, &verdict.difference) {
        (Conclusion::Pass, _) => {
            result.with_evidence(Evidence::new("compared", format!("the same rows, {order}")))
        }
        (_, Some(how)) => result.with_evidence(Evidence::new("compared", excerpt(&format!("{how:?}")))),
        _ => result,
    }
}
