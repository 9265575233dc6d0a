//! The report is one safe, self-contained, repeatable page.

use crate::synthetic::{Play, finished_run, info, play, task};
use merit_core::{
    Action, CallEnd, CallRecord, Episode, EpisodeId, Evidence, Outcome, Reward, Role, ScoredEpisode, Seed,
    Split, ToolCall, Transcript,
};
use merit_measure::{RunSummary, render_report, write_report};
use merit_store::{CreditRow, RunFolder, RunInfo};
use std::path::Path;
use std::sync::Arc;

#[test]
fn the_page_of_a_known_run_is_known() {
    let home = tempfile::tempdir().unwrap();
    let run = finished_run(home.path(), 7);
    let page = render_report(&run).unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/report.html");
    if std::env::var_os("MERIT_UPDATE").is_some() {
        std::fs::write(&golden, &page).unwrap();
    }
    let known = std::fs::read_to_string(&golden).unwrap_or_default();
    let line = page.lines().zip(known.lines()).position(|(a, b)| a != b);
    assert!(
        page == known,
        "the report changed at line {line:?}; look at it and run with MERIT_UPDATE=1 if it is right"
    );
}

#[test]
fn writing_twice_gives_the_same_bytes_also_after_reopening() {
    let home = tempfile::tempdir().unwrap();
    let run = finished_run(home.path(), 3);
    let first = std::fs::read(write_report(&run).unwrap()).unwrap();
    let path = run.path().to_owned();
    drop(run);
    let run = RunFolder::open_read_only(&path).unwrap();
    assert_eq!(first, render_report(&run).unwrap().into_bytes());
    assert_eq!(run.report_path(), path.join("report.html"));
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let home = tempfile::tempdir().unwrap();
    let page = render_report(&finished_run(home.path(), 7)).unwrap();
    for outside in ["http:", "https:", "src=", "<link", "@import", "url(", "<script", "<iframe"] {
        assert!(!page.contains(outside), "the page contains {outside}");
    }
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("name=\"viewport\""));
}

const HOSTILE: &str = "<script>alert(1)</script>\" onmouseover='x' <img/ &lt; \0\u{202e}";

fn hostile(scored: &ScoredEpisode) -> ScoredEpisode {
    let mut episode: Episode = (*scored.episode).clone();
    let mut segments: Vec<_> = episode.transcript.clone().into();
    segments.iter_mut().for_each(|segment| segment.text = HOSTILE.into());
    episode.transcript = Transcript::try_from(segments).unwrap();
    let mut task = (*episode.task).clone();
    task.id = format!("{HOSTILE}{}", task.id);
    episode.task = Arc::new(task);
    let call = ToolCall { tool: HOSTILE.into(), input: HOSTILE.into() };
    let output = format!("{HOSTILE}!");
    for turn in &mut episode.turns {
        turn.action = Action::Malformed { why: HOSTILE.into() };
        turn.calls = vec![CallRecord {
            call: call.clone(),
            end: CallEnd::Ok,
            output: output.clone(),
            seconds: Some(0.0),
        }];
    }
    let mut score = scored.score.clone();
    for term in score.iter_mut().flat_map(|s| &mut s.terms) {
        term.name = HOSTILE.into();
        term.evidence = vec![Evidence::new(HOSTILE, HOSTILE)];
    }
    ScoredEpisode { episode: Arc::new(episode), score }
}

