//! What is recorded comes back exactly, once, and in order.

use crate::episodes::{any_scored, batch, new_run, plain};
use merit_core::{Cost, Episode, Outcome, Reward, TokenId};
use merit_store::{CreditRow, EpisodeFilter, RunFolder, StoreError};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_episode_with_score_and_credit_loads_back_exactly(
        scored in any_scored(),
        advantages in proptest::option::of(proptest::collection::vec(-1e30_f32..1e30, 0..30)),
    ) {
        let home = tempfile::tempdir().unwrap();
        let run = new_run(home.path());
        let id = scored.episode.id.clone();
        let credit = advantages.map(|advantages| CreditRow { episode: id.clone(), advantages, note: "n".into() });
        run.record_episodes(std::slice::from_ref(&scored)).unwrap();
        run.record_credits(credit.as_slice()).unwrap();
        drop(run);

        let run = RunFolder::open_read_only(&home.path().join("run")).unwrap();
        let loaded = run.episode(&id).unwrap().unwrap();
        prop_assert_eq!(&*loaded.scored.episode, &*scored.episode);
        prop_assert_eq!(loaded.scored.episode.content_hash(), scored.episode.content_hash());
        prop_assert_eq!(&loaded.scored.score, &scored.score);
        prop_assert_eq!(&loaded.credit, &credit);
        let head = &run.episode_rows(&EpisodeFilter::default()).unwrap()[0];
        prop_assert_eq!(head.outcome, scored.outcome());
        prop_assert_eq!(head.reward, scored.reward());
        let terms = run.term_rows(&EpisodeFilter::default()).unwrap();
        let want = scored.score.iter().flat_map(|s| &s.terms).map(|t| (t.name.clone(), t.outcome.value()));
        prop_assert_eq!(terms.into_iter().map(|t| (t.term, t.value)).collect::<Vec<_>>(), want.collect::<Vec<_>>());
    }
}

fn changed(scored: &merit_core::ScoredEpisode, change: impl Fn(&mut Episode)) -> merit_core::ScoredEpisode {
    let mut episode = (*scored.episode).clone();
    change(&mut episode);
    merit_core::ScoredEpisode { episode: Arc::new(episode), score: scored.score.clone() }
}

#[test]
fn an_episode_recorded_twice_is_there_once_and_wall_time_does_not_matter() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    let first = plain("train", 1, 0, 0, 10);
    run.record_episodes(std::slice::from_ref(&first)).unwrap();
    run.record_episodes(&[changed(&first, |e| e.cost.tool_seconds = 9.0)]).unwrap();
    let rows = run.episode_rows(&EpisodeFilter::default()).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].outcome, Outcome::Solved);
    assert_eq!(run.costs().unwrap()[&merit_core::Phase::train()].tool_seconds, 0.0);
}

#[test]
fn an_episode_that_comes_out_differently_is_divergence_and_nothing_of_its_batch_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    let first = plain("train", 1, 0, 0, 10);
    run.record_episodes(std::slice::from_ref(&first)).unwrap();
    let other = changed(&first, |e| e.bootstrap = Some(0.5));
    let error = run.record_episodes(&[plain("train", 1, 0, 1, 10), other.clone()]).unwrap_err();
    let StoreError::Diverged { what, episode, recorded, now } = &error else { panic!("{error}") };
    assert_eq!((*what, episode.as_str()), ("episode", "train/1/0/0"));
    assert_eq!((recorded, now), (&first.episode.content_hash(), &other.episode.content_hash()));
    assert_eq!(run.episode_rows(&EpisodeFilter::default()).unwrap().len(), 1);
}

#[test]
fn credit_needs_its_episode_and_may_not_change() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    let scored = plain("train", 1, 0, 0, 3);
    let id = scored.episode.id.clone();
    let credit = |last| CreditRow {
        episode: id.clone(),
        advantages: vec![0.0, 0.0, 1.0, 1.0, last],
        note: String::new(),
    };
    let early = run.record_credits(&[credit(1.0)]).unwrap_err();
    assert!(matches!(early, StoreError::UnknownEpisode { .. }), "{early}");
    run.record_episodes(&[scored]).unwrap();
    run.record_credits(&[credit(1.0)]).unwrap();
    run.record_credits(&[credit(1.0)]).unwrap();
    let error = run.record_credits(&[credit(2.0)]).unwrap_err();
    assert!(matches!(error, StoreError::Diverged { what: "credit", .. }), "{error}");
}

