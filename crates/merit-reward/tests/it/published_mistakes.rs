//! Mistakes that published rewards are known for, each with the numbers that show it. The rewards are those of the systems' files.

use crate::episodes::{Did, episode};
use merit_core::{Episode, Reward};
use merit_reward::{RewardConfig, ScoreContext, Scorer};

fn earned(reward: &str, episode: &Episode) -> f64 {
    let scorer = Scorer::compile(&RewardConfig::from_toml(reward).unwrap()).unwrap();
    match scorer.score(episode, &ScoreContext::default()).reward {
        Reward::Value { value } => value,
        other => panic!("{other:?}"),
    }
}

/// An episode whose turns have these numbers.
fn told(turns: &[&[(&'static str, f64)]]) -> Episode {
    let mut made = episode(None, 1, &vec![Did::Babbles; turns.len()]);
    for (turn, info) in made.turns.iter_mut().zip(turns) {
        *turn = turn.clone().with_info(info.iter().copied());
    }
    made
}

fn info(key: &str, weight: f64) -> String {
    format!("{{ type = 'info', name = '{key}', key = '{key}', weight = {weight} }}")
}

#[test]
fn an_additive_rubric_out_pays_correctness_unless_gated() {
    // Right and as slow as before, with a program of its own; and one that calls what it was told behind the clock's back.
    let honest = told(&[&[("hacked", 0.0), ("speedup_leaky", 1.0), ("own_share", 1.0)]]);
    let cheat = told(&[&[("hacked", 1.0), ("speedup_leaky", 8.0), ("own_share", 0.0)]]);
    let clock = format!("{{ type = 'clip', low = 0.0, high = 1.5, of = {} }}", info("speedup_leaky", 0.8));
    let rubric = info("own_share", 0.3);
    let added = format!("type = 'sum'\nof = [{clock}, {rubric}]");
    let pay =
        |reward: &str| [earned(reward, &honest), earned(reward, &cheat)].map(|pay| (pay * 10.0).round());
    // 0.8 + 0.3 against 1.5 + 0.
    assert_eq!(pay(&added), [11.0, 15.0]);
    let veto = format!(
        "{{ type = 'veto', when = {}, at_least = 1.0, value = 0.0, then = {clock} }}",
        info("hacked", 1.0)
    );
    assert_eq!(pay(&format!("type = 'sum'\nof = [{veto}, {rubric}]")), [11.0, 0.0]);
}

#[test]
fn per_step_pay_is_farmed_without_a_cap() {
    // Three lines and a right answer; fifteen harmless lines and none.
    let works = told(&[&[("lines", 3.0), ("right", 1.0)]]);
    let farms = told(&[&[("lines", 15.0), ("right", 0.0)]]);
    let (answer, lines) = (info("right", 1.0), info("lines", 0.1));
    let plain = format!("type = 'sum'\nof = [{answer}, {lines}]");
    assert!(earned(&plain, &farms) > earned(&plain, &works));
    let capped =
        format!("type = 'sum'\nof = [{answer}, {{ type = 'clip', low = -0.4, high = 0.2, of = {lines} }}]");
    assert!((earned(&capped, &works) - 1.2).abs() < 1e-12 && (earned(&capped, &farms) - 0.2).abs() < 1e-12);
}

#[test]
fn the_bonus_is_paid_on_right_verdicts_only() {
    let bonus = "type = 'per-turn'
reduce = 'sum'
of = { type = 'gate', when = { type = 'info', name = 'right-now', key = 'right', per_turn = true }, at_least = 1.0, then = \
{ type = 'info', name = 'computed', key = 'checked', per_turn = true, weight = 0.05 } }";
    let verdicts = |right: f64, checked: f64| told(&[&[("right", right), ("checked", checked)][..]; 2]);
    assert!((earned(bonus, &verdicts(1.0, 1.0)) - 0.1).abs() < 1e-12);
    assert_eq!((earned(bonus, &verdicts(0.0, 1.0)), earned(bonus, &verdicts(1.0, 0.0))), (0.0, 0.0));
}
