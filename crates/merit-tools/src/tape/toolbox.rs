//! How the calls of a run are answered: where worlds build their tools, they build them through this.

use super::cache::Cached;
use super::entry::card_to_json;
use super::record::{Recorder, unusable};
use super::replay::{Replay, Replayed};
use super::{Fingerprint, Match, Tape, TapeError, TapeKind, TapedTool, Timing};
use crate::{Tool, ToolBuilder, ToolError, ToolSettings, ToolSpec};
use merit_core::canonical;
use merit_core::registry::Chosen;
use std::sync::Arc;

/// Who answers the calls of a run.
///
/// ```
/// use merit_tools::{Calculator, Tape, Toolbox, Tool, ToolAnswer, call_blocking, conformance::example_task};
/// use std::{sync::Arc, time::Duration};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("calls.tape");
/// let second = Duration::from_secs(1);
///
/// let live = Toolbox::record(Tape::create(&path)?).wrap(Arc::new(Calculator));
/// let recorded = call_blocking(&live.open(&example_task(), None).unwrap(), "3*47", second);
/// drop(live);
///
/// let replay = Toolbox::replay(Tape::open(&path)?, Default::default(), Default::default())?;
/// let session = replay.wrap(Arc::new(Calculator)).open(&example_task(), None).unwrap();
/// assert_eq!(call_blocking(&session, "3*47", second), recorded);
/// assert!(matches!(call_blocking(&session, "3*48", second), Ok(ToolAnswer::Broken(_))));
/// assert!(replay.check().unwrap_err().to_string().contains("nearest for this task is call 1"));
/// # Ok::<(), merit_tools::TapeError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub enum Toolbox {
    /// The tools themselves.
    #[default]
    Live,
    /// The tools themselves, and every call is recorded before it is answered.
    Record {
        tape: Arc<Tape>,
        /// Seconds after which the caller stops waiting for a call. Absent: unknown, and whatever is given up counts as
        /// timed out.
        limit_s: Option<f64>,
    },
    /// A tape alone; no tool is asked, and a call that is not on the tape is broken.
    Replay {
        tape: Arc<Tape>,
        /// Which recorded call answers.
        matching: Match,
        /// How long answers take.
        timing: Timing,
    },
    /// A tape that fills itself.
    Cache {
        tape: Arc<Tape>,
        /// Who shares an answer.
        scope: Scope,
    },
}

/// Who shares a cached answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// All episodes of a task. Right for every tool, because a tool may answer from its task.
    #[default]
    Task,
    /// All episodes: for tools whose answers do not depend on the task.
    Everywhere,
}

impl Toolbox {
    pub fn record(tape: Arc<Tape>) -> Self {
        Self::Record { tape, limit_s: None }
    }

    /// Answers from a tape alone. A cache has no pasts, so it can only be matched loosely.
    pub fn replay(tape: Arc<Tape>, matching: Match, timing: Timing) -> Result<Self, TapeError> {
        if tape.kind() == TapeKind::Cache && matching == Match::Strict {
            let (path, wanted) = (tape.path().to_owned(), TapeKind::Recording);
            let hint = "replay it with `--match loose`";
            return Err(TapeError::Kind { path, found: tape.kind(), wanted, hint });
        }
        Ok(Self::Replay { tape, matching, timing })
    }

    /// Answers from a cache that fills itself.
    pub fn cache(tape: Arc<Tape>, scope: Scope) -> Self {
        Self::Cache { tape, scope }
    }

    /// The same where calls are given up after so many seconds.
    #[must_use]
    pub fn within(self, seconds: f64) -> Self {
        match self {
            Self::Record { tape, .. } => Self::Record { tape, limit_s: Some(seconds) },
            other => other,
        }
    }

