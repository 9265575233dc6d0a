//! What goes into an episode's machine and what comes out of it.

use crate::grammar::Grammars;
use crate::{ChatFormat, RolloutSettings};
use merit_api::{ExecKind, ToolAnswer, ToolSession};
use merit_core::{Episode, Fault, Provenance};
use merit_model::{Completion, SampleRequest};
use std::sync::Arc;

/// What an episode runs under; shared by all of a rollout.
pub struct Rules {
    /// The format of the conversation.
    pub chat: ChatFormat,
    /// Limits and sampling.
    pub settings: RolloutSettings,
    /// Tokens the model can attend to.
    pub context_limit: usize,
    /// Whether the speaker goes by the whole episode, whatever the policy would have in sight.
    pub sees_all: bool,
    /// How what the policy says comes to be: sampled from a model, or made by a program.
    pub provenance: Provenance,
    /// Grammars that turns are held to, where the settings say so.
    pub grammars: Grammars,
}

/// Something that happened to an episode.
#[derive(Debug)]
pub enum Event {
    /// The model answered, or broke.
    Sampled(Result<Completion, Fault>),
    /// A call that had to wait for a thread has begun.
    ToolStarted {
        /// Number of the call, from its [`ToolJob`].
        call: u64,
    },
    /// The answer of a tool came.
    ToolAnswered {
        /// Number of the call, from its [`ToolJob`].
        call: u64,
        answer: ToolAnswer,
        seconds: f64,
    },
    /// Time passed: look at the deadlines.
    Tick,
}

/// What has to be done for an episode.
pub enum Effect {
    /// Nothing: the answer to something asked before is still to come.
    Wait,
    /// The sampler is to be asked for the next turn.
    Sample(SampleRequest),
    /// A tool is to be called.
    Call(ToolJob),
    Finished(Box<Episode>),
}

/// A tool call to run.
pub struct ToolJob {
    /// Number of the call within its episode; comes back with the answer.
    pub call: u64,
    /// Whether the call computes, waits or returns at once.
    pub exec_kind: ExecKind,
    /// The tool's session of this episode.
    pub session: Arc<dyn ToolSession>,
    /// The input as the policy wrote it.
    pub input: String,
}

/// What an episode is waiting for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitingOn {
    /// Its turn: it is not open yet.
    Queued,
    Model,
    /// A thread for the tool of this name.
    Thread(String),
    Tool(String),
}
