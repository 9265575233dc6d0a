//! The exact tools for small finite problems, a module for each.

mod draws {
    use merit_core::Seed;
    use merit_studies::tabular::{argmax, draw, softmax};

    #[test]
    fn draws_follow_their_weights_and_ties_are_shared() {
        let mut stream = Seed::root(101).stream();
        let mut counts = [0_u32; 3];
        for _ in 0..4000 {
            counts[draw(&[1.0, 0.0, 3.0], &mut stream)] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((900..1100).contains(&counts[0]), "{counts:?}");
        let mut ties = [0_u32; 3];
        for _ in 0..1000 {
            ties[argmax(&[2.0, 1.0, 2.0], 1e-12, &mut stream)] += 1;
        }
        assert!(ties[1] == 0 && ties[0] > 400 && ties[2] > 400, "{ties:?}");
        let p = softmax(&[1000.0, 1000.0]);
        assert_eq!(p, [0.5, 0.5]);
    }
}

mod linear {
    use merit_studies::tabular::linear::solve;

    #[test]
    fn a_system_that_needs_a_pivot_is_solved_and_a_singular_one_refused() {
        // 0x + y = 2, 3x + y = 5  ->  x = 1, y = 2
        assert_eq!(solve(&[0.0, 1.0, 3.0, 1.0], &[2.0, 5.0]), Some(vec![1.0, 2.0]));
        assert_eq!(solve(&[1.0, 2.0, 2.0, 4.0], &[1.0, 1.0]), None);
    }
}

mod lp {
    use merit_studies::tabular::lp::{Row, minimise};

    fn row(coefficients: &[f64], at_least: f64) -> Row {
        Row { coefficients: coefficients.to_vec(), at_least }
    }

    #[test]
    fn the_cheapest_corner_is_found_and_an_impossible_program_refused() {
        // min 2x + 3y, x + y >= 4, x + 3y >= 6, x <= 3: the corner x = 3, y = 1 costs 9.
        let rows = [row(&[1.0, 1.0], 4.0), row(&[1.0, 3.0], 6.0), row(&[-1.0, 0.0], -3.0)];
        let x = minimise(&[2.0, 3.0], &rows).unwrap();
        assert!((x[0] - 3.0).abs() < 1e-9 && (x[1] - 1.0).abs() < 1e-9, "{x:?}");
        assert_eq!(minimise(&[1.0], &[row(&[1.0], 2.0), row(&[-1.0], -1.0)]), None);
    }

    #[test]
    fn no_feasible_point_of_a_random_program_is_cheaper() {
        let mut stream = merit_core::Seed::root(101).stream();
        for _ in 0..50 {
            let cost: Vec<f64> = (0..4).map(|_| stream.unit()).collect();
            let inside: Vec<f64> = (0..4).map(|_| stream.unit()).collect();
            let rows: Vec<Row> = (0..8)
                .map(|_| {
                    let coefficients: Vec<f64> = (0..4).map(|_| stream.normal()).collect();
                    let at: f64 = coefficients.iter().zip(&inside).map(|(a, x)| a * x).sum();
                    Row { coefficients, at_least: at - 0.3 * stream.unit() }
                })
                .collect();
            let dot = |a: &[f64], x: &[f64]| a.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            let x = minimise(&cost, &rows).unwrap();
            assert!(x.iter().all(|v| *v >= -1e-9));
            assert!(rows.iter().all(|r| dot(&r.coefficients, &x) >= r.at_least - 1e-7));
            for _ in 0..200 {
                let try_x: Vec<f64> = x.iter().map(|v| (v + 0.1 * stream.normal()).max(0.0)).collect();
                let feasible = rows.iter().all(|r| dot(&r.coefficients, &try_x) >= r.at_least);
                assert!(!feasible || dot(&cost, &try_x) >= dot(&cost, &x) - 1e-7);
            }
        }
    }
}

mod mdp {
    use merit_studies::tabular::Mdp;

    /// 0 -right-> 1 -right-> 2, the end, which pays 1; left goes back.
    fn line() -> (Mdp, Vec<f64>) {
        let mut mdp = Mdp::sure(3, 2, 0.5, |s, a| if a == 1 { (s + 1).min(2) } else { s.saturating_sub(1) });
        mdp.terminal[2] = true;
        let rewards = mdp.rewards(|_, _, next| f64::from(next == 2));
        (mdp, rewards)
    }

    #[test]
    fn values_of_a_line_are_powers_of_gamma() {
        let (mdp, rewards) = line();
        let found = mdp.solve(&rewards);
        assert_eq!(found.values, [0.5, 1.0, 0.0]);
        assert_eq!(found.greedy(0, 1e-9), [1]);
        let policy = found.policy(1e-9);
        let exact = mdp.evaluate(&policy, &rewards).unwrap();
        assert!(exact.iter().zip(&found.values).all(|(a, b)| (a - b).abs() < 1e-12), "{exact:?}");
        // Visits 1, gamma, gamma².
        let visits = mdp.visits(&policy, &[1.0, 0.0, 0.0]).unwrap();
        assert!(visits.iter().zip([1.0, 0.5, 0.25]).all(|(a, b)| (a - b).abs() < 1e-12), "{visits:?}");
    }
}

mod pomdp {
    use merit_studies::tabular::pomdp::{digamma, novelty};

    #[test]
    fn digamma_and_novelty_have_their_known_values() {
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-12);
        // psi(2) − psi(3) = −1/2, so that two counts of one are worth ln 2 − 1/2.
        assert!((novelty(&[1.0, 1.0]) - (2.0_f64.ln() - 0.5)).abs() < 1e-12);
        assert!(novelty(&[500.0, 500.0]) < 1e-3);
    }
}

mod q_table {
    use merit_studies::tabular::q_table::{QTable, Transition};

    #[test]
    fn an_end_is_not_bootstrapped_and_a_time_limit_is() {
        let mut table = QTable::new(2, 2);
        table.q[3] = 10.0;
        let step = Transition { state: 0, action: 1, reward: 1.0, next: 1, terminated: true };
        table.update(step, 0.5, 0.9);
        assert_eq!(table.row(0), [0.0, 0.5]);
        table.update(Transition { terminated: false, ..step }, 1.0, 0.9);
        assert_eq!(table.row(0), [0.0, 10.0]);
    }
}

mod softmax_policy {
    use merit_studies::tabular::SoftmaxPolicy;

    #[test]
    fn the_direction_is_the_gradient_of_the_log_probability() {
        let mut policy = SoftmaxPolicy::new(1, 3);
        policy.theta = vec![0.3, -0.2, 0.9];
        let mut gradient = vec![0.0; 3];
        policy.push(&mut gradient, 0, 1, 2.0);
        for (i, found) in gradient.iter().enumerate() {
            let log = |shift: f64| {
                let mut moved = policy.clone();
                moved.theta[i] += shift;
                moved.row(0)[1].ln()
            };
            let slope = 2.0 * (log(1e-5) - log(-1e-5)) / 2e-5;
            assert!((slope - found).abs() < 1e-8, "{slope} {found}");
        }
    }
}
