//! The ten rules of the record, as properties over random episodes.

use merit_core::conformance::{check_episode, check_sample, check_score};
use merit_core::*;
use proptest::prelude::*;
use std::sync::Arc;

fn task(id: &str) -> Arc<Task> {
    Arc::new(Task {
        id: id.to_owned(),
        world: "test".to_owned(),
        version: 1,
        split: Split::Train,
        size: 1,
        payload: serde_json::Value::Null,
        answer: Some("7".to_owned()),
    })
}

fn segment(role: Role, turn: u32, tokens: Vec<u32>) -> Segment {
    let policy = role == Role::Policy;
    Segment {
        role,
        provenance: Provenance::Sampled,
        turn,
        logprobs: if policy { tokens.iter().map(|&t| -(t as f32) / 100.0).collect() } else { Vec::new() },
        values: Vec::new(),
        tokens: tokens.into_iter().map(TokenId).collect(),
        policy_version: policy.then_some(PolicyVersion(2)),
        text: String::new(),
        known: Known::Full,
    }
}

/// An episode whose turns have the given policy and observation tokens.
fn episode(member: u32, opening: Vec<u32>, turns: &[(Vec<u32>, Vec<u32>)], end: End) -> Episode {
    let mut transcript = Transcript::default();
    transcript.append(segment(Role::User, 0, opening)).unwrap();
    for (i, (said, seen)) in turns.iter().enumerate() {
        transcript.append(segment(Role::Policy, i as u32, said.clone())).unwrap();
        transcript.append(segment(Role::Tool, i as u32, seen.clone())).unwrap();
    }
    let sampled = turns.iter().map(|(said, _)| said.len() as u64).sum();
    let turn = |i| Turn::new(i, Action::Say { text: String::new() }).with_stop(TurnStop::StopString);
    Episode::new(
        EpisodeId { phase: "train".into(), step: 1, group: 0, member, branch: 0 },
        task("test/1"),
        end,
    )
    .with_policy_version(PolicyVersion(2))
    .with_transcript(transcript)
    .with_turns((0..turns.len() as u32).map(turn).collect())
    .with_cost(Cost { policy_tokens: sampled, ..Cost::default() })
}

fn scored(episode: Episode, reward: Reward, solved: Option<bool>) -> ScoredEpisode {
    let score = Score::new(reward).with_solved(solved);
    ScoredEpisode { episode: Arc::new(episode), score: Some(score) }
}

fn tokens() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0_u32..500, 1..12)
}

fn turns() -> impl Strategy<Value = Vec<(Vec<u32>, Vec<u32>)>> {
    prop::collection::vec((tokens(), tokens()), 1..6)
}

fn ends() -> impl Strategy<Value = End> {
    let fault = |boundary| End::Failed { fault: Fault::new(boundary, "broke") };
    prop_oneof![
        Just(End::Answered),
        Just(End::EnvironmentDone),
        Just(End::Truncated { limit: Limit::Turns }),
        Just(End::Truncated { limit: Limit::Time }),
        Just(fault(Boundary::Tool)),
        Just(fault(Boundary::Model)),
        Just(fault(Boundary::Reward)),
    ]
}

