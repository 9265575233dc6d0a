use merit_core::Seed;
use merit_studies::conformal::{Answer, Item, Thresholds, quantile};
use merit_studies::scores::auroc;
use merit_studies::selective::{Selective, auarc};

fn item(probs: [f64; 6], truth: usize) -> Item {
    Item { probs, truth }
}

#[test]
fn the_quantile_is_the_rank_that_promises_coverage() {
    // n = 9, error 0.1: ceil(10 * 0.9) = 9, the greatest. Error 0.5: the 5th. Error 0.05: the 10th of 9, so everything.
    let mut scores: Vec<f64> = (1..=9).rev().map(|k| f64::from(k) / 10.0).collect();
    assert_eq!([0.1, 0.5, 0.05].map(|error| quantile(&mut scores, error)), [0.9, 0.5, 1.0]);
}

#[test]
fn sets_by_hand() {
    let item = item([0.5, 0.3, 0.1, 0.05, 0.03, 0.02], 1);
    // 1 − p: 0.5, 0.7, 0.9, …; cumulated: 0.5, 0.8, 0.9, …
    assert_eq!((item.lac_set(0.75), item.lac_set(0.4)), (0b11, 0));
    assert_eq!((item.aps_set(0.85), item.aps_set(0.95)), (0b11, 0b111));
}

#[test]
fn conformal_sets_cover_what_they_promise() {
    // Any score covers; here noise that knows nothing of the truth. 400 splits: the mean within 3 standard errors.
    let mut covered = 0.0;
    for split in 0..400 {
        let mut stream = Seed::root(1).child("split", split).stream();
        let mut draw = || {
            let raw: [f64; 6] = std::array::from_fn(|_| stream.unit());
            let sum: f64 = raw.iter().sum();
            item(raw.map(|p| p / sum), stream.below(6) as usize)
        };
        let mut scores: Vec<f64> = (0..99).map(|_| draw()).map(|item| item.lac_score(item.truth)).collect();
        let q = quantile(&mut scores, 0.1);
        let test: Vec<Item> = (0..100).map(|_| draw()).collect();
        covered += test.iter().filter(|item| item.lac_set(q) >> item.truth & 1 == 1).count() as f64 / 100.0;
    }
    assert!((covered / 400.0 - 0.9).abs() < 0.007, "{}", covered / 400.0);
}

#[test]
fn chances_by_hand_and_at_the_extremes() {
    let rule = Thresholds { predict: 0.1, abstain: 0.9 };
    // m = 0.5: sigmoid(-2) both ways, 0.1192; the rest is a set.
    let [single, set, abstain] = rule.chances(&item([0.5, 0.5, 0.0, 0.0, 0.0, 0.0], 0));
    assert!((single - 0.119_203).abs() < 1e-5 && (abstain - single).abs() < 1e-12);
    assert!((set - 0.761_594).abs() < 1e-5);
    // Where both ends claim more than everything, the set keeps its floor.
    let crossed = Thresholds { predict: 1.0, abstain: 0.0 };
    assert!(crossed.chances(&item([0.5, 0.5, 0.0, 0.0, 0.0, 0.0], 0))[1] < 2e-6);
}

#[test]
fn the_cost_and_the_areas_by_hand() {
    let sure = item([0.8, 0.1, 0.1, 0.0, 0.0, 0.0], 0);
    let torn = item([0.4, 0.35, 0.25, 0.0, 0.0, 0.0], 2);
    let items = [sure, torn, sure, torn];
    let answers = [Answer::Single(0), Answer::Set(0b111), Answer::Single(0), Answer::Abstain];
    let found = Selective::of(&items, &answers, true);
    // All three answers hold; one set of three; a quarter abstains.
    let entropy = -(0.5 * 0.5_f64.ln() + 2.0 * 0.25 * 0.25_f64.ln());
    assert!((found.cost - (0.0 + 0.9 + 0.075 - 0.3 - 0.2 * entropy)).abs() < 1e-12, "{found:?}");
    assert_eq!((found.coverage, found.set_size, found.auarc), (1.0, 3.0, 1.0));
    // Right, wrong, and one abstention that keeps the accuracy of what is answered: (1 + 1/2 + 1/2) / 3.
    assert!((auarc(&[1.0, 0.0], 3) - 2.0 / 3.0).abs() < 1e-12);
    // One right above one wrong, one tied with it: (1 + 1/2) / 2.
    assert!((auroc(&[(0.9, true), (0.5, true), (0.5, false)]) - 0.75).abs() < 1e-12);
}

/// The published area multiplies correctness by confidence for rules without abstention and not for the rule with it.
#[test]
fn the_published_area_treats_the_same_answers_differently() {
    let items = [item([0.8, 0.2, 0.0, 0.0, 0.0, 0.0], 0), item([0.6, 0.4, 0.0, 0.0, 0.0, 0.0], 0)];
    let answers = [Answer::Single(0), Answer::Single(0)];
    let [as_baseline, as_method] = [false, true].map(|abstains| Selective::of(&items, &answers, abstains));
    assert_eq!(as_baseline.auarc, as_method.auarc);
    assert!((as_baseline.auarc_published - 0.75).abs() < 1e-12 && as_method.auarc_published == 1.0);
}

#[test]
fn the_smoke_run_ends_with_numbers() {
    crate::cells::check_smoke("conformal-abstention");
}
