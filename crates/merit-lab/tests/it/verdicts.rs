//! One rule for all verdicts.

use crate::files::FILE;
use merit_lab::{Cell, Cells, Ruling, System, Verdict, judge, judge_again};
use merit_studies::{CellRecord, Point};
use std::collections::BTreeMap;

/// The file with other tests, judged by these values of the two arms.
fn ruled(test: &str, one: &[f64], two: &[f64]) -> Ruling {
    ruled_in(&FILE.replace("within = 0.1", test), one, two)
}

fn ruled_in(file: &str, one: &[f64], two: &[f64]) -> Ruling {
    judge(&System::parse("small.toml", file).unwrap(), &cells(one, two))
}

/// One cell of either arm for each value.
fn cells(one: &[f64], two: &[f64]) -> Cells {
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
    Cells(of("one", one).into_iter().chain(of("two", two)).collect())
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

/// Four updates, of which none was needed, or the first, the second, the last or none brings the curve to one half.
const AT_0: &[f64] = &[0.5, 0.5, 0.5, 0.5, 0.5];
const AT_1: &[f64] = &[0.0, 0.5, 0.5, 0.5, 0.5];
const AT_2: &[f64] = &[0.0, 0.0, 0.5, 0.5, 0.5];
const AT_4: &[f64] = &[0.0, 0.0, 0.0, 0.0, 0.5];
const NEVER: &[f64] = &[0.0, 0.0, 0.0, 0.0, 0.4];

/// Whether half of the updates suffice to reach the level.
fn half_suffices(one: &[&[f64]], two: &[&[f64]]) -> Ruling {
    let measure = "{ reach = \"success\", level = 0.5, axis = \"updates\" }";
    ruled_by_reach(measure, "ratio = { at_most = 0.5 }", one, two)
}

/// So many seeds of these heights.
fn seeds<'a>(groups: &[(usize, &'a [f64])]) -> Vec<&'a [f64]> {
    groups.iter().flat_map(|(count, heights)| std::iter::repeat_n(*heights, *count)).collect()
}

#[test]
fn seeds_without_an_arrival_are_shown_and_decide_nothing_where_others_are_quick() {
    let ruling = half_suffices(&[AT_1, AT_1, NEVER, NEVER, NEVER], &[AT_4; 5]);
    let claim = &ruling.claims[0];
    assert_eq!((ruling.verdict, claim.estimate, claim.interval), (Verdict::Inconclusive, None, None));
    assert!(
        claim.why.starts_with("no number in 3 of 5 seeds") && claim.why.contains("at least 0.57"),
        "{}",
        claim.why
    );
    let shown: Vec<Option<f64>> = claim.seeds.iter().map(|(_, value)| *value).collect();
    assert_eq!(shown, [Some(0.25), Some(0.25), None, None, None], "a seed is shown, never dropped");
    assert!(ruling.wants_more_seeds());
}

#[test]
fn an_arm_that_stood_at_the_level_before_it_learned_counts_as_a_number() {
    let claim = half_suffices(&seeds(&[(1, AT_0), (9, AT_1)]), &[AT_4; 10]).claims.remove(0);
    assert_eq!((claim.verdict, claim.estimate), (Verdict::Holds, Some(0.25)));
    assert_eq!(claim.why, "the median, since 1 of 10 ratios are 0");
    // Three seeds have no interval of order statistics, whatever their ends.
    let few = half_suffices(&[AT_1; 3], &[NEVER; 3]).claims.remove(0);
    assert_eq!((few.interval, few.estimate), (None, None));
}

#[test]
fn what_was_recorded_of_a_seed_is_known_better_than_what_is_left_of_its_curves() {
    let file = FILE.replace("within = 0.1", "difference = { at_least = 0.2 }");
    let system = System::parse("small.toml", &file).unwrap();
    let mut recorded = ruled_in(&file, &[0.5, 0.6, 0.7], &[0.1, 0.2, 0.3]);
    assert_eq!(recorded.verdict, Verdict::Holds);
    for (_, value) in &mut recorded.claims[0].seeds {
        *value = Some(0.1);
    }
    let again = judge_again(&system, &Cells::default(), Some(&recorded));
    assert_eq!(again.verdict, Verdict::Inconclusive, "without cells nothing is known");
    let again = judge_again(&system, &cells(&[0.5, 0.6, 0.7], &[0.1, 0.2, 0.3]), Some(&recorded));
    assert_eq!(again.verdict, Verdict::DoesNotHold);
    assert!((again.claims[0].estimate.unwrap() - 0.1).abs() < 1e-12);
}

