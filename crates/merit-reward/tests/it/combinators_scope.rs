//! Combinators that compare episodes: several groups, and broken members that never enter a comparison.

use crate::episodes::{Did, broken, episode};
use crate::groups::*;
use merit_core::{CallEnd, Episode, Reward};
use merit_reward::{COMBINATORS, Range, RewardState, ScoreContext, Scorer, conformance};
use serde_json::{Value, json};
use std::sync::Arc;

/// The rewards; absent where there is none.
fn rewards(scorer: &Scorer, episodes: &[Arc<Episode>]) -> Vec<Option<f64>> {
    let scored = scorer.score_batch(episodes, &ScoreContext::default(), &RewardState::default());
    scored
        .episodes
        .iter()
        .map(|scored| scored.score.as_ref().and_then(|score| score.reward.value()))
        .collect()
}

fn check(toml: &str, episodes: Vec<Episode>, want: &[Option<f64>]) {
    let got = rewards(&scorer(toml), &batch(episodes));
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        match (got, want) {
            (Some(got), Some(want)) => assert!((got - want).abs() < 1e-12, "{toml}: {got}, not {want}"),
            _ => assert_eq!(got, want, "{toml}"),
        }
    }
}

#[test]
fn a_gain_is_over_the_others_of_the_group_and_the_broken_are_not_among_them() {
    let episodes = vec![
        member(0, 0, 1),
        member(1, 0, 9),
        member(0, 1, 2),
        broken(member(0, 2, 100)),
        member(0, 3, 6),
        member(1, 1, 5),
        member(2, 0, 3),
    ];
    // Group 0 is 1, 2, 6: 1 − 4, 2 − 3.5, 6 − 1.5. Group 1 is 9, 5. Group 2 has nobody else.
    let want = [Some(-3.0), Some(4.0), Some(-1.5), None, Some(4.5), Some(-4.0), None];
    check(&format!("type = 'gain'\nbaseline = 'group'\nof = {CALLS}"), episodes.clone(), &want);
    let floored = [Some(0.0), Some(4.0), Some(0.0), None, Some(4.5), Some(0.0), None];
    check(
        &format!("type = 'gain'\nbaseline = 'group'\nfloor_at_zero = true\nof = {CALLS}"),
        episodes,
        &floored,
    );
}

#[test]
fn a_gain_over_the_tasks_references_needs_all_of_them() {
    let toml = format!("type = 'gain'\nbaseline = {{ payload = ['/none', '/one'] }}\nof = {EXACT}");
    let gain = |payload: Value| saying(member(0, 0, 1), payload);
    check(&toml, vec![gain(json!({ "none": 0.25, "one": 0.5 }))], &[Some(0.5)]);
    check(&toml, vec![gain(json!({ "none": 1, "one": 0 }))], &[Some(0.0)]);
    check(&toml, vec![gain(json!({ "none": 0.25 }))], &[None]);
    let score = scorer(&toml).score(&gain(json!({ "none": "low", "one": 1 })), &ScoreContext::default());
    assert!(matches!(&score.reward, Reward::GraderFailed { why } if why.contains("no number at `/none`")));
}

#[test]
fn what_a_gain_pays_by_turn_stays_where_it_was_earned() {
    let toml = "type = 'gain'\nbaseline = { payload = ['/ref'] }\nof = { type = 'tool-success' }";
    let score =
        scorer(toml).score(&saying(member(0, 0, 2), json!({ "ref": 0.25 })), &ScoreContext::default());
    // The calls earn 1 at turn 0; the baseline is taken away at the end.
    assert_eq!(score.reward.value(), Some(0.75));
    assert_eq!(score.turn_rewards, [1.0, 0.0]);
}

#[test]
fn a_pareto_rank_goes_by_fronts() {
    // Two objectives: the number of calls, here the more the better, and the answer.
    let toml = "type = 'pareto-rank'\nof = [{ type = 'cost', name = 'calls', per_call = 1.0, weight = -1.0 }, { type = 'exact-answer' }]";
    let wrong = |mut episode: Episode| {
        Arc::make_mut(&mut episode.task).answer = Some("8".into());
        episode
    };
    // (3, 1) and its equal dominate (3, 0) and (2, 1); (2, 1) and (3, 0) trade; both dominate (1, 0). Five are compared.
    let episodes = vec![
        member(0, 0, 3),
        member(0, 1, 3),
        wrong(member(0, 2, 3)),
        member(0, 3, 2),
        wrong(member(0, 4, 1)),
        broken(member(0, 5, 50)),
        member(1, 0, 1),
    ];
    check(toml, episodes, &[Some(1.0), Some(1.0), Some(0.75), Some(0.75), Some(0.5), None, None]);
    // A chain goes from 1 down to 0.
    let chain = vec![member(0, 0, 1), member(0, 1, 2), member(0, 2, 3)];
    check(toml, chain, &[Some(0.0), Some(0.5), Some(1.0)]);
}

fn team(more: &str) -> String {
    format!("type = 'team'\nof = {CALLS}\n{more}")
}

