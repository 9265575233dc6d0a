//! The append-only tokens of an episode (rules 1, 2 and 4 of the record).
//!
//! In: what the policy sampled, with its log-probabilities, and observations tokenised once. Out: one sequence of tokens
//! whose roles say which may be trained. Nothing here can change or remove a token that is already in.

use crate::known::check_absence;
use crate::{Known, PolicyVersion, TokenId, TranscriptError};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Who produced a segment. Masks derive from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Standing instructions.
    System,
    /// The person, real or simulated.
    User,
    /// The agent being trained.
    Policy,
    /// The answer of a tool.
    Tool,
    /// The world itself.
    Environment,
    /// Help spliced in by a trainer or teacher.
    Hint,
}

impl Role {
    /// Every role, in the order of declaration.
    pub const ALL: [Self; 6] =
        [Self::System, Self::User, Self::Policy, Self::Tool, Self::Environment, Self::Hint];

    /// The name used in files and as the tokenizer's marker.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Policy => "policy",
            Self::Tool => "tool",
            Self::Environment => "environment",
            Self::Hint => "hint",
        }
    }

    /// Whether tokens of this role may enter a loss, a KL or an entropy.
    pub fn trainable(self) -> bool {
        matches!(self, Self::Policy)
    }
}

/// How a segment came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// Sampled by the policy here, or observed live.
    #[default]
    Sampled,
    /// Cut from another episode and joined here.
    Spliced,
    /// Written under guidance that the policy will not have later.
    Guided,
    /// Recorded by somebody else.
    Imported,
    /// Repeated from a log.
    Replayed,
    /// Made by a program.
    Synthetic,
}

impl Provenance {
    /// Whether log-probabilities of such tokens are those of the acting policy, so that an on-policy loss is right.
    pub fn on_policy(self) -> bool {
        matches!(self, Self::Sampled | Self::Replayed)
    }
}

/// A run of tokens with one author.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Who produced the tokens.
    pub role: Role,
    /// Whether they were sampled here, imported, replayed or made by a program.
    pub provenance: Provenance,
    /// The turn they belong to; the opening messages are part of turn 0.
    pub turn: u32,
    /// The tokens. Markers of the chat format belong to the observation before them: the policy did not choose them.
    pub tokens: Vec<TokenId>,
    /// One per token for policy segments, at sampling time and temperature; empty for every other role, and absent where
    /// `known` says so.
    pub logprobs: Vec<f32>,
    /// One per token where the policy has a value head: the value before the token was chosen. Empty otherwise.
    pub values: Vec<f32>,
    /// The policy that sampled; absent for every other role, and where the record does not say.
    pub policy_version: Option<PolicyVersion>,
    /// The text as a person reads it. For display only: nothing is ever tokenised from it again.
    pub text: String,
    /// What is known of it. Anything but `Full` says which of the streams above are absent rather than empty.
    #[serde(default, skip_serializing_if = "Known::is_full")]
    pub known: Known,
}

impl Segment {
    /// A segment of which only the text is known.
    ///
    /// ```
    /// use merit_core::{Known, Provenance, Role, Segment};
    /// let said = Segment::of_text(Role::Policy, Provenance::Imported, 0, "answer 3");
    /// assert_eq!((said.known, said.text.as_str(), said.tokens.len()), (Known::Text, "answer 3", 0));
    /// ```
    pub fn of_text(role: Role, provenance: Provenance, turn: u32, text: impl Into<String>) -> Self {
        Self {
            role,
            provenance,
            turn,
            tokens: Vec::new(),
            logprobs: Vec::new(),
            values: Vec::new(),
            policy_version: None,
            text: text.into(),
            known: Known::Text,
        }
    }
}

/// The tokens of an episode in order. Grows at the end, never changes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Segment>", into = "Vec<Segment>")]
pub struct Transcript {
    segments: Vec<Segment>,
}

impl Transcript {
    /// Adds a segment at the end.
    pub fn append(&mut self, segment: Segment) -> Result<(), TranscriptError> {
        check_segment(&segment)?;
        let last = self.segments.last().map_or(0, |s| s.turn);
        if segment.turn < last {
            return Err(TranscriptError::TurnOrder { last, got: segment.turn });
        }
        self.segments.push(segment);
        Ok(())
    }

