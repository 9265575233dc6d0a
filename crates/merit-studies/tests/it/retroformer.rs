//! What Retroformer's cells spend, and that only failures are reflected on.

use merit_core::Seed;
use merit_studies::studies::Retroformer;
use merit_studies::studies::retroformer::Writer;
use merit_studies::{CellRecord, Desk, Study as _};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

fn cell(study: &Retroformer, samples: f64) -> CellRecord {
    let stop = AtomicBool::new(false);
    let mut desk = Desk::new(BTreeMap::from([("samples".to_owned(), samples)]), &stop);
    study.run(&Seed::root(101), &mut desk).unwrap();
    desk.finish().unwrap()
}

fn small(writer: Writer) -> Retroformer {
    Retroformer { writer, batch: 8, evaluation: 50, ..Default::default() }
}

#[test]
fn nobody_is_paid_for_a_solved_task_and_an_empty_hint_costs_a_trial() {
    let [plain, empty] =
        [Writer::Delta, Writer::DeltaLessEmpty].map(|writer| cell(&small(writer), 400.0).costs);
    assert_eq!((plain["samples"], empty["samples"]), (400.0, 400.0));
    // Every reflection is followed by one trial, and every task begins with one; solved tasks end without a sample.
    assert!(plain["actor_trials"] > plain["samples"]);
    assert!(empty["actor_trials"] > plain["actor_trials"] + 200.0, "{empty:?} {plain:?}");
}

#[test]
fn who_does_not_learn_spends_nothing_and_a_shuffled_reader_must_read() {
    assert!(cell(&small(Writer::Frozen), 400.0).costs.is_empty());
    use merit_core::Component as _;
    let refused = Retroformer { shuffled: true, ..small(Writer::Random) }.check().unwrap_err().to_string();
    assert_eq!(refused, "`shuffled` means something only for a writer that reads trials");
    assert!(Retroformer { shuffled: true, ..small(Writer::Delta) }.check().is_ok());
}
