//! A 7 × 7 grid cut by a wall with a door that a switch opens; the goal lies behind it. Heuristic rewards that help, say nothing,
//! or lure into a dead end.

use crate::tabular::Mdp;
use std::collections::VecDeque;

const SIDE: usize = 7;
const CELLS: usize = SIDE * SIDE;
/// The wall's column and the door's row.
const WALL: usize = 4;
const DOOR: usize = 0;
/// The switch is far from the door and from the goal.
const SWITCH: usize = 6 * SIDE;
const GOAL: usize = 3 * SIDE + 6;
/// Episodes start here, in the middle of the left side.
pub const START: usize = 3 * SIDE + 1;
/// The end; states below are cells, first with the door shut, then open.
pub const END: usize = 2 * CELLS;
pub const ACTIONS: usize = 4;
/// Size of a heuristic reward for one good step.
const STEP: f64 = 0.1;

/// The grid; arriving at the goal pays 1 and ends the episode.
pub fn door_grid(gamma: f64) -> (Mdp, Vec<f64>) {
    let to = |s: usize, a: usize| {
        if s == END {
            return END;
        }
        let (cell, open) = (s % CELLS, s / CELLS == 1);
        let (row, col) = (cell / SIDE, cell % SIDE);
        let (row, col) = match a {
            0 => (row.saturating_sub(1), col),
            1 => ((row + 1).min(SIDE - 1), col),
            2 => (row, col.saturating_sub(1)),
            _ => (row, (col + 1).min(SIDE - 1)),
        };
        let next = row * SIDE + col;
        let next = if col == WALL && !(open && row == DOOR) { cell } else { next };
        match next {
            GOAL => END,
            SWITCH => CELLS + next,
            _ => s - cell + next,
        }
    };
    let mut mdp = Mdp::sure(END + 1, ACTIONS, gamma, to);
    mdp.terminal[END] = true;
    let rewards = mdp.rewards(|_, _, next| f64::from(next == END));
    (mdp, rewards)
}

/// True steps to the end from every state; states that cannot be reached count as far.
pub fn steps_to_end(mdp: &Mdp) -> Vec<f64> {
    let mut steps = vec![f64::INFINITY; mdp.states];
    let mut queue = VecDeque::from([END]);
    steps[END] = 0.0;
    while let Some(at) = queue.pop_front() {
        for (i, ways) in mdp.outcomes.iter().enumerate() {
            let from = i / mdp.actions;
            if ways[0].0 == at && steps[from].is_infinite() {
                steps[from] = steps[at] + 1.0;
                queue.push_back(from);
            }
        }
    }
    steps.iter().map(|d| d.min(40.0)).collect()
}

/// Steps to the goal as if there were no wall.
pub fn straight(state: usize) -> f64 {
    let cell = if state == END { GOAL } else { state % CELLS };
    ((cell / SIDE).abs_diff(GOAL / SIDE) + (cell % SIDE).abs_diff(GOAL % SIDE)) as f64
}

/// Progress along the true shortest path.
pub fn helpful(steps: &[f64], state: usize, next: usize) -> f64 {
    STEP * (steps[state] - steps[next])
}

/// Paid for coming nearer in a straight line and not charged for going away, so that it can be farmed at the wall.
pub fn harmful(state: usize, next: usize) -> f64 {
    STEP * (straight(state) - straight(next)).max(0.0)
}

/// The left side before the door is open: where the harmful heuristic lures.
pub fn dead_end(state: usize) -> bool {
    state < CELLS && state % SIDE < WALL
}
