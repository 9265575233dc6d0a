//! Episodes for tests: random ones of every shape, and plain ones by the dozen.

use merit_core::{
    Action, Boundary, CallEnd, CallRecord, Cost, End, Episode, EpisodeId, Evidence, Fault, Known, Limit,
    PolicyVersion, Provenance, Reported, Reward, Role, Score, ScoredEpisode, Segment, Split, Task,
    TermOutcome, TermScore, TokenId, ToolCall, Transcript, Turn, TurnStop,
};
use merit_store::{RunFolder, RunInfo};
use proptest::prelude::*;
use proptest::sample::select;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn info() -> RunInfo {
    let (recipe, recipe_hash, version) = ("ledger".into(), "c0ffee".into(), "0.1.0".into());
    RunInfo { recipe, recipe_hash, seed: u64::MAX, version, started_ms: 1_767_225_600_000 }
}

pub(crate) fn new_run(home: &Path) -> RunFolder {
    RunFolder::create(&home.join("run"), "world = \"ledger\"\n", &info()).unwrap()
}

/// An episode of one policy segment with `tokens` tokens.
pub(crate) fn plain(phase: &str, step: u64, group: u32, member: u32, tokens: u32) -> ScoredEpisode {
    let task = Task {
        id: format!("ledger/train/{group:05}"),
        world: "ledger".into(),
        version: 1,
        split: Split::Train,
        size: 2,
        payload: serde_json::json!({ "entries": [group, 2, 3] }),
        answer: Some("6".into()),
    };
    let segment = |role, tokens: Vec<TokenId>, text: &str| Segment {
        role,
        provenance: Provenance::Sampled,
        turn: 0,
        logprobs: if role == Role::Policy {
            tokens.iter().map(|t| -0.001 * t.0 as f32).collect()
        } else {
            vec![]
        },
        values: vec![],
        policy_version: (role == Role::Policy).then_some(PolicyVersion(step)),
        tokens,
        text: text.into(),
        known: merit_core::Known::Full,
    };
    let mut transcript = Transcript::default();
    transcript.append(segment(Role::User, vec![TokenId(1), TokenId(2)], "add 1 2 3")).unwrap();
    let policy = (0..tokens).map(|t| TokenId(t + member)).collect();
    transcript.append(segment(Role::Policy, policy, "6")).unwrap();
    let solved = member.is_multiple_of(2);
    let value = f64::from(u8::from(solved));
    let term = TermScore::new("exact", TermOutcome::Value { value })
        .with_evidence(vec![Evidence::new("compared", "`6` with `6`")]);
    let score = Score::new(Reward::Value { value }).with_terms(vec![term]).with_solved(Some(solved));
    let episode =
        Episode::new(EpisodeId { phase: phase.into(), step, group, member, branch: 0 }, task, End::Answered)
            .with_policy_version(PolicyVersion(step))
            .with_transcript(transcript)
            .with_turns(vec![Turn::new(0, Action::Answer { text: "6".into() })])
            .with_cost(Cost { policy_tokens: u64::from(tokens), read_tokens: 2, ..Cost::default() });
    ScoredEpisode { episode: Arc::new(episode), score: Some(score) }
}

/// A batch of `groups` groups of eight.
pub(crate) fn batch(step: u64, groups: u32, tokens: u32) -> Vec<ScoredEpisode> {
    (0..groups)
        .flat_map(|group| (0..8).map(move |member| plain("train", step, group, member, tokens)))
        .collect()
}

/// Any episode the record allows, with or without a score.
pub(crate) fn any_scored() -> impl Strategy<Value = ScoredEpisode> {
    (any_episode(), proptest::option::of(any_score()))
        .prop_map(|(episode, score)| ScoredEpisode { episode: Arc::new(episode), score })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,12}", Just("<script>\0\"'\\\u{202e}🦀\n".to_owned())]
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |v| v.is_finite())
}

fn logprob() -> impl Strategy<Value = f32> {
    prop_oneof![(-40.0_f32..=0.0), Just(-f32::MIN_POSITIVE), Just(-0.0), Just(f32::MIN)]
}

fn any_value() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        Just(serde_json::Value::Null),
        finite().prop_map(|v| serde_json::json!({ "deep": [v, { "er": v }] })),
        any::<u64>().prop_map(|v| serde_json::json!(v)),
        text().prop_map(|v| serde_json::json!({ v: [true] })),
    ]
}

