//! Runs the answer's query and the reference's on the same database, read-only, and compares what comes back.
//!
//! 1 where the results are the same, else 0, or the matching share where the check pays partial credit. A query that cannot
//! run, reaches a limit or states its answer instead of finding it is the policy's doing. A database that cannot be opened
//! and a reference that cannot run are the grader's failures. The reference is a query, or rows: a list of lists, or a table
//! with `rows`, `columns` and `ordered`.

use super::kept::Kept;
use super::pay::Pay;
use super::reading::{Reading, Reference, check_pointer, excerpt};
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use merit_verify::Conclusion;
use merit_verify::sql::{
    Database, Expected, ExpectedRows, ResultShape, SqlConfig as Check, SqlVerdict, SqlVerifier,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

pub(crate) const SQL: Component = Component {
    about: About {
        name: "sql",
        summary: "1 where the query's result on the task's database is the reference's; 0 where it is not.",
        paper: "TableGPT-R1: Advancing Tabular Reasoning Through Reinforcement Learning (2025), arXiv:2512.20312",
    },
    example: r#"
type = "sql"
reference = { pointer = "/query" }
database = { script-at = "/script" }
check = { extract = "last-fence", partial_credit = true }
"#,
};

term_config! {
    /// `sql`
    pub struct SqlConfig of SQL {
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
}

/// Where a database comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

impl TermConfig for SqlConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        self.reference.check()?;
        if let SqlDatabase::ScriptAt(pointer) | SqlDatabase::FileAt(pointer) = &self.database {
            check_pointer("database", pointer)?;
        }
        let verifier = SqlVerifier::compile(self.check.clone());
        let verifier = verifier.map_err(|why| Problem::Setting(format!("`check`: {why}")))?;
        Ok(Box::new(Sql { config: self.clone(), verifier, kept: Kept::default() }))
    }
}

struct Sql {
    config: SqlConfig,
    verifier: SqlVerifier,
    kept: Kept<Database>,
}

impl Term for Sql {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Sql {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let reference = &self.config.reference;
        let value = reference.of(episode).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| Finding::not_applicable(reference.missing()))?;
        let expected = expected(&value).map_err(Finding::broken)?;
        let database = self.database(episode)?;
        let text = self.config.reading.judged(episode)?;
        Ok(finding(&text, &self.verifier.verify(&database, &text, &expected)))
    }

    fn database(&self, episode: &Episode) -> Result<Arc<Database>, Finding> {
        let at = |pointer: &str| {
            let missing =
                || Finding::not_applicable(format!("the task's payload has no database at `{pointer}`"));
            let value = episode.task.payload.pointer(pointer).filter(|v| !v.is_null()).ok_or_else(missing)?;
            let no_text = || Finding::broken(format!("the task's database at `{pointer}` is no text"));
            value.as_str().map(str::to_owned).ok_or_else(no_text)
        };
        let (text, is_file) = match &self.config.database {
            SqlDatabase::Script(script) => (script.clone(), false),
            SqlDatabase::File(path) => (path.clone(), true),
            SqlDatabase::ScriptAt(pointer) => (at(pointer)?, false),
            SqlDatabase::FileAt(pointer) => (at(pointer)?, true),
        };
        let open = || {
            let opened = if is_file { Database::open(&text) } else { Database::script(&text) };
            opened.map_err(|why| why.to_string())
        };
        self.kept.get(&Value::String(text.clone()), open).map_err(Finding::broken)
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

fn finding(text: &str, verdict: &SqlVerdict) -> Finding {
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
    let finding = Finding::judged(verdict, Pay::Score, Evidence::new("executed", ran));
    let order = if verdict.ordered { "in order" } else { "in any order" };
    match (&verdict.conclusion, &verdict.difference) {
        (Conclusion::Pass, _) => {
            finding.with_evidence(Evidence::new("compared", format!("the same rows, {order}")))
        }
        (_, Some(how)) => finding.with_evidence(Evidence::new("compared", excerpt(&format!("{how:?}")))),
        _ => finding,
    }
}
