//! The identities of the expected free energy and its limit cases.

use merit_core::{Component as _, Seed};
use merit_studies::studies::ActiveInference;
use merit_studies::studies::active_inference::{Agent, World};
use merit_studies::tabular::Pomdp;
use merit_studies::tabular::pomdp::{Lookahead, expected, log_normalised, plan, risk};
use merit_studies::worlds::t_maze;

fn distribution(n: usize, stream: &mut merit_core::Stream) -> Vec<f64> {
    let raw: Vec<f64> = (0..n).map(|_| -(1.0 - stream.unit()).ln()).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|v| v / sum).collect()
}

fn model(likelihood: Vec<Vec<f64>>) -> Pomdp {
    let states = likelihood.len();
    let moves = vec![(0..states).map(|s| vec![(s, 1.0)]).collect()];
    Pomdp { likelihood, moves, start: vec![1.0 / states as f64; states] }
}

#[test]
fn risk_and_ambiguity_are_expected_utility_and_information_gain() {
    let mut stream = Seed::root(101).stream();
    for _ in 0..200 {
        let model = model((0..4).map(|_| distribution(3, &mut stream)).collect());
        let belief = distribution(4, &mut stream);
        let preferred = distribution(4, &mut stream);
        let log = |p: &[f64]| p.iter().map(|p| p.ln()).collect::<Vec<_>>();
        let log_c = log(&model.observations(&preferred));
        let seen = model.observations(&belief);
        let by_observation = risk(&seen, &log_c) + model.ambiguity(&belief);
        let by_value = -expected(&seen, &log_c) - model.information(&belief);
        assert!((by_observation - by_value).abs() < 1e-9);
        // G = E_Q(s,o)[ln Q(s) − ln C(s) − ln P(o|s)], with preferences over states.
        let mut long = 0.0;
        for s in 0..4 {
            for o in 0..3 {
                let joint = belief[s] * model.likelihood[s][o];
                long += joint * (belief[s].ln() - preferred[s].ln() - model.likelihood[s][o].ln());
            }
        }
        let by_state = risk(&belief, &log(&preferred)) + model.ambiguity(&belief);
        assert!((by_state - long).abs() < 1e-9);
        // Mapping states to observations can only shrink the risk.
        assert!(by_state >= by_observation - 1e-12);
    }
}

#[test]
fn without_ambiguity_it_is_kl_control() {
    let identity = model((0..3).map(|s| (0..3).map(|o| f64::from(s == o)).collect()).collect());
    let belief = [0.2, 0.3, 0.5];
    let log_c = log_normalised(&[1.0, 0.0, -1.0]);
    assert_eq!(identity.ambiguity(&belief), 0.0);
    assert_eq!(risk(&identity.observations(&belief), &log_c), risk(&belief, &log_c));
}

#[test]
fn a_flat_preference_leaves_only_information() {
    // With C uniform over observations −E[ln C] is the same everywhere: the best design of an experiment remains.
    let maze = t_maze::t_maze(0.9);
    let log_c = log_normalised(&[0.0; t_maze::OBSERVATIONS]);
    let free = |b: &[f64]| risk(&maze.observations(b), &log_c) + maze.ambiguity(b);
    let told = |b: &[f64]| -maze.information(b);
    let of = |cost: &dyn Fn(&[f64]) -> f64| plan(&maze, &maze.start, 1, Lookahead::Recursive, cost);
    let (with, only) = (of(&free), of(&told));
    let shift = with[0] - only[0];
    assert!(with.iter().zip(&only).all(|(g, i)| (g - i - shift).abs() < 1e-12));
}

#[test]
fn a_known_context_leaves_nothing_to_learn_and_a_plan_that_goes_straight_to_the_reward() {
    let maze = t_maze::t_maze(0.98);
    let log_c = log_normalised(&t_maze::payoffs(0.02));
    let mut known = vec![0.0; maze.start.len()];
    known[t_maze::state(t_maze::CENTRE, 1)] = 1.0;
    let cost = |b: &[f64]| risk(&maze.observations(b), &log_c) + maze.ambiguity(b);
    let costs = plan(&maze, &known, 2, Lookahead::Recursive, &cost);
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(costs.iter().position(|g| *g == least), Some(t_maze::RIGHT));
}

#[test]
fn an_agent_without_meaning_in_its_world_is_refused() {
    let grid = ActiveInference { world: World::FogGrid, agent: Agent::QLearning, ..Default::default() };
    assert!(grid.check().unwrap_err().to_string().starts_with("`agent` is QLearning"));
}
