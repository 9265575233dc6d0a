//! One rule for all verdicts.

use crate::files::FILE;
use merit_lab::{Cell, Cells, Ruling, System, Verdict, judge};
use merit_studies::{CellRecord, Point};
use std::collections::BTreeMap;

/// The file with other tests, judged by these values of the two arms.
fn ruled(test: &str, one: &[f64], two: &[f64]) -> Ruling {
    ruled_in(&FILE.replace("within = 0.1", test), one, two)
}

fn ruled_in(file: &str, one: &[f64], two: &[f64]) -> Ruling {
    let cell = |arm: &str, seed: usize, value: f64| Cell {
        part: "main".into(),
        arm: arm.into(),
        seed: seed as u64 + 1,
        seconds: 0.0,
        record: Some(CellRecord {
            costs: BTreeMap::from([("steps".into(), 100.0 * value)]),
            measures: BTreeMap::from([("success".into(), value), ("halved".into(), value / 2.0)]),
            ..CellRecord::default()
        }),
        broken: None,
        lost: false,
    };
    let of = |arm: &'static str, values: &[f64]| {
        values.iter().enumerate().map(|(seed, value)| cell(arm, seed, *value)).collect::<Vec<_>>()
    };
    let cells = Cells(of("one", one).into_iter().chain(of("two", two)).collect());
    judge(&System::parse("small.toml", file).unwrap(), &cells)
}

#[test]
fn a_difference_holds_when_it_meets_its_margin_and_excludes_nothing_happened() {
    let two = [0.1, 0.2, 0.3];
    let by = |amounts: [f64; 3]| {
        ruled("difference = { at_least = 0.2 }", &[0, 1, 2].map(|n| two[n] + amounts[n]), &two).verdict
    };
    assert_eq!(by([0.30, 0.31, 0.29]), Verdict::Holds);
    // The estimate meets the margin, but chance alone could do it.
    assert_eq!(by([0.9, 0.0, 0.0]), Verdict::Inconclusive);
    // Something happened, and it is less than what was claimed.
    assert_eq!(by([0.10, 0.11, 0.09]), Verdict::DoesNotHold);
    assert_eq!(by([-0.30, -0.31, -0.29]), Verdict::DoesNotHold);
}

#[test]
fn no_worse_than_needs_the_whole_interval() {
    let by =
        |amounts: [f64; 3]| ruled("difference = { at_least = -0.05 }", &amounts, &[0.0, 0.0, 0.0]).verdict;
    assert_eq!(by([0.0, 0.001, -0.001]), Verdict::Holds);
    assert_eq!(by([0.1, -0.1, 0.02]), Verdict::Inconclusive);
    assert_eq!(by([-0.2, -0.21, -0.19]), Verdict::DoesNotHold);
}

#[test]
fn ratios_are_geometric() {
    let ruling = ruled("ratio = { at_most = 0.5 }", &[1.0, 1.0, 1.05], &[4.0, 4.0, 4.0]);
    assert_eq!(ruling.verdict, Verdict::Holds);
    let found = ruling.claims[0].estimate.unwrap();
    assert!((found - (0.25_f64 * 0.25 * 0.2625).cbrt()).abs() < 1e-12, "{found}");
    assert_eq!(
        ruled("ratio = { at_most = 0.5 }", &[3.0, 3.0, 3.1], &[4.0, 4.0, 4.0]).verdict,
        Verdict::DoesNotHold
    );
    let nothing = ruled("ratio = { at_most = 0.5 }", &[0.0, 1.0, 1.0], &[4.0, 4.0, 4.0]);
    assert!(nothing.claims[0].why.contains("says nothing"), "{nothing:?}");
}

/// Two arms whose curve is at these heights, one update apart, at three seeds.
fn ruled_by_curves(one: &[f64], two: &[f64]) -> Ruling {
    let measure = "{ reach = \"success\", share = 1.0, of = \"two\", axis = \"updates\" }";
    ruled_by_reach(measure, "ratio = { at_most = 0.85 }", &[one; 3], &[two; 3])
}

/// The same by any measure and test, with the heights of each seed.
fn ruled_by_reach(measure: &str, test: &str, one: &[&[f64]], two: &[&[f64]]) -> Ruling {
    let file =
        FILE.replace("within = 0.1", test).replace("measure = \"success\"", &format!("measure = {measure}"));
    let point = |(at, value): (usize, &f64)| Point {
        costs: BTreeMap::from([("updates".into(), at as f64)]),
        value: *value,
    };
    let cell = |arm: &str, seed: usize, heights: &[f64]| Cell {
        part: "main".into(),
        arm: arm.into(),
        seed: seed as u64 + 1,
        seconds: 0.0,
        record: Some(CellRecord {
            costs: BTreeMap::from([("steps".into(), 100.0), ("updates".into(), heights.len() as f64 - 1.0)]),
            curves: BTreeMap::from([("success".into(), heights.iter().enumerate().map(point).collect())]),
            ..CellRecord::default()
        }),
        broken: None,
        lost: false,
    };
    let of = |arm: &str, seeds: &[&[f64]]| {
        seeds.iter().enumerate().map(|(seed, heights)| cell(arm, seed, heights)).collect::<Vec<_>>()
    };
    let cells = Cells([of("one", one), of("two", two)].concat());
    judge(&System::parse("small.toml", &file).unwrap(), &cells)
}

