//! When the last trajectory ends, with a barrier after every turn and without.

use merit_studies::studies::verl_tool::{Turn, barrier, independent};

const SHORT: Turn = Turn { decode: 1.0, tool: 1.0 };
const LONG: Turn = Turn { decode: 1.0, tool: 9.0 };
const ANSWER: Turn = Turn { decode: 1.0, tool: 0.0 };

#[test]
fn without_a_barrier_only_ones_own_tools_are_waited_for() {
    let two = [vec![LONG, SHORT, ANSWER], vec![SHORT, LONG, ANSWER]];
    assert_eq!(independent(&two, 2), 13.0);
    assert_eq!(barrier(&two, 2), 21.0);
}

#[test]
fn slots_are_shared_first_come_first_served() {
    // One slot: the second waits for the first to be decoded, not for its tool.
    let two = [vec![LONG, ANSWER], vec![SHORT, ANSWER]];
    assert_eq!(independent(&two, 1), 11.0);
}

#[test]
fn with_equal_tools_and_room_for_all_a_barrier_costs_nothing() {
    let same = vec![vec![SHORT, SHORT, ANSWER]; 4];
    assert_eq!(independent(&same, 4), barrier(&same, 4));
}
