//! Designed rewards keep the best policy, and tell it at short horizons.

use merit_studies::tabular::design::Teacher;
use merit_studies::worlds::sparse::{key_line, rooms};

const HORIZONS: [usize; 5] = [1, 4, 8, 16, 32];

#[test]
fn a_designed_reward_keeps_the_best_policy_in_every_state() {
    for world in [key_line(0.1), rooms(0.0)] {
        let teacher = Teacher::new(&world.mdp, &world.rewards, 10.0, &HORIZONS);
        let a = teacher.explicable(&world.goals).unwrap();
        let b = teacher.grow(&world.goals, world.goals.len() + 1).unwrap();
        let designs = [a, b, teacher.explicable(&(0..world.mdp.states - 1).collect::<Vec<_>>()).unwrap()];
        let mut last = f64::INFINITY;
        for design in designs {
            assert_eq!(teacher.agreement(&design.rewards), 1.0);
            assert!(design.rewards.iter().all(|r| r.abs() <= 10.0 + 1e-9));
            assert!(design.loss <= last + 1e-9, "more paid states inform more: {} after {last}", design.loss);
            last = design.loss;
        }
        assert!(last < 1e-6, "a reward on every state can show every gap at once, not {last}");
    }
}
