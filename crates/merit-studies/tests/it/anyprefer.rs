//! What Anyprefer's cells must show whatever the numbers are.

use merit_core::{Component as _, Seed};
use merit_studies::studies::Anyprefer;
use merit_studies::studies::anyprefer::Ranking;
use merit_studies::{CellRecord, Desk, Study as _};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

fn cell(judge: Ranking) -> CellRecord {
    let stop = AtomicBool::new(false);
    let mut desk = Desk::new(BTreeMap::new(), &stop);
    let study = Anyprefer { judge, feedback: false, questions: 500, texts: 8000, ..Default::default() };
    study.run(&Seed::root(101), &mut desk).unwrap();
    desk.finish().unwrap()
}

#[test]
fn exact_pairs_are_all_just_and_ones_own_likelihood_lengthens() {
    let exact = cell(Ranking::Exact).measures;
    assert_eq!((exact["pair_accuracy"], exact["noted"]), (1.0, 0.0));
    let own = cell(Ranking::Own).measures;
    assert!(own["length_gain"] > 0.5 && own["gain"] < exact["gain"], "{own:?}");
}

#[test]
fn tool_notes_are_kept_with_the_pairs() {
    assert!(cell(Ranking::Tools).measures["noted"] > 0.3);
    assert_eq!(cell(Ranking::Separate).measures["noted"], 0.0);
}

#[test]
fn feedback_without_a_gate_is_refused() {
    let study = |judge, feedback| Anyprefer { judge, feedback, ..Default::default() };
    for judge in [Ranking::Own, Ranking::Exact] {
        let refused = study(judge, true).check().unwrap_err().to_string();
        assert_eq!(refused, "`feedback` comes from the gate, which only another model's pairs pass");
    }
    assert!(study(Ranking::Separate, true).check().is_ok());
}