/// Four updates, of which the first, the second, the last or none brings the curve to one half.
const AT_1: &[f64] = &[0.0, 0.5, 0.5, 0.5, 0.5];
const AT_2: &[f64] = &[0.0, 0.0, 0.5, 0.5, 0.5];
const AT_4: &[f64] = &[0.0, 0.0, 0.0, 0.0, 0.5];
const NEVER: &[f64] = &[0.0, 0.0, 0.0, 0.0, 0.4];

/// Whether half of the updates suffice to reach the level.
fn half_suffices(one: &[&[f64]], two: &[&[f64]]) -> Ruling {
    let measure = "{ reach = \"success\", level = 0.5, axis = \"updates\" }";
    ruled_by_reach(measure, "ratio = { at_most = 0.5 }", one, two)
}

#[test]
fn an_arm_that_never_arrives_in_most_seeds_does_not_hold() {
    let ruling = half_suffices(&[AT_1, AT_1, NEVER, NEVER, NEVER], &[AT_4; 5]);
    assert_eq!(ruling.verdict, Verdict::DoesNotHold);
    let claim = &ruling.claims[0];
    assert_eq!(
        (claim.estimate, claim.interval, claim.why.as_str()),
        (None, None, "never arrived in 3 of 5 seeds")
    );
    let shown: Vec<Option<f64>> = claim.seeds.iter().map(|(_, value)| *value).collect();
    assert_eq!(shown, [Some(0.25), Some(0.25), None, None, None], "a seed is shown, never dropped");
}

#[test]
fn where_one_seed_never_arrives_the_seeds_that_miss_are_counted() {
    // 2 of 4 updates meet the half, 4 of 4 do not: one seed of five meets it, three are late, one never comes.
    let late = half_suffices(&[AT_2, AT_4, AT_4, AT_4, NEVER], &[AT_4; 5]);
    assert_eq!(
        (late.verdict, late.claims[0].why.as_str()),
        (Verdict::DoesNotHold, "never arrived in 1 of 5 seeds")
    );
    // Four quick seeds of five are no interval either: it never holds.
    let quick = half_suffices(&[AT_1, AT_1, AT_1, AT_1, NEVER], &[AT_4; 5]);
    assert_eq!((quick.verdict, quick.claims[0].interval), (Verdict::Inconclusive, None));
    assert!(quick.wants_more_seeds());
}

#[test]
fn as_many_seeds_that_meet_as_miss_decide_nothing() {
    let tie = half_suffices(&[AT_1, AT_1, NEVER, NEVER], &[AT_4; 4]);
    assert_eq!(
        (tie.verdict, tie.claims[0].why.as_str()),
        (Verdict::Inconclusive, "never arrived in 2 of 4 seeds")
    );
}

#[test]
fn a_baseline_that_never_arrives_counts_as_having_needed_its_whole_budget() {
    // 1, 1 and 2 updates of 4, which are 0.25, 0.25 and 0.5 times the budget.
    let ruling = half_suffices(&[AT_1, AT_1, AT_2], &[NEVER; 3]);
    let found = ruling.claims[0].estimate.unwrap();
    assert!((found - (0.25_f64 * 0.25 * 0.5).cbrt()).abs() < 1e-12, "{found}");
    assert!(ruling.claims[0].interval.is_some() && ruling.claims[0].why.is_empty(), "{ruling:?}");
    // That favours the baseline: an arm that comes with its last update is no quicker than one that never comes.
    let last = half_suffices(&[AT_4; 3], &[NEVER; 3]);
    assert_eq!((last.verdict, last.claims[0].estimate), (Verdict::DoesNotHold, Some(1.0)));
}

#[test]
fn where_neither_arrives_the_seed_counts_as_a_miss() {
    let neither = half_suffices(&[NEVER; 3], &[NEVER; 3]);
    assert_eq!(
        (neither.verdict, neither.claims[0].why.as_str()),
        (Verdict::DoesNotHold, "never arrived in 3 of 3 seeds")
    );
    assert_eq!(neither.claims[0].estimate, None, "nothing is said about which is quicker");
}

#[test]
fn an_arm_that_never_arrives_meets_a_lower_bound() {
    let measure = "{ reach = \"success\", level = 0.5, axis = \"updates\" }";
    let slower =
        |one: &[&[f64]]| ruled_by_reach(measure, "ratio = { at_least = 0.9 }", one, &[AT_2; 3]).verdict;
    assert_eq!(slower(&[NEVER, NEVER, AT_1]), Verdict::Inconclusive);
    assert_eq!(slower(&[NEVER, AT_1, AT_1]), Verdict::DoesNotHold);
}