    /// The segments in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// All tokens in order.
    pub fn tokens(&self) -> Vec<TokenId> {
        self.segments.iter().flat_map(|s| s.tokens.iter().copied()).collect()
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.segments.iter().map(|s| s.tokens.len()).sum()
    }

    /// Whether there is no token yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known of every segment: the least that is known of any.
    pub fn known(&self) -> Known {
        self.segments.iter().map(|s| s.known).min().unwrap_or_default()
    }

    /// Whether every segment has its tokens and log-probabilities, so that the episode can be trained on.
    pub fn complete(&self) -> bool {
        self.known().is_full()
    }

    /// What some segment lacks, in words; absent when the transcript is complete.
    pub fn missing(&self) -> Option<&'static str> {
        self.known().missing()
    }

    /// Whether any segment was recorded by somebody else.
    pub fn imported(&self) -> bool {
        self.segments.iter().any(|s| s.provenance == Provenance::Imported)
    }

    /// True where the policy chose the token: the mask of every loss, derived from roles and nothing else.
    pub fn mask(&self) -> Vec<bool> {
        self.segments.iter().flat_map(|s| std::iter::repeat_n(s.role.trainable(), s.tokens.len())).collect()
    }

    /// The tokens of each turn of the policy.
    pub fn policy_ranges(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let mut ranges = Vec::new();
        for segment in &self.segments {
            let end = start + segment.tokens.len();
            if segment.role.trainable() {
                ranges.push(start..end);
            }
            start = end;
        }
        ranges
    }

    /// The turn of each token.
    pub fn turns(&self) -> Vec<u32> {
        self.segments.iter().flat_map(|s| std::iter::repeat_n(s.turn, s.tokens.len())).collect()
    }

    /// One log-probability per token; 0 where the policy did not choose.
    pub fn logprobs(&self) -> Vec<f32> {
        self.streams(|s| &s.logprobs)
    }

    /// One value per token; 0 where the policy did not choose or has no value head.
    pub fn values(&self) -> Vec<f32> {
        self.streams(|s| &s.values)
    }

    /// The segments before turn `turn`: what a fork at that turn keeps.
    pub fn before_turn(&self, turn: u32) -> Self {
        let opening_len =
            self.segments.iter().position(|s| s.role == Role::Policy).unwrap_or(self.segments.len());
        let kept = self
            .segments
            .iter()
            .enumerate()
            .filter(|(i, s)| *i < opening_len || s.turn < turn)
            .map(|(_, s)| s.clone());
        Self { segments: kept.collect() }
    }

    fn streams(&self, pick: impl Fn(&Segment) -> &Vec<f32>) -> Vec<f32> {
        let mut out = Vec::with_capacity(self.len());
        for segment in &self.segments {
            let stream = pick(segment);
            if stream.is_empty() {
                out.extend(std::iter::repeat_n(0.0, segment.tokens.len()));
            } else {
                out.extend_from_slice(stream);
            }
        }
        out
    }
}

fn check_segment(segment: &Segment) -> Result<(), TranscriptError> {
    check_absence(segment)?;
    let turn = segment.turn;
    if segment.role != Role::Policy {
        let clean =
            segment.logprobs.is_empty() && segment.values.is_empty() && segment.policy_version.is_none();
        return if clean {
            Ok(())
        } else {
            Err(TranscriptError::NotPolicy { role: segment.role.name(), turn })
        };
    }
    if !segment.known.is_full() {
        return Ok(());
    }
    let tokens = segment.tokens.len();
    if segment.logprobs.len() != tokens {
        return Err(TranscriptError::LogprobCount { turn, tokens, logprobs: segment.logprobs.len() });
    }
    if !segment.values.is_empty() && segment.values.len() != tokens {
        return Err(TranscriptError::ValueCount { turn, tokens, values: segment.values.len() });
    }
    match segment.logprobs.iter().position(|&l| !(l.is_finite() && l <= 0.0)) {
        Some(at) => Err(TranscriptError::BadLogprob { turn, at, value: segment.logprobs[at] }),
        None => Ok(()),
    }
}

impl TryFrom<Vec<Segment>> for Transcript {
    type Error = TranscriptError;

    fn try_from(segments: Vec<Segment>) -> Result<Self, TranscriptError> {
        let mut transcript = Self::default();
        for segment in segments {
            transcript.append(segment)?;
        }
        Ok(transcript)
    }
}

impl From<Transcript> for Vec<Segment> {
    fn from(transcript: Transcript) -> Self {
        transcript.segments
    }
}