proptest! {
    #[test]
    fn rule_1_appending_keeps_every_earlier_token(opening in tokens(), turns in turns(), more in tokens()) {
        let mut transcript = episode(0, opening, &turns, End::Answered).transcript;
        let before = (transcript.tokens(), transcript.logprobs(), transcript.mask());
        let last = transcript.segments().last().unwrap().turn;
        transcript.append(segment(Role::Policy, last + 1, more.clone())).unwrap();
        prop_assert_eq!(&transcript.tokens()[..before.0.len()], &before.0[..]);
        prop_assert_eq!(&transcript.logprobs()[..before.0.len()], &before.1[..]);
        prop_assert_eq!(&transcript.mask()[..before.0.len()], &before.2[..]);
        prop_assert_eq!(transcript.len(), before.0.len() + more.len());
    }

    #[test]
    fn rule_1_a_stored_episode_comes_back_to_the_bit(opening in tokens(), turns in turns(), end in ends()) {
        let episode = episode(0, opening, &turns, end);
        let text = serde_json::to_string(&episode).unwrap();
        let back: Episode = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&back, &episode);
        prop_assert_eq!(back.content_hash(), episode.content_hash());
    }

    #[test]
    fn rule_1_a_damaged_record_is_refused(at in 0_usize..4, bad in prop_oneof![Just(0.5_f32), Just(f32::NAN), Just(f32::NEG_INFINITY)]) {
        let mut broken = segment(Role::Policy, 0, vec![1, 2, 3, 4]);
        broken.logprobs[at] = bad;
        let refused = matches!(Transcript::default().append(broken), Err(TranscriptError::BadLogprob { .. }));
        prop_assert!(refused);
    }

    #[test]
    fn rule_2_masks_derive_from_roles_alone(opening in tokens(), turns in turns()) {
        let episode = episode(0, opening, &turns, End::Answered);
        let by_role: Vec<bool> = episode.transcript.segments().iter()
            .flat_map(|s| s.tokens.iter().map(move |_| s.role == Role::Policy)).collect();
        prop_assert_eq!(episode.transcript.mask(), by_role);
        prop_assert_eq!(check_episode(&episode), Vec::<String>::new());
        let sample = Sample::of(&scored(episode, Reward::Value { value: 1.0 }, Some(true)), 0).unwrap();
        let in_turns: usize = sample.turns.iter().map(|r| r.len()).sum();
        prop_assert_eq!(in_turns, sample.trainable(), "every trained token belongs to exactly one turn");
    }

    #[test]
    fn rule_3_what_broke_never_counts_and_never_trains(opening in tokens(), turns in turns(), end in ends()) {
        let broke = matches!(end, End::Failed { .. });
        let scored = scored(episode(0, opening, &turns, end), Reward::Value { value: 0.0 }, Some(false));
        let sample = Sample::of(&scored, 0).unwrap();
        prop_assert_eq!(scored.outcome().is_valid(), !broke);
        prop_assert_eq!(scored.reward().is_some(), !broke);
        prop_assert_eq!(sample.trainable() > 0, !broke);
        if !broke {
            prop_assert_eq!(check_sample(&scored, &sample), Vec::<String>::new());
        }
    }

    #[test]
    fn rule_8_seeds_depend_on_names_and_on_nothing_else(run in any::<u64>(), a in 0_u64..50, b in 0_u64..50) {
        let by_path = Seed::root(run).child("step", a).child("group", b);
        let step = Seed::root(run).child("step", a);
        let _other_work_in_between = step.child("group", b + 1).stream().bits();
        prop_assert_eq!(by_path, step.child("group", b));
        prop_assert_ne!(by_path, Seed::root(run).child("group", b).child("step", a));
    }

    #[test]
    fn rule_9_costs_add_up(parts in prop::collection::vec((0_u64..1000, 0_u64..9), 0..20)) {
        let costs: Vec<Cost> = parts.iter().map(|&(tokens, calls)| Cost { policy_tokens: tokens, tool_calls: calls, ..Cost::default() }).collect();
        let total: Cost = costs.iter().copied().sum();
        prop_assert_eq!(total.policy_tokens, parts.iter().map(|p| p.0).sum::<u64>());
        prop_assert_eq!(total.tool_calls, parts.iter().map(|p| p.1).sum::<u64>());
    }

    #[test]
    fn rule_10_kept_things_expire(made in 0_u64..100, versions in 0_u64..10, later in 0_u64..20) {
        let kept = Aged::new((), PolicyVersion(made), Refresh::After { versions });
        prop_assert_eq!(kept.fresh(PolicyVersion(made + later)).is_some(), later <= versions);
    }
}

#[test]
fn rule_2_an_observation_with_log_probabilities_is_refused() {
    let mut seen = segment(Role::Tool, 0, vec![1]);
    seen.logprobs = vec![-0.5];
    assert!(matches!(Transcript::default().append(seen), Err(TranscriptError::NotPolicy { .. })));
}

#[test]
fn rule_2_turns_only_go_forward() {
    let mut transcript = Transcript::default();
    transcript.append(segment(Role::User, 1, vec![1])).unwrap();
    let refused = transcript.append(segment(Role::User, 0, vec![1]));
    assert_eq!(refused, Err(TranscriptError::TurnOrder { last: 1, got: 0 }));
}

