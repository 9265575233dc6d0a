//! A small episode described by its lengths and its verdict, for checks and tests of credit rules.

use merit_core::{
    Action, Annotation, Boundary, Cost, End, Episode, EpisodeId, Fault, Group, GroupError, Limit, Outcome,
    PolicyVersion, Provenance, Reward, Role, Score, ScoredEpisode, Segment, Task, TermOutcome, TermScore,
    TokenId, Transcript, Turn,
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
    /// What it says, by turn: the same number says the same tokens. Empty: 0 everywhere.
    pub words: Vec<u32>,
    /// How many of its first turns it repeats from the branch that it was forked from.
    pub repeated: usize,
    /// Member and branch of its name. Absent: its place in the group, and branch 0.
    pub name: Option<(u32, u32)>,
    /// What a term of weight 0 says of each turn; empty where there is none.
    pub told: Vec<f64>,
    /// What the annotations that a rule needs say of each turn; empty where they say one half of all.
    pub annotated: Vec<Option<f64>>,
}

/// Tokens of the opening that every sketch shares.
const OPENING: usize = 2;

impl Sketch {
    /// A sketch with values of 0, and a bootstrap of 0 where it is truncated.
    pub fn new(turns: &[(usize, usize)], outcome: Outcome, reward: f64) -> Self {
        let written = turns.iter().map(|t| t.0).sum();
        let bootstrap = (outcome == Outcome::PolicyTimedOut).then_some(0.0);
        Self {
            turns: turns.to_vec(),
            outcome,
            reward,
            turn_rewards: Vec::new(),
            values: vec![0.0; written],
            bootstrap,
            words: Vec::new(),
            repeated: 0,
            name: None,
            told: Vec::new(),
            annotated: Vec::new(),
        }
    }

    /// The same, said in other words from a turn on.
    #[must_use]
    pub fn saying(mut self, words: u32, from: usize) -> Self {
        self.words.resize(self.turns.len(), 0);
        self.words.iter_mut().skip(from).for_each(|word| *word = words);
        self
    }

    /// A branch of this one: it repeats the first turns and says the others in other words, for another reward.
    #[must_use]
    pub fn fork(&self, repeated: usize, words: u32, name: (u32, u32), reward: f64) -> Self {
        Self { repeated, name: Some(name), reward, ..self.clone().saying(words, repeated) }
    }

    /// The `k`-th continuation from a turn: the same length, with a reward that depends on the sketch, the turn and `k` alone.
    pub(super) fn continued(&self, turn: u32, k: u32) -> Self {
        let reward = self.reward * f64::from(turn + 1) + f64::from(k);
        Self { outcome: Outcome::PolicyWrong, reward, turn_rewards: Vec::new(), ..self.clone() }
    }

    pub fn group(members: &[Self], group: u32) -> Result<Group, GroupError> {
        let scored = members.iter().enumerate().map(|(member, sketch)| sketch.scored(group, member as u32));
        Group::assemble(scored.collect())
    }

    /// The episode it describes, scored, as that member of that group.
    pub fn scored(&self, group: u32, member: u32) -> ScoredEpisode {
        let task = Task::new("sketch", format!("sketch/{group}"));
        let (member, branch) = self.name.unwrap_or((member, 0));
        let transcript = self.transcript();
        let policy_tokens = transcript.mask().iter().filter(|&&m| m).count() as u64;
        let episode = Episode::new(
            EpisodeId { phase: "sketch".into(), step: 0, group, member, branch },
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

    /// What is paid by turn and what is told by turn, as terms of these names; none where there is nothing of the kind.
    fn terms(&self) -> Vec<TermScore> {
        let term = |(name, weight, turns): (&str, f64, &Vec<f64>)| {
            let sum = TermOutcome::Value { value: turns.iter().sum() };
            let turns = turns.iter().copied().map(Some).collect();
            TermScore::new(name, sum).with_weight(weight).with_turns(turns)
        };
        let terms = [("paid by turn", 1.0, &self.turn_rewards), ("told by turn", 0.0, &self.told)];
        terms.into_iter().filter(|(.., turns)| !turns.is_empty()).map(term).collect()
    }

    /// What every annotation of this name says of the episode.
    pub(super) fn annotation(&self, name: &str) -> Annotation {
        let half = || vec![Some(0.5); self.turns.len()];
        let turns = if self.annotated.is_empty() { half() } else { self.annotated.clone() };
        let said: Vec<f64> = turns.iter().copied().flatten().collect();
        Annotation {
            name: name.to_owned(),
            value: said.iter().sum::<f64>() / said.len().max(1) as f64,
            turns,
            evidence: Vec::new(),
            by: "sketch".to_owned(),
            version: String::new(),
            cost: Cost::default(),
        }
    }

    fn transcript(&self) -> Transcript {
        let mut segments = vec![segment(Role::System, 0, (OPENING, 0), Provenance::Sampled, &[])];
        let mut values = &self.values[..];
        for (turn, &(written, shown)) in self.turns.iter().enumerate() {
            let (here, rest) = values.split_at(written.min(values.len()));
            values = rest;
            let words = self.words.get(turn).copied().unwrap_or(0);
            let repeated = turn < self.repeated;
            let provenance = if repeated { Provenance::Replayed } else { Provenance::Sampled };
            segments.push(segment(Role::Policy, turn as u32, (written, words), provenance, here));
            segments.push(segment(Role::Environment, turn as u32, (shown, words), provenance, &[]));
        }
        Transcript::try_from(segments).expect("a sketch has one value per written token, or none")
    }
}

/// More tokens than any turn of a sketch has.
const VOCABULARY: u32 = 1000;

fn segment(
    role: Role,
    turn: u32,
    (tokens, words): (usize, u32),
    provenance: Provenance,
    values: &[f32],
) -> Segment {
    let policy = role == Role::Policy;
    Segment {
        role,
        provenance,
        turn,
        tokens: (0..tokens as u32).map(|at| TokenId(words * VOCABULARY + at)).collect(),
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
