//! Terms that take over what somebody else knows: the environment's numbers and reward, and annotations.

use crate::episodes::{Did, episode};
use merit_core::{
    Annotation, Annotations, Cost, Episode, Evidence, Reward, TermOutcome, TermScore, Turn, TurnStop,
};
use merit_reward::{AnnotationNeed, RewardConfig, RewardState, ScoreContext, Scorer};
use std::sync::Arc;

fn scorer(toml: &str) -> Scorer {
    Scorer::compile(&RewardConfig::from_toml(toml).unwrap()).unwrap()
}

fn term(toml: &str, episode: &Episode) -> TermScore {
    scorer(toml).score(episode, &ScoreContext::default()).terms.swap_remove(0)
}

/// Three turns; the second has no progress, the last no reward.
fn measured() -> Episode {
    let mut made = episode(Some("7"), 1, &[Did::Babbles, Did::Babbles, Did::Answers("7")]);
    made.turns[0] = made.turns[0].clone().with_info([("progress", 0.25)]).with_reward(1.0);
    made.turns[1] = made.turns[1].clone().with_info([("other", 9.0)]).with_reward(-0.5);
    made.turns[2] = made.turns[2].clone().with_info([("progress", 1.0)]);
    made
}

#[test]
fn info_is_reduced_over_the_turns_that_have_it() {
    for (reduce, want) in [("last", 1.0), ("first", 0.25), ("sum", 1.25), ("mean", 0.625), ("max", 1.0)] {
        let told = term(&format!("type = 'info'\nkey = 'progress'\nreduce = '{reduce}'"), &measured());
        assert_eq!(told.outcome, TermOutcome::Value { value: want }, "{reduce}");
        assert!(told.turns.is_empty());
    }
}

#[test]
fn info_by_turn_is_paid_where_it_was_measured() {
    let scorer = scorer("type = 'info'\nkey = 'progress'\nreduce = 'sum'\nper_turn = true\nweight = 2.0");
    let score = scorer.score(&measured(), &ScoreContext::default());
    assert_eq!(score.terms[0].turns, [Some(0.25), None, Some(1.0)]);
    assert_eq!(score.turn_rewards, [0.5, 0.0, 2.0]);
}

#[test]
fn a_number_that_nobody_measured_is_not_zero() {
    let outcome = term("type = 'info'\nkey = 'distance'", &measured()).outcome;
    assert_eq!(outcome, TermOutcome::NotApplicable { why: "no turn has `distance`".into() });
    let outcome = term("type = 'environment-reward'", &episode(Some("7"), 1, &[Did::Answers("7")])).outcome;
    assert!(matches!(outcome, TermOutcome::NotApplicable { .. }), "{outcome:?}");
}

#[test]
fn a_first_turn_that_was_cut_is_the_policys_doing_and_not_left_out() {
    let mut cut = episode(Some("7"), 1, &[Did::Babbles]);
    cut.turns[0] = cut.turns[0].clone().with_stop(TurnStop::MaxTokens);
    for toml in ["type = 'info'\nkey = 'progress'", "type = 'environment-reward'"] {
        let score = scorer(toml).score(&cut, &ScoreContext::default());
        assert!(matches!(score.terms[0].outcome, TermOutcome::ParseFailure { .. }), "{score:?}");
        assert_eq!(score.reward, Reward::Value { value: 0.0 });
        let path = format!("{toml}\non_parse_failure = {{ value = -1.0 }}");
        let score = scorer(&path).score(&cut, &ScoreContext::default());
        assert_eq!(score.reward, Reward::Value { value: -1.0 }, "a cost that 0 would flatter");
    }
    let later = term("type = 'info'\nkey = 'progress'", &{
        let mut made = measured();
        made.turns[2] = Turn::new(2, made.turns[2].action.clone()).with_stop(TurnStop::MaxTokens);
        made
    });
    assert_eq!(later.outcome, TermOutcome::Value { value: 0.25 }, "what was measured before stands");
}

#[test]
fn the_environments_own_reward_is_paid_by_turn() {
    let score = scorer("type = 'environment-reward'").score(&measured(), &ScoreContext::default());
    assert_eq!(score.reward, Reward::Value { value: 0.5 });
    assert_eq!(score.turn_rewards, [1.0, -0.5, 0.0]);
}

#[test]
fn turns_that_cancel_out_are_still_paid() {
    let mut made = measured();
    made.turns[1] = made.turns[1].clone().with_reward(-1.0);
    let score = scorer("type = 'environment-reward'\nweight = 0.5").score(&made, &ScoreContext::default());
    assert_eq!(score.reward, Reward::Value { value: 0.0 });
    assert_eq!(score.turn_rewards, [0.5, -0.5, 0.0]);
}

fn helpful(value: f64) -> Annotation {
    Annotation {
        name: "helpfulness".into(),
        value,
        turns: Vec::new(),
        evidence: vec![Evidence::new("asked", "it was kind")],
        by: "judge".into(),
        version: "3".into(),
        cost: Cost { judge_calls: 1, ..Cost::default() },
    }
}

#[test]
fn an_annotation_is_declared_handed_in_and_paid() {
    let scorer = scorer("type = 'annotation'\nkey = 'helpfulness'");
    assert_eq!(scorer.needs(), [AnnotationNeed { name: "helpfulness".into(), required: true }]);
    let batch = [Arc::new(measured())];
    let annotations = Annotations::from([(batch[0].id.clone(), vec![helpful(0.8)])]);
    let (run, state) = (ScoreContext::default(), RewardState::default());
    let scored = scorer.score_annotated(&batch, &annotations, &run, &state).episodes;
    let score = scored[0].score.as_ref().unwrap();
    assert_eq!(score.reward, Reward::Value { value: 0.8 });
    let said: Vec<&str> = score.terms[0].evidence.iter().map(|e| e.finding.as_str()).collect();
    assert_eq!(said, ["judge (3) said 0.8", "it was kind"]);
    let explained = scorer.explain_annotated(&batch, 0, &annotations, &run, &state);
    assert!(explained.starts_with("reward = 0.8\n"), "{explained}");
}

#[test]
fn a_missing_annotation_is_a_failure_or_does_not_apply_and_never_zero() {
    let outcome = term("type = 'annotation'\nkey = 'helpfulness'", &measured()).outcome;
    let why = "nobody gave the annotation `helpfulness`".to_owned();
    assert_eq!(outcome, TermOutcome::GraderFailed { why: why.clone() });
    let outcome = term("type = 'annotation'\nkey = 'helpfulness'\noptional = true", &measured()).outcome;
    assert_eq!(outcome, TermOutcome::NotApplicable { why });
}
