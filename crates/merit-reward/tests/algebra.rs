//! Random rewards over random episodes: the score agrees with a plain reading of the config, and with its explanation.
#![allow(clippy::unwrap_used)]

mod episodes;

use episodes::{Did, episode};
use merit_core::{CallEnd, Episode, Reward, Score};
use merit_reward::*;
use proptest::prelude::*;

fn leaf() -> impl Strategy<Value = RewardConfig> {
    let path =
        prop_oneof![(-1.0..1.0_f64).prop_map(ParseFailurePath::Value), Just(ParseFailurePath::Unscorable)];
    prop_oneof![
        (-2.0..2.0_f64, path).prop_map(|(weight, on_parse_failure)| RewardConfig::ExactAnswer(
            ExactAnswerConfig { name: None, weight, on_parse_failure }
        )),
        (-2.0..2.0_f64).prop_map(|weight| RewardConfig::Format(FormatConfig { name: None, weight })),
        (1..4_usize).prop_map(|max| RewardConfig::ToolSuccess(ToolSuccessConfig {
            max_calls: Some(max),
            ..ToolSuccessConfig::default()
        })),
        (0.0..0.1_f64)
            .prop_map(|per_token| RewardConfig::Cost(CostConfig { per_token, ..CostConfig::default() })),
    ]
}

fn expression() -> impl Strategy<Value = RewardConfig> {
    leaf().prop_recursive(4, 16, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            some.clone().prop_map(|of| RewardConfig::Sum(SumConfig { of })),
            some.prop_map(|of| RewardConfig::Product(ProductConfig { of })),
            (inner.clone(), inner.clone(), prop::option::of(inner.clone()), -1.0..1.0_f64).prop_map(
                |(when, then, otherwise, at_least)| RewardConfig::Gate(GateConfig {
                    when: Condition::Expression(Box::new(when)),
                    at_least,
                    then: Box::new(then),
                    otherwise: otherwise.map(Box::new),
                })
            ),
            (inner.clone(), inner.clone(), -1.0..1.0_f64).prop_map(|(when, then, below)| RewardConfig::Veto(
                VetoConfig {
                    when: Condition::Expression(Box::new(when)),
                    below: Some(below),
                    at_most: None,
                    above: None,
                    at_least: None,
                    value: -3.0,
                    then: Box::new(then),
                }
            )),
            inner.clone().prop_map(|of| RewardConfig::Clip(ClipConfig {
                of: Box::new(of),
                low: -0.5,
                high: 0.5
            })),
            inner.prop_map(|of| RewardConfig::Schedule(ScheduleConfig {
                of: Box::new(of),
                from: 2.0,
                to: 0.0,
                start_step: 0,
                end_step: 4,
            })),
        ]
    })
}

/// Gives every term a name of its own, in the order of the file.
fn name_terms(config: &mut RewardConfig, next: &mut usize) {
    let fresh = |name: &mut Option<String>, next: &mut usize| {
        *name = Some(format!("t{next}"));
        *next += 1;
    };
    match config {
        RewardConfig::Sum(c) => c.of.iter_mut().for_each(|c| name_terms(c, next)),
        RewardConfig::Product(c) => c.of.iter_mut().for_each(|c| name_terms(c, next)),
        RewardConfig::Gate(c) => {
            name_condition(&mut c.when, next);
            name_terms(&mut c.then, next);
            c.otherwise.iter_mut().for_each(|c| name_terms(c, next));
        }
        RewardConfig::Veto(c) => {
            name_condition(&mut c.when, next);
            name_terms(&mut c.then, next);
        }
        RewardConfig::Clip(c) => name_terms(&mut c.of, next),
        RewardConfig::Schedule(c) => name_terms(&mut c.of, next),
        RewardConfig::SolvedBy(c) => name_terms(&mut c.of, next),
        RewardConfig::ExactAnswer(c) => fresh(&mut c.name, next),
        RewardConfig::Format(c) => fresh(&mut c.name, next),
        RewardConfig::ToolSuccess(c) => fresh(&mut c.name, next),
        RewardConfig::Cost(c) => fresh(&mut c.name, next),
    }
}

fn name_condition(when: &mut Condition, next: &mut usize) {
    if let Condition::Expression(config) = when {
        name_terms(config, next);
    }
}

/// `Err` is unscorable, `Ok(None)` not applicable.
type Plain = Result<Option<f64>, ()>;

