//! Potential-based shaping: exact payments, a return that no policy can move, ends that are and are not ends.

use crate::episodes::{Did, episode};
use merit_core::{CallEnd, End, Episode, Limit, Reward, Score};
use merit_reward::{RewardConfig, ScoreContext, Scorer};
use proptest::prelude::*;

const OK: CallEnd = CallEnd::Ok;
const NO: CallEnd = CallEnd::Refused;

/// The potential after a turn is the share of its calls that work; a turn without calls holds the one before.
const SHAPED: &str =
    "type = 'shaping'\nof = { type = 'exact-answer' }\npotential = { type = 'tool-success' }";

fn scorer(toml: &str) -> Scorer {
    let config: RewardConfig = RewardConfig::from_toml(toml).unwrap_or_else(|why| panic!("{toml}: {why}"));
    Scorer::compile(&config).unwrap()
}

fn score(toml: &str, discount: f64, episode: &Episode) -> Score {
    scorer(toml).score(episode, &ScoreContext { discount, ..ScoreContext::default() })
}

fn close(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len(), "{got:?}");
    assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12), "{got:?}, not {want:?}");
}

/// Potentials 0 → 0.5 → 0.5 (held) → 1 → end.
fn walk(tokens: usize) -> Episode {
    episode(Some("7"), tokens, &[Did::Calls(&[OK, NO]), Did::Babbles, Did::Calls(&[OK]), Did::Answers("7")])
}

#[test]
fn each_turn_is_paid_the_discounted_step_of_the_potential() {
    // γ = 0.9, one token per turn: 0.9·0.5 − 0; 0.9·0.5 − 0.5; 0.9·1 − 0.5; 0.9·0 − 1 at the real end.
    let score = score(SHAPED, 0.9, &walk(1));
    close(&score.turn_rewards, &[0.45, -0.05, 0.4, -1.0]);
    // The value is the plain sum of what is paid: 1 for the answer and −0.2 by shaping.
    close(&[score.reward.value().unwrap()], &[0.8]);
}

#[test]
fn without_a_discount_the_whole_shaping_comes_to_minus_the_start() {
    let shaped = score(SHAPED, 1.0, &walk(3));
    close(&shaped.turn_rewards, &[0.5, 0.0, 0.5, -1.0]);
    close(&[shaped.reward.value().unwrap()], &[1.0]);
    let started = score(&format!("{SHAPED}\nstart = 0.25"), 1.0, &walk(3));
    close(&[started.reward.value().unwrap()], &[0.75]);
}

#[test]
fn truncation_keeps_the_potential_and_an_unknown_end_is_no_end() {
    for end in [End::Truncated { limit: Limit::Turns }, End::Unknown] {
        let cut = Episode { end, ..walk(1) };
        // The last turn holds the potential: 0.9·1 − 1 instead of −1.
        close(&score(SHAPED, 0.9, &cut).turn_rewards, &[0.45, -0.05, 0.4, -0.1]);
    }
    let done = Episode { end: End::EnvironmentDone, ..walk(1) };
    close(&score(SHAPED, 0.9, &done).turn_rewards, &[0.45, -0.05, 0.4, -1.0]);
}

#[test]
fn what_the_base_pays_by_turn_is_added() {
    let toml = "type = 'shaping'\nof = { type = 'format' }\npotential = { type = 'tool-success' }";
    // Format is 0.75, a quarter at each turn but the second.
    let score = score(toml, 1.0, &walk(1));
    close(&score.turn_rewards, &[0.75, 0.0, 0.75, -0.75]);
    close(&[score.reward.value().unwrap()], &[0.75]);
}

#[test]
fn a_potential_may_be_a_term_by_its_name_and_then_counts_raw() {
    let toml = "type = 'shaping'\nof = { type = 'tool-success', weight = 0.0 }\npotential = 'tool-success'";
    close(&score(toml, 1.0, &walk(1)).turn_rewards, &[0.5, 0.0, 0.5, -1.0]);
    let weighed = SHAPED.replace("'tool-success' }", "'tool-success', weight = 0.5 }");
    close(&score(&weighed, 1.0, &walk(1)).turn_rewards, &[0.25, 0.0, 0.25, -0.5]);
}

#[test]
fn a_term_that_looks_at_the_whole_episode_is_no_potential() {
    for toml in [
        "type = 'shaping'\nof = { type = 'exact-answer' }\npotential = 'exact-answer'",
        "type = 'shaping'\nof = { type = 'format' }\npotential = { type = 'exact-answer' }",
    ] {
        let reward = score(toml, 1.0, &walk(1)).reward;
        assert!(
            matches!(&reward, Reward::GraderFailed { why } if why.contains("no values by turn")),
            "{reward:?}"
        );
    }
}

