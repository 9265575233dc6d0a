//! Judges that are models: a question is a task of the world `judgement`, so that an answer is an episode.
//!
//! In: a `judge.toml`. Out: a [`Judge`](merit_judge::Judge). Deadlines, tries, cost and concurrency are those of rollouts and endpoints;
//! what is asked and how answers are read belongs to merit-judge.

mod annotator;
mod asker;
mod fitted;
mod judgement;
mod open;
mod record;
mod settings;

pub use annotator::JudgeAnnotator;
pub use asker::ModelAsker;
pub use fitted::FittedJudge;
pub use open::OpenJudge;
pub use record::Record;
pub use settings::{JudgeFile, JudgeSettings, PanelSettings};