fn any_segment() -> impl Strategy<Value = Segment> {
    let role = select(Role::ALL.to_vec());
    let provenance =
        select(vec![Provenance::Sampled, Provenance::Spliced, Provenance::Guided, Provenance::Synthetic]);
    let known = select(vec![Known::Full, Known::Tokens, Known::Text]);
    let tokens = proptest::collection::vec((any::<u32>(), logprob(), any::<f32>()), 0..20);
    (role, (provenance, known), tokens, any::<bool>(), proptest::option::of(any::<u64>()), text()).prop_map(
        |(role, (provenance, known), mut tokens, valued, version, text)| {
            if known == Known::Text {
                tokens.clear();
            }
            let provenance = if known.is_full() { provenance } else { Provenance::Imported };
            let policy = role == Role::Policy;
            let likely = policy && known.is_full();
            // NaN is equal to nothing, so that a round trip could not be checked.
            let real = |v: f32| if v.is_nan() { 0.5 } else { v };
            Segment {
                role,
                provenance,
                turn: 0,
                tokens: tokens.iter().map(|t| TokenId(t.0)).collect(),
                logprobs: if likely { tokens.iter().map(|t| t.1).collect() } else { vec![] },
                values: if likely && valued { tokens.iter().map(|t| real(t.2)).collect() } else { vec![] },
                policy_version: version.filter(|_| policy).map(PolicyVersion),
                text,
                known,
            }
        },
    )
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let call = || (text(), text()).prop_map(|(tool, input)| ToolCall { tool, input });
    let action = prop_oneof![
        text().prop_map(|text| Action::Answer { text }),
        text().prop_map(|text| Action::Say { text }),
        text().prop_map(|why| Action::Malformed { why }),
        proptest::collection::vec(call(), 0..3).prop_map(|calls| Action::Calls { calls }),
    ];
    let end =
        select(vec![CallEnd::Ok, CallEnd::Refused, CallEnd::TimedOut, CallEnd::Broken, CallEnd::Unknown]);
    let record = (call(), end, text(), proptest::option::of(finite()))
        .prop_map(|(call, end, output, seconds)| CallRecord { call, end, output, seconds });
    let stop = select(vec![
        TurnStop::StopString,
        TurnStop::EndToken,
        TurnStop::MaxTokens,
        TurnStop::ContextFull,
        TurnStop::Unknown,
    ]);
    let info = proptest::collection::btree_map(text(), finite(), 0..3);
    let told = (proptest::option::of(finite()), info);
    (any::<u32>(), action, proptest::collection::vec(record, 0..3), stop, told).prop_map(
        |(index, action, calls, stop, (reward, info))| {
            let turn = Turn::new(index, action).with_calls(calls).with_stop(stop).with_info(info);
            reward.into_iter().fold(turn, Turn::with_reward)
        },
    )
}

fn any_end() -> impl Strategy<Value = End> {
    let limit = select(vec![Limit::Turns, Limit::Tokens, Limit::Context, Limit::Time]);
    let boundary = select(vec![Boundary::Environment, Boundary::Tool, Boundary::Model, Boundary::Reward]);
    prop_oneof![
        Just(End::Answered),
        Just(End::EnvironmentDone),
        Just(End::Unknown),
        limit.prop_map(|limit| End::Truncated { limit }),
        (boundary, text())
            .prop_map(|(boundary, message)| End::Failed { fault: Fault::new(boundary, message) }),
    ]
}

fn any_task() -> impl Strategy<Value = Task> {
    let split = select(vec![Split::Train, Split::HeldOut]);
    (text(), text(), any::<u32>(), split, any::<u32>(), any_value(), proptest::option::of(text())).prop_map(
        |(id, world, version, split, size, payload, answer)| Task {
            id,
            world,
            version,
            split,
            size,
            payload,
            answer,
        },
    )
}

fn any_episode() -> impl Strategy<Value = Episode> {
    let id = (text(), any::<u64>(), any::<u32>(), any::<u32>(), any::<u32>());
    let id = id.prop_map(|(phase, step, group, member, branch)| EpisodeId {
        phase: phase.into(),
        step,
        group,
        member,
        branch,
    });
    let segments = proptest::collection::vec(any_segment(), 0..6);
    let turns = proptest::collection::vec(any_turn(), 0..4);
    let cost =
        (any::<[u64; 8]>(), finite(), any::<[bool; 2]>()).prop_map(|(n, tool_seconds, unknown)| Cost {
            policy_tokens: n[0],
            read_tokens: n[1],
            env_steps: n[2],
            probe_steps: n[3],
            tool_calls: n[4],
            tool_seconds,
            judge_calls: n[5],
            judge_tokens: n[6],
            discarded_samples: n[7],
            tokens_unknown: unknown[0],
            seconds_unknown: unknown[1],
            ..Cost::default()
        });
    let bootstrap = proptest::option::of(any::<f32>().prop_filter("finite", |v| v.is_finite()));
    let reported = proptest::option::of((finite(), text()).prop_map(|(reward, by)| Reported { reward, by }));
    let rest = (any_task(), any::<u64>(), proptest::option::of(any_value()), any_end(), reported);
    (id, segments, turns, cost, bootstrap, rest).prop_map(|(id, segments, turns, cost, bootstrap, rest)| {
        let (task, version, state, end, reported) = rest;
        Episode::new(id, task, end)
            .with_policy_version(PolicyVersion(version))
            .with_transcript(Transcript::try_from(segments).unwrap())
            .with_turns(turns)
            .with_cost(cost)
            .with_bootstrap(bootstrap)
            .with_reported(reported)
            .with_state(state)
    })
}

fn any_score() -> impl Strategy<Value = Score> {
    let outcome = prop_oneof![
        finite().prop_map(|value| TermOutcome::Value { value }),
        text().prop_map(|why| TermOutcome::NotApplicable { why }),
        text().prop_map(|why| TermOutcome::ParseFailure { why }),
        text().prop_map(|why| TermOutcome::GraderFailed { why }),
    ];
    let evidence = (text(), text()).prop_map(|(act, finding)| Evidence::new(act, finding));
    let turns = proptest::collection::vec(proptest::option::of(finite()), 0..3);
    let term = (text(), outcome, finite(), turns, proptest::collection::vec(evidence, 0..3)).prop_map(
        |(name, outcome, weight, turns, evidence)| {
            TermScore::new(name, outcome).with_weight(weight).with_turns(turns).with_evidence(evidence)
        },
    );
    let reward = prop_oneof![
        finite().prop_map(|value| Reward::Value { value }),
        text().prop_map(|why| Reward::Unscorable { why }),
        text().prop_map(|why| Reward::GraderFailed { why }),
    ];
    let terms = proptest::collection::vec(term, 0..4);
    (terms, reward, proptest::collection::vec(finite(), 0..3), proptest::option::of(any::<bool>())).prop_map(
        |(terms, reward, turn_rewards, solved)| {
            Score::new(reward).with_terms(terms).with_turn_rewards(turn_rewards).with_solved(solved)
        },
    )
}
