//! What counts as the same result, and what a query may use.

use super::Cell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A SQL verifier. Every setting has a default; `SqlConfig::default()` is strict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SqlConfig {
    /// Where in a response the query stands.
    pub extract: Extract,
    /// Numbers with a point may differ by this much, relative to the larger of 1 and their size; sums over other orders of
    /// rows differ in the last bits.
    pub tolerance: f64,
    /// Names of columns must agree, without regard to case.
    pub column_names: bool,
    /// Score the share of matching rows, or of columns where their number differs, instead of 0.
    pub partial_credit: bool,
    /// Use a reference that gives no rows. Every query that finds nothing matches it, so by default it is a bad reference.
    pub allow_empty: bool,
    /// Accept a query that reads no table although the reference does: it states the answer instead of finding it.
    pub allow_constant: bool,
    /// Let queries ask for the current time. Verdicts then depend on when they are made.
    pub allow_clock: bool,
    /// What a query may use.
    pub limits: SqlLimits,
}

impl Default for SqlConfig {
    fn default() -> Self {
        Self {
            extract: Extract::Whole,
            tolerance: 1e-9,
            column_names: false,
            partial_credit: false,
            allow_empty: false,
            allow_constant: false,
            allow_clock: false,
            limits: SqlLimits::default(),
        }
    }
}

/// Where in a response the query stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extract {
    /// It is the response.
    #[default]
    Whole,
    /// In its last block between lines of three backticks.
    LastFence,
}

/// What one query may use. The reference's query has the same limits; reaching one is then the task's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SqlLimits {
    /// Steps of SQLite's virtual machine; one is about 10 ns to 100 ns.
    pub steps: u64,
    /// Wall-clock fence in milliseconds, far above what the steps take: for the few single steps that are slow.
    pub wall_ms: u64,
    /// Rows of the result.
    pub rows: usize,
    /// Bytes of the result, all values together.
    pub result_bytes: usize,
    /// Bytes of one value or one row, also of intermediate ones and of those in the database.
    pub value_bytes: usize,
    /// Bytes of the query.
    pub query_bytes: usize,
    /// Things the query names (tables, columns, functions, sub-queries) after views and common table expressions are
    /// expanded, which may grow exponentially.
    pub names: u64,
    /// Bytes of intermediate results, which SQLite keeps in temporary files. Measured on Linux; elsewhere steps, value size
    /// and wall time bound them.
    pub spill_bytes: u64,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self {
            steps: 50_000_000,
            wall_ms: 20_000,
            rows: 100_000,
            result_bytes: 16 << 20,
            value_bytes: 100_000,
            query_bytes: 20_000,
            names: 20_000,
            spill_bytes: 256 << 20,
        }
    }
}

/// What a task expects: a query to run on the same database, or the rows themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// The reference query.
    Query(String),
    Rows(ExpectedRows),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRows {
    /// Names of the columns. Absent: they are not known, and cannot be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// The rows, all of one length.
    pub rows: Vec<Vec<Cell>>,
    /// Whether the order of rows counts.
    #[serde(default)]
    pub ordered: bool,
}

/// A config that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{key}` is {got}, but it must be {want}")]
pub struct SqlConfigError {
    /// The setting that is wrong.
    pub key: &'static str,
    pub got: String,
    /// The values that are allowed.
    pub want: &'static str,
}

impl SqlConfig {
    pub(super) fn check(&self) -> Result<(), SqlConfigError> {
        if !(0.0..1.0).contains(&self.tolerance) {
            let got = self.tolerance.to_string();
            return Err(SqlConfigError { key: "tolerance", got, want: "from 0 to below 1" });
        }
        self.limits.check()
    }
}

impl SqlLimits {
    /// Refuses limits outside of what can work.
    pub fn check(&self) -> Result<(), SqlConfigError> {
        let limits = self;
        let numbers = [
            ("limits.steps", limits.steps, 1_000, 1_000_000_000_000),
            ("limits.wall_ms", limits.wall_ms, 1, 3_600_000),
            ("limits.rows", limits.rows as u64, 1, 10_000_000),
            ("limits.result_bytes", limits.result_bytes as u64, 1, 1 << 32),
            ("limits.value_bytes", limits.value_bytes as u64, 1_000, 1_000_000_000),
            ("limits.query_bytes", limits.query_bytes as u64, 1, 1_000_000),
            ("limits.names", limits.names, 1, 10_000_000),
            ("limits.spill_bytes", limits.spill_bytes, 1 << 20, 1 << 40),
        ];
        let want = "within that range";
        for (key, got, least, most) in numbers {
            if !(least..=most).contains(&got) {
                let got = format!("{got}, outside {least} to {most}");
                return Err(SqlConfigError { key, got, want });
            }
        }
        Ok(())
    }
}
