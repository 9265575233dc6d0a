//! Which shaping leaves the best policies as they are: proved on tabular worlds, then checked on the real combinator.
use crate::tabular::*;
use merit_core::*;
use merit_reward::{RewardConfig, ScoreContext, Scorer};
use proptest::prelude::*;
use std::sync::Arc;

#[test]
fn in_the_trap_world_naive_progress_stays_at_0_9_and_shaping_goes_on() {
    let (world, progress) = trap_world();
    let gold = solve(&world).unwrap();
    let right = [1];
    assert!((0..19).all(|state| gold.greedy(state, 1e-9) == right), "gold always moves on");

    // By hand, at 18: risking it pays 0.5 · 0.1 + 0.5 · (−0.9 + 0.95 · V(0)), and V(0) = Σ 0.95^t · 0.05 over 18 steps = 0.603,
    // in all −0.114; staying pays 0.
    let naive = solve(&shaped(&world, &progress, ShapingRule::NaiveDifference).unwrap()).unwrap();
    assert_eq!(naive.greedy(18, 1e-9), [2], "it stays");
    let v_0 = (1.0 - 0.95_f64.powi(18)) * 0.05 / 0.05;
    assert!((naive.values[0] - v_0).abs() < 1e-12, "{}", naive.values[0]);
    let risk = 0.5 * 0.1 + 0.5 * (-0.9 + 0.95 * v_0);
    assert!((naive.q[18][1].unwrap() - risk).abs() < 1e-12 && risk < -0.1);

    let report = check_invariance(&world, &progress, ShapingRule::NaiveDifference).unwrap();
    let at_18 = report.changes.iter().find(|change| change.state == "at 18").unwrap();
    assert_eq!(
        (at_18.before.as_slice(), at_18.after.as_slice()),
        (&["right".to_owned()][..], &["stay".to_owned()][..])
    );

    let report = check_invariance(&world, &progress, ShapingRule::PotentialBased).unwrap();
    assert!(report.holds() && report.largest_gap < 1e-9, "{report:?}");
}

/// From the start one terminal state pays 1, the other 0.9.
fn two_ends() -> TabularWorld {
    TabularWorld {
        states: ["start", "good end", "other end"].map(String::from).into(),
        actions: ["good", "other"].map(String::from).into(),
        transitions: vec![
            vec![Arrow::sure(1, 1.0), Arrow::sure(2, 0.9)],
            vec![vec![], vec![]],
            vec![vec![], vec![]],
        ],
        terminal: vec![false, true, true],
        gamma: 0.9,
    }
}

#[test]
fn a_potential_at_the_end_changes_what_is_best_unless_it_is_zeroed() {
    // 0.9 + 0.9 · 0.5 = 1.35 beats 1.
    let potential = [0.0, 0.0, 0.5];
    let kept = check_invariance(&two_ends(), &potential, ShapingRule::TerminalPotentialKept).unwrap();
    assert_eq!(kept.changes.len(), 1);
    assert_eq!((kept.changes[0].before[0].as_str(), kept.changes[0].after[0].as_str()), ("good", "other"));
    assert!(check_invariance(&two_ends(), &potential, ShapingRule::PotentialBased).unwrap().holds());
}

#[test]
fn a_difference_without_the_discount_pays_for_going_round_in_circles() {
    // Down and up again between potentials 0 and 1 pays 1 − 0.95 a round, 0.05 / (1 − 0.95²) = 0.51 in all; finishing pays 0.1.
    let world = TabularWorld {
        states: ["low", "high", "end"].map(String::from).into(),
        actions: ["move", "finish"].map(String::from).into(),
        transitions: vec![
            vec![Arrow::sure(1, 0.0), Arrow::sure(2, 0.1)],
            vec![Arrow::sure(0, 0.0), vec![]],
            vec![vec![], vec![]],
        ],
        terminal: vec![false, false, true],
        gamma: 0.95,
    };
    let potential = [0.0, 1.0, 0.0];
    let added = check_invariance(&world, &potential, ShapingRule::AddedDifference).unwrap();
    assert_eq!(added.changes[0].after, ["move"]);
    let circling = solve(&shaped(&world, &potential, ShapingRule::AddedDifference).unwrap()).unwrap();
    assert!((circling.values[0] - 0.05 / (1.0 - 0.95 * 0.95)).abs() < 1e-12);
    assert!(check_invariance(&world, &potential, ShapingRule::PotentialBased).unwrap().holds());
}