#[test]
fn a_premise_whose_arm_never_arrives_fails() {
    let premise = "\n[[premises]]\nsays = \"it comes\"\nmeasure = { reach = \"success\", level = 0.5, axis = \"updates\" }\narm = \"two\"\nvalue = { at_most = 4.0 }\n";
    let measure = "{ reach = \"success\", level = 0.5, axis = \"updates\" }";
    let test = format!("ratio = {{ at_most = 0.5 }}\n{premise}");
    let ruling = ruled_by_reach(measure, &test, &[AT_1; 3], &[AT_4, AT_4, NEVER]);
    assert_eq!((ruling.verdict, ruling.why.as_str()), (Verdict::Inconclusive, "a premise fails: it comes"));
}

#[test]
fn a_level_that_both_begin_at_makes_neither_quicker() {
    // The second arm ends below its start: where it ends was reached before anybody learned.
    let ruling = ruled_by_curves(&[0.5, 0.4, 0.3], &[0.5, 0.45, 0.4]);
    assert_eq!(ruling.claims[0].estimate, Some(1.0), "{ruling:?}");
    assert_eq!(ruling.verdict, Verdict::DoesNotHold);
    let quicker = ruled_by_curves(&[0.1, 0.6, 0.7], &[0.1, 0.3, 0.6]);
    assert_eq!((quicker.verdict, quicker.claims[0].estimate), (Verdict::Holds, Some(0.5)), "{quicker:?}");
}

#[test]
fn half_as_often_is_judged_also_where_it_never_happens() {
    let test = "times = 0.5\ndifference = { at_most = 0.0 }";
    let never = ruled(test, &[0.0, 0.01, 0.0], &[0.4, 0.5, 0.45]);
    assert_eq!((never.verdict, never.claims[0].comparison.as_str()), (Verdict::Holds, "one − 0.5 × two ≤ 0"));
    // 0 − 0.5 × 0.4, 0.01 − 0.5 × 0.5 and 0 − 0.5 × 0.45.
    assert!((never.claims[0].estimate.unwrap() - (-0.2 - 0.24 - 0.225) / 3.0).abs() < 1e-12);
    assert_eq!(ruled(test, &[0.4, 0.41, 0.39], &[0.5, 0.5, 0.5]).verdict, Verdict::DoesNotHold);
}

#[test]
fn an_arm_is_compared_with_another_measure_of_itself() {
    let test = "against_measure = \"halved\"\nratio = { at_least = 1.5 }";
    let file = FILE.replace("against = \"two\"\nwithin = 0.1", &format!("against = \"one\"\n{test}"));
    let ruling = ruled_in(&file, &[0.4, 0.6, 0.8], &[0.4, 0.6, 0.8]);
    // 0.4 over 0.2, 0.6 over 0.3, 0.8 over 0.4.
    assert_eq!((ruling.verdict, ruling.claims[0].estimate.map(f64::round)), (Verdict::Holds, Some(2.0)));
    assert_eq!(ruling.claims[0].comparison, "one ÷ one (halved) ≥ 1.5");
}

#[test]
fn alike_means_the_whole_interval_is_within() {
    assert_eq!(ruled("within = 0.1", &[0.5, 0.51, 0.49], &[0.5, 0.5, 0.5]).verdict, Verdict::Holds);
    assert_eq!(ruled("within = 0.1", &[0.9, 0.91, 0.89], &[0.5, 0.5, 0.5]).verdict, Verdict::DoesNotHold);
    assert_eq!(ruled("within = 0.1", &[0.5, 0.7, 0.3], &[0.5, 0.5, 0.5]).verdict, Verdict::Inconclusive);
}

#[test]
fn a_share_of_seeds_counts_each_for_itself() {
    let test = "difference = { at_least = 0.1 }\nin_seeds = 0.6";
    assert_eq!(ruled(test, &[0.2, 0.2, 0.0], &[0.0; 3]).verdict, Verdict::Holds);
    assert_eq!(ruled(test, &[0.2, 0.0, 0.0], &[0.0; 3]).verdict, Verdict::DoesNotHold);
}

#[test]
fn a_premise_that_fails_makes_everything_inconclusive() {
    let premise = "\n[[premises]]\nsays = \"there is room\"\nmeasure = \"success\"\narm = \"two\"\nvalue = { at_most = 0.4 }\n";
    let file = format!("{FILE}{premise}");
    let ruling = ruled_in(&file, &[0.5, 0.51, 0.49], &[0.5, 0.5, 0.5]);
    assert_eq!(ruling.verdict, Verdict::Inconclusive);
    assert!(ruling.why.contains("there is room") && !ruling.wants_more_seeds(), "{ruling:?}");
}

#[test]
fn budgets_that_must_be_equal_and_are_not_decide_nothing() {
    let file = FILE.replace("[[claims]]", "[budget]\nsteps = 100\n\n[[claims]]");
    let ruling = ruled_in(&file, &[0.55, 0.56, 0.54], &[0.5, 0.5, 0.5]);
    assert!(ruling.why.contains("budgets differ by more than 2 % on `steps`"), "{ruling:?}");
    let exempt = file.replace("about = \"the same\"", "about = \"the same\"\nequal = false");
    assert_eq!(ruled_in(&exempt, &[0.5, 0.5, 0.5], &[0.45, 0.46, 0.44]).why, "");
}