#[test]
fn a_potential_that_says_nothing_stays_where_it_started() {
    let silent = episode(Some("7"), 1, &[Did::Babbles, Did::Answers("7")]);
    close(&score(&format!("{SHAPED}\nstart = 0.5"), 0.9, &silent).turn_rewards, &[0.45 - 0.5, -0.5]);
}

#[test]
fn an_explanation_tells_the_potential() {
    let context = ScoreContext { discount: 0.9, ..ScoreContext::default() };
    let text = scorer(SHAPED).explain(&walk(1), &context);
    assert!(text.contains("shaping (discount 0.9 per token)"), "{text}");
    assert!(text.contains("potential 0 → 0.5 → 0.5 → 1 → 1; 0 at the real end"), "{text}");
}

/// The return as a learner sees it that discounts per token and pays a turn at its last token.
fn by_token(turn_rewards: &[f64], tokens: &[usize], gamma: f64) -> f64 {
    let mut at = 0_i32;
    let mut sum = 0.0;
    for (reward, tokens) in turn_rewards.iter().zip(tokens) {
        at += i32::try_from(*tokens).unwrap();
        sum += gamma.powi(at - 1) * reward;
    }
    sum
}

/// An episode whose turns have these tokens, each, and these calls.
fn wandering(turns: &[(usize, Vec<bool>)], end: End) -> Episode {
    let ends: Vec<Vec<CallEnd>> =
        turns.iter().map(|(_, calls)| calls.iter().map(|ok| if *ok { OK } else { NO }).collect()).collect();
    let did: Vec<Did<'_>> =
        ends.iter().map(|calls| if calls.is_empty() { Did::Babbles } else { Did::Calls(calls) }).collect();
    let mut made = episode(Some("7"), 1, &did);
    let template = made.transcript.segments()[0].clone();
    made.transcript = merit_core::Transcript::default();
    for (turn, (tokens, _)) in turns.iter().enumerate() {
        let mut segment = template.clone();
        segment.turn = turn as u32;
        segment.tokens = vec![merit_core::TokenId(1); *tokens];
        segment.logprobs = vec![-1.0; *tokens];
        made.transcript.append(segment).unwrap();
    }
    Episode { end, ..made }
}

proptest! {
    /// The heart of the matter: whatever the policy does, and however long its turns are, the discounted return of the
    /// shaping is −Φ(s_0) behind a real end, and that plus the discounted last potential where the episode was cut.
    #[test]
    fn no_policy_can_move_the_return_of_shaping(
        turns in prop::collection::vec((1..9_usize, prop::collection::vec(any::<bool>(), 0..4)), 1..7),
        gamma in 0.8..1.0_f64,
        start in 0.0..1.0_f64,
        really in any::<bool>(),
    ) {
        let toml = format!("type = 'shaping'\nof = {{ type = 'cost' }}\npotential = {{ type = 'tool-success' }}\nstart = {start:?}");
        let end = if really { End::EnvironmentDone } else { End::Truncated { limit: Limit::Turns } };
        let made = wandering(&turns, end);
        let score = score(&toml, gamma, &made);
        let tokens: Vec<usize> = turns.iter().map(|(tokens, _)| *tokens).collect();
        let held = turns.iter().rev().find(|(_, calls)| !calls.is_empty());
        let last = held.map_or(start, |(_, calls)| calls.iter().filter(|ok| **ok).count() as f64 / calls.len() as f64);
        let kept = if really { 0.0 } else { gamma.powi(tokens.iter().sum::<usize>() as i32) * last };
        let got = by_token(&score.turn_rewards, &tokens, gamma);
        prop_assert!((got - (kept - start)).abs() < 1e-9, "{} {}", got, kept - start);
    }

    /// The same for a learner that discounts once per turn.
    #[test]
    fn nor_that_of_a_learner_that_discounts_by_turn(
        turns in prop::collection::vec((1..9_usize, prop::collection::vec(any::<bool>(), 0..4)), 1..7),
        gamma in 0.1..1.0_f64,
    ) {
        let toml = format!("{SHAPED}\nstep = 'turn'\nstart = 0.5");
        let score = score(&toml, gamma, &wandering(&turns, End::EnvironmentDone));
        let got: f64 = score.turn_rewards.iter().enumerate().map(|(t, paid)| gamma.powi(t as i32) * paid).sum();
        prop_assert!((got + 0.5).abs() < 1e-9, "{}", got);
    }
}
