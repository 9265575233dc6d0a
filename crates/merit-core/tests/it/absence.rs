//! What a record does not know: it is said, it is checked, and nobody trains on it.

use merit_core::conformance::check_episode;
use merit_core::*;
use std::sync::Arc;

const NATIVE: &str = include_str!("../golden/native-episode.json");
/// Of the golden episode; a change here changes the hash of every recorded episode.
const NATIVE_HASH: &str = "bddb78060ab4a13bc0600def33afd07f1bf0d1f01b320311af67b2ad4240cd3b";

fn segment(role: Role, provenance: Provenance, known: Known) -> Segment {
    Segment {
        role,
        provenance,
        turn: 0,
        tokens: Vec::new(),
        logprobs: Vec::new(),
        values: Vec::new(),
        policy_version: None,
        text: "hello".to_owned(),
        known,
    }
}

fn append(segment: Segment) -> Result<(), TranscriptError> {
    Transcript::default().append(segment)
}

/// A text-only episode of one turn with one call.
fn imported() -> Episode {
    let mut episode: Episode = serde_json::from_str(NATIVE).unwrap();
    let said = segment(Role::Policy, Provenance::Imported, Known::Text);
    let asked = segment(Role::User, Provenance::Imported, Known::Text);
    episode.transcript = vec![asked, said].try_into().unwrap();
    let call = ToolCall { tool: "t".into(), input: "{}".into() };
    let record =
        CallRecord { call: call.clone(), end: CallEnd::Unknown, output: String::new(), seconds: None };
    let action = Action::Calls { calls: vec![call] };
    episode.turns = vec![Turn::new(0, action).with_calls(vec![record]).with_stop(TurnStop::Unknown)];
    episode.end = End::Unknown;
    episode.bootstrap = None;
    episode.cost = Cost { tool_calls: 1, tokens_unknown: true, seconds_unknown: true, ..Cost::default() };
    episode.reported = Some(Reported { reward: 1.0, by: "somebody".into() });
    episode
}

#[test]
fn a_native_episode_is_written_as_it_always_was() {
    let episode: Episode = serde_json::from_str(NATIVE).unwrap();
    assert_eq!(serde_json::to_string(&episode).unwrap(), NATIVE);
    assert_eq!(episode.content_hash(), NATIVE_HASH);
    assert!(episode.transcript.complete() && !episode.transcript.imported());
    assert_eq!(serde_json::to_string(&Cost::default()).unwrap().matches("unknown").count(), 0);
}

#[test]
fn what_is_absent_survives_a_round_trip() {
    let episode = imported();
    let text = serde_json::to_string(&episode).unwrap();
    assert_eq!(serde_json::from_str::<Episode>(&text).unwrap(), episode);
    assert_eq!(check_episode(&episode), Vec::<String>::new());
    assert_eq!(episode.transcript.missing(), Some("tokens and log-probabilities"));
    assert_eq!((episode.cost.known_policy_tokens(), episode.cost.known_tool_seconds()), (None, None));
}

#[test]
fn only_imported_and_synthetic_segments_may_lack_something() {
    for known in [Known::Text, Known::Tokens] {
        for provenance in [Provenance::Imported, Provenance::Synthetic] {
            assert_eq!(append(segment(Role::Policy, provenance, known)), Ok(()));
        }
        for provenance in [Provenance::Sampled, Provenance::Replayed, Provenance::Spliced, Provenance::Guided]
        {
            for role in Role::ALL {
                let refused = append(segment(role, provenance, known));
                assert!(matches!(refused, Err(TranscriptError::Absent { .. })), "{role:?} {provenance:?}");
            }
        }
    }
}

#[test]
fn what_is_said_to_be_absent_is() {
    let refused = |change: fn(&mut Segment), known| {
        let mut said = segment(Role::Policy, Provenance::Imported, known);
        change(&mut said);
        matches!(append(said), Err(TranscriptError::NotAbsent { .. }))
    };
    assert!(refused(|s| s.tokens = vec![TokenId(1)], Known::Text));
    assert!(!refused(|s| s.tokens = vec![TokenId(1)], Known::Tokens));
    assert!(refused(|s| s.logprobs = vec![-1.0], Known::Tokens));
    assert!(refused(|s| s.values = vec![1.0], Known::Text));
}

#[test]
fn a_full_policy_segment_still_needs_its_log_probabilities() {
    let mut said = segment(Role::Policy, Provenance::Imported, Known::Full);
    said.tokens = vec![TokenId(1)];
    assert!(matches!(append(said), Err(TranscriptError::LogprobCount { .. })));
}

#[test]
fn nobody_trains_on_an_episode_without_tokens() {
    let episode = imported();
    let id = episode.id.clone();
    let score = Score::new(Reward::Value { value: 1.0 }).with_solved(Some(true));
    let scored = ScoredEpisode { episode: Arc::new(episode), score: Some(score) };
    let refused = Sample::of(&scored, 0).unwrap_err();
    assert_eq!(
        refused,
        SampleError::Incomplete { episode: id.clone(), missing: "tokens and log-probabilities" }
    );
    assert!(refused.to_string().contains(&id.to_string()), "{refused}");
}

#[test]
fn an_episode_of_ours_may_not_be_unknown() {
    let native: Episode = serde_json::from_str(NATIVE).unwrap();
    let check = |change: fn(&mut Episode)| {
        let mut episode = native.clone();
        change(&mut episode);
        check_episode(&episode).len()
    };
    assert_eq!(check(|_| ()), 0);
    assert_eq!(
        check(|e| {
            e.end = End::Unknown;
            e.bootstrap = None;
        }),
        1
    );
    assert_eq!(check(|e| e.turns[0].stop = TurnStop::Unknown), 1);
    assert_eq!(check(|e| e.turns[0].calls[0].end = CallEnd::Unknown), 1);
    assert_eq!(check(|e| e.turns[0].calls[0].seconds = None), 1);
    assert_eq!(check(|e| e.cost.tokens_unknown = true), 1);
    let mut silent = imported();
    silent.cost.tokens_unknown = false;
    assert_eq!(check_episode(&silent).len(), 1);
}

#[test]
fn what_one_cost_does_not_know_the_sum_does_not_either() {
    let known = Cost { policy_tokens: 3, ..Cost::default() };
    let total: Cost = [known, imported().cost].into_iter().sum();
    assert_eq!((total.policy_tokens, total.known_policy_tokens()), (3, None));
}