#[test]
fn an_arm_that_never_arrives_does_not_hold_where_no_arrival_could_save_it() {
    // 4 updates of 4 in two seeds, more than 4 of 4 in three: 1 at the least in each.
    let late = half_suffices(&[AT_4, AT_4, NEVER, NEVER, NEVER], &[AT_4; 5]);
    assert_eq!((late.verdict, late.claims[0].estimate), (Verdict::DoesNotHold, None));
    assert!(late.claims[0].why.ends_with("at least 1"), "{}", late.claims[0].why);
    let all = half_suffices(&[NEVER; 3], &[AT_4; 3]);
    assert_eq!(all.verdict, Verdict::DoesNotHold);
}

#[test]
fn ten_seeds_bear_one_that_never_arrives() {
    let one = half_suffices(&seeds(&[(9, AT_1), (1, NEVER)]), &[AT_4; 10]);
    // The quick seeds are 0.25. With the last one at its earliest the mean is 0.287; however late it is, the median is 0.25.
    assert_eq!((one.verdict, one.claims[0].estimate), (Verdict::Holds, None));
    assert!(one.claims[0].why.ends_with("between 0.25 and 0.287"), "{}", one.claims[0].why);
    let two = half_suffices(&seeds(&[(8, AT_1), (2, NEVER)]), &[AT_4; 10]);
    assert_eq!(two.verdict, Verdict::Inconclusive);
}

#[test]
fn a_baseline_that_never_arrives_is_later_than_its_budget() {
    // 1 update against more than 4: at most a quarter, wherever the baseline would have arrived.
    let quick = half_suffices(&[AT_1, AT_1, AT_2], &[NEVER; 3]);
    assert_eq!(quick.verdict, Verdict::Inconclusive);
    let quick = half_suffices(&[AT_1; 3], &[NEVER; 3]);
    assert_eq!(quick.verdict, Verdict::Holds);
    assert!(quick.claims[0].why.ends_with("at most 0.25"), "{}", quick.claims[0].why);
    // An arm that comes with its last update may be a little quicker than the baseline or much.
    let last = half_suffices(&[AT_4; 10], &[NEVER; 10]);
    assert_eq!((last.verdict, last.claims[0].estimate), (Verdict::Inconclusive, None));
}

#[test]
fn where_neither_arrives_nothing_is_said_of_which_is_quicker() {
    let neither = half_suffices(&[NEVER; 10], &[NEVER; 10]);
    assert_eq!((neither.verdict, neither.claims[0].estimate), (Verdict::Inconclusive, None));
}

#[test]
fn an_arm_that_never_arrives_meets_a_lower_bound() {
    let measure = "{ reach = \"success\", level = 0.5, axis = \"updates\" }";
    let slower = |one: &[&[f64]]| {
        let two = vec![AT_2; one.len()];
        ruled_by_reach(measure, "ratio = { at_least = 0.9 }", one, &two).verdict
    };
    assert_eq!(slower(&[NEVER; 3]), Verdict::Holds);
    assert_eq!(slower(&seeds(&[(5, NEVER), (2, AT_1)])), Verdict::Inconclusive);
    assert_eq!(slower(&seeds(&[(1, NEVER), (9, AT_1)])), Verdict::DoesNotHold);
}

#[test]
fn an_arm_that_was_there_before_it_learned_is_ahead_of_one_that_learned() {
    const AT_0: &[f64] = &[0.5; 5];
    let ahead = half_suffices(&seeds(&[(2, AT_0), (8, AT_1)]), &[AT_4; 10]);
    assert_eq!((ahead.verdict, ahead.claims[0].estimate), (Verdict::Holds, Some(0.25)));
    let behind = half_suffices(&[AT_1; 10], &seeds(&[(1, AT_0), (9, AT_4)]));
    assert_eq!((behind.verdict, behind.claims[0].estimate), (Verdict::Holds, Some(0.25)));
    assert_eq!(behind.claims[0].seeds[0].1, None);
}

#[test]
fn a_share_of_seeds_counts_those_that_are_sure_and_those_that_are_possible() {
    let measure = "{ reach = \"success\", level = 0.5, axis = \"updates\" }";
    let asked = |one: &[&[f64]], two: &[&[f64]]| {
        let ruling = ruled_by_reach(measure, "ratio = { at_most = 0.5 }\nin_seeds = 0.6", one, two);
        (ruling.verdict, ruling.claims[0].why.clone())
    };
    assert_eq!(asked(&[AT_1, AT_1, NEVER], &[AT_4; 3]), (Verdict::Holds, "2 of 3 seeds".into()));
    assert_eq!(asked(&[AT_1, NEVER, NEVER], &[AT_4; 3]), (Verdict::DoesNotHold, "1 of 3 seeds".into()));
    // Four updates against more than four may be half or not.
    assert_eq!(
        asked(&[AT_1, AT_4, AT_4], &[AT_4, NEVER, NEVER]),
        (Verdict::Inconclusive, "1 to 3 of 3 seeds".into())
    );
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
