use merit_core::Seed;
use merit_studies::knapsack::{Cover, OnlineRule, best_cover};
use merit_studies::studies::KnapsackComposer;

#[test]
fn the_bar_rises_from_l_over_e_to_u() {
    let rule = OnlineRule { low: 0.05, high: 12.0 };
    assert!((rule.threshold(0.0) - 0.05 / std::f64::consts::E).abs() < 1e-12);
    assert!((rule.threshold(1.0) - 12.0).abs() < 1e-9);
    // Half of the budget gone: the geometric mean of both ends.
    assert!((rule.threshold(0.5) - (0.05 / std::f64::consts::E * 12.0).sqrt()).abs() < 1e-9);
}

#[test]
fn with_small_items_the_rule_keeps_its_competitive_ratio() {
    let rule = OnlineRule { low: 1.0, high: 50.0 };
    for seed in 0..50 {
        let mut stream = Seed::root(seed).stream();
        // Rising densities are the worst order: the rule fills up with poor items first.
        let mut densities: Vec<f64> = (0..4000).map(|_| 50.0_f64.powf(stream.unit())).collect();
        if seed % 2 == 0 {
            densities.sort_by(f64::total_cmp);
        }
        let (cost, budget, mut spent, mut value) = (0.001, 1.0, 0.0, 0.0);
        for density in &densities {
            if rule.takes(density * cost, cost, spent, budget) {
                spent += cost;
                value += density * cost;
            }
        }
        densities.sort_by(|a, b| b.total_cmp(a));
        let optimum: f64 = densities.iter().take(1000).map(|density| density * cost).sum();
        // The published ratio: ln(U / L) + 1.
        assert!(optimum <= value * (50.0_f64.ln() + 1.0) * 1.01, "{optimum} {value}");
    }
}

#[test]
fn the_best_cover_is_what_trying_every_subset_finds() {
    for seed in 0..200 {
        let mut stream = Seed::root(seed).stream();
        let items: Vec<Cover> = (0..8)
            .map(|_| Cover { cost: 0.5 + 5.0 * stream.unit(), covers: stream.below(16) as u32 })
            .collect();
        let weights: Vec<f64> = (0..4).map(|_| 1.0 + stream.below(3) as f64).collect();
        let budget = 8.0 * stream.unit();
        let worth = |chosen: &[usize]| {
            let covered = chosen.iter().fold(0, |set, &at| set | items[at].covers);
            let weight: f64 = (0..4).filter(|j| covered >> j & 1 == 1).map(|j| weights[j]).sum();
            (weight, chosen.iter().map(|&at| items[at].cost).sum::<f64>())
        };
        let mut best = (0.0, 0.0);
        for set in 0..256_u32 {
            let chosen: Vec<usize> = (0..8).filter(|at| set >> at & 1 == 1).collect();
            let (weight, cost) = worth(&chosen);
            if cost <= budget && (weight, -cost) > (best.0, -best.1) {
                best = (weight, cost);
            }
        }
        let found = worth(&best_cover(&items, &weights, budget));
        assert!((found.0 - best.0).abs() < 1e-9 && (found.1 - best.1).abs() < 1e-9, "{found:?} {best:?}");
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    use merit_core::Component as _;
    let refused = |change: fn(&mut KnapsackComposer)| {
        let mut settings = KnapsackComposer::default();
        change(&mut settings);
        settings.check().unwrap_err().to_string()
    };
    assert_eq!(refused(|s| s.budgets = vec![3.0, 2.0]), "`budgets` must be a list of rising numbers above 0");
    assert_eq!(refused(|s| s.judge_noise = 1.5), "`judge_noise` is 1.5; it must be between 0 and 1");
    assert_eq!(refused(|s| s.duplicates = 120), "`duplicates` is 120; it must be less than `tools`");
}

#[test]
fn the_smoke_run_ends_with_numbers() {
    crate::cells::check_smoke("knapsack-composer");
}
