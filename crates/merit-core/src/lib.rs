//! What is an episode? The record that passes between stations; plain data, no IO.
//!
//! A [`Task`] enters a world; what happens is an [`Episode`] (append-only [`Transcript`], [`Turn`]s, typed [`End`]); the
//! reward says a [`Score`]; together they are a [`ScoredEpisode`], whose [`Outcome`] decides what follows; members of a
//! [`Group`] become [`Sample`]s whose advantages a credit rule fills in. The rules that must hold are checked by
//! [`conformance`], which anybody may run on their own components.
#![warn(missing_docs)]

mod aged;
mod annotation;
pub mod bag;
mod canonical;
pub mod conformance;
mod cost;
pub mod embedder;
mod episode;
pub mod expected;
pub mod gate;
mod group;
mod ids;
mod info;
mod judgement;
mod known;
mod outcome;
mod per_process;
mod phase;
pub mod printable;
pub mod registry;
mod sample;
mod score;
mod seed;
pub mod settings;
pub mod stats;
mod task;
mod task_line;
mod transcript;
mod transcript_error;
mod turn;
mod window;

pub use aged::{Aged, Refresh};
pub use annotation::{Annotation, Annotations};
pub use canonical::canonical;
pub use cost::Cost;
pub use episode::{Boundary, End, Episode, Fault, Limit, Reported, hex};
pub use group::{Group, GroupError, ScoredEpisode, constant};
pub use ids::{EpisodeId, PolicyVersion, TokenId};
pub use info::Info;
pub use judgement::{Conclusion, Envelope, Judgement, Verifier, Why};
pub use known::Known;
pub use outcome::Outcome;
pub use per_process::PerProcess;
pub use phase::{Arm, Phase, StageKind, When};
pub use registry::{About, Chosen, Component, Components, Refusal};
pub use sample::{Sample, SampleError};
#[doc(hidden)]
pub use schemars;
pub use score::{Evidence, Reward, Score, TermOutcome, TermScore};
pub use seed::{Seed, Stream};
pub use task::{Message, Split, Task};
pub use task_line::{Move, TaskLine};
pub use transcript::{Provenance, Role, Segment, Transcript};
pub use transcript_error::TranscriptError;
pub use turn::{Action, CallEnd, CallRecord, ToolCall, Turn, TurnStop};
pub use window::{InSight, Window};
