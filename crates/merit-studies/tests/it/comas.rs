//! What CoMAS pays and normalises, by the pitfalls that are known of it.

use merit_core::Seed;
use merit_studies::studies::Comas;
use merit_studies::studies::comas::Paid;
use merit_studies::{CellRecord, Desk, Study as _};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

fn cell(study: &Comas) -> CellRecord {
    let stop = AtomicBool::new(false);
    let mut desk = Desk::new(BTreeMap::new(), &stop);
    study.run(&Seed::root(101), &mut desk).unwrap();
    desk.finish().unwrap()
}

fn small(paid: Paid) -> Comas {
    Comas { paid, lessons: 100, updates: 80, evaluation: 400, ..Default::default() }
}

#[test]
fn an_unreadable_score_that_counts_as_two_teaches_no_form() {
    let [right, copy] =
        [Paid::Interaction, Paid::UnreadableIsTwo].map(|paid| cell(&small(paid)).measures["unreadable"]);
    assert!(right < copy - 0.02, "{right} {copy}");
}

#[test]
fn advantages_are_centred_over_an_agents_roles_together_and_logged_by_role() {
    let found = cell(&Comas { agents: 1, kl: 0.0, updates: 5, ..small(Paid::Interaction) });
    let curve = |role: &str| {
        found.curves[&format!("advantage/{role}")].iter().map(|point| point.value).collect::<Vec<_>>()
    };
    // One agent plays as many turns of every role: the three means sum to 0, and none of them has to be 0.
    for ((solver, critic), scorer) in curve("solver").iter().zip(curve("critic")).zip(curve("scorer")) {
        assert!((solver + critic + scorer).abs() < 1e-9);
        assert!(scorer < 0.0, "a readable score earns 0, less than the mean");
    }
}

#[test]
fn nobody_learns_untrained() {
    let found = cell(&small(Paid::Untrained));
    assert_eq!((found.measures["gain"], found.measures["score_rise"]), (0.0, 0.0));
    assert!(found.costs.is_empty());
}
