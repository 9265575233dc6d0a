//! A judge who knows the labels errs as often as told.

use crate::asking::answer;
use merit_core::Seed;
use merit_judge::{Choice, Judge, Label, OracleJudge, OracleKnobs, Pair, both_orders};

const PAIRS: usize = 1000;

fn pairs() -> Vec<Pair> {
    let one = |n: usize| Pair {
        id: n.to_string(),
        group: n.to_string(),
        a: answer(&format!("right {n}")),
        b: answer(&format!("wrong and longer {n}")),
        label: Label::A,
        annotator: None,
    };
    (0..PAIRS).map(one).collect()
}

/// Shares of pairs that are judged right, wrong, as ties, and that flip with the order.
fn shares(knobs: OracleKnobs) -> [f64; 4] {
    let pairs = pairs();
    let mut judge = OracleJudge::new(knobs, Seed::root(1), &pairs);
    let said = both_orders(&mut judge, &pairs);
    let share = |is: &dyn Fn(&merit_judge::BothOrders) -> bool| {
        said.iter().filter(|both| is(both)).count() as f64 / PAIRS as f64
    };
    let straight =
        |wanted| move |both: &merit_judge::BothOrders| both.straight.verdict.choice() == Some(wanted);
    [
        share(&straight(Choice::First)),
        share(&straight(Choice::Second)),
        share(&straight(Choice::Tie)),
        share(&|both| both.flipped() == Some(true)),
    ]
}

fn check(knobs: OracleKnobs, want: [f64; 4]) {
    let got = shares(knobs);
    // Three standard errors of a share of 1000.
    assert!(
        got.iter().zip(want).all(|(got, want)| (got - want).abs() < 0.05),
        "{knobs:?}: {got:?}, not {want:?}"
    );
}

#[test]
fn each_knob_errs_as_often_as_it_says() {
    let exact = OracleKnobs::default();
    assert_eq!(shares(exact), [1.0, 0.0, 0.0, 0.0]);
    check(OracleKnobs { wrong: 0.2, ..exact }, [0.8, 0.2, 0.0, 0.0]);
    check(OracleKnobs { false_positive: 0.3, ..exact }, [0.7, 0.0, 0.3, 0.0]);
    // Both at once turn the choice round.
    check(OracleKnobs { false_positive: 0.5, false_negative: 0.5, ..exact }, [0.25, 0.25, 0.5, 0.0]);
    check(OracleKnobs { length: 0.4, ..exact }, [0.6, 0.4, 0.0, 0.0]);
    // The right one stands first: the bias helps it, and shows when the order is turned.
    check(OracleKnobs { position: 0.3, ..exact }, [1.0, 0.0, 0.0, 0.3]);
}

#[test]
fn silence_is_no_verdict_and_noise_stays_within_the_scale() {
    let pairs = pairs();
    let knobs = OracleKnobs { refuses: 0.2, unreadable: 0.5, noise: 0.5, ..OracleKnobs::default() };
    let episodes: Vec<_> = pairs.iter().map(|pair| pair.a.clone()).collect();
    let said = OracleJudge::new(knobs, Seed::root(2), &pairs).score(&episodes);
    let count = |word: &str| said.iter().filter(|answer| answer.verdict.word() == word).count();
    assert!((150..250).contains(&count("refused")) && (350..450).contains(&count("unreadable")));
    assert!(
        said.iter().filter_map(|answer| answer.verdict.value()).all(|value| (0.0..=1.0).contains(&value))
    );
    assert_eq!(count("score"), PAIRS - count("refused") - count("unreadable"));
    assert!(OracleKnobs { wrong: 1.5, ..OracleKnobs::default() }.check().is_err());
    let stranger = OracleJudge::new(knobs, Seed::root(3), &[]).score(&[answer("unknown")]);
    assert_ne!(stranger[0].verdict.word(), "score");
}
