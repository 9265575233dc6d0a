//! Chains with a known progress, and a model that tells progress from pairs of states by hops, with errors.

use crate::tabular::Mdp;
use merit_core::Stream;

/// Actions of the chains; the third one stays.
pub const LEFT: usize = 0;
pub const RIGHT: usize = 1;

/// States 0 to 18 have progress i / 20; from 18, at 0.9, a step to the right reaches the goal, at 1, or falls back to the start
/// with chance `failure`. Returns the world and its progress; the goal is the last state.
pub fn trap(failure: f64, gamma: f64) -> (Mdp, Vec<f64>) {
    const SAFE: usize = 18;
    const GOAL: usize = 19;
    let mut mdp = Mdp::sure(GOAL + 1, 3, gamma, |s, a| match a {
        LEFT => s.saturating_sub(1),
        RIGHT => (s + 1).min(GOAL),
        _ => s,
    });
    mdp.outcomes[SAFE * 3 + RIGHT] = vec![(GOAL, 1.0 - failure), (0, failure)];
    mdp.terminal[GOAL] = true;
    (mdp, (0..=GOAL).map(|s| if s == GOAL { 1.0 } else { s as f64 / 20.0 }).collect())
}

/// A corridor of 21 states: the goal is at the right end, the start at 8. States left of it have no progress; those below
/// [`HIDDEN`] are unlike anything the hop model was fitted on.
pub fn corridor(gamma: f64) -> (Mdp, Vec<f64>) {
    let mut mdp = Mdp::sure(21, 3, gamma, |s, a| match a {
        LEFT => s.saturating_sub(1),
        RIGHT => (s + 1).min(20),
        _ => s,
    });
    mdp.terminal[20] = true;
    let progress = |s: usize| s.saturating_sub(CORRIDOR_START) as f64 / (20 - CORRIDOR_START) as f64;
    (mdp, (0..21).map(progress).collect())
}

pub const CORRIDOR_START: usize = 8;
pub const HIDDEN: usize = 8;

/// The hop from progress `p` to `q`: the share of the remaining distance that was gained, or of the covered one that was lost.
pub fn hop(p: f64, q: f64) -> f64 {
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    if q >= p { share(q - p, 1.0 - p) } else { share(q - p, p) }
}

/// The progress after a hop; in [0, 1] whenever the hop is in [−1, 1].
pub fn after_hop(progress: f64, hop: f64) -> f64 {
    progress + if hop >= 0.0 { (1.0 - progress) * hop } else { progress * hop }
}

/// What the hop model is asked at a step: from the step before, from the start, and from the goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hops {
    pub step: f64,
    pub from_start: f64,
    pub from_goal: f64,
}

impl Hops {
    /// The three hops to progress `to`, coming from `before`, each with normal noise and held in [−1, 1].
    pub fn noisy(before: f64, to: f64, noise: f64, stream: &mut Stream) -> Self {
        let mut read = |hop: f64| (hop + noise * stream.normal()).clamp(-1.0, 1.0);
        Self { step: read(hop(before, to)), from_start: read(hop(0.0, to)), from_goal: read(hop(1.0, to)) }
    }
}

/// A demonstration with setbacks: `length` steps from progress 0, mostly forward.
pub fn trajectory(length: usize, stream: &mut Stream) -> Vec<f64> {
    let mut path = vec![0.0];
    let stride = 2.5 / length as f64;
    while path.len() <= length {
        let forward = if stream.chance(0.8) { stride * stream.unit() } else { -stride * stream.unit() };
        path.push((path[path.len() - 1] + forward).clamp(0.0, 1.0));
    }
    path
}
