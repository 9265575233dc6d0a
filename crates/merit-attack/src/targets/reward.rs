//! A reward as a target: attempts become episodes without tokens, as if somebody had recorded them, and are scored.

use crate::error::AttackError;
use crate::subject::{Attempt, Move, Subject};
use crate::target::{Payment, Target};
use merit_core::{
    Action, CallEnd, CallRecord, Cost, End, Episode, EpisodeId, Known, Limit, PolicyVersion, Provenance,
    Reward, Role, Segment, Setting, Task, ToolCall, Transcript, Turn, TurnStop,
};
use merit_reward::{RewardState, ScoreContext, Scorer};
use std::sync::Arc;

/// A reward and the tasks it is tried on.
pub struct RewardTarget {
    name: String,
    scorer: Scorer,
    tasks: Vec<Arc<Task>>,
    subjects: Vec<Subject>,
}

impl RewardTarget {
    /// A reward called `name`. `tasks` and `subjects` go together: what the scorer sees and what the attacker sees of each.
    pub fn new(name: impl Into<String>, scorer: Scorer, tasks: Vec<(Arc<Task>, Subject)>) -> Self {
        let (tasks, subjects) = tasks.into_iter().unzip();
        Self { name: name.into(), scorer, tasks, subjects }
    }

    fn episode(&self, at: usize, attempt: &Attempt) -> Result<Episode, AttackError> {
        let target = |why: String| AttackError::Target { target: self.name.clone(), why };
        let mut transcript = Transcript::default();
        let prompt = segment(Role::User, 0, &self.subjects[attempt.task].prompt);
        transcript.append(prompt).map_err(|e| target(e.to_string()))?;
        let mut turns = Vec::new();
        for (index, done) in attempt.moves.iter().enumerate() {
            let index = index as u32;
            let (text, turn) = turn(index, done);
            transcript.append(segment(Role::Policy, index, &text)).map_err(|e| target(e.to_string()))?;
            for call in &turn.calls {
                let answer = segment(Role::Tool, index, &call.output);
                transcript.append(answer).map_err(|e| target(e.to_string()))?;
            }
            turns.push(turn);
        }
        let answered = matches!(attempt.moves.last(), Some(Move::Answer { .. }));
        Ok(Episode {
            id: EpisodeId { phase: "attack".into(), step: 0, group: at as u32, member: 0, branch: 0 },
            task: Arc::clone(&self.tasks[attempt.task]),
            policy_version: PolicyVersion(0),
            setting: Setting::default(),
            transcript,
            turns,
            end: if answered { End::Answered } else { End::Truncated { limit: Limit::Turns } },
            cost: Cost { tokens_unknown: true, seconds_unknown: true, ..Cost::default() },
            bootstrap: None,
            reported: None,
        })
    }
}

fn segment(role: Role, turn: u32, text: &str) -> Segment {
    Segment {
        role,
        provenance: Provenance::Synthetic,
        known: Known::Text,
        turn,
        tokens: Vec::new(),
        logprobs: Vec::new(),
        values: Vec::new(),
        policy_version: None,
        text: text.to_owned(),
    }
}

/// What the policy wrote and how it is read. A call is taken as one that ran: a scorer must not pay for calls alone.
fn turn(index: u32, done: &Move) -> (String, Turn) {
    let (text, action, calls) = match done {
        Move::Answer { text } => (text.clone(), Action::Answer { text: text.clone() }, Vec::new()),
        Move::Say { text } => (text.clone(), Action::Say { text: text.clone() }, Vec::new()),
        Move::Raw { text } => {
            (text.clone(), Action::Malformed { why: "not in any dialect".into() }, Vec::new())
        }
        Move::Call { tool, input } => {
            let call = ToolCall { tool: tool.clone(), input: input.clone() };
            let record =
                CallRecord { call: call.clone(), end: CallEnd::Ok, output: String::new(), seconds: None };
            (format!("{tool}({input})"), Action::Calls { calls: vec![call] }, vec![record])
        }
    };
    (text, Turn { index, action, calls, stop: TurnStop::EndToken })
}

impl Target for RewardTarget {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    fn pay(&mut self, attempts: &[Attempt]) -> Result<Vec<Payment>, AttackError> {
        let episodes: Result<Vec<Arc<Episode>>, AttackError> = attempts
            .iter()
            .enumerate()
            .map(|(at, attempt)| self.episode(at, attempt).map(Arc::new))
            .collect();
        let scored = self.scorer.score_batch(&episodes?, &ScoreContext::default(), &RewardState::default());
        let payment =
            |scored: &merit_core::ScoredEpisode| match scored.score.as_ref().map(|s| (&s.reward, s.solved)) {
                Some((Reward::Value { value }, solved)) => Payment::Reward { value: *value, solved },
                Some((Reward::Unscorable { why }, _)) => Payment::Unscorable { why: why.clone() },
                Some((Reward::GraderFailed { why }, _)) => Payment::Broke { why: why.clone() },
                None => Payment::Broke { why: "it was not scored".into() },
            };
        Ok(scored.episodes.iter().map(payment).collect())
    }
}
