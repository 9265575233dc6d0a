//! Where the database comes from: the settings or the task, exactly one of them.
//!
//! A read-only database is shared by all sessions that read it, so that the members of a group do not each make their own.

use super::ABOUT;
use super::config::{SqlToolConfig, setting};
use crate::ToolError;
use merit_core::Task;
use merit_verify::sql::Database;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The key of a task's payload.
const KEY: &str = "database";
/// Longest script of a task, in bytes.
const SCRIPT_BYTES: usize = 16 << 20;

#[derive(Debug)]
pub(super) enum Source {
    Settings(Arc<Database>),
    /// Databases of tasks that are open now, by their script.
    Tasks(Mutex<BTreeMap<String, Weak<Database>>>),
}

impl Source {
    pub(super) fn new(config: &SqlToolConfig) -> Result<Self, ToolError> {
        let opened = match (&config.database, &config.script) {
            (Some(path), _) => Database::open(path),
            (None, Some(script)) => Database::script(script),
            (None, None) => return Ok(Self::Tasks(Mutex::default())),
        };
        Ok(Self::Settings(Arc::new(opened.map_err(|error| setting(error.to_string()))?)))
    }

    pub(super) fn database(&self, task: &Task) -> Result<Arc<Database>, ToolError> {
        let given = task.payload.get(KEY);
        match (self, given) {
            (Self::Settings(database), None) => Ok(Arc::clone(database)),
            (Self::Settings(_), Some(_)) => Err(bad(
                task,
                "its payload has a `database`, but the settings name one too; keep one of them".to_owned(),
            )),
            (Self::Tasks(_), None) => {
                let why = "its payload has no `database` (a SQL script), and the settings name neither `database` nor `script`";
                Err(bad(task, why.to_owned()))
            }
            (Self::Tasks(_), Some(Value::String(script))) if script.len() > SCRIPT_BYTES => {
                Err(bad(task, format!("its `database` has more than {SCRIPT_BYTES} bytes")))
            }
            (Self::Tasks(open), Some(Value::String(script))) => {
                of_script(open, script).map_err(|why| bad(task, why))
            }
            (Self::Tasks(_), Some(_)) => Err(bad(task, "its `database` is not a text".to_owned())),
        }
    }
}

fn of_script(open: &Mutex<BTreeMap<String, Weak<Database>>>, script: &str) -> Result<Arc<Database>, String> {
    let lock = || open.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(database) = lock().get(script).and_then(Weak::upgrade) {
        return Ok(database);
    }
    // Built without the lock: two at once may build the same, which wastes a moment and harms nothing.
    let database = Arc::new(Database::script(script).map_err(|error| error.to_string())?);
    let mut open = lock();
    open.retain(|_, database| database.strong_count() > 0);
    open.insert(script.to_owned(), Arc::downgrade(&database));
    Ok(database)
}

/// A task that cannot be opened.
pub(super) fn bad(task: &Task, why: String) -> ToolError {
    ToolError::Task { tool: ABOUT.name.to_owned(), task: task.id.clone(), why }
}