#[test]
fn rule_3_truncation_is_not_termination() {
    assert!(!End::Truncated { limit: Limit::Turns }.terminal());
    assert!(End::Answered.terminal() && End::EnvironmentDone.terminal());
    let mut ended = episode(0, vec![1], &[(vec![2], vec![3])], End::Answered);
    ended.bootstrap = Some(0.3);
    assert_eq!(check_episode(&ended).len(), 1, "a bootstrap after a real end is a violation");
    ended.end = End::Truncated { limit: Limit::Turns };
    assert_eq!(check_episode(&ended), Vec::<String>::new());
}

#[test]
fn rule_4_edited_episodes_are_off_policy() {
    for (provenance, on_policy) in [
        (Provenance::Sampled, true),
        (Provenance::Replayed, true),
        (Provenance::Spliced, false),
        (Provenance::Guided, false),
        (Provenance::Imported, false),
        (Provenance::Synthetic, false),
    ] {
        let mut transcript = Transcript::default();
        let mut said = segment(Role::Policy, 0, vec![1, 2]);
        said.provenance = provenance;
        transcript.append(said).unwrap();
        let mut edited = episode(0, vec![1], &[], End::Answered);
        edited.transcript = transcript;
        let sample = Sample::of(&scored(edited, Reward::Value { value: 1.0 }, None), 0).unwrap();
        assert_eq!(sample.on_policy, on_policy, "{provenance:?}");
    }
}

#[test]
fn rule_2_a_prefix_that_a_fork_repeats_is_trained_with_its_trunk_only() {
    let mut fork = episode(0, vec![1], &[(vec![2, 3], vec![4]), (vec![5], vec![6])], End::Answered);
    let mut segments: Vec<Segment> = fork.transcript.segments().to_vec();
    segments[1].provenance = Provenance::Replayed;
    segments[1].policy_version = Some(PolicyVersion(1));
    fork.transcript = segments.try_into().unwrap();
    assert_eq!(check_episode(&fork), Vec::<String>::new());
    let sample = Sample::of(&scored(fork, Reward::Value { value: 1.0 }, None), 0).unwrap();
    assert_eq!(sample.trainable(), 1, "only the token that the fork sampled itself");
    assert!(sample.on_policy, "the older policy's tokens are not trained, so they do not make it off-policy");
}

#[test]
fn rule_4_tokens_of_another_policy_version_are_off_policy() {
    let mut mixed = episode(0, vec![1], &[(vec![2, 3], vec![4])], End::Answered);
    mixed.policy_version = PolicyVersion(7);
    assert_eq!(check_episode(&mixed).len(), 1);
    assert!(!Sample::of(&scored(mixed, Reward::Value { value: 1.0 }, None), 0).unwrap().on_policy);
}

#[test]
fn rule_5_nothing_to_say_is_not_zero_and_a_value_needs_evidence() {
    let term = |outcome, evidence| TermScore::new("t", outcome).with_evidence(evidence);
    let score = |terms, reward| Score::new(reward).with_terms(terms);
    let silent = score(
        vec![term(TermOutcome::NotApplicable { why: "no call".into() }, vec![])],
        Reward::Unscorable { why: "nothing applies".into() },
    );
    assert_eq!(silent.reward.value(), None);
    assert_eq!(check_score(&silent, 1), Vec::<String>::new());
    let bare = score(vec![term(TermOutcome::Value { value: 1.0 }, vec![])], Reward::Value { value: 1.0 });
    assert_eq!(check_score(&bare, 1).len(), 1);
    let hidden = score(
        vec![term(TermOutcome::GraderFailed { why: "crash".into() }, vec![])],
        Reward::Value { value: 0.0 },
    );
    assert_eq!(check_score(&hidden, 1).len(), 1, "a broken grader must not hide behind a number");
}