#[test]
fn what_is_no_world_is_refused_with_its_place() {
    let broken = |change: fn(&mut TabularWorld)| {
        let mut world = two_ends();
        change(&mut world);
        solve(&world).unwrap_err().to_string()
    };
    assert_eq!(broken(|w| w.gamma = 1.0), "gamma is 1; it must be from 0 to 0.999");
    assert_eq!(
        broken(|w| w.transitions[0][1][0].to = 7),
        "state `start`, action `other`: an arrow leads to state number 7 of 3"
    );
    assert_eq!(
        broken(|w| w.transitions[0][1][0].probability = 0.5),
        "state `start`, action `other`: the probabilities are 0.5 in all; each must be from 0 to 1, and their sum 1"
    );
    assert_eq!(
        broken(|w| w.terminal[1] = false),
        "nothing can be done in state `good end`, and it is not terminal; give it an action or mark it terminal"
    );
    assert_eq!(
        broken(|w| w.terminal[0] = true),
        "state `start` is terminal and has arrows out of it; remove one or the other"
    );
    assert_eq!(
        broken(|w| {
            w.transitions.pop();
        }),
        "`transitions` has 2 rows; it needs 3"
    );
    assert_eq!(
        broken(|w| w.transitions[0][0][0].reward = f64::NAN),
        "a reward of state `start` is NaN; it must be finite"
    );
    let short = check_invariance(&two_ends(), &[0.0], ShapingRule::PotentialBased).unwrap_err();
    assert_eq!(short.to_string(), "`potential` has 1 rows; it needs 3");
    let policy = Policy(vec![vec![0.5, 0.4], vec![], vec![]]);
    assert!(matches!(evaluate_policy(&two_ends(), &policy), Err(TabularError::Policy { .. })));
}

/// A random world: every non-terminal state has at least one action; some arrows split.
fn random_world() -> impl Strategy<Value = (TabularWorld, Vec<f64>)> {
    (2..6_usize, 1..4_usize, any::<u64>(), 0.0..0.97_f64).prop_map(|(states, actions, seed, gamma)| {
        let mut stream = Seed::root(seed).stream();
        let terminal: Vec<bool> = (0..states).map(|s| s + 1 == states || stream.chance(0.2)).collect();
        let mut arrows = |able: bool| -> Vec<Arrow> {
            let mut arrow = |probability: f64| Arrow {
                to: stream.below(states as u64) as usize,
                probability,
                reward: 4.0 * stream.unit() - 2.0,
            };
            if able { vec![arrow(0.25), arrow(0.75)] } else { Vec::new() }
        };
        let transitions = terminal.iter().map(|&end| (0..actions).map(|_| arrows(!end)).collect()).collect();
        let names = |what: &str, n: usize| (0..n).map(|i| format!("{what} {i}")).collect();
        let world = TabularWorld {
            states: names("state", states),
            actions: names("action", actions),
            transitions,
            terminal,
            gamma,
        };
        let potential = (0..states).map(|_| 4.0 * stream.unit() - 2.0).collect();
        (world, potential)
    })
}

