//! The T-maze: a reward waits in one of two arms, a cue tells in which, and an agent that has entered an arm stays there.
//!
//! Beside the published four places stands a blank one, which is reached and looks like the cue but tells nothing.

use crate::tabular::Pomdp;

pub const CENTRE: usize = 0;
pub const LEFT: usize = 1;
pub const RIGHT: usize = 2;
pub const CUE: usize = 3;
pub const BLANK: usize = 4;
/// Places; an action goes to the place of its number.
pub const PLACES: usize = 5;

/// Observations: centre, blank, the cue's two signs, then reward and punishment of the left and of the right arm.
pub const OBSERVATIONS: usize = 8;
/// The cue's sign for a reward on the left; the next number is the one for the right.
pub const SIGN: usize = 2;
const OUTCOME: usize = 4;

/// The hidden state: the reward is in the left arm in context 0, in the right arm in context 1.
pub fn state(place: usize, context: usize) -> usize {
    context * PLACES + place
}

/// The place of a state, in either context.
pub fn place(state: usize) -> usize {
    state % PLACES
}

/// The place after going to `to` from `from`.
pub fn go(from: usize, to: usize) -> usize {
    if matches!(from, LEFT | RIGHT) { from } else { to }
}

/// The maze with a cue that is right with chance `reliability`.
pub fn t_maze(reliability: f64) -> Pomdp {
    let cue = |sign: usize, context: usize| if sign == context { reliability } else { 1.0 - reliability };
    let seen = |s: usize, o: usize| {
        let (here, context) = (place(s), s / PLACES);
        match (here, o) {
            (CENTRE, 0) | (BLANK, 1) => 1.0,
            (CUE, SIGN..OUTCOME) => cue(o - SIGN, context),
            (LEFT | RIGHT, OUTCOME..) => f64::from(o == outcome(here, here - LEFT == context)),
            _ => 0.0,
        }
    };
    let to = |action: usize, s: usize| vec![(state(go(place(s), action), s / PLACES), 1.0)];
    let states = 2 * PLACES;
    let mut start = vec![0.0; states];
    (start[state(CENTRE, 0)], start[state(CENTRE, 1)]) = (0.5, 0.5);
    Pomdp {
        likelihood: (0..states).map(|s| (0..OBSERVATIONS).map(|o| seen(s, o)).collect()).collect(),
        moves: (0..PLACES).map(|a| (0..states).map(|s| to(a, s)).collect()).collect(),
        start,
    }
}

fn outcome(arm: usize, rewarded: bool) -> usize {
    OUTCOME + 2 * (arm - LEFT) + usize::from(!rewarded)
}

/// What each observation pays: 1 for a reward, −1 for a punishment, `-waiting` outside the arms.
pub fn payoffs(waiting: f64) -> Vec<f64> {
    let pay = |o: usize| match o {
        0..OUTCOME => -waiting,
        _ if (o - OUTCOME).is_multiple_of(2) => 1.0,
        _ => -1.0,
    };
    (0..OBSERVATIONS).map(pay).collect()
}
