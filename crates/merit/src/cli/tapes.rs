//! How tool calls are answered, as flags of the commands that run episodes. They are no part of a recipe: the same recipe
//! is recorded and replayed.

use crate::commands::WrongInput;
use crate::out;
use anyhow::Result;
use clap::{Args, ValueEnum};
use merit_run::TOOLS_MARK;
use merit_store::RunFolder;
use merit_tools::{Match, Scope, Tape, TapeError, Timing, Toolbox};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(next_help_heading = "Tool calls")]
pub(crate) struct TapeFlags {
    /// Record every tool call on this tape, so that it can all be replayed without any tool.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["replay", "tool_cache"])]
    record: Option<PathBuf>,
    /// Answer tool calls from a tape; no tool is asked, and a call that was not recorded ends the command.
    #[arg(long, value_name = "FILE", conflicts_with = "tool_cache")]
    replay: Option<PathBuf>,
    /// Which recorded call answers a replayed one [default: strict].
    #[arg(long = "match", value_enum, value_name = "HOW", requires = "replay")]
    matching: Option<Matching>,
    /// How long replayed calls take [default: fast].
    #[arg(long, value_enum, value_name = "HOW", requires = "replay")]
    timing: Option<Pacing>,
    /// Answer tool calls from this cache; what it lacks is asked once, kept, and never changes.
    #[arg(long, value_name = "FILE")]
    tool_cache: Option<PathBuf>,
    /// Who shares a cached answer [default: task].
    #[arg(long, value_enum, value_name = "WHO", requires = "tool_cache")]
    cache_scope: Option<Sharing>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Matching {
    /// Same tool, settings, task, earlier calls and input: the recorded run, or an error.
    Strict,
    /// Failing that, a tool of the same name and the same input but for JSON order and white space.
    Loose,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Pacing {
    /// An answer comes at once.
    Fast,
    /// As long as when they were recorded.
    Recorded,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sharing {
    /// All episodes of a task; right for every tool.
    Task,
    /// All episodes; only for tools whose answers do not depend on the task.
    All,
}

impl TapeFlags {
    /// Finds what is wrong before anything is made.
    pub(crate) fn check(&self, resuming: bool) -> Result<()> {
        if let Some(path) = self.record.as_ref().filter(|path| !resuming && holds_something(path)) {
            return Err(TapeError::Exists { path: path.clone() }.into());
        }
        if self.replay.is_some() {
            self.open()?;
        }
        Ok(())
    }

    /// How calls are answered in something new.
    pub(crate) fn open(&self) -> Result<Toolbox> {
        Ok(if let Some(path) = &self.record {
            Toolbox::record(Tape::create(path)?)
        } else if let Some(path) = &self.replay {
            let matching = match self.matching {
                None | Some(Matching::Strict) => Match::Strict,
                Some(Matching::Loose) => Match::Loose,
            };
            let timing = match self.timing {
                None | Some(Pacing::Fast) => Timing::Fast,
                Some(Pacing::Recorded) => Timing::Recorded,
            };
            Toolbox::replay(Tape::open(path)?, matching, timing)?
        } else if let Some(path) = &self.tool_cache {
            let scope = match self.cache_scope {
                None | Some(Sharing::Task) => Scope::Task,
                Some(Sharing::All) => Scope::Everywhere,
            };
            Toolbox::cache(Tape::cache(path)?, scope)
        } else {
            Toolbox::Live
        })
    }

    /// How calls are answered in a run that goes on: on the tape that has its calls so far.
    pub(crate) fn reopen(&self, run: &RunFolder) -> Result<Toolbox> {
        let Some(path) = self.record.as_ref() else { return self.open() };
        if holds_something(path) {
            return Ok(Toolbox::record(Tape::append(path)?));
        }
        if let Some(before) = run.mark::<String>(TOOLS_MARK)? {
            let path = path.display();
            return Err(WrongInput(format!(
                "the calls of this run were answered {before}, so {path} would lack its beginning; record a new run instead"
            ))
            .into());
        }
        self.open()
    }
}

fn holds_something(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() || found.len() > 0)
}

/// Says on standard error what became of the calls, where that is news.
pub(crate) fn report(toolbox: &Toolbox) -> Result<()> {
    let Some(tape) = toolbox.tape() else { return Ok(()) };
    let (path, counts) = (tape.path().display(), tape.counts()?);
    match toolbox {
        Toolbox::Cache { .. } => {
            out::complain(format_args!(
                "{path}: {} calls from the cache, {} asked",
                counts.hits, counts.live
            ));
        }
        Toolbox::Record { .. } if counts.differing > 0 => out::complain(format_args!(
            "{path}: {} calls were answered otherwise than before in the same place; the first answer stands",
            counts.differing
        )),
        Toolbox::Record { .. } => out::complain(format_args!("{path}: {} calls recorded", counts.calls)),
        Toolbox::Replay { .. } | Toolbox::Live => {}
    }
    Ok(())
}
