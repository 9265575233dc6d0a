//! What the published reward pays for, by hand, and how a leak of the outcome shows.

use merit_core::Seed;
use merit_studies::studies::SalesRlAgent;
use merit_studies::studies::sales_rl_agent::Learner;
use merit_studies::{CellRecord, Desk, Study as _};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

fn study(learner: Learner) -> SalesRlAgent {
    SalesRlAgent { learner, ..Default::default() }
}

/// The prediction, in hundredths, that pays most where three of ten dialogues end in a sale.
fn best(paid: impl Fn(f64, bool) -> f64) -> u32 {
    let pay = |p: u32| 0.3 * paid(f64::from(p) / 100.0, true) + 0.7 * paid(f64::from(p) / 100.0, false);
    (0..=100).max_by(|a, b| pay(*a).total_cmp(&pay(*b))).unwrap()
}

#[test]
fn the_absolute_error_is_no_proper_score() {
    // At the last turn q is the outcome: 1 − |p − y| pays 0.7 − 0.4 p in the mean, most at the median, 0; the fine does not help.
    assert_eq!(best(|p, sold| study(Learner::Absolute).paid(p, sold, 8, 8)), 0);
    // Half way q is 0.75 or 0.25: the median again.
    assert_eq!(best(|p, sold| study(Learner::Absolute).paid(p, sold, 4, 8)), 25);
    assert_eq!(best(|p, sold| study(Learner::Brier).paid(p, sold, 8, 8)), 30);
}

#[test]
fn what_a_turn_pays_by_hand() {
    let paid = |p, sold, turn| study(Learner::Absolute).paid(p, sold, turn, 4);
    // q = 0.5 + 0.5 / 4
    assert!((paid(0.5, true, 1) - 0.875).abs() < 1e-12);
    // The last turn: 1 − 0.8, less 0.5 − 0.2 for the wrong side; the right side pays no fine.
    assert!((paid(0.2, true, 4) - (0.2 - 0.3)).abs() < 1e-12);
    assert!((paid(0.2, false, 4) - 0.8).abs() < 1e-12);
    assert!((paid(0.9, false, 4) - (0.1 - 0.4)).abs() < 1e-12);
    assert!((study(Learner::Brier).paid(0.2, true, 1, 4) - 0.36).abs() < 1e-12);
}

fn cell(study: &SalesRlAgent) -> CellRecord {
    let stop = AtomicBool::new(false);
    let mut desk = Desk::new(BTreeMap::new(), &stop);
    study.run(&Seed::root(101), &mut desk).unwrap();
    desk.finish().unwrap()
}

#[test]
fn the_released_script_shows_the_outcome() {
    let small = SalesRlAgent { dialogues: 600, tests: 300, guided: 5, rate: 0.1, ..study(Learner::Logistic) };
    let found = |leak: bool| {
        let cell = cell(&SalesRlAgent { leak, ..small.clone() });
        ["auroc", "auroc_blanked", "first_turn_above_bayes"].map(|name| cell.measures[name])
    };
    let [leaking, blanked, first] = found(true);
    assert!(leaking > 0.95 && blanked < leaking - 0.1 && first > 0.05, "{leaking} {blanked} {first}");
    let [honest, same, first] = found(false);
    assert!(honest < 0.95 && honest == same && first < 0.05, "{honest} {same} {first}");
}
