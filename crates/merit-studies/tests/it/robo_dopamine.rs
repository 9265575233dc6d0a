//! Hops, the three views and the invariance of the shaping.

use merit_core::{Component as _, Seed};
use merit_studies::studies::RoboDopamine;
use merit_studies::studies::robo_dopamine::{Experiment, Pay, View, estimate};
use merit_studies::worlds::progress::{Hops, after_hop, hop, trap};

#[test]
fn a_hop_takes_progress_where_it_says() {
    // Half of the remaining 0.6 from 0.4 to 0.7; a quarter of the covered 0.4 back to 0.3.
    assert!((hop(0.4, 0.7) - 0.5).abs() < 1e-12);
    assert!((hop(0.4, 0.3) + 0.25).abs() < 1e-12);
    for p in 0..=10 {
        for q in 0..=10 {
            let (p, q) = (f64::from(p) / 10.0, f64::from(q) / 10.0);
            assert!((after_hop(p, hop(p, q)) - q).abs() < 1e-12, "{p} to {q}");
        }
    }
}

#[test]
fn true_hops_give_the_true_progress_by_every_view_and_any_hops_stay_in_range() {
    let mut stream = Seed::root(101).stream();
    let views = [View::Incremental, View::Forward, View::Backward, View::Fused, View::Guarded];
    for _ in 0..200 {
        let (from, to) = (stream.unit(), stream.unit());
        let exact = Hops::noisy(from, to, 0.0, &mut stream);
        for view in views {
            assert!((estimate(view, from, exact, 1.0) - to).abs() < 1e-9, "{view:?}");
            let wild = Hops::noisy(from, to, 2.0, &mut stream);
            let phi = estimate(view, from, wild, 1.0);
            assert!((0.0..=1.0).contains(&phi), "{view:?} gives {phi}");
        }
    }
}

#[test]
fn views_that_disagree_hold_the_old_value() {
    let hops = Hops { step: 0.9, from_start: 1.0, from_goal: -1.0 };
    let held = estimate(View::Guarded, 0.1, hops, 1.0);
    assert!((held - 0.1).abs() < 0.02, "{held}");
    assert!(estimate(View::Fused, 0.1, hops, 1.0) > 0.6);
}

/// Q under some pay, exactly, and the largest distance to Q_gold(s, a) − phi(s).
fn solved(pay: Pay) -> (merit_studies::tabular::mdp::Solution, f64) {
    let study = RoboDopamine { pay, ..Default::default() };
    let (mdp, phi) = trap(study.failure, study.gamma);
    let gold = mdp.solve(&mdp.rewards(|_, _, next| f64::from(mdp.terminal[next])));
    let paid = |s: usize, next: usize| study.paid(mdp.terminal[next], mdp.terminal[next], phi[s], phi[next]);
    let own = mdp.solve(&mdp.rewards(|s, _, next| paid(s, next)));
    let apart = |i: usize| (own.q[i] - (gold.q[i] - phi[i / 3])).abs();
    let gap = (0..19 * 3).map(apart).fold(0.0, f64::max);
    (own, gap)
}

#[test]
fn a_potential_moves_q_by_itself_and_changes_no_policy() {
    let (own, gap) = solved(Pay::Pbrs);
    assert!(gap < 1e-9, "{gap}");
    assert!((0..19).all(|s| own.greedy(s, 1e-9) == [1]));
}

#[test]
fn the_naive_difference_sits_at_high_progress() {
    let (own, _) = solved(Pay::Naive);
    assert_eq!(own.greedy(18, 1e-9), [2]);
    assert!(solved(Pay::TerminalKept).1 > 0.1, "a potential kept at the end is not invariant");
}

#[test]
fn the_true_progress_is_nothing_to_rebuild() {
    let study = RoboDopamine { experiment: Experiment::Hops, view: View::Truth, ..Default::default() };
    assert!(study.check().unwrap_err().to_string().starts_with("`view` is Truth"));
}
