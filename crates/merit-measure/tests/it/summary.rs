//! A summary says what the record says, and what is absent stays absent.

use crate::synthetic::{finished_run, info};
use merit_core::{Phase, When};
use merit_measure::{MeasureError, RunSummary, compare_runs};
use merit_store::RunFolder;

fn empty_run(home: &std::path::Path, name: &str, seed: u64) -> RunFolder {
    RunFolder::create(&home.join(name), "", &info(seed)).unwrap()
}

#[test]
fn an_empty_run_has_nothing_to_show() {
    let home = tempfile::tempdir().unwrap();
    let summary = RunSummary::read(&empty_run(home.path(), "run", 1)).unwrap();
    assert!(summary.held_out.is_empty() && summary.curve.points.is_empty() && summary.terms.is_empty());
    assert!(summary.change.is_none() && summary.tokens_per_s.is_none() && summary.elapsed_ms.is_none());
}

#[test]
fn metrics_stand_in_where_episodes_are_not_kept() {
    let home = tempfile::tempdir().unwrap();
    let run = empty_run(home.path(), "run", 1);
    run.record_metrics("eval-before", 0, &[("success", 0.8), ("count", 10.0), ("success/2", 1.0)]).unwrap();
    run.record_metrics("train", 1, &[("success", 0.5), ("success_q25", 0.25), ("success_q75", 0.75)])
        .unwrap();
    run.record_metrics(
        "train",
        1,
        &[("outcome/policy-wrong", 3.0), ("term/exact", 0.5), ("kl_reference", f64::NAN)],
    )
    .unwrap();
    let summary = RunSummary::read(&run).unwrap();
    let before = summary.evaluation(When::Before).unwrap();
    // Wilson's interval of 8 in 10, as in `stats`.
    let interval = before.all.interval.unwrap();
    assert!((interval.low - 0.49016).abs() < 1e-4 && (interval.high - 0.94332).abs() < 1e-4);
    assert_eq!((before.by_size[&2].success, before.by_size[&2].interval), (1.0, None));
    assert_eq!(summary.curve.points[0].quartiles, Some((0.25, 0.75)));
    assert_eq!(summary.outcomes[&Phase::train()], [0, 3, 0, 0, 0, 0, 0, 0]);
    assert_eq!(summary.terms[0].means, [(1, 0.5)]);
    assert!(summary.series.iter().all(|series| series.name != "kl_reference"), "NaN is no measurement");
}

#[test]
fn a_finished_run_shows_its_rise_and_its_controls() {
    let home = tempfile::tempdir().unwrap();
    let run = finished_run(home.path(), 7);
    let summary = RunSummary::read(&run).unwrap();
    let success = |when| summary.evaluation(when).unwrap().all.success;
    assert!(success(When::After) > success(When::Before) + 0.3);
    assert_eq!(
        summary.controls().map(|held| held.phase.to_string()).collect::<Vec<_>>(),
        ["eval-after@no-tool"]
    );
    let change = summary.change.unwrap();
    assert_eq!(change.gained + change.lost + change.kept + change.never, 60);
    assert_eq!(change.difference.tasks, 60);
    let from_counts = (change.gained as f64 - change.lost as f64) / 60.0;
    assert!((change.difference.mean - from_counts).abs() < 1e-12);
    assert!(change.difference.interval.low > 0.0);
    assert_eq!(summary.curve.points.len(), 40);
    assert!(summary.curve.points.iter().all(|p| p.quartiles.is_some_and(|(low, high)| low <= high)));
    assert_eq!(
        summary.terms.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(),
        ["exact", "tool-used", "length"]
    );
    assert_eq!(summary.outcomes[&Phase::train()].iter().sum::<u64>(), 40 * 16);
    let sizes: Vec<u32> = summary.evaluation(When::After).unwrap().by_size.keys().copied().collect();
    assert_eq!(sizes, [2, 3, 4]);
    assert_eq!(summary.elapsed_ms, Some(40_500));
}

#[test]
fn seeds_are_compared_one_by_one_with_mean_and_spread() {
    let home = tempfile::tempdir().unwrap();
    let run = |seed: u64, before: f64, after: f64, control: Option<f64>| {
        let run = empty_run(home.path(), &format!("run-{seed}"), seed);
        run.record_metrics("eval-before", 0, &[("success", before)]).unwrap();
        run.record_metrics("eval-after", 9, &[("success", after)]).unwrap();
        if let Some(control) = control {
            run.record_metrics("eval-after@no-tool", 9, &[("success", control)]).unwrap();
        }
        run
    };
    let runs = [run(1, 0.1, 0.8, Some(0.2)), run(2, 0.2, 0.7, None), run(3, 0.3, 0.9, Some(0.4))];
    let comparison = compare_runs(&runs).unwrap();
    // sd of 10, 20, 30 is 10; of 80, 70, 90 is 10; of 70, 50, 60 is 10; of 20, 40 is 14.14
    let text = "seed  before  after  change  no-tool\n\
                1      10.0%  80.0%  +70.0%    20.0%\n\
                2      20.0%  70.0%  +50.0%        –\n\
                3      30.0%  90.0%  +60.0%    40.0%\n\
                mean   20.0%  80.0%  +60.0%    30.0%\n\
                sd     10.0%  10.0%   10.0%    14.1%\n";
    assert_eq!(comparison.text(), text);
    let markdown = comparison.markdown();
    assert!(
        markdown
            .starts_with("| seed | before | after | change | no-tool |\n|---|---:|---:|---:|---:|\n| 1 |"),
        "{markdown}"
    );
    assert!(comparison.same_recipe_hash);
    assert_eq!(comparison.gain().unwrap().count, 3);
}

#[test]
fn runs_of_different_recipes_are_not_averaged() {
    let home = tempfile::tempdir().unwrap();
    let other = merit_store::RunInfo { recipe: "other".into(), ..info(2) };
    let other = RunFolder::create(&home.path().join("other"), "", &other).unwrap();
    let error = compare_runs(&[empty_run(home.path(), "run", 1), other]).unwrap_err();
    assert!(matches!(&error, MeasureError::Mixed { found, .. } if found == "other"), "{error}");
    assert!(matches!(compare_runs(&[]), Err(MeasureError::NoRuns)));
}
