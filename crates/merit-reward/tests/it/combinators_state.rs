//! Combinators that learn from step to step: what they keep, for how long, and that a saved state goes on as if never saved.

use crate::episodes::broken;
use crate::groups::*;
use merit_core::{Episode, PolicyVersion};
use merit_reward::{RewardState, ScoreContext, Scorer};
use serde_json::json;
use std::sync::Arc;

/// Scores one batch per step, each step's state handed through JSON.
fn steps(scorer: &Scorer, batches: &[Vec<Arc<Episode>>]) -> (Vec<Vec<Option<f64>>>, RewardState) {
    let mut state = RewardState::default();
    let mut all = Vec::new();
    for (step, episodes) in batches.iter().enumerate() {
        let scored = scorer.score_batch(episodes, &ScoreContext::at_step(step as u64), &state);
        all.push(scored.episodes.iter().map(|s| s.score.as_ref().and_then(|s| s.reward.value())).collect());
        let saved = serde_json::to_string(&scored.state).unwrap();
        let restored: RewardState = serde_json::from_str(&saved).unwrap();
        assert_eq!(restored, scored.state);
        state = restored;
    }
    (all, state)
}

fn kept(more: &str) -> String {
    format!("type = 'gain'\nbaseline = {{ kept = {{ smoothing = 0.5{more} }} }}\nof = {CALLS}")
}

#[test]
fn a_kept_baseline_is_what_the_task_was_worth_before() {
    let batches = [
        batch(vec![member(0, 0, 2), member(0, 1, 4), broken(member(0, 2, 50)), member(1, 0, 10)]),
        batch(vec![member(0, 0, 6), member(2, 0, 1)]),
        batch(vec![member(0, 0, 6), member(1, 0, 11)]),
    ];
    // Task 0: nothing, then (2 + 4) / 2 = 3, then 0.5 · 3 + 0.5 · 6 = 4.5. Task 1 stays 10.
    let (rewards, _) = steps(&scorer(&kept("")), &batches);
    assert_eq!(rewards, [vec![None, None, None, None], vec![Some(3.0), None], vec![Some(1.5), Some(1.0)]]);
    let (rewards, _) = steps(&scorer(&kept(", start = 1.0")), &batches);
    assert_eq!(rewards[0], [Some(1.0), Some(3.0), None, Some(9.0)]);
    assert_eq!(rewards[2], [Some(1.5), Some(1.0)]);
}

#[test]
fn a_baseline_too_old_is_dropped_task_by_task() {
    let both = || batch(vec![member(0, 0, 2), member(1, 0, 2)]);
    let only_one = || batch(vec![member(1, 0, 2)]);
    let (rewards, state) = steps(&scorer(&kept(", max_age = 1")), &[both(), only_one(), both()]);
    // At version 2 task 1 was seen one version ago, task 0 two.
    assert_eq!(rewards[2], [None, Some(0.0)]);
    let late = ScoreContext { version: PolicyVersion(10), ..ScoreContext::at_step(10) };
    let scored = scorer(&kept(", max_age = 1")).score_batch(&both(), &late, &state);
    assert!(scored.episodes.iter().all(|s| s.score.as_ref().unwrap().reward.value().is_none()));
}

#[test]
fn only_so_many_tasks_are_kept_and_the_longest_unseen_go() {
    let seen = |groups: &[u32]| batch(groups.iter().map(|&group| member(group, 0, 2)).collect());
    let batches = [seen(&[0]), seen(&[1]), seen(&[2]), seen(&[0, 1, 2])];
    let (rewards, state) = steps(&scorer(&kept(", most_tasks = 2")), &batches);
    assert_eq!(rewards[3], [None, Some(0.0), Some(0.0)]);
    let numbers: Vec<usize> = state.iter().map(|(_, aged)| aged.value.len()).collect();
    assert_eq!(numbers, [2 * 3]);
}

const MASTERY: &str = "
type = 'staged'
by = 'mastery'
carry = false
patience = 2
stages = [
  { of = { type = 'cost', name = 'calls', per_call = 1.0, weight = -1.0 }, mastered_at = 3.0 },
  { of = { type = 'exact-answer', weight = 10.0 } },
]
";