#[test]
fn rule_6_a_group_shares_everything_the_policy_is_given() {
    let good = || {
        scored(
            episode(0, vec![1, 2], &[(vec![3], vec![4])], End::Answered),
            Reward::Value { value: 1.0 },
            None,
        )
    };
    let odd = |change: fn(&mut Episode)| {
        let mut other = episode(1, vec![1, 2], &[(vec![5], vec![6])], End::Answered);
        change(&mut other);
        Group::assemble(vec![good(), scored(other, Reward::Value { value: 0.0 }, None)]).map(|_| ())
    };
    assert_eq!(odd(|_| {}), Ok(()));
    let what = |result: Result<(), GroupError>| match result {
        Err(GroupError::Mixed { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(what(odd(|e| e.task = task("test/2"))), "task");
    assert_eq!(what(odd(|e| Arc::make_mut(&mut e.task).version = 2)), "task version");
    assert_eq!(what(odd(|e| e.transcript = episode(0, vec![9], &[], End::Answered).transcript)), "prompt");
}

#[test]
fn rule_6_float_noise_is_no_variance() {
    let member = |reward| {
        scored(
            episode(0, vec![1], &[(vec![3], vec![4])], End::Answered),
            Reward::Value { value: reward },
            None,
        )
    };
    let group = |rewards: &[f64]| Group::assemble(rewards.iter().map(|&r| member(r)).collect()).unwrap();
    assert!(group(&[0.1 + 0.2, 0.3]).constant());
    assert!(group(&[0.5]).constant());
    assert!(!group(&[0.0, 1e-3]).constant());
}

#[test]
fn wall_time_is_not_part_of_an_episode() {
    let mut slow = episode(0, vec![1], &[(vec![2], vec![3])], End::Answered);
    let quick = slow.content_hash();
    slow.cost.tool_seconds = 9.0;
    assert_eq!(slow.content_hash(), quick);
    slow.cost.tool_calls = 9;
    assert_ne!(slow.content_hash(), quick);
}

#[test]
fn what_the_environment_knows_is_part_of_an_episode_and_no_token() {
    let plain = episode(0, vec![1], &[(vec![2], vec![3])], End::Answered);
    let told = |change: fn(&mut Episode)| {
        let mut told = plain.clone();
        change(&mut told);
        told
    };
    let with_info = told(|e| e.turns[0] = e.turns[0].clone().with_info([("progress", 0.5)]));
    let with_reward = told(|e| e.turns[0] = e.turns[0].clone().with_reward(1.0));
    let with_state = told(|e| e.state = Some(serde_json::json!({ "at": [2, 3] })));
    for other in [&with_info, &with_reward, &with_state] {
        assert_ne!(other.content_hash(), plain.content_hash());
        assert_eq!(other.transcript, plain.transcript);
        assert_eq!(check_episode(other), Vec::<String>::new());
        let back: Episode = serde_json::from_str(&serde_json::to_string(other).unwrap()).unwrap();
        assert_eq!(&back, other);
    }
    let wild = told(|e| e.turns[0] = e.turns[0].clone().with_info([("progress", f64::NAN)]));
    assert_eq!(check_episode(&wild), ["episode train/1/0/0: a turn's reward or info is not finite"]);
}

#[test]
fn every_outcome_has_its_effect() {
    let outcome = |end: End, reward: Reward, solved| {
        scored(episode(0, vec![1], &[(vec![2], vec![3])], end), reward, solved).outcome()
    };
    let value = || Reward::Value { value: 0.4 };
    let failed = |boundary| End::Failed { fault: Fault::new(boundary, String::new()) };
    assert_eq!(outcome(End::Answered, value(), Some(true)), Outcome::Solved);
    assert_eq!(outcome(End::Answered, value(), Some(false)), Outcome::PolicyWrong);
    assert_eq!(
        outcome(End::Truncated { limit: Limit::Turns }, value(), Some(false)),
        Outcome::PolicyTimedOut
    );
    // Where nothing tells whether the task was solved, a reward is not a failure.
    assert_eq!(outcome(End::Answered, value(), None), Outcome::Scored);
    assert!(Outcome::Scored.is_valid() && !Outcome::Scored.is_verdict());
    assert_eq!(outcome(End::Answered, Reward::Unscorable { why: String::new() }, None), Outcome::Unscorable);
    assert_eq!(
        outcome(End::Answered, Reward::GraderFailed { why: String::new() }, None),
        Outcome::GraderFailed
    );
    assert_eq!(outcome(failed(Boundary::Reward), value(), None), Outcome::GraderFailed);
    for boundary in [Boundary::Environment, Boundary::Tool, Boundary::Model] {
        assert_eq!(outcome(failed(boundary), value(), Some(true)), Outcome::InfrastructureFailed);
    }
}
