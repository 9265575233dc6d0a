//! Pick and place on a grid: fetch an object, carry it to its goal, let go. The policy is a softmax over six actions by where the next
//! target lies.
//!
//! In: a policy and a task. Out: a rollout with its decisions and what is true of it. Letting go ends the rollout. Nothing here pays.

use crate::chooser::{Choice, Chooser};
use merit_core::Stream;

const SIDE: i64 = 6;
/// East, west, north, south, grasp, let go.
const ACTIONS: usize = 6;
/// The action that takes hold of the object.
pub const GRASP: usize = 4;
/// The action that lets go of it.
pub const LET_GO: usize = 5;
const STEPS: [(i64, i64); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
/// Whether something is carried, and the signs of the way to the target.
const SITUATIONS: usize = 2 * 9;
const HORIZON: usize = 24;

type Place = (i64, i64);

/// Where everything is at first. A mislabelled one calls every rollout a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    pub gripper: Place,
    pub object: Place,
    pub goal: Place,
    pub mislabelled: bool,
}

/// What is true of a rollout, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axes {
    /// The object was let go at its goal.
    pub success: f64,
    /// The share of moves that did not turn back the one before.
    pub smoothness: f64,
    /// How near to its goal the object ended.
    pub accuracy: f64,
}

impl Axes {
    pub fn total(&self) -> f64 {
        (self.success + self.smoothness + self.accuracy) / 3.0
    }
}

/// The decisions of one try, and what is true of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollout {
    pub path: Vec<Choice>,
    pub axes: Axes,
}

impl Task {
    pub fn draw(stream: &mut Stream) -> Self {
        let mut place = || (stream.between(0, SIDE - 1), stream.between(0, SIDE - 1));
        let (gripper, object) = (place(), place());
        let mut goal = place();
        while goal == object {
            goal = place();
        }
        Self { gripper, object, goal, mislabelled: false }
    }
}

fn distance(a: Place, b: Place) -> i64 {
    (a.0 - b.0).abs() + (a.1 - b.1).abs()
}

/// A policy that knows nothing yet: a weight for every situation and action.
pub fn untaught() -> Chooser {
    Chooser::new(SITUATIONS * ACTIONS)
}

fn situation(gripper: Place, target: Place, carries: bool) -> usize {
    let sign = |d: i64| (d.signum() + 1) as usize;
    9 * usize::from(carries) + 3 * sign(target.0 - gripper.0) + sign(target.1 - gripper.1)
}

fn candidates(situation: usize) -> Vec<Vec<usize>> {
    (0..ACTIONS).map(|action| vec![situation * ACTIONS + action]).collect()
}

/// What a good hand does: along the grid to the target, and there grasp or let go.
fn good(gripper: Place, target: Place, carries: bool, stream: &mut Stream) -> usize {
    let (dx, dy) = (target.0 - gripper.0, target.1 - gripper.1);
    let along_x = if dx > 0 { 0 } else { 1 };
    let along_y = if dy > 0 { 2 } else { 3 };
    match (dx, dy) {
        (0, 0) => {
            if carries {
                LET_GO
            } else {
                GRASP
            }
        }
        (_, 0) => along_x,
        (0, _) => along_y,
        _ => {
            if stream.chance(0.5) {
                along_x
            } else {
                along_y
            }
        }
    }
}

/// One try at a task, by whatever chooses among the actions where the gripper and its target are, and something is carried or not.
pub fn play(task: &Task, mut choose: impl FnMut(Place, Place, bool) -> usize) -> Rollout {
    let (mut gripper, mut object, mut carries) = (task.gripper, task.object, false);
    let (mut path, mut moves, mut turned_back) = (Vec::new(), 0, 0);
    let (mut last, mut done) = (None, false);
    while path.len() < HORIZON && !done {
        let target = if carries { task.goal } else { object };
        let chosen = choose(gripper, target, carries);
        path.push(Choice { candidates: candidates(situation(gripper, target, carries)), chosen });
        match chosen {
            GRASP => carries |= gripper == object,
            LET_GO => done = carries,
            moved => {
                let (dx, dy) = STEPS[moved];
                gripper = ((gripper.0 + dx).clamp(0, SIDE - 1), (gripper.1 + dy).clamp(0, SIDE - 1));
                object = if carries { gripper } else { object };
                moves += 1;
                // East and west, north and south differ in the last bit.
                turned_back += usize::from(last == Some(moved ^ 1));
                last = Some(moved);
            }
        }
    }
    let success = done && object == task.goal && !task.mislabelled;
    let axes = Axes {
        success: f64::from(u8::from(success)),
        smoothness: 1.0 - turned_back as f64 / moves.max(1) as f64,
        accuracy: 1.0 - distance(object, task.goal) as f64 / (2 * (SIDE - 1)) as f64,
    };
    Rollout { path, axes }
}

pub fn roll_out(policy: &Chooser, task: &Task, stream: &mut Stream) -> Rollout {
    play(task, |gripper, target, carries| {
        policy.choose(candidates(situation(gripper, target, carries)), false, stream).chosen
    })
}

/// A demonstration by a hand that does anything at all with the chance `slips`.
pub fn demonstrate(task: &Task, slips: f64, stream: &mut Stream) -> Rollout {
    play(task, |gripper, target, carries| {
        let anything = stream.below(ACTIONS as u64) as usize;
        if stream.chance(slips) { anything } else { good(gripper, target, carries, stream) }
    })
}

/// A policy that imitates `many` demonstrations of a hand that slips.
pub fn cloned(many: usize, slips: f64, stream: &mut Stream) -> Chooser {
    let mut policy = untaught();
    let shown: Vec<Rollout> = (0..many).map(|_| demonstrate(&Task::draw(stream), slips, stream)).collect();
    for _ in 0..3 {
        for batch in shown.chunks(8) {
            let paths: Vec<(&[Choice], f64)> =
                batch.iter().map(|shown| (shown.path.as_slice(), 1.0)).collect();
            policy.climb(&paths, None, 0.3);
        }
    }
    policy
}

/// The share of these tasks that a policy solves, one try each.
pub fn success(policy: &Chooser, tasks: &[Task], stream: &mut Stream) -> f64 {
    let won: f64 = tasks.iter().map(|task| roll_out(policy, task, stream).axes.success).sum();
    won / tasks.len().max(1) as f64
}
