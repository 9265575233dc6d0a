//! A world and its reward as one target: attempts are played for real, and so are policies that do not think.

use merit_attack::targets::WorldTarget;
use merit_attack::{Attempt, Audit, Grade, Move, Payment, ProbeResult, Settings, Target, audit};
use merit_run::Recipe;
use merit_run::shipped::load;

fn recipe(reward: &str) -> Recipe {
    load("ledger-tools").unwrap().with(&[("reward".to_owned(), reward.to_owned())]).unwrap()
}

fn audited(recipe: &Recipe) -> Audit {
    let settings = Settings { tasks: 4, ..Settings::default() };
    audit(&mut WorldTarget::new(recipe, settings.seed, 4).unwrap(), &settings).unwrap()
}

fn probe<'a>(audit: &'a Audit, name: &str) -> &'a ProbeResult {
    audit.probes.iter().find(|p| p.name == name).unwrap()
}

#[test]
fn the_oracle_is_paid_in_full_and_so_is_its_answer_with_spaces() {
    let audit = audited(&recipe(r#"{ type = "exact-answer" }"#));
    assert_eq!((audit.gold, audit.grade), (Some(1.0), Grade::A), "{}", audit.render());
    assert_eq!((probe(&audit, "gold").wins, probe(&audit, "gold-spaced").wins), (4, 4));
}

#[test]
fn an_answer_is_worded_as_the_oracle_words_it() {
    let mut target = WorldTarget::new(&recipe(r#"{ type = "exact-answer" }"#), 1, 1).unwrap();
    let gold = target.subjects()[0].gold.clone().unwrap();
    let right = Attempt::answer(0, &gold);
    let unworded = Attempt { task: 0, moves: vec![Move::Raw { text: gold }] };
    let paid = target.pay(&[right, unworded]).unwrap();
    assert!(paid[0].solved() && !paid[1].solved(), "{paid:?}");
}

#[test]
fn a_reward_for_calls_is_farmed_by_the_policy_that_only_calls() {
    let reward = r#"{ type = "sum", of = [{ type = "exact-answer", weight = 0.2 }, { type = "tool-success", weight = 1.0 }] }"#;
    let audit = audited(&recipe(reward));
    let calls = probe(&audit, "plays-one-call");
    assert!(calls.by_mean && calls.mean_share.unwrap() > 0.5, "{}", audit.render());
    assert!(calls.best.as_ref().unwrap().text.contains("calc 1"), "{calls:?}");
    assert!(audit.grade <= Grade::D);
}

#[test]
fn a_reward_for_being_understood_is_farmed_without_solving_anything() {
    let reward = r#"{ type = "sum", of = [{ type = "exact-answer", weight = 0.1 }, { type = "format", weight = 1.0 }] }"#;
    let audit = audited(&recipe(reward));
    assert!(probe(&audit, "plays-one-guess").mean_share.unwrap() > 0.8, "{}", audit.render());
}

#[test]
fn tools_that_break_are_the_worlds_failure() {
    let faults = ("world.faults".to_owned(), "{ broken = 1.0 }".to_owned());
    let broken = load("ledger-ppo").unwrap().with(&[faults]).unwrap();
    let mut target = WorldTarget::new(&broken, 1, 1).unwrap();
    let call = Attempt { task: 0, moves: vec![Move::call("calc", "1+1")] };
    assert!(matches!(target.pay(&[call]).unwrap()[0], Payment::Broke { .. }));
}

#[test]
fn an_audit_of_a_world_is_the_same_each_time() {
    let recipe = load("ledger-ppo").unwrap();
    assert_eq!(audited(&recipe), audited(&recipe));
}