/// A batch whose mean number of calls is `calls`.
fn with_calls(calls: usize) -> Vec<Arc<Episode>> {
    batch(vec![member(0, 0, calls + 1), member(0, 1, calls - 1), broken(member(1, 0, 90))])
}

#[test]
fn a_stage_is_mastered_after_patience_steps_and_the_next_begins_with_the_step_after() {
    let batches: Vec<_> = [3, 2, 3, 3, 1, 1].into_iter().map(with_calls).collect();
    let (rewards, state) = steps(&scorer(MASTERY), &batches);
    let first: Vec<Option<f64>> = rewards.iter().map(|rewards| rewards[0]).collect();
    // Steps 2 and 3 in a row are at 3; from step 4 on the second stage pays 10, and bad steps do not undo it.
    assert_eq!(first, [Some(4.0), Some(3.0), Some(4.0), Some(4.0), Some(10.0), Some(10.0)]);
    // Without news for more than max_age versions the curriculum begins anew.
    let late = |version: u64| ScoreContext { version: PolicyVersion(version), ..ScoreContext::at_step(6) };
    let at =
        |version| scorer(MASTERY).score_batch(&with_calls(3), &late(version), &state).episodes[0].clone();
    assert_eq!(at(105).reward(), Some(10.0));
    assert_eq!(at(106).reward(), Some(4.0));
}

#[test]
fn with_relapse_a_lost_stage_comes_back() {
    let toml = MASTERY.replace("patience = 2", "patience = 2\nrelapse = 1.5");
    let batches: Vec<_> = [3, 3, 2, 1, 2, 1, 1, 3].into_iter().map(with_calls).collect();
    let (rewards, _) = steps(&scorer(&toml), &batches);
    let first: Vec<Option<f64>> = rewards.iter().map(|rewards| rewards[0]).collect();
    // One step below 1.5 is forgiven (step 3); two in a row (5 and 6) bring the first stage back at step 7.
    assert_eq!(first[2..], [Some(10.0), Some(10.0), Some(10.0), Some(10.0), Some(10.0), Some(4.0)]);
}

#[test]
fn mastery_may_be_told_by_another_term() {
    let toml = MASTERY
        .replace("mastered_at = 3.0", "mastered_at = 1.0, mastered_by = 'exact-answer'")
        .replace("patience = 2", "patience = 1");
    let (rewards, _) = steps(&scorer(&toml), &[with_calls(1), with_calls(1)]);
    assert_eq!((rewards[0][0], rewards[1][0]), (Some(2.0), Some(10.0)));
}

#[test]
fn a_state_that_says_nonsense_is_the_beginning() {
    let odd: RewardState = serde_json::from_value(json!({
        "reward#stage": { "value": [-1.0, 1e300], "made_by": 0, "refresh": { "type": "never" } },
    }))
    .unwrap();
    let scored = scorer(MASTERY).score_batch(&with_calls(2), &ScoreContext::default(), &odd);
    assert_eq!(scored.episodes[0].reward(), Some(3.0));
}

#[test]
fn a_run_that_was_cut_pays_what_an_uninterrupted_one_pays() {
    let toml = "
type = 'sum'
of = [
  { type = 'dynamic-weights', of = [{ type = 'exact-answer' }, { type = 'cost', name = 'price', per_call = 0.1 }] },
  { type = 'gain', baseline = { kept = { start = 0.0 } }, of = { type = 'cost', name = 'calls', per_call = 1.0, weight = -1.0 } },
  { type = 'staged', by = 'mastery', carry = true, patience = 2, stages = [
    { of = { type = 'tool-success' }, mastered_at = 1.0 },
    { of = { type = 'format' } },
  ] },
]";
    let scorer = scorer(toml);
    let batches: Vec<_> = (0..6).map(|step| with_calls(2 + step % 3)).collect();
    // Through JSON at every step, and not at all.
    let (restored, last) = steps(&scorer, &batches);
    let mut state = RewardState::default();
    for (step, episodes) in batches.iter().enumerate() {
        let scored = scorer.score_batch(episodes, &ScoreContext::at_step(step as u64), &state);
        let straight: Vec<Option<f64>> = scored.episodes.iter().map(|s| s.reward()).collect();
        assert_eq!(straight, restored[step], "step {step}");
        state = scored.state;
    }
    assert_eq!(state, last);
    assert_eq!(state.iter().count(), 4);
}
