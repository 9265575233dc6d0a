//! Samples from real episodes: a prompt of two tokens, one policy segment per turn, an observation between turns.
#![allow(unreachable_pub)]

pub mod bandit;
pub mod scripted;

use merit_core::*;
use merit_model::Completion;
use std::sync::Arc;

/// How an episode ends and what the reward says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    Reward(f64),
    TruncatedWithReward(f64),
    Unscorable,
    GraderFailed,
    Broken(Boundary),
}

/// An episode of group `group` whose turns have the given log-probabilities.
pub fn scored(group: u32, member: u32, turns: &[&[f32]], fate: Fate) -> ScoredEpisode {
    let mut transcript = Transcript::default();
    let mut next = 1_u32;
    let mut segment = |role, turn, len, logprobs: Vec<f32>| {
        let tokens = (0..len).map(|_| {
            next = next % 7 + 1;
            TokenId(next)
        });
        Segment {
            role,
            provenance: Provenance::Sampled,
            turn,
            tokens: tokens.collect(),
            logprobs,
            values: Vec::new(),
            policy_version: (role == Role::Policy).then_some(PolicyVersion(3)),
            text: String::new(),
            known: merit_core::Known::Full,
        }
    };
    transcript.append(segment(Role::User, 0, 2, Vec::new())).unwrap();
    for (turn, logprobs) in turns.iter().enumerate() {
        transcript.append(segment(Role::Policy, turn as u32, logprobs.len(), logprobs.to_vec())).unwrap();
        if turn + 1 < turns.len() {
            transcript.append(segment(Role::Environment, turn as u32, 1, Vec::new())).unwrap();
        }
    }
    scored_transcript(group, member, transcript, PolicyVersion(3), fate)
}

/// A one-turn episode of what a model really said.
pub fn scored_tokens(
    prompt: Vec<TokenId>,
    said: &Completion,
    version: PolicyVersion,
    reward: f64,
) -> ScoredEpisode {
    let segment = |role, tokens: Vec<TokenId>| Segment {
        role,
        provenance: Provenance::Sampled,
        turn: 0,
        tokens,
        logprobs: Vec::new(),
        values: Vec::new(),
        policy_version: None,
        text: String::new(),
        known: merit_core::Known::Full,
    };
    let mut transcript = Transcript::default();
    transcript.append(segment(Role::User, prompt)).unwrap();
    let policy = Segment {
        logprobs: said.logprobs.clone(),
        values: said.values.clone(),
        policy_version: Some(version),
        ..segment(Role::Policy, said.tokens.clone())
    };
    transcript.append(policy).unwrap();
    scored_transcript(0, said.session.0 as u32, transcript, version, Fate::Reward(reward))
}

fn scored_transcript(
    group: u32,
    member: u32,
    transcript: Transcript,
    policy_version: PolicyVersion,
    fate: Fate,
) -> ScoredEpisode {
    let end = match fate {
        Fate::Broken(boundary) => End::Failed { fault: Fault::new(boundary, "it broke") },
        Fate::TruncatedWithReward(_) => End::Truncated { limit: Limit::Turns },
        _ => End::Answered,
    };
    let episode = Episode::new(
        EpisodeId { phase: "train".into(), step: 4, group, member, branch: 0 },
        Task::new("test", format!("test/train/{group}")),
        end,
    )
    .with_policy_version(policy_version)
    .with_transcript(transcript);
    ScoredEpisode { episode: Arc::new(episode), score: score(fate) }
}

fn score(fate: Fate) -> Option<Score> {
    let reward = match fate {
        Fate::Reward(value) | Fate::TruncatedWithReward(value) => Reward::Value { value },
        Fate::Unscorable => Reward::Unscorable { why: "no answer in it".into() },
        Fate::GraderFailed => Reward::GraderFailed { why: "the judge is away".into() },
        Fate::Broken(_) => return None,
    };
    Some(Score::new(reward))
}

/// The sample of such an episode with the same advantage on every token the policy chose, counted or not.
pub fn sample(group: u32, member: u32, turns: &[&[f32]], fate: Fate, advantage: f32) -> Sample {
    let scored = scored(group, member, turns, fate);
    let mut sample = Sample::of(&scored, group as usize).unwrap();
    let chosen = scored.episode.transcript.mask();
    sample.advantages = Some(chosen.iter().map(|&m| if m { advantage } else { 0.0 }).collect());
    sample
}

/// A batch of three samples with different lengths, turns, credits and weights, and value streams.
pub fn mixed_batch() -> Vec<Sample> {
    let mut samples = vec![
        sample(0, 0, &[&[-0.5, -1.0, -2.0]], Fate::Reward(1.0), 1.5),
        sample(0, 1, &[&[-0.25, -3.0], &[-0.75, -1.25]], Fate::Reward(0.0), -0.75),
        sample(1, 0, &[&[-1.5]], Fate::TruncatedWithReward(0.5), 0.25),
    ];
    samples[1].weight = 0.5;
    for (i, sample) in samples.iter_mut().enumerate() {
        let tokens = sample.tokens.len();
        sample.values = (0..tokens).map(|t| 0.1 * t as f32 - 0.2 * i as f32).collect();
        sample.returns = Some((0..tokens).map(|t| 0.9 - 0.15 * t as f32).collect());
    }
    samples
}

/// What a policy might say of `samples` now: log-probabilities, entropies and values near the recorded ones.
pub fn outputs(samples: &[Sample], spread: f64, seed: u64) -> Vec<[Vec<f32>; 3]> {
    let streams = |(i, sample): (usize, &Sample)| {
        let mut stream = Seed::root(seed).child("sample", i as u64).stream();
        let mut near = |x: f32| (f64::from(x) + spread * (stream.unit() * 2.0 - 1.0)) as f32;
        let logprobs = sample.logprobs.iter().map(|&l| near(l)).collect();
        let entropy = sample.tokens.iter().map(|_| near(1.0)).collect();
        let values = sample.tokens.iter().map(|_| near(0.3)).collect();
        [logprobs, entropy, values]
    };
    samples.iter().enumerate().map(streams).collect()
}
