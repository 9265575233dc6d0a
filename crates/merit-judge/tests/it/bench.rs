//! The judge bench: rows side by side, parts by kind, and judges against each other on the same pairs.

use crate::judging::{First, Moody, pairs};
use merit_judge::{Bench, Kinds, read_pairs};

#[test]
fn judges_are_compared_on_the_pairs_that_both_gave_a_verdict_on() {
    let pairs = pairs(15);
    let mut bench = Bench::of(&pairs, Kinds::default());
    bench.enter("moody", &mut Moody(0), false, 1);
    let tested = bench.enter("first", &mut First, true, 2);
    assert_eq!((bench.rows[0].accuracy, bench.rows[1].accuracy), (Some(8.0 / 12.0), Some(0.5)));
    assert_eq!((bench.rows[1].position_bias, bench.rows[1].drift), (Some(0.5), Some(0.0)));
    assert_eq!(tested.judge.accuracy, bench.rows[1].accuracy);
    assert_eq!(bench.rows[0].unsaid["failed"], 6);
    // Length alone is right about everything here, and is a row like the others.
    let leaks = bench.leaks();
    assert_eq!((leaks[0].name.as_str(), leaks[0].accuracy), ("length only", Some(1.0)));
    assert!(bench.rows[0].refused.as_ref().unwrap().contains("`length only`"));
    // Three pairs failed. Of the other twelve one is right about eight and the other half right about all: (8 − 6) / 12.
    let versus = bench.versus();
    assert_eq!((versus[0].one.as_str(), versus[0].other.as_str(), versus[0].groups), ("moody", "first", 12));
    assert!((versus[0].difference - 2.0 / 12.0).abs() < 1e-12);
    assert!(versus[0].interval.low < versus[0].difference && versus[0].difference < versus[0].interval.high);
    // Then each against the best that knows nothing of quality: four of twelve less, and half of fifteen.
    assert_eq!((versus[1].other.as_str(), versus[2].other.as_str()), ("length only", "length only"));
    assert!((versus[1].difference + 4.0 / 12.0).abs() < 1e-12 && versus[2].difference == -0.5);
    assert_eq!(versus.len(), 3);
}

#[test]
fn the_area_under_the_curve_and_parts_by_kind_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pairs.jsonl");
    let lines = [("aaaa", "a", "a", "x"), ("aa", "aaa", "b", "y"), ("aa", "aaaaa", "a", "y")];
    let line = |(at, (a, b, label, kind)): (usize, (&str, &str, &str, &str))| {
        format!(
            "{{\"prompt\": \"p{at}\", \"a\": \"{a}\", \"b\": \"{b}\", \"label\": \"{label}\", \"payload\": {{\"kind\": \"{kind}\"}}}}\n"
        )
    };
    std::fs::write(&file, lines.into_iter().enumerate().map(line).collect::<String>()).unwrap();
    let pairs = read_pairs(&file).unwrap();
    let mut bench = Bench::of(&pairs, Kinds::of(&pairs, "/kind").unwrap());
    // By length, from the first question on; six questions, of which the third is refused and the fifth fails.
    bench.enter("length", &mut Moody(100), true, 1);
    let row = &bench.rows[0];
    // Better ones have 4, 3 and 2 letters, worse ones 1, 2 and 5. 4 and 3 win twice each, 2 wins once and ties once: 5.5 of 9.
    assert_eq!(row.auc, Some(5.5 / 9.0));
    assert!(bench.leaks().iter().all(|leak| leak.kinds.keys().eq(["x", "y"])));
    assert!(row.refused.as_ref().unwrap().contains("at least 10 are needed"));
    let why = Kinds::of(&pairs, "/colour").unwrap_err();
    assert!(why.contains("no pair has `/colour`"), "{why}");
}
