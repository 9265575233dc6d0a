//! The semantic trap of Robo-Dopamine: a chain in which sitting at high progress can look better than finishing.

use super::{Arrow, TabularWorld};

/// The world and its progress. States 0 to 18 have progress i / 20; from 18, at 0.9, a step to the right reaches the goal, at
/// 1, or falls back to the start, each with probability one half. Only arriving at the goal is paid, with 1. Discount 0.95.
pub(crate) fn trap_world() -> (TabularWorld, Vec<f64>) {
    const SAFE: usize = 18;
    const GOAL: usize = 19;
    let mut transitions = Vec::with_capacity(GOAL + 1);
    for state in 0..=SAFE {
        let left = Arrow::sure(state.saturating_sub(1), 0.0);
        let stay = Arrow::sure(state, 0.0);
        let half = |to, reward| Arrow { to, probability: 0.5, reward };
        let right =
            if state == SAFE { vec![half(GOAL, 1.0), half(0, 0.0)] } else { Arrow::sure(state + 1, 0.0) };
        transitions.push(vec![left, right, stay]);
    }
    transitions.push(vec![Vec::new(); 3]);
    let progress = (0..=GOAL).map(|i| if i == GOAL { 1.0 } else { i as f64 / 20.0 }).collect();
    let world = TabularWorld {
        states: (0..=GOAL).map(|i| if i == GOAL { "goal".to_owned() } else { format!("at {i}") }).collect(),
        actions: vec!["left".into(), "right".into(), "stay".into()],
        transitions,
        terminal: (0..=GOAL).map(|i| i == GOAL).collect(),
        gamma: 0.95,
    };
    (world, progress)
}
