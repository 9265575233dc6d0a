//! A small episode described by its lengths and its verdict, for checks and tests of credit rules.

use merit_core::{
    Action, Boundary, Cost, End, Episode, EpisodeId, Fault, Group, GroupError, Limit, Outcome, PolicyVersion,
    Provenance, Reward, Role, Score, ScoredEpisode, Segment, Task, TermOutcome, TermScore, TokenId,
    Transcript, Turn,
};
use std::sync::Arc;

/// An episode in outline.
#[derive(Debug, Clone, PartialEq)]
pub struct Sketch {
    /// For each turn, the tokens that the policy writes and those that it is shown after.
    pub turns: Vec<(usize, usize)>,
    /// What it counts as; its end and its score follow.
    pub outcome: Outcome,
    /// The reward, where the outcome counts.
    pub reward: f64,
    /// By turn; empty when it is paid at the end.
    pub turn_rewards: Vec<f64>,
    /// One per token that the policy writes; empty for a policy without a value head.
    pub values: Vec<f32>,
    /// The value where a truncated episode was cut.
    pub bootstrap: Option<f32>,
}

/// Tokens of the opening that every sketch shares.
const OPENING: usize = 2;

impl Sketch {
    /// A sketch with values of 0, and a bootstrap of 0 where it is truncated.
    pub fn new(turns: &[(usize, usize)], outcome: Outcome, reward: f64) -> Self {
        let written = turns.iter().map(|t| t.0).sum();
        let bootstrap = (outcome == Outcome::PolicyTimedOut).then_some(0.0);
        let (turns, values) = (turns.to_vec(), vec![0.0; written]);
        Self { turns, outcome, reward, turn_rewards: Vec::new(), values, bootstrap }
    }

    /// The `k`-th continuation from a turn: the same length, with a reward that depends on the sketch, the turn and `k` alone.
    pub(super) fn continued(&self, turn: u32, k: u32) -> Self {
        let reward = self.reward * f64::from(turn + 1) + f64::from(k);
        Self { outcome: Outcome::PolicyWrong, reward, turn_rewards: Vec::new(), ..self.clone() }
    }

    /// The members as a group.
    pub fn group(members: &[Self], group: u32) -> Result<Group, GroupError> {
        let scored = members.iter().enumerate().map(|(member, sketch)| sketch.scored(group, member as u32));
        Group::assemble(scored.collect())
    }

    /// The episode it describes, scored, as that member of that group.
    pub fn scored(&self, group: u32, member: u32) -> ScoredEpisode {
        let task = Task::new("sketch", format!("sketch/{group}"));
        let transcript = self.transcript();
        let policy_tokens = transcript.mask().iter().filter(|&&m| m).count() as u64;
        let episode = Episode::new(
            EpisodeId { phase: "sketch".into(), step: 0, group, member, branch: 0 },
            task,
            self.end(),
        )
        .with_transcript(transcript)
        .with_turns((0..self.turns.len()).map(|index| turn(index as u32)).collect())
        .with_cost(Cost { policy_tokens, ..Cost::default() })
        .with_bootstrap(self.bootstrap);
        ScoredEpisode { episode: Arc::new(episode), score: self.score() }
    }

    fn end(&self) -> End {
        match self.outcome {
            Outcome::PolicyTimedOut => End::Truncated { limit: Limit::Turns },
            Outcome::InfrastructureFailed => {
                End::Failed { fault: Fault::new(Boundary::Tool, "the tool broke".to_owned()) }
            }
            Outcome::Left => End::Left,
            _ => End::Answered,
        }
    }

    fn score(&self) -> Option<Score> {
        let reward = match self.outcome {
            Outcome::InfrastructureFailed => return None,
            Outcome::Unscorable => Reward::Unscorable { why: "unreadable".to_owned() },
            Outcome::GraderFailed => Reward::GraderFailed { why: "it broke".to_owned() },
            _ => Reward::Value { value: self.reward },
        };
        let solved = (self.outcome != Outcome::Scored).then_some(self.outcome == Outcome::Solved);
        let score = Score::new(reward).with_turn_rewards(self.turn_rewards.clone()).with_solved(solved);
        Some(score.with_terms(self.terms()))
    }

    /// What is paid by turn, as a term of that name; none where all is paid at the end.
    fn terms(&self) -> Vec<TermScore> {
        let term = TermScore {
            name: "paid by turn".to_owned(),
            outcome: TermOutcome::Value { value: self.turn_rewards.iter().sum() },
            weight: 1.0,
            turns: self.turn_rewards.iter().copied().map(Some).collect(),
            evidence: Vec::new(),
        };
        if self.turn_rewards.is_empty() { Vec::new() } else { vec![term] }
    }

    fn transcript(&self) -> Transcript {
        let mut segments = vec![segment(Role::System, 0, OPENING, &[])];
        let mut values = &self.values[..];
        for (turn, &(written, shown)) in self.turns.iter().enumerate() {
            let (here, rest) = values.split_at(written.min(values.len()));
            values = rest;
            segments.push(segment(Role::Policy, turn as u32, written, here));
            segments.push(segment(Role::Environment, turn as u32, shown, &[]));
        }
        Transcript::try_from(segments).expect("a sketch has one value per written token, or none")
    }
}

fn segment(role: Role, turn: u32, tokens: usize, values: &[f32]) -> Segment {
    let policy = role == Role::Policy;
    Segment {
        role,
        provenance: Provenance::Sampled,
        turn,
        tokens: (0..tokens as u32).map(TokenId).collect(),
        logprobs: if policy { vec![-1.0; tokens] } else { Vec::new() },
        values: values.to_vec(),
        policy_version: policy.then_some(PolicyVersion(0)),
        text: String::new(),
        known: merit_core::Known::Full,
    }
}

fn turn(index: u32) -> Turn {
    Turn::new(index, Action::Say { text: String::new() })
}
