//! Blends, geometric means, utilities with costs and ensembles over one episode, on numbers worked out by hand.

use crate::episodes::{Did, episode};
use crate::parts::*;
use merit_core::{CallEnd, Reward};
use proptest::prelude::*;

const OK: CallEnd = CallEnd::Ok;

fn blend(of: &str, with: &str, from: f64, to: f64) -> String {
    format!(
        "type = 'blend'\nof = {of}\nwith = {with}\nshare = {{ from = {from:?}, to = {to:?}, start_step = 0, end_step = 100 }}"
    )
}

#[test]
fn a_blend_moves_from_one_part_to_the_other() {
    // Atom-Searcher: a(T) = 0.5 · (1 − T / 100), process 0.4, outcome 1.
    let toml = blend(&part("process", 0.4), &part("outcome", 1.0), 0.5, 0.0);
    check_at(0, &toml, &right(), 0.5 * 0.4 + 0.5 * 1.0);
    check_at(50, &toml, &right(), 0.25 * 0.4 + 0.75 * 1.0);
    check_at(100, &toml, &right(), 1.0);
    check_at(1000, &toml, &right(), 1.0);
}

#[test]
fn in_a_blend_the_part_that_applies_counts_whole() {
    let toml = blend(SILENT, &part("outcome", 0.8), 0.5, 0.0);
    check(&toml, &right(), 0.8);
    // With no share left for what applies, nothing does.
    let toml = blend(&part("process", 0.4), SILENT, 0.0, 0.0);
    assert!(matches!(reward_at(&toml, &right(), 0), Reward::Unscorable { .. }));
}

#[test]
fn shares_outside_0_to_1_are_refused() {
    assert!(refusal(&blend(&part("a", 1.0), &part("b", 1.0), 1.5, 0.0)).contains("between 0 and 1"));
    assert!(refusal(&blend(&part("a", 1.0), &part("b", 1.0), 0.5, f64::INFINITY)).contains("must be finite"));
}

fn geometric(values: &[f64], weights: Option<&[f64]>) -> String {
    let of: Vec<String> =
        values.iter().enumerate().map(|(i, value)| part(&format!("p{i}"), *value)).collect();
    let weights = weights.map_or_else(String::new, |w| format!("weights = {w:?}\n"));
    format!("type = 'geometric-mean'\n{weights}of = [{}]", of.join(", "))
}

#[test]
fn hundreds_of_tiny_factors_do_not_vanish() {
    check(&geometric(&[1e-3; 200], None), &right(), 1e-3);
}

#[test]
fn a_geometric_mean_wants_all_parts_together() {
    check(&geometric(&[0.25, 1.0], None), &right(), 0.5);
    check(&geometric(&[0.125, 1.0, 1.0], None), &right(), 0.5);
    // A zero rules, even beside a negative part; one negative part makes the whole negative, and so do two.
    check(&geometric(&[0.0, 1.0], None), &right(), 0.0);
    check(&geometric(&[0.0, -1.0], None), &right(), 0.0);
    check(&geometric(&[-0.25, 1.0], None), &right(), -0.5);
    check(&geometric(&[-0.25, -1.0], None), &right(), -0.5);
    // Exponents 2/3 and 1/3: (0.125² · 1)^(1/3) = 0.25.
    check(&geometric(&[0.125, 1.0], Some(&[2.0, 1.0])), &right(), 0.25);
    assert!(refusal(&geometric(&[1.0, 1.0], Some(&[1.0, 0.0]))).contains("above 0"));
    assert!(refusal(&geometric(&[1.0, 1.0], Some(&[1.0]))).contains("1 entries for 2 parts"));
}

proptest! {
    #[test]
    fn a_geometric_mean_keeps_order_sign_and_scale(values in prop::collection::vec(-2.0..2.0_f64, 1..6), c in 0.1..10.0_f64) {
        let value = |values: &[f64]| reward_at(&geometric(values, None), &right(), 0).value().unwrap();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9);
        let mean = value(&values);
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        prop_assert!(close(value(&reversed), mean));
        let scaled: Vec<f64> = values.iter().map(|x| c * x).collect();
        prop_assert!(close(value(&scaled), c * mean));
        let negative = values.iter().any(|x| *x < 0.0);
        prop_assert_eq!(mean < 0.0, negative && values.iter().all(|x| *x != 0.0));
        let (least, most) = values.iter().fold((f64::MAX, 0.0_f64), |(l, m), x| (l.min(x.abs()), m.max(x.abs())));
        prop_assert!(mean.abs() >= least * (1.0 - 1e-9) && mean.abs() <= most * (1.0 + 1e-9));
        let mut with_zero = values.clone();
        with_zero.push(0.0);
        prop_assert_eq!(value(&with_zero), 0.0);
    }
}

