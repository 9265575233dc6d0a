//! What is formed from episodes.

use merit_core::*;
use merit_memory::{MadeBy, form};
use std::sync::Arc;

/// A prompt, then turns of the policy with answers of a tool; with a hint that must be in nothing.
fn played(member: u32, reward: Reward, turns: &[(&str, &str)]) -> ScoredEpisode {
    let mut transcript = Transcript::default();
    let mut say = |role: Role, turn: u32, text: &str| {
        let policy = role == Role::Policy;
        let segment = Segment {
            role,
            provenance: Provenance::Sampled,
            turn,
            tokens: vec![TokenId(1)],
            logprobs: if policy { vec![-1.0] } else { Vec::new() },
            values: Vec::new(),
            policy_version: policy.then_some(PolicyVersion(2)),
            text: text.to_owned(),
            known: Known::Full,
        };
        transcript.append(segment).unwrap();
    };
    say(Role::System, 0, "instructions");
    say(Role::User, 0, "open the\n door");
    say(Role::Hint, 0, "a hint");
    for (turn, (said, seen)) in (0..).zip(turns) {
        say(Role::Policy, turn, said);
        say(Role::Tool, turn, seen);
    }
    let id = EpisodeId { phase: Phase::train(), step: 1, group: 0, member, branch: 0 };
    let turns = (0..turns.len() as u32)
        .map(|at| Turn::new(at, Action::Say { text: String::new() }).with_stop(TurnStop::StopString));
    let episode = Episode::new(id, Task::new("test", "1"), End::Answered)
        .with_transcript(transcript)
        .with_turns(turns.collect());
    ScoredEpisode { episode: Arc::new(episode), score: Some(Score::new(reward)) }
}

fn value(value: f64) -> Reward {
    Reward::Value { value }
}

#[test]
fn a_turn_is_found_by_everything_before_it_without_hints() {
    let episode = played(0, value(0.9), &[("find key", "in the box"), ("turn key", "open")]);
    let by = MadeBy { run: "runs/a".into(), policy_version: 3, task: Some("t".into()) };
    let found = form::experiences(&episode, &by, 200);
    assert_eq!(found[0].text, "like open the door say find key");
    assert_eq!(found[1].found_by(), "open the door find key in the box");
    assert!(found.iter().all(|item| item.made_by == by && item.value == 0.9));
    assert_eq!(form::experiences(&episode, &by, 25).len(), 1);
    let facts: Vec<String> = form::facts(&episode, &by, 200).into_iter().map(|item| item.text).collect();
    assert_eq!(facts, ["in the box", "open"]);
}

#[test]
fn a_reflection_names_the_turn_at_which_the_best_and_the_worst_part() {
    let by = MadeBy::default();
    let good = played(0, value(1.0), &[("find key", "in the box"), ("turn key", "open")]);
    let bad = played(1, value(0.0), &[("find key", "in the box"), ("kick door", "ouch")]);
    let found = form::reflection(&[bad.clone(), good.clone()], &by, 200).unwrap();
    assert_eq!((found.text.as_str(), found.value), ("for open the door say turn key not kick door", 1.0));
    assert!(form::reflection(&[good.clone(), good.clone()], &by, 200).is_none());
    // What could not be scored is no 0 and no worst episode.
    let broken = played(2, Reward::GraderFailed { why: "down".into() }, &[("sing", "no")]);
    assert!(form::reflection(&[good, broken.clone()], &by, 200).is_none());
    assert!(form::facts(&broken, &by, 200).is_empty() && form::experiences(&broken, &by, 200).is_empty());
}
