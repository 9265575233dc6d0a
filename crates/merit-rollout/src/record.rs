//! The episode as it grows: transcript, context, turns and cost in step with each other.

use crate::{ChatFormat, EpisodePlan, Rules};
use merit_api::StepResult;
use merit_core::{
    Action, Boundary, CallEnd, CallRecord, Cost, End, Episode, Fault, Known, Message, Provenance, Role,
    Segment, TokenId, ToolCall, Transcript, TranscriptError, Turn, TurnStop, Window,
};
use merit_model::{Completion, Counted, StopReason};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// What has happened so far. Every policy segment has its turn at every moment, so that it can become an episode whenever
/// it has to.
#[derive(Default)]
pub(crate) struct Record {
    transcript: Transcript,
    /// All tokens of the transcript: what the model is asked to continue.
    pub(crate) context: Vec<TokenId>,
    /// Where in the context each turn of the policy begins.
    starts: Vec<usize>,
    pub(crate) turns: Vec<Turn>,
    pub(crate) cost: Cost,
    /// Whether the policy has given values, so that a bootstrap can be asked for.
    pub(crate) has_values: bool,
}

impl Record {
    /// The part of `of` before turn `turn`, marked as repeated, or as it is where the new episode takes the place of `of`.
    pub(crate) fn kept(of: &Episode, turn: u32, own: bool) -> Result<Self, Fault> {
        let mut record = Self { turns: of.turns[..turn as usize].to_vec(), ..Self::default() };
        for segment in of.transcript.before_turn(turn).segments() {
            // What lacks its log-probabilities stays what it is: a repetition does not make it a sample.
            let provenance =
                if segment.known.is_full() && !own { Provenance::Replayed } else { segment.provenance };
            let repeated = Segment { provenance, ..segment.clone() };
            record.append(repeated).map_err(|error| fault(Boundary::Environment, error))?;
        }
        Ok(record)
    }

    /// Appends what the world and the tools said.
    pub(crate) fn observe(
        &mut self,
        chat: &ChatFormat,
        messages: &[Message],
        turn: u32,
        hand_over: bool,
    ) -> Result<(), Fault> {
        if messages.iter().any(|message| message.role == Role::Policy) {
            let message = format!("the world spoke as the policy in turn {turn}; only the policy may");
            return Err(Fault::new(Boundary::Environment, message));
        }
        for segment in chat.observe(&self.context, messages, turn, hand_over) {
            self.append(segment).map_err(|error| fault(Boundary::Environment, error))?;
        }
        Ok(())
    }

    /// Keeps what came of the action of turn `turn`: observations become tokens, reward and info do not.
    pub(crate) fn stepped(&mut self, chat: &ChatFormat, result: &StepResult, turn: u32) -> Result<(), Fault> {
        if let Some(name) = result.wild_number() {
            let message = format!("`{name}` of turn {turn} is not finite");
            return Err(Fault::new(Boundary::Environment, message));
        }
        if let Some(last) = self.turns.last_mut() {
            (last.reward, last.info) = (result.reward, result.info.clone());
        }
        self.observe(chat, &result.observations, turn, result.terminated.is_none())
    }

    /// Appends what the policy sampled, and its turn, not yet understood.
    pub(crate) fn on_completion(
        &mut self,
        plan: &EpisodePlan,
        rules: &Rules,
        provenance: Provenance,
        said: &mut Completion,
    ) -> Result<(), Fault> {
        let index = self.next_turn();
        let stop = turn_stop(said.stop);
        // A player in the policy's place need not know how likely its words were; the policy must.
        let unknown = provenance == Provenance::Synthetic && said.logprobs.is_empty();
        let known = if unknown && !said.tokens.is_empty() { Known::Tokens } else { Known::Full };
        let segment = Segment {
            role: Role::Policy,
            provenance,
            turn: index,
            text: rules.chat.shown(&said.tokens),
            tokens: said.tokens.clone(),
            logprobs: std::mem::take(&mut said.logprobs),
            values: std::mem::take(&mut said.values),
            policy_version: Some(plan.policy_version),
            known,
        };
        self.append(segment).map_err(|error| fault(Boundary::Model, error))?;
        let ours = said.tokens.len() as u64;
        let theirs = match said.counted {
            Counted::Here => ours,
            Counted::Server(count) => count,
            Counted::Nobody => 0,
        };
        self.cost.policy_tokens = self.cost.policy_tokens - ours + theirs;
        self.cost.tokens_unknown |= said.counted == Counted::Nobody;
        let why = match stop {
            TurnStop::MaxTokens | TurnStop::ContextFull => {
                format!("cut after {} tokens, before the turn was finished", said.tokens.len())
            }
            TurnStop::StopString | TurnStop::EndToken | TurnStop::Unknown => "never read".to_owned(),
        };
        self.turns.push(Turn::new(index, Action::Malformed { why }).with_stop(stop));
        Ok(())
    }