    /// The tools that `settings` describe. A replay builds none of them: their descriptions come from the tape.
    pub fn build(&self, settings: &Chosen<dyn ToolSettings>) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let name = settings.about().name;
        let digest = settings_digest(settings).map_err(|why| ToolError::Setting {
            tool: name.to_owned(),
            why: format!("its settings: {why}"),
        })?;
        if let Self::Replay { tape, matching, timing } = self {
            let taped = taped_tools(tape, digest, name, *matching)?;
            return Ok(taped
                .into_iter()
                .map(|tool| replay(tape, tool.card, tool.digest, *matching, *timing))
                .collect());
        }
        let tools = settings.build()?;
        if let Some(tape) = self.writes() {
            tape.note_tools(digest, &tools).map_err(|error| unusable(tape, name, error))?;
        }
        Ok(tools.into_iter().map(|tool| self.answering(tool, digest)).collect())
    }

    /// A tool built in code. A replay uses its description and never opens it.
    pub fn wrap(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        let digest = self.note(std::slice::from_ref(&tool));
        self.answering(tool, digest)
    }

    /// Tools built in code that share a state, as those of one server do.
    ///
    /// ```
    /// use merit_tools::{Calculator, Toolbox};
    /// let tools = Toolbox::Live.wrap_all(vec![std::sync::Arc::new(Calculator)]);
    /// assert_eq!(tools[0].spec().name, "calc");
    /// ```
    pub fn wrap_all(&self, tools: Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
        let digest = self.note(&tools);
        tools.into_iter().map(|tool| self.answering(tool, digest)).collect()
    }

    /// Tools that have no settings are known by their cards.
    fn note(&self, tools: &[Arc<dyn Tool>]) -> Fingerprint {
        let cards: Vec<String> = tools.iter().map(|tool| canonical(&card_to_json(tool.spec()))).collect();
        let cards: Vec<&[u8]> = cards.iter().map(String::as_bytes).collect();
        let digest = Fingerprint::of("cards", &cards);
        if let Some(tape) = self.writes()
            && let Err(error) = tape.note_tools(digest, tools)
        {
            tape.trouble(error);
        }
        digest
    }

    /// What went wrong and must not be passed over; see [`Tape::check`]. Calls still under way are settled first.
    pub fn check(&self) -> Result<(), TapeError> {
        let Some(tape) = self.tape() else { return Ok(()) };
        tape.settle();
        tape.check()
    }

    /// The tape, if there is one.
    pub fn tape(&self) -> Option<&Arc<Tape>> {
        match self {
            Self::Live => None,
            Self::Record { tape, .. } | Self::Replay { tape, .. } | Self::Cache { tape, .. } => Some(tape),
        }
    }

    /// How calls are answered, in words.
    pub fn describe(&self) -> String {
        let on = self.tape().map(|tape| tape.path().display().to_string()).unwrap_or_default();
        match self {
            Self::Live => "by the tools themselves".to_owned(),
            Self::Record { .. } => format!("by the tools themselves, recorded on {on}"),
            Self::Replay { matching: Match::Strict, .. } => format!("from the recording {on}"),
            Self::Replay { matching: Match::Loose, .. } => {
                format!("from the recording {on}, matched loosely")
            }
            Self::Cache { scope: Scope::Task, .. } => format!("from the cache {on}, filled by the tools"),
            Self::Cache { scope: Scope::Everywhere, .. } => {
                format!("from the cache {on}, shared by all tasks and filled by the tools")
            }
        }
    }

    fn writes(&self) -> Option<&Arc<Tape>> {
        match self {
            Self::Record { tape, .. } | Self::Cache { tape, .. } => Some(tape),
            Self::Live | Self::Replay { .. } => None,
        }
    }

    fn answering(&self, inner: Arc<dyn Tool>, digest: Fingerprint) -> Arc<dyn Tool> {
        match self {
            Self::Live => inner,
            Self::Record { tape, limit_s } => {
                Arc::new(Recorder { inner, tape: Arc::clone(tape), digest, limit_s: *limit_s })
            }
            Self::Replay { tape, matching, timing } => {
                replay(tape, inner.spec().clone(), digest, *matching, *timing)
            }
            Self::Cache { tape, scope } => {
                Arc::new(Cached { inner, tape: Arc::clone(tape), digest, scope: *scope })
            }
        }
    }
}

impl ToolBuilder for Toolbox {
    fn build(&self, settings: &Chosen<dyn ToolSettings>) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Self::build(self, settings)
    }

    fn wrap(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        Self::wrap(self, tool)
    }
}

fn replay(
    tape: &Arc<Tape>,
    card: ToolSpec,
    digest: Fingerprint,
    matching: Match,
    timing: Timing,
) -> Arc<dyn Tool> {
    Arc::new(Replay(Arc::new(Replayed { tape: Arc::clone(tape), digest, card, matching, timing })))
}

/// The tools that were recorded under these settings or, where other settings will do, under this name.
fn taped_tools(
    tape: &Tape,
    digest: Fingerprint,
    name: &str,
    matching: Match,
) -> Result<Vec<TapedTool>, ToolError> {
    let known = tape.tools().map_err(|error| unusable(tape, name, error))?;
    let same: Vec<TapedTool> = known.iter().filter(|tool| tool.digest == digest).cloned().collect();
    if !same.is_empty() {
        return Ok(same);
    }
    let called = known.iter().find(|tool| tool.card.name == name);
    if let (Match::Loose, Some(tool)) = (matching, called) {
        return Ok(vec![tool.clone()]);
    }
    let (path, names) = (tape.path().display(), known.iter().map(|tool| tool.card.name.as_str()));
    let why = match called {
        Some(_) => {
            format!("the tape {path} recorded it with other settings; give the same, or match loosely")
        }
        None => format!("the tape {path} has no such tool; it has: {}", names.collect::<Vec<_>>().join(", ")),
    };
    Err(ToolError::Setting { tool: name.to_owned(), why })
}

/// The settings of a tool, whatever order they are written in. The key of the name is `name`, as in tapes of earlier versions.
fn settings_digest(settings: &Chosen<dyn ToolSettings>) -> Result<Fingerprint, serde_json::Error> {
    let mut table = serde_json::to_value(settings.table())?;
    table["name"] = settings.about().name.into();
    Ok(Fingerprint::of("settings", &[canonical(&table).as_bytes()]))
}
