//! The guard of one connection: what a statement may do, and when it is stopped.
//!
//! SQLite asks the authorizer for everything a statement names while it is prepared, and calls the progress handler every
//! few steps while it runs. Both share a [`Meter`], which is reset before each query.

use super::spill::written_by_this_thread;
use super::{LimitKind, SqlLimits};
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Steps between two calls of the progress handler. Single steps may be slow (a search of one long text in another), so
/// the clock is looked at every time.
const STEPS_PER_LOOK: u16 = 64;
/// Looks between two counts of written bytes.
const LOOKS_PER_SPILL_COUNT: u64 = 16;

/// Functions that are never allowed: they load code, or give another value every time.
const FORBIDDEN: &[&str] = &[
    "load_extension",
    "random",
    "randomblob",
    "readfile",
    "writefile",
    "edit",
    "fts3_tokenizer",
    "fts5_source_id",
];

/// What one statement has used so far, and what it may use.
#[derive(Debug)]
pub(super) struct Meter {
    state: Mutex<State>,
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Only queries may run.
    Read,
    /// Changes of a database in memory, too.
    Change,
}

#[derive(Debug)]
struct State {
    purpose: Purpose,
    limits: SqlLimits,
    allow_clock: bool,
    deadline: Instant,
    looks: u64,
    names: u64,
    written_before: Option<u64>,
    reached: Option<LimitKind>,
    denied: Option<String>,
    tables: BTreeSet<String>,
}

impl Meter {
    pub(super) fn new(purpose: Purpose) -> Arc<Self> {
        let state = State {
            purpose,
            limits: SqlLimits::default(),
            allow_clock: false,
            deadline: Instant::now(),
            looks: 0,
            names: 0,
            written_before: None,
            reached: None,
            denied: None,
            tables: BTreeSet::new(),
        };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// Starts counting for a new query.
    pub(super) fn reset(&self, limits: SqlLimits, allow_clock: bool) {
        let mut state = self.lock();
        state.limits = limits;
        state.allow_clock = allow_clock;
        state.deadline = Instant::now() + Duration::from_millis(limits.wall_ms);
        (state.looks, state.names) = (0, 0);
        state.written_before = written_by_this_thread();
        (state.reached, state.denied) = (None, None);
        state.tables.clear();
    }

    /// The limit that stopped the query, if one did.
    pub(super) fn reached(&self) -> Option<LimitKind> {
        self.lock().reached
    }

    /// What the query asked for and must not have, if anything.
    pub(super) fn denied(&self) -> Option<String> {
        self.lock().denied.clone()
    }

    /// Tables and views that the query reads.
    pub(super) fn tables(&self) -> Vec<String> {
        self.lock().tables.iter().cloned().collect()
    }

    /// Steps taken, to the next multiple below of the handler's rhythm.
    pub(super) fn steps(&self) -> u64 {
        self.lock().looks * u64::from(STEPS_PER_LOOK)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every update leaves a usable state, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Called every few steps. True stops the statement.
    fn look(&mut self) -> bool {
        self.looks += 1;
        let spilled = || {
            let written = written_by_this_thread()?.saturating_sub(self.written_before?);
            Some(written > self.limits.spill_bytes)
        };
        if self.looks * u64::from(STEPS_PER_LOOK) > self.limits.steps {
            self.reached = Some(LimitKind::Steps);
        } else if Instant::now() > self.deadline {
            self.reached = Some(LimitKind::WallTime);
        } else if self.looks.is_multiple_of(LOOKS_PER_SPILL_COUNT) && spilled() == Some(true) {
            self.reached = Some(LimitKind::SpillBytes);
        }
        self.reached.is_some()
    }

    /// Called for everything a statement names.
    fn authorize(&mut self, context: &AuthContext<'_>) -> Authorization {
        self.names += 1;
        if self.names > self.limits.names {
            self.reached = Some(LimitKind::Names);
            return Authorization::Deny;
        }
        let what = match &context.action {
            AuthAction::Select | AuthAction::Recursive => return Authorization::Allow,
            AuthAction::Read { table_name, .. } => {
                if !table_name.is_empty() && !self.tables.contains(*table_name) {
                    self.tables.insert((*table_name).to_owned());
                }
                return Authorization::Allow;
            }
            AuthAction::Function { function_name } => {
                let name = function_name.to_ascii_lowercase();
                let is_clock = matches!(name.as_str(), "current_time" | "current_date" | "current_timestamp");
                if !FORBIDDEN.contains(&name.as_str()) && (self.allow_clock || !is_clock) {
                    return Authorization::Allow;
                }
                format!("the function `{name}`")
            }
            AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
            AuthAction::Attach { .. } => "ATTACH".to_owned(),
            _ if self.purpose == Purpose::Change && is_change(context) => return Authorization::Allow,
            other => first_word(other),
        };
        self.denied.get_or_insert(what);
        Authorization::Deny
    }
}

/// What a database in memory may be put to. Triggers, virtual and temporary tables and transactions are not among it.
fn is_change(context: &AuthContext<'_>) -> bool {
    // A temporary table would be forgotten by an image; altering a table looks for views of it there, and changes none.
    let is_temporary = context.database_name == Some("temp");
    let is_made = matches!(context.action, AuthAction::CreateTable { .. } | AuthAction::CreateView { .. });
    let may_be = matches!(
        context.action,
        AuthAction::Insert { .. }
            | AuthAction::Update { .. }
            | AuthAction::Delete { .. }
            | AuthAction::CreateTable { .. }
            | AuthAction::CreateIndex { .. }
            | AuthAction::CreateView { .. }
            | AuthAction::DropTable { .. }
            | AuthAction::DropIndex { .. }
            | AuthAction::DropView { .. }
            | AuthAction::AlterTable { .. }
            | AuthAction::Reindex { .. }
    );
    may_be && !(is_temporary && is_made)
}

/// The name of an action, without what it acts on.
fn first_word(action: &AuthAction<'_>) -> String {
    let shown = format!("{action:?}");
    shown.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
}

/// Puts the guard on a connection, for good.
pub(super) fn install(connection: &mut Connection, meter: &Arc<Meter>) -> rusqlite::Result<()> {
    let for_progress = Arc::clone(meter);
    connection.progress_handler(i32::from(STEPS_PER_LOOK), Some(move || for_progress.lock().look()))?;
    let for_names = Arc::clone(meter);
    connection.authorizer(Some(move |context: AuthContext<'_>| for_names.lock().authorize(&context)))
}
