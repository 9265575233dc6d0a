//! Search over episodes: the best path of a small world is found, every step is counted, and what is chosen is an episode like any other.

use crate::common::run::run;
use crate::common::{plan, plan_with};
use merit_core::conformance::check_episode;
use merit_core::{Action, End, Episode, Provenance};
use merit_rollout::{
    Beam, BestFirst, BestOf, Cue, EpisodePlan, Leaf, Mcts, Reply, RolloutSettings, SearchSettings, Searched,
};
use serde_json::json;

/// Two calls with a digit below 3, then the digit as the answer.
fn script(cue: &Cue) -> Reply {
    let digit = cue.seed.stream().below(3);
    Reply::Say(if cue.turns.len() == 2 {
        format!("answer {digit}\n")
    } else {
        format!("call add 0 {digit}\n")
    })
}

fn digits(episode: &Episode) -> Vec<f64> {
    let digit = |text: &str| text.trim().chars().last().and_then(|c| c.to_digit(10)).map_or(0.0, f64::from);
    let of = |action: &Action| match action {
        Action::Calls { calls } => digit(&calls[0].input),
        Action::Answer { text } => digit(text),
        _ => 0.0,
    };
    episode.turns.iter().map(|turn| of(&turn.action)).collect()
}

fn sum(episode: &Episode) -> f64 {
    digits(episode).iter().sum()
}

/// A trap: 1 looks best at first, and only what begins with 0 ends well.
fn trap(episode: &Episode) -> f64 {
    match (digits(episode)[0] as u32, episode.turns.len()) {
        (1, 1 | 2) => 5.0,
        (0, 3) => 9.0,
        _ => 0.0,
    }
}

fn search(how: &SearchSettings, plans: Vec<EpisodePlan>, value: fn(&Episode) -> f64) -> Searched {
    let settings = RolloutSettings::default();
    how.check().unwrap();
    let found = how.search(
        plans,
        &settings,
        |round| Ok::<_, ()>(run(round, &settings, script)),
        |episodes| {
            Ok(episodes.iter().map(|one| Some(value(one)).filter(|_| !one.turns.is_empty())).collect())
        },
    );
    found.unwrap()
}

fn beam(keep: u32, tries: u32) -> SearchSettings {
    SearchSettings::Beam(Beam { value: "any".into(), keep, tries })
}

fn best_first(tries: u32, steps: u32) -> SearchSettings {
    SearchSettings::BestFirst(BestFirst { value: "any".into(), tries, steps })
}

fn mcts(tries: u32, steps: u32, leaf: Leaf) -> SearchSettings {
    SearchSettings::Mcts(Mcts { value: "any".into(), tries, steps, explore: 1.0, leaf })
}

fn best_of(samples: u32) -> SearchSettings {
    SearchSettings::BestOf(BestOf { value: "any".into(), samples })
}

#[test]
fn every_strategy_finds_the_best_path_with_enough_tries() {
    for how in [
        beam(2, 12),
        best_first(12, 400),
        mcts(8, 400, Leaf::Playout),
        mcts(8, 400, Leaf::Here),
        best_of(200),
    ] {
        let found = search(&how, vec![plan(0), plan(1)], sum);
        assert_eq!(found.episodes.len(), 2);
        for (episode, member) in found.episodes.iter().zip(0..) {
            assert_eq!(digits(episode), [2.0, 2.0, 2.0], "{how:?}");
            assert_eq!((episode.id.member, episode.id.branch, &episode.end), (member, 0, &End::Answered));
        }
    }
}

#[test]
fn a_playout_sees_through_a_trap_that_a_beam_walks_into() {
    assert_eq!(digits(&search(&beam(1, 12), vec![plan(0)], trap).episodes[0])[0], 1.0);
    assert_eq!(digits(&search(&mcts(8, 60, Leaf::Playout), vec![plan(0)], trap).episodes[0])[0], 0.0);
}

#[test]
fn every_step_is_counted() {
    // Three turns with two tries each: 6 steps; those of turn 1 repeat one step, those of turn 2 repeat two.
    let found = search(&beam(1, 2), vec![plan(0)], sum);
    assert_eq!((found.cost.env_steps, found.cost.probe_steps, found.valued), (6, 2 + 4, 6));
    let found = search(&best_of(4), vec![plan(0)], sum);
    assert_eq!((found.cost.env_steps, found.cost.probe_steps, found.valued), (12, 0, 4));
    // A playout may begin while a step is left, and takes at most two more.
    let found = search(&mcts(4, 20, Leaf::Playout), vec![plan(0)], sum);
    assert!((20..=22).contains(&found.cost.env_steps), "{:?}", found.cost);
}

#[test]
fn a_best_first_search_that_runs_out_of_steps_plays_its_best_to_the_end() {
    // One node is gone on from, then the budget is spent; one more try takes the two turns that are left.
    let found = search(&best_first(3, 3), vec![plan(0)], sum);
    assert_eq!((found.cost.env_steps, found.valued), (3 + 2, 4));
    assert_eq!(found.episodes[0].end, End::Answered);
}

#[test]
fn what_is_chosen_is_an_episode_of_its_own() {
    let found = search(&beam(2, 4), vec![plan(0)], sum);
    let episode = &found.episodes[0];
    assert_eq!(check_episode(episode), Vec::<String>::new());
    assert!(episode.transcript.segments().iter().all(|s| s.provenance == Provenance::Sampled));
    // Its tokens are among what was sampled, and each was paid once.
    assert!(found.cost.policy_tokens > episode.cost.policy_tokens);
    let again = search(&beam(2, 4), vec![plan(0)], sum);
    assert_eq!(again.episodes[0].content_hash(), episode.content_hash());
}

#[test]
fn a_task_is_searched_alike_beside_others() {
    let alone = search(&mcts(4, 24, Leaf::Playout), vec![plan(1)], sum);
    let beside = search(&mcts(4, 24, Leaf::Playout), vec![plan(0), plan(1), plan(2)], sum);
    assert_eq!(alone.episodes[0].content_hash(), beside.episodes[1].content_hash());
}

#[test]
fn a_task_whose_every_try_breaks_gives_what_broke() {
    for how in [beam(2, 3), best_first(3, 9), mcts(3, 9, Leaf::Playout), best_of(3)] {
        let found = search(&how, vec![plan_with(0, json!({"break": "act"})), plan(1)], sum);
        assert!(matches!(found.episodes[0].end, End::Failed { .. }), "{how:?}");
        assert_eq!(found.episodes[1].end, End::Answered);
    }
}

#[test]
fn what_cannot_be_searched_is_refused() {
    for (how, key) in [
        (best_of(1), "search.samples"),
        (beam(0, 3), "search.keep"),
        (beam(1, 1), "search.tries"),
        (best_first(2, 0), "search.steps"),
    ] {
        assert!(how.check().unwrap_err().contains(key));
    }
    let SearchSettings::Mcts(ok) = mcts(2, 8, Leaf::Here) else { panic!() };
    let wild = SearchSettings::Mcts(Mcts { explore: f64::NAN, ..ok });
    assert!(wild.check().unwrap_err().contains("search.explore"));
}
