//! Rules that read what the world and the terms say of each turn, against numbers worked out by hand.

use merit_core::{Group, Outcome, ScoredEpisode, TermOutcome, TermScore};
use merit_credit::conformance::Sketch;
use merit_credit::rules::{ChecklistStep, KeyedGroups};
use merit_credit::{Credit, CreditBatch, CreditError, CreditRule};
use std::sync::Arc;

/// An episode of one token a turn: what each turn was paid, and the round that the world told there.
fn told(member: u32, paid: &[f64], rounds: &[Option<f64>]) -> ScoredEpisode {
    let sketch = Sketch::new(&vec![(1, 1); paid.len()], Outcome::PolicyWrong, paid.iter().sum());
    let mut scored = Sketch { turn_rewards: paid.to_vec(), ..sketch }.scored(0, member);
    let episode = Arc::make_mut(&mut scored.episode);
    for (turn, round) in episode.turns.iter_mut().zip(rounds) {
        turn.info = round.iter().map(|round| ("round", *round)).collect();
    }
    scored
}

/// An episode of one token a turn, and the yes or no of each item at each turn.
fn judged(member: u32, turns: usize, items: &[(&str, &[usize])]) -> ScoredEpisode {
    let mut scored = Sketch::new(&vec![(1, 1); turns], Outcome::PolicyWrong, 0.0).scored(0, member);
    let term = |(name, yes): &(&str, &[usize])| {
        let told = (0..turns).map(|turn| Some(f64::from(u8::from(yes.contains(&turn)))));
        let nothing = TermOutcome::Value { value: 0.0 };
        TermScore::new(*name, nothing).with_weight(0.25).with_turns(told.collect())
    };
    if let Some(score) = &mut scored.score {
        score.terms = items.iter().map(term).collect();
    }
    scored
}

fn assign(rule: &dyn CreditRule, members: Vec<ScoredEpisode>) -> Result<Credit, CreditError> {
    rule.assign(&CreditBatch::new(&[Group::assemble(members).unwrap()]))
}

/// The advantage of every turn of every member.
fn by_turn(rule: &dyn CreditRule, members: Vec<ScoredEpisode>) -> Vec<Vec<f64>> {
    let credit = assign(rule, members).unwrap();
    let turns = |sample: &merit_core::Sample| {
        let advantages = sample.advantages.clone().unwrap();
        sample.turns.iter().map(|range| f64::from(advantages[range.start])).collect()
    };
    credit.samples.iter().map(turns).collect()
}

fn close(got: &[Vec<f64>], want: &[&[f64]]) {
    assert_eq!(
        got.iter().map(Vec::len).collect::<Vec<_>>(),
        want.iter().map(|w| w.len()).collect::<Vec<_>>()
    );
    let pairs = got.iter().flatten().zip(want.iter().copied().flatten());
    assert!(pairs.into_iter().all(|(got, want)| (got - want).abs() < 1e-5), "{got:?}, not {want:?}");
}

fn by_round() -> KeyedGroups {
    KeyedGroups { key: Some("round".to_owned()), ..KeyedGroups::default() }
}

#[test]
fn a_round_is_compared_with_the_same_round_however_many_turns_it_has() {
    // Round 0 earns 1, 1 and 0: mean 2/3. The first takes two turns for it, and both are credited with the whole. Round 1 is reached by
    // two, which earn 2 and 0: mean 1. Rounds are rounded.
    let members = vec![
        told(0, &[0.0, 1.0, 2.0], &[Some(0.0), Some(0.4), Some(1.0)]),
        told(1, &[1.0, 0.0, 0.0], &[Some(0.0), Some(1.0), Some(1.0)]),
        told(2, &[0.0], &[Some(0.0)]),
    ];
    let third = 1.0 / 3.0;
    let want: [&[f64]; 3] = [&[third, third, 1.0], &[third, -1.0, -1.0], &[-2.0 * third]];
    close(&by_turn(&by_round(), members.clone()), &want);
    // Round 0: squares 2 · 1/9 + 4/9 = 2/3, std sqrt(1/3) = 0.577350; round 1: std sqrt(2).
    let scaled = KeyedGroups { scale_by_std: true, ..by_round() };
    let [a, b] = [third / (third.sqrt() + 1e-6), 1.0 / (2.0_f64.sqrt() + 1e-6)];
    close(&by_turn(&scaled, members), &[&[a, a, b], &[a, -b, -b], &[-2.0 * a]]);
}