#[test]
fn alpha_weighs_the_cost() {
    let spent = episode(Some("7"), 1, &[Did::Calls(&[OK, OK]), Did::Answers("7")]);
    let parts = "utility = { type = 'exact-answer' }\ncost = { type = 'cost', per_call = 0.25 }";
    check(&format!("type = 'pareto'\nalpha = 0.2\n{parts}"), &spent, 1.0 - 0.2 * 0.5);
    let swept = format!(
        "type = 'pareto'\nsweep = {{ from = 0.0, to = 0.4, start_step = 0, end_step = 10 }}\n{parts}"
    );
    check_at(0, &swept, &spent, 1.0);
    check_at(5, &swept, &spent, 1.0 - 0.2 * 0.5);
    check_at(10, &swept, &spent, 1.0 - 0.4 * 0.5);
    for (toml, want) in [
        (format!("type = 'pareto'\n{parts}"), "exactly one of"),
        (format!("type = 'pareto'\nalpha = -0.1\n{parts}"), "pay for being expensive"),
        (format!("{swept}\nalpha = 1.0"), "exactly one of"),
    ] {
        let got = refusal(&toml);
        assert!(got.contains(want), "{got}");
    }
}

#[test]
fn without_a_utility_a_cost_is_worth_nothing() {
    let toml = format!("type = 'pareto'\nalpha = 1.0\nutility = {SILENT}\ncost = {}", part("cost", -1.0));
    assert!(matches!(reward_at(&toml, &right(), 0), Reward::Unscorable { .. }));
    let toml = format!("type = 'pareto'\nalpha = 1.0\nutility = {}\ncost = {SILENT}", part("utility", 0.5));
    check(&toml, &right(), 0.5);
}

fn ensemble(rule: &str, said: &[f64], more: &str) -> String {
    let of: Vec<String> = said.iter().enumerate().map(|(i, value)| part(&format!("j{i}"), *value)).collect();
    format!("type = 'ensemble'\nrule = '{rule}'\n{more}\nof = [{}]", of.join(", "))
}

#[test]
fn judges_are_taken_together_by_the_rule() {
    let said = [0.2, 0.9, 0.4];
    check(&ensemble("mean", &said, ""), &right(), 0.5);
    check(&ensemble("median", &said, ""), &right(), 0.4);
    check(&ensemble("median", &[0.2, 0.9, 0.4, 0.6], ""), &right(), 0.5);
    check(&ensemble("min", &said, ""), &right(), 0.2);
    check(&ensemble("majority", &said, ""), &right(), 0.0);
    check(&ensemble("majority", &[0.5, 0.9, 0.4], ""), &right(), 1.0);
    // A tie is no majority.
    check(&ensemble("majority", &[1.0, 0.0], ""), &right(), 0.0);
    check_says(
        &ensemble("majority", &[1.0, 1.0, 1.0, 0.0], ""),
        &right(),
        "4 of 4 judges; disagreement 0.25",
    );
}

#[test]
fn judges_that_disagree_too_much_abstain_or_cost() {
    // Standard deviation of 0 and 1 is 0.5.
    check(&ensemble("mean", &[0.0, 1.0], "penalty = 0.4"), &right(), 0.5 - 0.4 * 0.5);
    check(&ensemble("mean", &[0.0, 1.0], "abstain_above = 0.5"), &right(), 0.5);
    let reward = reward_at(&ensemble("mean", &[0.0, 1.0], "abstain_above = 0.4"), &right(), 0);
    assert!(
        matches!(&reward, Reward::Unscorable { why } if why.contains("disagree by 0.5, above 0.4")),
        "{reward:?}"
    );
    // A judge who has nothing to say is left out; one alone cannot disagree.
    let toml =
        format!("type = 'ensemble'\nrule = 'mean'\nabstain_above = 0.0\nof = [{SILENT}, {}]", part("a", 0.7));
    check(&toml, &right(), 0.7);
    check_says(&toml, &right(), "1 of 2 judges; disagreement 0");
    assert!(refusal(&ensemble("mean", &[1.0], "")).contains("at least two judges"));
    assert!(refusal(&ensemble("mean", &[1.0, 0.0], "penalty = 0.0")).contains("above 0"));
    assert!(refusal(&ensemble("mean", &[1.0, 0.0], "abstain_above = -1.0")).contains("at least 0"));
}
