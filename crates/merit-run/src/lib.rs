//! The driver: a recipe goes through the stations into a run folder.
//!
//! [`recipe`] parses and checks; [`train`] runs stage after stage; the watcher gets [`Event`]s. The only crate besides
//! the shells that sees every station.

mod act;
mod alter;
mod alternatives;
mod annotators;
mod bank;
mod checks;
mod collect;
mod components;
mod credit_checks;
mod dataset;
mod document;
mod driver;
mod effects;
mod elsewhere;
mod error;
mod eval;
mod evaluate;
mod evolve;
mod extend;
mod fit;
mod fit_data;
mod guests;
mod imitate;
mod interleave;
mod judges;
mod kept_state;
mod learn;
mod lessons;
mod look;
mod memory;
mod merge;
pub mod metrics;
mod mistakes;
mod model;
mod models;
mod notes;
mod origin;
pub mod overrides;
mod own_data;
mod parts;
mod person;
mod plan;
mod plateau;
mod play;
mod policy;
mod preface;
mod prefer;
mod probes;
mod progress;
mod proven;
pub mod recipe;
mod recipe_checks;
pub mod recipe_error;
mod rescore;
pub mod reward_file;
mod roles;
mod run;
mod sample;
mod search;
mod session;
pub mod shipped;
mod stage;
mod stage_checks;
pub mod stages;
mod start;
mod starts;
mod suite;
pub mod tasks;
pub mod toml_error;
mod until;
mod warm;
mod warm_start;

pub use act::Actor;
pub use annotators::{ANNOTATORS, Program};
pub use components::built_in;
pub use driver::{Options, train};
pub use effects::lost;
pub use elsewhere::{Players, SentPolicy, Setup, Work, Worker};
pub use error::RunError;
pub use eval::{Eval, EvalResult, Part, Player, Share};
pub use evolve::EvolvingJudge;
pub use extend::extend;
pub use judges::{
    ExamplesFrom, FittedJudge, JudgeAnnotator, JudgeBackend, JudgeFile, JudgeSettings, ModelAsker, OpenJudge,
    OracleBackend, PanelSettings, RecipeJudge, Record,
};
pub use lessons::Keep;
pub use model::{FileModel, FreshModel, ModelConfig, Trained};
pub use models::{Like, NamedModel, StartOf};
pub use notes::TOOLS_MARK;
pub use parts::{Parts, Plan};
pub use play::{Groups, Play, play_policy, play_role, play_with};
pub use progress::{Event, Finished};
pub use proven::Unproven;
pub use recipe::Recipe;
pub use recipe_error::RecipeError;
pub use rescore::{RescoredBatch, Rescoring, rescore};
pub use roles::{Backend, EmbeddedModel, Roles};
pub use run::Run;
pub use session::Session;
pub use tasks::TASK_SOURCES;
pub use until::Until;
pub use warm_start::WarmStart;

/// Unix time in milliseconds, for people: nothing that is computed depends on it.
fn now_ms() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64)
}
