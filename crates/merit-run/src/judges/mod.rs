//! Judges that are models: a question is a task of the world `judgement`, so that an answer is an episode.
//!
//! In: a `judge.toml`. Out: a [`Judge`](merit_judge::Judge). Deadlines, tries, cost and concurrency are those of rollouts and endpoints;
//! what is asked and how answers are read belongs to merit-judge.

mod annotator;
mod asker;
mod backend;
mod fitted;
mod in_recipe;
mod judgement;
mod open;
mod own;
mod record;
mod settings;

pub use annotator::JudgeAnnotator;
pub(crate) use annotator::{AtWork, annotations};
pub use asker::ModelAsker;
pub use backend::{JudgeBackend, OracleBackend};
pub use fitted::FittedJudge;
pub use in_recipe::RecipeJudge;
pub(crate) use in_recipe::{check, elsewhere, idle};
pub use open::OpenJudge;
use open::wording;
pub(crate) use own::{Moment, OwnJudges};
pub use record::Record;
pub use settings::{ExamplesFrom, JudgeFile, JudgeSettings, PanelSettings};