#[test]
fn a_number_that_json_cannot_hold_is_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    let mut scored = plain("train", 1, 0, 0, 3);
    scored.score.as_mut().unwrap().reward = Reward::Value { value: f64::NAN };
    let error = run.record_episodes(&[scored]).unwrap_err().to_string();
    assert!(error.starts_with("the reward of episode train/1/0/0 is not a finite number"), "{error}");
}

#[test]
fn metrics_marks_events_and_costs_come_back() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    run.record_metrics("train", 2, &[("success", 0.5), ("kl", f64::NAN)]).unwrap();
    run.record_metrics("train", 1, &[(String::from("success"), 0.1)]).unwrap();
    run.record_metrics("train", 2, &[("success", 0.75)]).unwrap();
    assert_eq!(run.metric("train", "success").unwrap(), [(1, 0.1), (2, 0.75)]);
    assert!(run.metric("train", "kl").unwrap()[0].1.is_nan());

    run.set_mark("next", &(3_u64, "step".to_owned())).unwrap();
    assert_eq!(run.mark::<(u64, String)>("next").unwrap(), Some((3, "step".into())));
    assert_eq!(run.mark::<u64>("nothing").unwrap(), None);

    run.record_event(5, "started", "first").unwrap();
    run.record_event(4, "resumed", "second").unwrap();
    let kinds: Vec<String> = run.events().unwrap().into_iter().map(|e| e.kind).collect();
    assert_eq!(kinds, ["started", "resumed"]);

    run.record_episodes(&batch(1, 2, 10)).unwrap();
    let beside = Cost { judge_calls: 3, ..Cost::default() };
    run.record_cost("train", 1, &beside).unwrap();
    run.record_cost("train", 1, &beside).unwrap();
    let cost = run.costs().unwrap()[&merit_core::Phase::train()];
    assert_eq!((cost.policy_tokens, cost.judge_calls), (160, 3));

    run.record_vocabulary([(TokenId(3), "a"), (TokenId(4), "\n")]).unwrap();
    assert_eq!(run.vocabulary().unwrap()[&TokenId(4)], "\n");
}

#[test]
fn filters_narrow_by_phase_step_group_and_task() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    run.record_episodes(&batch(1, 2, 4)).unwrap();
    run.record_episodes(&batch(2, 2, 4)).unwrap();
    run.record_episodes(&[plain("eval-after", 0, 0, 0, 4)]).unwrap();
    let count = |filter: &EpisodeFilter| run.episode_rows(filter).unwrap().len();
    assert_eq!(count(&EpisodeFilter::default()), 33);
    assert_eq!(count(&EpisodeFilter::phase("train")), 32);
    assert_eq!(count(&EpisodeFilter::step("train", 2)), 16);
    assert_eq!(count(&EpisodeFilter::group("train", 2, 1)), 8);
    let task = EpisodeFilter { task_id: Some("ledger/train/00000".into()), ..EpisodeFilter::default() };
    assert_eq!(count(&task), 17);
    let phases: Vec<String> = run.phases().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(phases, ["eval-after", "train"]);
}

/// Commits in SQLite's write-ahead log: after a header of 32 bytes come frames of 24 bytes and a page, and the second number
/// of a frame is the size of the database after a commit, or zero.
fn commits(home: &Path) -> usize {
    let log = std::fs::read(home.join("run/merit.db-wal")).unwrap();
    let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let frame = 24 + number(8) as usize;
    (32..log.len()).step_by(frame).filter(|&at| at + frame <= log.len() && number(at + 4) > 0).count()
}

/// A transaction for each episode would take seconds instead of milliseconds.
#[test]
fn a_step_of_256_episodes_is_one_transaction() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    let before = commits(home.path());
    run.record_episodes(&batch(0, 32, 150)).unwrap();
    assert_eq!(commits(home.path()), before + 1);
}