#[test]
fn a_team_by_group_shares_and_plays_against_the_rest() {
    let episodes =
        || vec![member(0, 0, 2), member(0, 1, 6), broken(member(0, 2, 80)), member(1, 0, 1), member(2, 0, 3)];
    // Team 0: 2 and 6, mean 4, the others 1 and 3, mean 2.
    // 0.7 · 2 + 0.3 · 4 − 2 = 0.6;  0.7 · 6 + 0.3 · 4 − 2 = 3.4.
    // Alone: 1 − mean(2, 6, 3);  3 − mean(2, 6, 1).
    let want = [Some(0.6), Some(3.4), None, Some(1.0 - 11.0 / 3.0), Some(0.0)];
    check(&team("team = 'group'\nspirit = 0.3\nopponents = 1.0"), episodes(), &want);
    let want = [Some(2.6), Some(5.4), None, Some(1.0), Some(3.0)];
    check(&team("team = 'group'\nspirit = 0.3\nopponents = 0.0"), episodes(), &want);
}

#[test]
fn a_team_by_payload_meets_only_its_match() {
    let player = |group: u32, side: &str, of_match: u32, calls: usize| {
        saying(
            member(group, 0, calls),
            json!({ "team": side, "match": of_match, "mode": if of_match == 2 { "drill" } else { "play" } }),
        )
    };
    let episodes = vec![
        player(0, "blue", 1, 4),
        player(1, "blue", 1, 2),
        player(2, "red", 1, 1),
        player(3, "blue", 2, 9),
        member(4, 0, 5),
    ];
    // Match 1: blue mean 3 against red 1. 0.5 · 4 + 0.5 · 3 − 1;  0.5 · 2 + 0.5 · 3 − 1;  1 − 3. Match 2: nobody to meet.
    // The last plays nowhere.
    let toml = team("team = { payload = '/team' }\nwithin = '/match'\nspirit = 0.5\nopponents = 1.0");
    check(&toml, episodes.clone(), &[Some(2.5), Some(1.5), Some(-2.0), Some(9.0), None]);
    // In the mode `play` the whole team is paid the same, and nothing is taken away.
    let modes = format!(
        "{toml}\nmodes = {{ by = '/mode', weights = {{ play = {{ spirit = 1.0, opponents = 0.0 }} }} }}"
    );
    check(&modes, episodes, &[Some(3.0), Some(3.0), Some(1.0), Some(9.0), None]);
}

#[test]
fn teams_of_different_steps_never_meet() {
    let mut later = member(1, 0, 100);
    later.id.step = 1;
    check(
        &team("team = 'group'\nspirit = 0.0\nopponents = 1.0"),
        vec![member(0, 0, 2), later],
        &[Some(2.0), Some(100.0)],
    );
}

#[test]
fn thread_counts_change_nothing() {
    let toml = format!(
        "type = 'sum'\nof = [{{ type = 'gain', baseline = 'group', of = {CALLS} }}, {{ type = 'team', team = 'group', spirit = 0.3, opponents = 1.0, of = {EXACT} }}]"
    );
    let scorer = scorer(&toml);
    let episodes = batch((0..60).map(|i| member(i / 6, i % 6, (i * 7 % 5) as usize)).collect());
    let with = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(|| rewards(&scorer, &episodes))
    };
    assert_eq!(with(1), with(7));
}

/// Groups of several sizes with wrong, silent, broken and cut members.
fn mixed() -> Vec<Episode> {
    let ends = [CallEnd::Ok, CallEnd::Refused];
    let mut all: Vec<Episode> = (0..12).map(|i| member(i / 4, i % 4, (i * 5 % 4) as usize)).collect();
    all.push(broken(member(1, 9, 3)));
    for (at, did) in [vec![Did::Babbles], vec![Did::Calls(&ends), Did::Babbles], vec![Did::Answers("8")]]
        .iter()
        .enumerate()
    {
        let mut odd = episode(Some("7"), 2, did);
        odd.id.group = 5;
        odd.id.member = at as u32;
        all.push(odd);
    }
    let kinds = ["lookup", "sum", "other"];
    let payload = |i: usize| json!({ "kind": kinds[i % 3], "team": i % 2, "match": i % 3, "references": { "no_search": 0.25, "one_search": 0.5 } });
    all.into_iter().enumerate().map(|(i, episode)| saying(episode, payload(i))).collect()
}

#[test]
fn every_example_keeps_the_rules_of_a_score_and_stays_in_its_range() {
    for component in COMBINATORS {
        let name = component.about.name;
        let scorer = scorer(&format!("type = '{name}'\n{}", component.example));
        assert_eq!(conformance::check_reward(&scorer, &mixed()), Vec::<String>::new(), "{name}");
        let Range { low, high } = scorer.range();
        let mut state = RewardState::default();
        for step in 0..4 {
            let context = ScoreContext { discount: 0.9, ..ScoreContext::at_step(step * 40) };
            let scored = scorer.score_batch(&batch(mixed()), &context, &state);
            for value in scored.episodes.iter().filter_map(|scored| scored.reward()) {
                assert!(
                    value >= low - 1e-12 && value <= high + 1e-12,
                    "{name}: {value} is outside {low} to {high}"
                );
            }
            state = scored.state;
        }
    }
}
