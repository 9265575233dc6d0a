//! How an episode lies in a row: streams as blobs, cost and head as columns, the rest as JSON.
//!
//! Exact both ways: `f32` streams keep their bits, single floats go through `f64`, and JSON keeps every `f64`. What JSON
//! cannot hold (NaN, infinities) is refused on the way in.

use crate::{StoreError, blobs};
use merit_core::{
    Cost, End, Episode, EpisodeId, Known, PolicyVersion, Provenance, Reported, Role, Score, Segment, Task,
    TermOutcome, Transcript, Turn, Window,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// What of an episode goes into JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireEpisode<'a> {
    /// Written by earlier versions, always empty; read and dropped.
    #[serde(default, rename = "setting", skip_serializing)]
    _setting: serde::de::IgnoredAny,
    segments: Vec<WireSegment<'a>>,
    turns: Cow<'a, [Turn]>,
    end: Cow<'a, End>,
    bootstrap: Option<f64>,
    /// What somebody else said of it; only imported episodes have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reported: Option<Cow<'a, Reported>>,
    /// The environment's last snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    state: Option<Cow<'a, serde_json::Value>>,
    /// What the policy had in sight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
    /// The parts of the cost that were not counted; the columns then hold lower bounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    tokens_unknown: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    seconds_unknown: bool,
}

/// A value that is there, also when it is null.
fn present<'de, 'a, D: serde::Deserializer<'de>>(
    value: D,
) -> Result<Option<Cow<'a, serde_json::Value>>, D::Error> {
    serde_json::Value::deserialize(value).map(|value| Some(Cow::Owned(value)))
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSegment<'a> {
    role: Role,
    provenance: Provenance,
    turn: u32,
    /// Number of tokens; policy segments have as many log-probabilities, unless `known` says otherwise.
    tokens: usize,
    /// Whether there is a value for each token.
    has_values: bool,
    policy_version: Option<PolicyVersion>,
    text: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Known::is_full")]
    known: Known,
}

/// The streams of an episode, all segments one after the other.
pub(crate) struct Streams {
    pub(crate) tokens: Vec<u8>,
    pub(crate) logprobs: Vec<u8>,
    pub(crate) values: Vec<u8>,
}

impl<'a> WireEpisode<'a> {
    pub(crate) fn of(episode: &'a Episode) -> Self {
        let segments = episode.transcript.segments().iter().map(|segment| WireSegment {
            role: segment.role,
            provenance: segment.provenance,
            turn: segment.turn,
            tokens: segment.tokens.len(),
            has_values: !segment.values.is_empty(),
            policy_version: segment.policy_version,
            text: Cow::Borrowed(&segment.text),
            known: segment.known,
        });
        Self {
            _setting: serde::de::IgnoredAny,
            segments: segments.collect(),
            turns: Cow::Borrowed(&episode.turns),
            end: Cow::Borrowed(&episode.end),
            bootstrap: episode.bootstrap.map(f64::from),
            reported: episode.reported.as_ref().map(Cow::Borrowed),
            state: episode.state.as_ref().map(Cow::Borrowed),
            window: episode.window,
            tokens_unknown: episode.cost.tokens_unknown,
            seconds_unknown: episode.cost.seconds_unknown,
        }
    }

    /// The episode again. An error says what does not fit together.
    pub(crate) fn into_episode(
        self,
        id: EpisodeId,
        task: Arc<Task>,
        policy_version: PolicyVersion,
        cost: Cost,
        streams: &Streams,
    ) -> Result<Episode, String> {
        let transcript = transcript(self.segments, streams).map_err(|why| format!("episode {id}: {why}"))?;
        let cost =
            Cost { tokens_unknown: self.tokens_unknown, seconds_unknown: self.seconds_unknown, ..cost };
        Ok(Episode::new(id, task, self.end.into_owned())
            .with_policy_version(policy_version)
            .with_transcript(transcript)
            .with_turns(self.turns.into_owned())
            .with_cost(cost)
            .with_bootstrap(self.bootstrap.map(|value| value as f32))
            .with_reported(self.reported.map(Cow::into_owned))
            .with_state(self.state.map(Cow::into_owned))
            .with_window(self.window))
    }
}

