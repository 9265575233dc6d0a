//! The implicit gradient against finite differences of the whole inner problem.

use merit_core::Seed;
use merit_studies::tabular::bilevel::{Blend, Inner, Seen, Trace};
use merit_studies::tabular::{Mdp, SoftmaxPolicy};
use merit_studies::worlds::door_grid;

const LAMBDA: f64 = 0.3;
const GAMMA: f64 = 0.9;

/// Two states: action 1 in state 0 leads to 1, action 1 in state 1 pays and leads back; action 0 stays.
fn world() -> (Mdp, Vec<f64>) {
    let mdp = Mdp::sure(2, 2, GAMMA, |s, a| if a == 1 { 1 - s } else { s });
    let rewards = vec![0.0, 0.0, 0.0, 1.0];
    (mdp, rewards)
}

/// Old data of a random policy, with a heuristic that likes to stay.
fn data(mdp: &Mdp) -> Vec<Trace> {
    let mut stream = Seed::root(101).stream();
    let one = |_| {
        let mut state = 0;
        let step = |_| {
            let action = stream.below(2) as usize;
            let primary = f64::from(state == 1 && action == 1);
            let seen = Seen { state, action, primary, auxiliary: 0.2 * f64::from(action == 0) };
            state = mdp.step(state, action, &mut stream);
            seen
        };
        (0..8).map(step).collect::<Trace>()
    };
    (0..12).map(one).collect()
}

/// The policy at which the inner gradient vanishes.
fn fixed_point(traces: &[&Trace], blend: &Blend) -> SoftmaxPolicy {
    let mut policy = SoftmaxPolicy::new(2, 2);
    for _ in 0..6_000 {
        let delta = Inner::new(&policy, traces, blend, LAMBDA).delta();
        policy.climb(&delta, 0.1);
    }
    policy
}

fn true_return(policy: &SoftmaxPolicy) -> f64 {
    let (mdp, rewards) = world();
    mdp.evaluate(&policy.table(), &rewards).unwrap()[0]
}

#[test]
fn the_implicit_gradient_agrees_with_finite_differences_of_the_solved_inner_problem() {
    let (mdp, _) = world();
    let owned = data(&mdp);
    let traces: Vec<&Trace> = owned.iter().collect();
    let blend = Blend::constant(4, [0.1, 1.0, 1.0], 0.7);
    let policy = fixed_point(&traces, &blend);
    // dJ/dtheta exactly.
    let slope = |i: usize| {
        let moved = |by: f64| {
            let mut other = policy.clone();
            other.theta[i] += by;
            true_return(&other)
        };
        (moved(1e-5) - moved(-1e-5)) / 2e-5
    };
    let g: Vec<f64> = (0..4).map(slope).collect();
    let inner = Inner::new(&policy, &traces, &blend, LAMBDA);
    assert!(inner.delta().iter().all(|d| d.abs() < 1e-8), "not at the fixed point: {:?}", inner.delta());
    let u = inner.neumann(&g, 20_000, 0.05);
    let (phi, by_v) = inner.outer(&u);
    let check = |name: &str, found: f64, change: &dyn Fn(&mut Blend, f64)| {
        let solved = |by: f64| {
            let mut other = blend.clone();
            change(&mut other, by);
            true_return(&fixed_point(&traces, &other))
        };
        let difference = (solved(1e-3) - solved(-1e-3)) / 2e-3;
        let scale = difference.abs().max(1e-3);
        assert!((found - difference).abs() <= 0.05 * scale, "{name}: {found} against {difference}");
    };
    for (part, row) in phi.iter().enumerate() {
        for (at, found) in row.iter().enumerate() {
            check(&format!("phi{part}[{at}]"), *found, &|b, by| b.phi[part][at] += by);
        }
    }
    check("v", by_v, &|b, by| b.v += by);
}

#[test]
fn the_way_to_the_goal_leads_over_the_switch() {
    let (mdp, rewards) = door_grid::door_grid(0.99);
    let steps = door_grid::steps_to_end(&mdp);
    // 4 to the switch, 6 up and 3 right to the cell before the door, 3 right and 3 down to the goal.
    assert_eq!(steps[door_grid::START], 19.0);
    let value = mdp.solve(&rewards).values[door_grid::START];
    assert!((value - 0.99_f64.powi(18)).abs() < 1e-9, "{value}");
    // Straight at the wall and back: the harmful heuristic pays for it again and again.
    assert!(door_grid::harmful(door_grid::START, door_grid::START + 1) > 0.0);
    assert_eq!(door_grid::harmful(door_grid::START + 1, door_grid::START), 0.0);
}