    /// Records how a call of the present turn ended.
    pub(crate) fn call_ended(&mut self, call: ToolCall, end: CallEnd, output: String, seconds: f64) {
        self.cost.tool_calls += 1;
        self.cost.tool_seconds += seconds;
        if let Some(turn) = self.turns.last_mut() {
            turn.calls.push(CallRecord { call, end, output, seconds: Some(seconds) });
        }
    }

    /// What the policy has in sight before its next turn.
    pub(crate) fn in_sight(&self, window: Option<Window>) -> Cow<'_, [TokenId]> {
        let Some(window) = window else { return Cow::Borrowed(&self.context) };
        let [opening, last] = window.sight(&self.starts, self.starts.len(), self.context.len());
        Cow::Owned([&self.context[opening], &self.context[last]].concat())
    }

    /// The index of the turn that has not been sampled yet.
    pub(crate) fn next_turn(&self) -> u32 {
        self.turns.len() as u32
    }

    /// The recorded observations of turn `turn`, hints aside, as role and text; `None` for the opening.
    pub(crate) fn observed(&self, turn: Option<u32>) -> Vec<(Role, &str)> {
        let segments = self.transcript.segments();
        let opening = segments.iter().position(|s| s.role == Role::Policy).unwrap_or(segments.len());
        let (before, after) = segments.split_at(opening);
        let part: Vec<&Segment> = match turn {
            None => before.iter().collect(),
            Some(turn) => after.iter().filter(|s| s.turn == turn && s.role != Role::Policy).collect(),
        };
        part.into_iter().filter(|s| s.role != Role::Hint).map(|s| (s.role, s.text.as_str())).collect()
    }

    /// The last value the policy gave. Absent: it gives none.
    pub(crate) fn last_value(&self) -> Option<f32> {
        let values = self.transcript.segments().iter().rev().find_map(|segment| segment.values.last());
        values.copied().filter(|value| value.is_finite())
    }

    pub(crate) fn into_episode(
        self,
        plan: &EpisodePlan,
        end: End,
        bootstrap: Option<f32>,
        state: Option<Value>,
    ) -> Episode {
        Episode::new(plan.id.clone(), Arc::clone(&plan.task), end)
            .with_policy_version(plan.policy_version)
            .with_transcript(self.transcript)
            .with_turns(self.turns)
            .with_cost(self.cost)
            .with_bootstrap(bootstrap)
            .with_state(state)
    }

    fn append(&mut self, segment: Segment) -> Result<(), TranscriptError> {
        let before = self.context.len();
        self.context.extend_from_slice(&segment.tokens);
        let (role, values, len) = (segment.role, !segment.values.is_empty(), segment.tokens.len() as u64);
        if let Err(error) = self.transcript.append(segment) {
            self.context.truncate(before);
            return Err(error);
        }
        self.has_values |= values;
        if role == Role::Policy {
            self.starts.push(before);
        }
        match role {
            Role::Policy => self.cost.policy_tokens += len,
            _ => self.cost.read_tokens += len,
        }
        Ok(())
    }
}

fn turn_stop(stop: StopReason) -> TurnStop {
    match stop {
        StopReason::StopString | StopReason::ConstraintMet => TurnStop::StopString,
        StopReason::StopToken => TurnStop::EndToken,
        StopReason::MaxTokens => TurnStop::MaxTokens,
        StopReason::ContextFull => TurnStop::ContextFull,
    }
}

fn fault(boundary: Boundary, error: TranscriptError) -> Fault {
    Fault::new(boundary, error.to_string())
}

/// What the policy said in a turn of an episode.
pub(crate) fn said_in(episode: &Episode, turn: u32) -> impl Iterator<Item = &Vec<TokenId>> {
    let said = episode.transcript.segments().iter();
    said.filter(move |s| s.role == Role::Policy && s.turn == turn).map(|segment| &segment.tokens)
}

/// The transcript of an episode whose turns from `turn` on are its own, though it has repeated them: no other episode keeps them.
pub(crate) fn owned_from(episode: &Episode, turn: u32) -> Transcript {
    let segments = episode.transcript.segments();
    let by = segments.iter().rev().find(|segment| segment.role == Role::Policy);
    let by = by.map_or(Provenance::Sampled, |last| last.provenance);
    let mut transcript = Transcript::default();
    for segment in segments {
        let repeated = segment.provenance == Provenance::Replayed && segment.turn >= turn;
        let provenance = if repeated { by } else { segment.provenance };
        // What could be appended once can be appended again.
        let _ = transcript.append(Segment { provenance, ..segment.clone() });
    }
    transcript
}

/// What an episode that repeats its first turns cost: what was said in those is paid already.
pub(crate) fn fresh(episode: &Episode, repeated: u32) -> Cost {
    let said: usize = (0..repeated).flat_map(|turn| said_in(episode, turn)).map(Vec::len).sum();
    let policy_tokens = episode.cost.policy_tokens.saturating_sub(said as u64);
    Cost { policy_tokens, ..episode.cost }
}
