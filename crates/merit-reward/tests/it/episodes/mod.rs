//! Small episodes for the tests of rewards.

use merit_core::*;

/// What the policy did in a turn.
#[derive(Clone, Copy)]
pub enum Did<'a> {
    Answers(&'a str),
    Babbles,
    /// Calls with these ends.
    Calls(&'a [CallEnd]),
}

/// An episode on a task whose right answer is `right`, with `tokens` policy tokens in each turn.
pub fn episode(right: Option<&str>, tokens: usize, did: &[Did<'_>]) -> Episode {
    let turns: Vec<Turn> = did.iter().enumerate().map(|(index, did)| turn(index as u32, did)).collect();
    let answered = matches!(did.last(), Some(Did::Answers(_)));
    let end = if answered { End::Answered } else { End::Truncated { limit: Limit::Turns } };
    Episode::new(
        EpisodeId { phase: "test".into(), step: 0, group: 0, member: 0, branch: 0 },
        Task { answer: right.map(str::to_owned), ..Task::new("test", "test/1") },
        end,
    )
    .with_transcript(transcript(turns.len() as u32, tokens))
    .with_cost(Cost { policy_tokens: (tokens * turns.len()) as u64, ..Cost::default() })
    .with_turns(turns)
}

/// The same episode, broken at the tool.
pub fn broken(mut episode: Episode) -> Episode {
    episode.end = End::Failed { fault: Fault::new(Boundary::Tool, "no disk") };
    episode
}

fn turn(index: u32, did: &Did<'_>) -> Turn {
    let call = ToolCall { tool: "calc".into(), input: "1+1".into() };
    let (action, ends): (Action, &[CallEnd]) = match did {
        Did::Answers(text) => (Action::Answer { text: (*text).to_owned() }, &[]),
        Did::Babbles => (Action::Malformed { why: "no tag".into() }, &[]),
        Did::Calls(ends) => (Action::Calls { calls: vec![call.clone(); ends.len()] }, ends),
    };
    let record =
        |&end: &CallEnd| CallRecord { call: call.clone(), end, output: String::new(), seconds: Some(0.0) };
    Turn::new(index, action).with_calls(ends.iter().map(record).collect())
}

fn transcript(turns: u32, tokens: usize) -> Transcript {
    let mut transcript = Transcript::default();
    for turn in 0..turns {
        let segment = Segment {
            role: Role::Policy,
            provenance: Provenance::Sampled,
            turn,
            tokens: vec![TokenId(1); tokens],
            logprobs: vec![-1.0; tokens],
            values: Vec::new(),
            policy_version: Some(PolicyVersion(0)),
            text: String::new(),
            known: merit_core::Known::Full,
        };
        transcript.append(segment).unwrap();
    }
    transcript
}