fn transcript(segments: Vec<WireSegment<'_>>, streams: &Streams) -> Result<Transcript, String> {
    let mut tokens = blobs::to_tokens(&streams.tokens).ok_or("its tokens are cut short")?.into_iter();
    let mut logprobs =
        blobs::to_floats(&streams.logprobs).ok_or("its log-probabilities are cut short")?.into_iter();
    let mut values = blobs::to_floats(&streams.values).ok_or("its values are cut short")?.into_iter();
    let mut transcript = Transcript::default();
    for segment in segments {
        let count = segment.tokens;
        let likely = segment.role == Role::Policy && segment.known.is_full();
        let segment = Segment {
            role: segment.role,
            provenance: segment.provenance,
            turn: segment.turn,
            tokens: tokens.by_ref().take(count).collect(),
            logprobs: logprobs.by_ref().take(if likely { count } else { 0 }).collect(),
            values: values.by_ref().take(if segment.has_values { count } else { 0 }).collect(),
            policy_version: segment.policy_version,
            text: segment.text.into_owned(),
            known: segment.known,
        };
        if segment.tokens.len() != count {
            return Err("it has fewer tokens than its segments say".into());
        }
        transcript.append(segment).map_err(|e| e.to_string())?;
    }
    if tokens.len() + logprobs.len() + values.len() > 0 {
        return Err("its streams are longer than its segments say".into());
    }
    Ok(transcript)
}

impl Streams {
    pub(crate) fn of(episode: &Episode) -> Self {
        let segments = episode.transcript.segments();
        Self {
            tokens: blobs::from_tokens(segments.iter().flat_map(|s| &s.tokens)),
            logprobs: blobs::from_floats(segments.iter().flat_map(|s| &s.logprobs)),
            values: blobs::from_floats(segments.iter().flat_map(|s| &s.values)),
        }
    }
}

/// The name of a term's outcome in the `scores` table.
pub(crate) fn term_outcome(outcome: &TermOutcome) -> &'static str {
    match outcome {
        TermOutcome::Value { .. } => "value",
        TermOutcome::NotApplicable { .. } => "not-applicable",
        TermOutcome::ParseFailure { .. } => "parse-failure",
        TermOutcome::GraderFailed { .. } => "grader-failed",
    }
}

/// Refuses numbers that would not come back.
pub(crate) fn check_finite(episode: &Episode, score: Option<&Score>) -> Result<(), StoreError> {
    let refuse = |what: String| Err(StoreError::NotFinite { episode: episode.id.to_string(), what });
    let calls = episode.turns.iter().flat_map(|turn| &turn.calls);
    let mut seconds = calls.into_iter().filter_map(|call| call.seconds).chain([episode.cost.tool_seconds]);
    if seconds.any(|seconds| !seconds.is_finite()) {
        return refuse("the time spent in tools".into());
    }
    if episode.bootstrap.is_some_and(|value| !value.is_finite()) {
        return refuse("the bootstrap value".into());
    }
    if episode.reported.as_ref().is_some_and(|reported| !reported.reward.is_finite()) {
        return refuse("the reported reward".into());
    }
    let told = episode.turns.iter().flat_map(|turn| turn.info.values().chain(&turn.reward));
    if told.into_iter().any(|number| !number.is_finite()) {
        return refuse("the environment's reward or info of a turn".into());
    }
    let Some(score) = score else { return Ok(()) };
    if score.reward.value().is_some_and(|value| !value.is_finite()) {
        return refuse("the reward".into());
    }
    if score.turn_rewards.iter().any(|value| !value.is_finite()) {
        return refuse("a turn reward".into());
    }
    for term in &score.terms {
        let numbers = term.turns.iter().flatten().chain([&term.weight]);
        if numbers.into_iter().any(|n| !n.is_finite()) || term.outcome.value().is_some_and(|n| !n.is_finite())
        {
            return refuse(format!("the term `{}`", term.name));
        }
    }
    Ok(())
}