/// The meaning of a config, read from the terms of a score and nothing else.
fn plain(config: &RewardConfig, score: &Score, step: f64) -> Plain {
    let all = |of: &[RewardConfig]| of.iter().map(|c| plain(c, score, step)).collect::<Result<Vec<_>, ()>>();
    let term = |name: &Option<String>, path: ParseFailurePath| -> Plain {
        let term = score.terms.iter().find(|t| Some(&t.name) == name.as_ref()).unwrap();
        match (&term.outcome, path) {
            (merit_core::TermOutcome::ParseFailure { .. }, ParseFailurePath::Unscorable) => Err(()),
            (merit_core::TermOutcome::ParseFailure { .. }, ParseFailurePath::Value(x)) => {
                Ok(Some(x * term.weight))
            }
            (outcome, _) => Ok(outcome.value().map(|x| x * term.weight)),
        }
    };
    let fold = |of: &[RewardConfig], f: fn(f64, f64) -> f64| {
        all(of).map(|parts| parts.into_iter().flatten().reduce(f))
    };
    let when = |condition: &Condition| match condition {
        Condition::Expression(config) => plain(config, score, step),
        Condition::Term(_) => unreachable!("not generated"),
    };
    match config {
        RewardConfig::Sum(c) => fold(&c.of, |a, b| a + b),
        RewardConfig::Product(c) => fold(&c.of, |a, b| a * b),
        RewardConfig::Gate(c) => match (when(&c.when)?, &c.otherwise) {
            (None, _) => Ok(None),
            (Some(x), _) if x >= c.at_least => plain(&c.then, score, step),
            (Some(_), Some(otherwise)) => plain(otherwise, score, step),
            (Some(_), None) => Ok(Some(0.0)),
        },
        RewardConfig::Veto(c) => match when(&c.when)? {
            Some(x) if x < c.below.unwrap() => Ok(Some(c.value)),
            _ => plain(&c.then, score, step),
        },
        RewardConfig::Clip(c) => Ok(plain(&c.of, score, step)?.map(|x| x.max(c.low).min(c.high))),
        RewardConfig::Schedule(c) => Ok(plain(&c.of, score, step)?.map(|x| x * (2.0 - step / 2.0).max(0.0))),
        RewardConfig::SolvedBy(c) => plain(&c.of, score, step),
        RewardConfig::ExactAnswer(c) => term(&c.name, c.on_parse_failure),
        RewardConfig::Format(c) => term(&c.name, ParseFailurePath::default()),
        RewardConfig::ToolSuccess(c) => term(&c.name, ParseFailurePath::default()),
        RewardConfig::Cost(c) => term(&c.name, ParseFailurePath::default()),
    }
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

proptest! {
    #[test]
    fn a_score_means_what_its_config_says(
        mut config in expression(),
        episode in random_episode(),
        step in 0..6_u64,
    ) {
        name_terms(&mut config, &mut 0);
        let scorer = Scorer::compile(&config).unwrap();
        let context = ScoreContext { step };
        let score = scorer.score(&episode, &context);
        let names: Vec<String> = (0..score.terms.len()).map(|i| format!("t{i}")).collect();
        prop_assert_eq!(scorer.term_names(), names);
        match (plain(&config, &score, step as f64), &score.reward) {
            (Ok(Some(want)), Reward::Value { value }) => prop_assert!((want - value).abs() <= 1e-12 * (1.0 + want.abs())),
            (Ok(None) | Err(()), Reward::Unscorable { .. }) => {}
            (want, got) => prop_assert!(false, "{:?} but {:?}", want, got),
        }
        let explained = scorer.explain(&episode, &context);
        let lines: Vec<&str> = explained.lines().collect();
        match &score.reward {
            Reward::Value { value } => {
                prop_assert_eq!(lines[0], format!("reward = {value}"));
                let ending = format!("= {}", value);
                prop_assert!(lines[1].ends_with(&ending), "{}", explained);
            }
            other => prop_assert!(lines[0].starts_with("reward: unscorable"), "{:?} {}", other, explained),
        }
        prop_assert_eq!(conformance::check_reward(&scorer, &[episode]), Vec::<String>::new());
    }

    #[test]
    fn a_saved_reward_is_the_same_reward(mut config in expression()) {
        name_terms(&mut config, &mut 0);
        let saved = serde_json::to_string(&config).unwrap();
        prop_assert_eq!(serde_json::from_str::<RewardConfig>(&saved).unwrap(), config);
    }
}
