//! One file per command: convert, call a library function, print.

pub(crate) mod attack;
pub(crate) mod bench;
pub(crate) mod chat;
mod cluster;
pub(crate) mod compare;
pub(crate) mod doctor;
mod episodes;
pub(crate) mod eval;
pub(crate) mod evolve;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod judge;
pub(crate) mod judge_test;
pub(crate) mod library;
pub(crate) mod list;
mod local;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod model;
pub(crate) mod play;
pub(crate) mod recipe;
pub(crate) mod reproduce;
pub(crate) mod reward;
pub(crate) mod rollout;
pub(crate) mod score;
pub(crate) mod show;
pub(crate) mod tool;
pub(crate) mod train;
pub(crate) mod verify;

pub(crate) use episodes::load_episodes;
use merit_api::EnvError;
use merit_import::ImportError;
use merit_judge::{CheckError, EvolvingError, FolderError, PairError};
use merit_lab::LabError;
use merit_measure::MeasureError;
use merit_memory::MemoryError;
use merit_run::{RecipeError, RunError};
use merit_store::StoreError;
use merit_tools::TapeError;

/// What a failure means to the caller: 2 for wrong input, 130 for an interrupt, 1 for the rest.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    error.chain().find_map(meaning).unwrap_or(1)
}

fn meaning(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if let Some(error) = cause.downcast_ref::<RunError>() {
        return match error {
            RunError::Interrupted { .. } => Some(130),
            RunError::Recipe(_)
            | RunError::Extend { .. }
            | RunError::Start { .. }
            | RunError::Data(_)
            | RunError::Unproven { .. }
            | RunError::OtherData { .. } => Some(2),
            RunError::Env(EnvError::Setting { .. }) => Some(2),
            RunError::Store(error) => of_store(error),
            RunError::Tape(error) => of_tape(error),
            RunError::Memory(error) => error.wrong_input().then_some(2),
            _ => None,
        };
    }
    if let Some(error) = cause.downcast_ref::<MemoryError>() {
        return error.wrong_input().then_some(2);
    }
    if let Some(error) = cause.downcast_ref::<TapeError>() {
        return of_tape(error);
    }
    match (cause.downcast_ref(), cause.downcast_ref()) {
        (Some(ImportError::Store(error)), _) | (None, Some(error)) => of_store(error),
        (Some(_), _) => Some(2),
        (None, None) => match cause.downcast_ref::<LabError>() {
            Some(LabError::Stopped) => Some(130),
            Some(LabError::Elsewhere(_)) => Some(1),
            Some(_) => Some(2),
            None => wrong_input(cause).then_some(2),
        },
    }
}

/// Whether it is what was handed in that is wrong.
fn wrong_input(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<RecipeError>()
        || cause.is::<WrongInput>()
        || cause.is::<PairError>()
        || cause.is::<FolderError>()
        || cause.is::<CheckError>()
        || matches!(cause.downcast_ref(), Some(EnvError::Setting { .. }))
        || matches!(cause.downcast_ref(), Some(MeasureError::NotMeasured { .. } | MeasureError::Twice { .. }))
        || matches!(cause.downcast_ref(), Some(EvolvingError::TooFew { .. } | EvolvingError::NothingIsPaid))
}

fn of_store(error: &StoreError) -> Option<u8> {
    use StoreError::{Exists, NoRecipe, NotARun, NotEmpty};
    matches!(error, NotARun { .. } | Exists { .. } | NotEmpty { .. } | NoRecipe { .. }).then_some(2)
}

fn of_tape(error: &TapeError) -> Option<u8> {
    use TapeError::{Empty, Exists, Foreign, Kind, Missing, Newer, Stateful};
    let wrong = matches!(
        error,
        Missing { .. }
            | Exists { .. }
            | Empty { .. }
            | Foreign { .. }
            | Newer { .. }
            | Kind { .. }
            | Stateful { .. }
    );
    wrong.then_some(2)
}

/// Input that merit cannot use, in words.
#[derive(Debug)]
pub(crate) struct WrongInput(pub(crate) String);

impl std::fmt::Display for WrongInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongInput {}

/// What was looked for was found: the command did its work, and its exit code says so.
#[derive(Debug)]
pub(crate) struct Findings(pub(crate) String);

impl std::fmt::Display for Findings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Findings {}