#[test]
fn a_round_that_one_member_reached_is_compared_with_nobody() {
    // The second round of the first member has three turns and is compared with nobody, not with itself.
    let first = told(0, &[1.0, 5.0, 0.0, 3.0], &[Some(0.0), Some(1.0), Some(1.0), Some(1.0)]);
    let got = by_turn(&by_round(), vec![first, told(1, &[0.0], &[Some(0.0)])]);
    close(&got, &[&[0.5, 0.0, 0.0, 0.0], &[-0.5]]);
}

#[test]
fn a_turn_that_the_world_did_not_hear_is_of_no_round_and_a_key_that_it_never_tells_is_refused() {
    let cut = |member| told(member, &[1.0, f64::from(member)], &[Some(0.0), None]);
    close(&by_turn(&by_round(), vec![cut(0), cut(1)]), &[&[0.0, -0.5], &[0.0, 0.5]]);
    let error = assign(&KeyedGroups { key: Some("phase".to_owned()), ..by_round() }, vec![cut(0), cut(1)]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("the info `phase`"), "{error}");
}

fn two_items() -> ChecklistStep {
    ChecklistStep { items: vec!["found".to_owned(), "told".to_owned()], scale_by_std: false }
}

#[test]
fn each_turn_is_judged_by_the_item_that_is_open_there() {
    // Found by 3 of 4, told by 1 of 4. Who finds is credited from its first turn to the one that finds; who has all has nothing open.
    let members = vec![
        judged(0, 4, &[("found", &[1]), ("told", &[2])]),
        judged(1, 2, &[("found", &[0]), ("told", &[])]),
        judged(2, 1, &[("found", &[0]), ("told", &[])]),
        judged(3, 2, &[("found", &[]), ("told", &[1])]),
    ];
    let want: [&[f64]; 4] = [&[0.25, 0.25, 0.75, 0.0], &[0.25, -0.25], &[0.25], &[-0.75, -0.75]];
    close(&by_turn(&two_items(), members.clone()), &want);
    // Without names, every term that is told by turn, in the order of the reward.
    close(&by_turn(&ChecklistStep::default(), members), &want);
}

#[test]
fn an_item_pays_once() {
    // Seen at three turns, it passes at the first; what is open then is the next item, and its yes at the same turn came too early.
    let again = judged(0, 4, &[("found", &[0, 1, 3]), ("told", &[0])]);
    let never = judged(1, 2, &[("found", &[]), ("told", &[])]);
    close(&by_turn(&two_items(), vec![again, never]), &[&[0.5, 0.0, 0.0, 0.0], &[-0.5, -0.5]]);
}

#[test]
fn std_makes_noise_larger() {
    // All eight did it, and a judge missed one: share 7/8. Unbiased std: squares 7 · 1/64 + 49/64 = 7/8, sqrt(1/8) = 0.353553. The one that
    // was missed gets -0.875, or -2.474867 with std; in an even group nobody gets more than 0.5 / sqrt(2/7) = 0.935414.
    let members = |passing: u32| -> Vec<ScoredEpisode> {
        let yes = |member: u32| if member < passing { &[0][..] } else { &[] };
        (0..8).map(|member| judged(member, 1, &[("found", yes(member)), ("told", &[])])).collect()
    };
    let scaled = ChecklistStep { scale_by_std: true, ..two_items() };
    let least = |rule: &ChecklistStep, passing| by_turn(rule, members(passing))[7][0];
    for (rule, passing, want) in [
        (two_items(), 7, -0.875),
        (two_items(), 4, -0.5),
        (scaled.clone(), 7, -2.474867),
        (scaled, 4, -0.935414),
    ] {
        let got = least(&rule, passing);
        assert!((got - want).abs() < 1e-4, "{passing} pass: {got}, not {want}");
    }
}

#[test]
fn an_item_that_no_term_tells_by_turn_is_refused() {
    let rule = ChecklistStep { items: vec!["found".to_owned(), "thanked".to_owned()], scale_by_std: false };
    let error = assign(&rule, vec![judged(0, 1, &[("found", &[0])])]).unwrap_err().to_string();
    assert!(error.contains("the item `thanked`") && error.contains("`per_turn = true`"), "{error}");
}
