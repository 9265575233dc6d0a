//! How three revisions of an answer become one.

use merit_studies::studies::reagent_panel::{Revision, merged};

fn said(of: [(u64, f64); 3]) -> [Option<Revision>; 3] {
    of.map(|(answer, confidence)| Some(Revision { answer, confidence }))
}

#[test]
fn sure_revisers_share_and_others_leave_it_to_the_surest() {
    assert_eq!(merged(said([(1, 0.6), (1, 0.7), (2, 0.99)])), Some(1));
    // The aggressive one is not sure enough: the surest decides.
    assert_eq!(merged(said([(1, 0.6), (1, 0.75), (2, 0.79)])), Some(2));
    // All sure, and nothing shared.
    assert_eq!(merged(said([(1, 0.9), (2, 0.95), (3, 0.85)])), Some(2));
}

#[test]
fn a_revision_that_cannot_be_read_is_no_confidence_of_zero() {
    let [a, _, _] = said([(1, 0.1), (2, 0.9), (3, 0.9)]);
    assert_eq!(merged([a, None, None]), Some(1));
    // A silent 0 would have let the first in the list answer.
    assert_eq!(merged([None, None, None]), None);
}
