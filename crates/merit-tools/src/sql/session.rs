//! The database of one episode: shared and read, or its own and changed.

use super::config::SqlToolConfig;
use super::{ABOUT, source, table};
use crate::excerpt::refused;
use crate::{ToolAnswer, ToolError, ToolFuture, ToolSession, no_state};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use merit_core::Task;
use merit_verify::sql::{Database, Done, LimitKind, Scratch, SqlLimits, SqlStop};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// What a session shows and may use.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    limits: SqlLimits,
    shown_rows: usize,
    shown_bytes: usize,
}

struct Reading {
    database: Arc<Database>,
    bounds: Bounds,
}

struct Changing {
    scratch: Mutex<Scratch>,
    bounds: Bounds,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// The bytes of the database in base 64.
    sqlite: String,
}

/// Opens a session on `database`, or on the copy that `state` holds.
pub(super) fn open(
    config: &SqlToolConfig,
    database: Arc<Database>,
    task: &Task,
    state: Option<&Value>,
) -> Result<Arc<dyn ToolSession>, ToolError> {
    let bounds =
        Bounds { limits: config.limits, shown_rows: config.shown_rows, shown_bytes: config.shown_bytes };
    if !config.writable {
        no_state(ABOUT.name, state)?;
        return Ok(Arc::new(Reading { database, bounds }));
    }
    let scratch = match state {
        Some(state) => restored(state, config.copy_bytes())
            .map_err(|why| ToolError::Snapshot { tool: ABOUT.name.to_owned(), why })?,
        None => database
            .image()
            .and_then(|image| Scratch::new(&image, config.copy_bytes()))
            .map_err(|error| source::bad(task, error.to_string()))?,
    };
    Ok(Arc::new(Changing { scratch: Mutex::new(scratch), bounds }))
}

fn restored(state: &Value, copy_bytes: u64) -> Result<Scratch, String> {
    let state = State::deserialize(state).map_err(|error| error.to_string())?;
    let image =
        STANDARD.decode(&state.sqlite).map_err(|error| format!("`sqlite` is not base 64: {error}"))?;
    Scratch::new(&image, copy_bytes).map_err(|error| error.to_string())
}

impl ToolSession for Reading {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(async move {
            let Bounds { limits, shown_rows, shown_bytes } = &self.bounds;
            let asked = self.database.ask(input.trim(), limits, *shown_rows);
            asked.map_or_else(
                |stop| said(stop, limits),
                |page| ToolAnswer::Ok(table::text(&page, *shown_bytes)),
            )
        })
    }
}

impl ToolSession for Changing {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(async move {
            let Bounds { limits, shown_rows, shown_bytes } = &self.bounds;
            let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
            match scratch.run(input.trim(), limits, *shown_rows) {
                Ok(Done::Rows(page)) => ToolAnswer::Ok(table::text(&page, *shown_bytes)),
                Ok(Done::Changed { rows: 1 }) => ToolAnswer::Ok("done: 1 row changed".to_owned()),
                Ok(Done::Changed { rows }) => ToolAnswer::Ok(format!("done: {rows} rows changed")),
                Err(stop) => said(stop, limits),
            }
        })
    }

    fn snapshot(&self) -> Value {
        let image = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).image();
        match image {
            Ok(image) => json!({ "sqlite": STANDARD.encode(image) }),
            // Cannot be restored, which then says why.
            Err(error) => json!({ "failed": error.to_string() }),
        }
    }
}

/// What the agent is told of a statement that gave nothing.
fn said(stop: SqlStop, limits: &SqlLimits) -> ToolAnswer {
    match stop {
        SqlStop::Statement(why) => refused(why),
        SqlStop::Database(why) => ToolAnswer::Broken(why),
        SqlStop::Limit(LimitKind::Steps | LimitKind::WallTime) => {
            ToolAnswer::TimedOut("the statement takes too long: read fewer rows, or join on keys".to_owned())
        }
        SqlStop::Limit(limit) => refused(match limit {
            LimitKind::QueryBytes => format!("too long: at most {} bytes", limits.query_bytes),
            LimitKind::ValueBytes => format!("a value or row has more than {} bytes", limits.value_bytes),
            LimitKind::ResultBytes => "the rows are too large: select fewer columns".to_owned(),
            LimitKind::SpillBytes => "intermediate results are too large: filter before joining".to_owned(),
            LimitKind::DatabaseBytes => "the database is full: delete something first".to_owned(),
            LimitKind::Names => "the statement names too many things: make it simpler".to_owned(),
            LimitKind::Rows | LimitKind::Steps | LimitKind::WallTime => "too many rows".to_owned(),
        }),
    }
}
