//! Random rewards over random batches: the score agrees with a plain reading of the config and with its explanation, stays
//! within the range the reward claims, and pays by turn what its parts say.

use crate::episodes::{Did, episode};
use crate::plain::{PARSE_FAILURE, Reading, shapes};
use merit_core::{CallEnd, Episode, Reward, Score};
use merit_reward::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn leaf() -> impl Strategy<Value = Value> {
    let weight = -2.0..2.0_f64;
    let rates = prop::option::of(0.0..1.0_f64);
    prop_oneof![
        (weight.clone(), any::<bool>()).prop_map(|(weight, unscorable)| {
            let path = if unscorable { json!("unscorable") } else { json!({ "value": PARSE_FAILURE }) };
            json!({ "type": "exact-answer", "weight": weight, "on_parse_failure": path })
        }),
        (weight, rates.clone())
            .prop_map(|(weight, rate)| with_errors(json!({ "type": "format", "weight": weight }), rate)),
        (1..4_u64, rates)
            .prop_map(|(max, rate)| with_errors(json!({ "type": "tool-success", "max_calls": max }), rate)),
        (0.0..0.1_f64).prop_map(|per_token| json!({ "type": "cost", "per_token": per_token })),
    ]
}

fn with_errors(mut term: Value, rate: Option<f64>) -> Value {
    if let Some(rate) = rate {
        term["errors"] = json!({ "false_positive": rate, "false_negative": rate / 2.0 });
    }
    term
}

fn expression() -> impl Strategy<Value = Value> {
    let made = leaf().prop_recursive(4, 20, 3, |inner| {
        let parts = prop::collection::vec(inner, 3);
        let knobs = prop::collection::vec(0.0..1.0_f64, 3);
        (0..shapes().len(), parts, knobs).prop_map(|(row, parts, knobs)| (shapes()[row].make)(&parts, &knobs))
    });
    made.prop_map(|mut config| {
        let terms: Vec<&str> = TERMS.iter().map(|term| term.about.name).collect();
        crate::plain::settle(&mut config, &terms);
        config
    })
}

fn random_episode() -> impl Strategy<Value = Episode> {
    let call = prop_oneof![Just(CallEnd::Ok), Just(CallEnd::Refused), Just(CallEnd::TimedOut)];
    let calls = prop::collection::vec(prop::collection::vec(call, 0..4), 0..4);
    let answer = prop::option::of(prop_oneof![Just("7"), Just("8"), Just("seven")]);
    (calls, answer, any::<bool>(), 0..6_usize).prop_map(|(calls, answer, known, tokens)| {
        let mut did: Vec<Did<'_>> =
            calls.iter().map(|ends| if ends.is_empty() { Did::Babbles } else { Did::Calls(ends) }).collect();
        did.extend(answer.map(Did::Answers));
        episode(known.then_some("7"), tokens, &did)
    })
}

/// Up to four episodes in up to two groups.
fn random_batch() -> impl Strategy<Value = Vec<Arc<Episode>>> {
    let kinds = prop_oneof![
        Just(json!(null)),
        Just(json!({ "kind": "a", "base": 0.5 })),
        Just(json!({ "kind": "c" }))
    ];
    prop::collection::vec((random_episode(), 0..2_u32, kinds), 1..5).prop_map(|members| {
        let place = |(member, (mut episode, group, payload)): (usize, (Episode, u32, Value))| {
            Arc::make_mut(&mut episode.task).payload = payload;
            episode.id.group = group;
            episode.id.member = member as u32;
            Arc::new(episode)
        };
        members.into_iter().enumerate().map(place).collect()
    })
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// The score of one episode against the plain reading.
fn agrees(config: &Value, reading: &Reading<'_>, range: Range) -> Result<(), TestCaseError> {
    let score = &reading.scores[reading.at];
    match (crate::plain::read(config, reading), &score.reward) {
        (Ok(Some(want)), Reward::Value { value }) => {
            prop_assert!(near(want, *value), "{} but {}", want, value);
            let within = range.low - 1e-9 <= *value && *value <= range.high + 1e-9;
            prop_assert!(within, "{} is outside {:?}", value, range);
        }
        (Ok(None) | Err(()), Reward::Unscorable { .. }) => {
            prop_assert_eq!(&score.turn_rewards, &Vec::<f64>::new());
            return Ok(());
        }
        (want, got) => prop_assert!(false, "{:?} but {:?}", want, got),
    }
    let paid = crate::plain::paid(config, reading).unwrap_or_default();
    prop_assert_eq!(paid.len(), score.turn_rewards.len());
    for (want, got) in paid.iter().zip(&score.turn_rewards) {
        prop_assert!(near(*want, *got), "{:?} but {:?}", paid, score.turn_rewards);
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_score_means_what_its_config_says(
        config in expression(),
        batch in random_batch(),
        step in 0..6_u64,
        discount in 0.5..=1.0_f64,
    ) {
        let reward: RewardConfig = serde_json::from_value(config.clone()).unwrap();
        let scorer = Scorer::compile(&reward).unwrap_or_else(|error| panic!("{config}: {error}"));
        let context = ScoreContext { discount, ..ScoreContext::at_step(step) };
        let state = RewardState::default();
        let scored = scorer.score_batch(&batch, &context, &state).episodes;
        let scores: Vec<Score> = scored.iter().map(|s| s.score.clone().unwrap()).collect();
        let unscorable = &crate::plain::unscorable(&config);
        for at in 0..batch.len() {
            let (scores, episodes, discount) = (&scores, &batch, context.discount);
            let reading = Reading { scores, episodes, unscorable, step, discount, at, turn: None };
            agrees(&config, &reading, scorer.range())?;
            let explained = scorer.explain_in(&batch, at, &context, &state);
            let lines: Vec<&str> = explained.lines().collect();
            match &scores[at].reward {
                Reward::Value { value } => {
                    prop_assert_eq!(lines[0], format!("reward = {value}"));
                    let ending = format!("= {}", value);
                    prop_assert!(lines[1].ends_with(&ending), "{}", explained);
                }
                other => prop_assert!(lines[0].starts_with("reward: unscorable"), "{:?} {}", other, explained),
            }
        }
        let episodes: Vec<Episode> = batch.iter().map(|e| (**e).clone()).collect();
        prop_assert_eq!(conformance::check_reward(&scorer, &episodes), Vec::<String>::new());
    }

    #[test]
    fn a_saved_reward_is_the_same_reward(config in expression()) {
        let config: RewardConfig = serde_json::from_value(config).unwrap();
        let saved = serde_json::to_string(&config).unwrap();
        prop_assert_eq!(serde_json::from_str::<RewardConfig>(&saved).unwrap(), config);
    }

    #[test]
    fn checking_a_reward_never_fails_where_compiling_does_not(config in expression()) {
        let config: RewardConfig = serde_json::from_value(config).unwrap();
        prop_assert!(check(&config).is_ok());
    }
}

#[test]
fn every_combinator_is_generated_and_read() {
    for component in COMBINATORS {
        let name = component.about.name;
        // `solved-by` changes no value and stands outermost only.
        let read = name == "solved-by" || shapes().iter().any(|shape| shape.kind == name);
        assert!(read, "tests/it/plain/shapes.rs has no row for `{name}`");
    }
}