#[test]
fn hostile_text_in_any_place_stays_text() {
    let home = tempfile::tempdir().unwrap();
    let hostile_info =
        RunInfo { recipe: HOSTILE.into(), version: HOSTILE.into(), recipe_hash: HOSTILE.into(), ..info(1) };
    let run = RunFolder::create(&home.path().join("run"), HOSTILE, &hostile_info).unwrap();
    run.record_event(0, HOSTILE, HOSTILE).unwrap();
    let term = format!("term/{HOSTILE}");
    run.record_metrics("train", 1, &[(term.as_str(), 1.0), ("seconds", 1.0)]).unwrap();
    run.record_metrics(format!("eval-after@{HOSTILE}").as_str(), 1, &[("success", 0.5), ("seconds", 1.0)])
        .unwrap();
    let everything: Vec<u32> = (0..1024).collect();
    run.record_vocabulary(everything.iter().map(|t| (merit_core::TokenId(*t), HOSTILE))).unwrap();
    let mut random = Seed::root(1).stream();
    let places = [("train", 0, Play::Right), ("train", 1, Play::Wrong), ("train", 2, Play::Broken)];
    let evals = [("eval-before", 0, Play::Late), ("eval-after", 0, Play::Right)];
    for (phase, member, how) in places.into_iter().chain(evals) {
        let id = EpisodeId { phase: phase.into(), step: 0, group: 0, member, branch: 0 };
        let scored = hostile(&play(id.clone(), &task(Split::HeldOut, 0), how, 0.5, &mut random));
        let advantages = vec![0.5; scored.episode.transcript.len()];
        run.record_episodes(&[scored]).unwrap();
        run.record_credits(&[CreditRow { episode: id, advantages, note: HOSTILE.into() }]).unwrap();
    }
    let page = render_report(&run).unwrap();
    assert!(page.matches("&lt;script&gt;alert(1)").count() > 20, "the text is shown");
    for bad in ["<script", "<img", "\" onmouseover", "'x'", "\0", "\u{202e}"] {
        assert!(!page.contains(bad), "the page contains {bad:?}");
    }
}

#[test]
fn a_run_that_has_only_begun_has_a_page_too() {
    let home = tempfile::tempdir().unwrap();
    let run = RunFolder::create(&home.path().join("run"), "", &info(1)).unwrap();
    let page = render_report(&run).unwrap();
    assert!(page.contains("nothing can be said about what was learned"));
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn unscored_rewards_are_told_and_not_counted() {
    let home = tempfile::tempdir().unwrap();
    let run = RunFolder::create(&home.path().join("run"), "", &info(1)).unwrap();
    let mut random = Seed::root(1).stream();
    for (group, how) in [Play::Right, Play::Wrong, Play::Broken, Play::Right].into_iter().enumerate() {
        let group = group as u32;
        let id = EpisodeId { phase: "eval-after".into(), step: 0, group, member: 0, branch: 0 };
        let mut scored = play(id, &task(Split::HeldOut, group), how, 0.5, &mut random);
        if group == 3 {
            scored.score.as_mut().unwrap().reward = Reward::Unscorable { why: "no answer to compare".into() };
        }
        run.record_episodes(&[scored]).unwrap();
    }
    let summary = RunSummary::read(&run).unwrap();
    let rate = summary.evaluation(merit_core::When::After).unwrap().all;
    assert_eq!((rate.success, rate.count, rate.left_out), (0.5, Some(2), 2));
    // In the order of `Outcome::ALL`.
    assert_eq!(summary.outcomes[&merit_core::Phase::eval(merit_core::When::After)], [1, 1, 0, 1, 0, 1, 0, 0]);
    assert_eq!(Outcome::ALL[3], Outcome::Unscorable);
}

#[test]
fn chips_are_made_of_policy_tokens_only() {
    let home = tempfile::tempdir().unwrap();
    let run = RunFolder::create(&home.path().join("run"), "", &info(1)).unwrap();
    let mut random = Seed::root(1).stream();
    let mut policy_tokens = 0;
    for phase in ["eval-before", "eval-after"] {
        let id = EpisodeId { phase: phase.into(), step: 0, group: 0, member: 0, branch: 0 };
        let scored = play(id, &task(Split::HeldOut, 0), Play::Right, 0.5, &mut random);
        let segments = scored.episode.transcript.segments().iter();
        policy_tokens += segments.filter(|s| s.role == Role::Policy).map(|s| s.tokens.len()).sum::<usize>();
        run.record_episodes(&[scored]).unwrap();
    }
    assert_eq!(render_report(&run).unwrap().matches("log-prob ").count(), policy_tokens);
}
