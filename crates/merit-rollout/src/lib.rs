//! What did the agent do? The turn loop, batching, stop rules, trees and forks.
//!
//! [`roll_out`] takes [`EpisodePlan`]s to finished episodes: many in flight over one batched sampler, tools beside it with
//! deadlines, every end typed. Each episode is an [`EpisodeMachine`] (events in, effects out); the loop around it is the
//! only part that knows threads and clocks. A slow tool delays its own episode only, a broken one ends its own only, and
//! the result of an episode depends on its plan and the weights, never on the schedule.

mod calling;
mod chat;
mod deadlines;
mod effect;
mod engine;
mod frontier;
mod grammar;
mod grow;
mod guard;
mod in_flight;
mod latency;
mod machine;
mod open_env;
mod openai;
mod oracle;
mod plan;
mod progress;
mod record;
mod replay;
mod rollback;
mod runtime;
mod scripted;
mod search;
mod settings;
mod waiting;

pub use chat::{ChatFormat, ChatFormatError, LaidOut, LayOutError, MissingMarker, Said};
pub use effect::{Effect, Event, Rules, ToolJob, WaitingOn};
pub use engine::roll_out;
pub use frontier::{BranchEvidence, GrowSettings, Grown, KeepBranches};
pub use grammar::Grammars;
pub use grow::TreeSettings;
pub use in_flight::NOT_FINITE;
pub use latency::LatencySampler;
pub use machine::EpisodeMachine;
pub use openai::{CallForm, LogprobKind, OpenAiSampler, OpenAiSettings, PromptForm, TokenSource, ToolRole};
pub use oracle::{NoExpert, OracleSampler, OracleSettings};
pub use plan::{EpisodePlan, Start, TreeError, close_sessions, session_of, tree};
pub use progress::{Progress, Tally};
pub use rollback::{PlayedGroups, RollbackSettings};
pub use runtime::ToolRuntime;
pub use scripted::{Cue, Reply, ScriptedSampler};
pub use search::{Beam, BestFirst, BestOf, Leaf, Mcts, SearchSettings, Searched};
pub use settings::{RolloutSettings, SettingsError};
pub use waiting::{Waiting, WaitingEpisode};
