//! Loops earn nothing under the potential, and a robot that only climbs is caught in a cup.

use merit_core::Seed;
use merit_studies::studies::NanorobotQ;
use merit_studies::studies::nanorobot_q::Pay;
use merit_studies::worlds::field::{Field, STATES};

#[test]
fn going_back_and_forth_earns_nothing_under_the_potential() {
    let earned = |pay: Pay, gamma: f64| {
        let study = NanorobotQ { pay, gamma, step: 0.0, ..Default::default() };
        let (low, high) = (0.2, 0.5);
        let forth = study.paid(low, high, high, false, 0);
        let back = study.paid(high, low, low, false, 0);
        (0..100).map(|i| gamma.powi(2 * i) * (forth + gamma * back)).sum::<f64>()
    };
    // Telescopes to 10 · (gamma^200 − 1) · 0.2.
    assert!((earned(Pay::Potential, 0.95) - 2.0 * (0.95_f64.powi(200) - 1.0)).abs() < 1e-9);
    // 10 · 0.3 · (1 − gamma) / (1 − gamma²) > 0: the plain difference pays for it.
    assert!((earned(Pay::Difference, 0.95) - 3.0 / 1.95).abs() < 1e-3);
}

#[test]
fn states_fit_the_table_and_collisions_leave_the_robot_where_it_is() {
    let mut stream = Seed::root(101).stream();
    for _ in 0..20 {
        let mut world = Field::random(3, 10, true, 0.02, &mut stream);
        for _ in 0..100 {
            let reading = world.sense(&mut stream);
            assert!(reading.state() < STATES);
            let action = stream.below(6) as usize;
            let before = world.robot;
            let moved = world.go(action);
            assert_eq!(moved.collided, reading.blocked[action]);
            assert_eq!(moved.collided, world.robot == before);
        }
    }
}