proptest! {
    #[test]
    fn potential_based_shaping_never_changes_what_is_best((world, potential) in random_world()) {
        let report = check_invariance(&world, &potential, ShapingRule::PotentialBased).unwrap();
        prop_assert!(report.holds(), "{:?}", report);
        prop_assert!(report.largest_gap <= 1e-9, "{:?}", report);
    }

    #[test]
    fn no_policy_is_worth_more_than_the_greedy_one((world, _) in random_world()) {
        let best = solve(&world).unwrap();
        let choices: Vec<usize> = (0..world.states.len()).map(|s| best.greedy(s, 0.0).first().copied().unwrap_or(0)).collect();
        let greedy = evaluate_policy(&world, &Policy::deterministic(&world, &choices)).unwrap();
        for (a, b) in greedy.values.iter().zip(&best.values) {
            prop_assert!((a - b).abs() < 1e-9, "{:?} {:?}", greedy.values, best.values);
        }
        for policy in deterministic_policies(&world).unwrap().iter().take(50) {
            let values = evaluate_policy(&world, policy).unwrap().values;
            prop_assert!(values.iter().zip(&best.values).all(|(v, best)| *v <= best + 1e-9));
        }
    }

    #[test]
    fn the_shaping_combinator_telescopes_on_real_episodes(seed in any::<u64>(), steps in 1..60_usize, by_token in any::<bool>()) {
        shaping_telescopes(seed, steps, by_token)?;
    }
}

/// A reward file whose potential is the trap world's progress, told by the share of calls that work.
fn shaped_reward(step: &str) -> Scorer {
    let toml = format!(
        "type = 'shaping'\nof = {{ type = 'exact-answer' }}\npotential = {{ type = 'tool-success' }}\nstart = 0.0\nstep = '{step}'"
    );
    let config: RewardConfig = RewardConfig::from_toml(&toml).unwrap();
    Scorer::compile(&config).unwrap()
}

/// A step as a turn: twenty calls of which as many work as there is progress; arriving is the right answer.
fn as_progress(world: &TabularWorld, step: &Step) -> (Action, Vec<CallRecord>) {
    if world.terminal[step.to] {
        return (Action::Answer { text: "there".into() }, Vec::new());
    }
    let call = ToolCall { tool: "look".into(), input: String::new() };
    let record = |i: usize| CallRecord {
        call: call.clone(),
        end: if i < step.to { CallEnd::Ok } else { CallEnd::Refused },
        output: String::new(),
        seconds: None,
    };
    (Action::Calls { calls: vec![call.clone(); 20] }, (0..20).map(record).collect())
}

/// The discounted return of what is paid is that of the gold reward less Φ(s_0) = 0, and plus γ^T Φ(s_T) where it was cut.
fn shaping_telescopes(seed: u64, steps: usize, by_token: bool) -> Result<(), TestCaseError> {
    let (world, progress) = trap_world();
    let mut stream = Seed::root(seed).stream();
    let ahead = 0.5 + 0.5 * stream.unit();
    let row = vec![(1.0 - ahead) / 2.0, ahead, (1.0 - ahead) / 2.0];
    let policy = Policy(vec![row; world.states.len()]);
    let trajectory = roll_out(&world, &policy, 0, steps, seed).unwrap();
    let task = Arc::new(Task {
        id: "trap".into(),
        world: "trap".into(),
        version: 1,
        split: Split::Train,
        size: 1,
        payload: serde_json::Value::Null,
        answer: Some("there".into()),
    });
    let episode = episode(&world, &trajectory, &task, Some(&as_progress));
    prop_assert_eq!(episode.end.terminal(), trajectory.ended);
    let context = ScoreContext { discount: world.gamma, ..ScoreContext::default() };
    let score = shaped_reward(if by_token { "token" } else { "turn" }).score(&episode, &context);
    let value = score.reward.value().unwrap();
    let paid = score.turn_rewards;
    prop_assert_eq!(paid.len(), trajectory.steps.len());
    // What is not paid by turn is paid at the end.
    let at_the_end = value - paid.iter().sum::<f64>();
    let gold = if trajectory.ended { 1.0 } else { 0.0 };
    prop_assert!((at_the_end - gold).abs() < 1e-9, "{} {}", at_the_end, gold);
    let discounted = |(t, r): (usize, &f64)| world.gamma.powi(t as i32) * r;
    let shaping: f64 = paid.iter().enumerate().map(discounted).sum();
    let beyond = match trajectory.steps.last() {
        Some(last) if !trajectory.ended => world.gamma.powi(paid.len() as i32) * progress[last.to],
        _ => 0.0,
    };
    prop_assert!((shaping - beyond).abs() < 1e-9, "{} but {}", shaping, beyond);
    Ok(())
}
