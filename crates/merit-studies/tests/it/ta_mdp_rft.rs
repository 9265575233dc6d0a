use merit_core::Seed;
use merit_studies::turns::advantages::Normalisation;
use merit_studies::turns::fits::{line, log_log_slope, spearman};
use merit_studies::turns::grpo::{Estimator, Problem};
use merit_studies::turns::targets::{Targets, composite};
use merit_studies::turns::tool_mdp::{
    ACTIONS, Logits, STATES, ToolMdp, add, earned, norm2, pick, policy_of, uniform,
};

fn problem(seed: u64, coupling: f64) -> Problem {
    let mdp = ToolMdp::draw(coupling, &mut Seed::root(seed).child("dynamics", 0).stream());
    let targets = Targets::draw(3, coupling, &mut Seed::root(seed).child("targets", 0).stream());
    Problem { mdp, tables: targets.tables(), weights: vec![1.0, 0.5, 0.75] }
}

fn some_logits(seed: u64) -> Logits {
    let mut stream = Seed::root(seed).child("logits", 0).stream();
    uniform().into_iter().map(|row| row.map(|_| stream.normal())).collect()
}

#[test]
fn the_exact_gradient_is_the_slope_of_the_exact_value() {
    let problem = problem(1, 0.7);
    let (reward, mut logits) = (problem.composite(), some_logits(1));
    let gradient = problem.mdp.gradient(&reward, &logits);
    for (row, action) in (0..logits.len()).flat_map(|row| [(row, row % ACTIONS), (row, (row + 3) % ACTIONS)])
    {
        let mut at = |offset: f64| {
            logits[row][action] += offset;
            let value = problem.mdp.value(&reward, &logits);
            logits[row][action] -= offset;
            value
        };
        let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((slope - gradient[row][action]).abs() < 1e-8, "{row} {action}");
    }
}

#[test]
fn the_exact_value_is_the_mean_of_what_episodes_earn() {
    let problem = problem(2, 0.4);
    let (logits, mut stream) = (some_logits(2), Seed::root(2).stream());
    let (policy, episodes) = (policy_of(&logits), 40_000);
    let mut mean = 0.0;
    for _ in 0..episodes {
        let first = pick(problem.mdp.start(), &mut stream);
        let path = problem.mdp.roll_out(&policy, first, &mut stream);
        let paid = problem.tables.iter().zip(&problem.weights).map(|(table, w)| w * earned(&path, table));
        mean += paid.sum::<f64>() / f64::from(episodes);
    }
    let exact = problem.mdp.value(&problem.composite(), &logits);
    assert!((mean - exact).abs() < 0.005, "{mean} {exact}");
}

#[test]
fn ascent_reaches_the_optimum_from_below() {
    let problem = problem(3, 0.5);
    let (reward, mut logits) = (problem.composite(), uniform());
    problem.mdp.ascend(&reward, &mut logits, 3000, 50.0);
    let short = problem.mdp.optimum(&reward) - problem.mdp.value(&reward, &logits);
    assert!((0.0..0.01).contains(&short), "{short}");
}

#[test]
fn without_division_the_estimate_is_the_gradient_up_to_the_own_share_of_the_mean() {
    // The group's mean holds the member itself, which takes 1/G of the gradient.
    let problem = problem(4, 0.5);
    let (logits, mut stream) = (some_logits(4), Seed::root(4).stream());
    let estimator = Estimator { normalisation: Normalisation::None, groups: 4, group_size: 4 };
    let mut mean = vec![[0.0; ACTIONS]; logits.len()];
    for _ in 0..20_000 {
        let estimate = estimator.estimate(&problem, &logits, &mut stream);
        add(&mut mean, &estimate.gradient, 1.0 / 20_000.0);
    }
    let exact = problem.mdp.gradient(&problem.composite(), &logits);
    add(&mut mean, &exact, -0.75);
    assert!(norm2(&mean) < 0.005 * norm2(&exact), "{} {}", norm2(&mean), norm2(&exact));
}

#[test]
fn advantages_by_hand() {
    // Component 1 never varies. Sums 0 and 2 with weight 2: mean 1, deviation 1.
    let rewards = [vec![0.0, 1.0], vec![1.0, 1.0]];
    let check = |how: Normalisation, want: [f64; 2]| {
        let found = how.advantages(&rewards, &[2.0, 1.0]);
        assert!(found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5), "{how:?} {found:?}");
    };
    check(Normalisation::None, [-1.0, 1.0]);
    check(Normalisation::Joint, [-1.0, 1.0]);
    check(Normalisation::PerComponent, [-2.0, 2.0]);
}

#[test]
fn an_action_pays_one_component_at_most() {
    for (seed, coupling) in [(1, 0.0), (2, 0.5), (3, 1.0)] {
        let targets = Targets::draw(3, coupling, &mut Seed::root(seed).stream());
        let sums = composite(&targets.tables(), &[1.0; 3]);
        assert!(sums.iter().flatten().all(|paid| *paid <= 0.2 + 1e-12));
        let contested = (0..STATES).filter(|&s| targets.pays[0][s] && targets.pays[1][s]).count() as f64;
        // 20 states in three shares of 7, 7 and 6: 14 can be contested.
        assert_eq!(contested, (14.0 * coupling).round());
    }
}

#[test]
fn the_mean_tables_are_the_mean_of_redrawn_tasks() {
    let common = Targets::draw(3, 0.0, &mut Seed::root(5).stream());
    let mut stream = Seed::root(6).stream();
    let mut mean = 0.0;
    let (state, draws) = ((0..STATES).find(|&s| common.pays[2][s]).unwrap(), 20_000);
    for _ in 0..draws {
        mean +=
            common.redrawn(0.6, &mut stream).tables()[2][state][common.action[2][state]] / f64::from(draws);
    }
    // 0.6 kept, and a third of the rest by chance.
    let exact = common.mean_tables(0.6)[2][state][common.action[2][state]];
    assert!((exact - (0.6 + 0.4 / 3.0)).abs() < 1e-12 && (mean - exact).abs() < 0.01, "{mean} {exact}");
}

#[test]
fn fits_by_hand() {
    let (slope, r2) = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]);
    assert!((slope - 2.0).abs() < 1e-12 && (r2 - 1.0).abs() < 1e-12);
    let root: Vec<(f64, f64)> = (1..9).map(|n| (f64::from(n), f64::from(n).powf(-0.5))).collect();
    assert!((log_log_slope(&root) + 0.5).abs() < 1e-12);
    // Ranks 1, 2, 3 against 1, 2.5, 2.5: correlation sqrt(3)/2.
    assert!((spearman(&[(1.0, 1.0), (2.0, 5.0), (3.0, 5.0)]) - 0.75_f64.sqrt()).abs() < 1e-12);
    assert!((spearman(&[(1.0, 9.0), (2.0, 5.0), (3.0, 1.0)]) + 1.0).abs() < 1e-12);
}

#[test]
fn the_smoke_run_ends_with_numbers() {
    crate::cells::check_smoke("ta-mdp-rft");
}
