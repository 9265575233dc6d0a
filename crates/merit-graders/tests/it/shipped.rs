//! The rewards in `rewards/`: what they pay for, and what they do not pay for.

use crate::support::*;
use merit_core::CallEnd::{Ok as Ran, Refused};
use merit_core::Episode;
use merit_reward::{REWARDS, RewardConfig, Scorer, check_with, conformance, shipped};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn reward(name: &str) -> &'static str {
    shipped(name).unwrap().text
}

fn paid(name: &str, episode: &Episode) -> Option<f64> {
    score(reward(name), episode).reward.value()
}

fn check_paid(name: &str, episode: &Episode, want: f64) {
    let got = paid(name, episode);
    assert!(
        got.is_some_and(|got| (got - want).abs() < 1e-9),
        "{name}: {got:?}, not {want}: {:?}",
        score(reward(name), episode)
    );
}

/// None of these earns more than 15% of what the right one does.
fn check_unpaid(name: &str, gold: &Episode, attacks: &[Episode]) {
    let full = paid(name, gold).unwrap();
    for attack in attacks {
        let got = paid(name, attack).unwrap_or(0.0);
        assert!(got <= 0.15 * full, "{name}: {got} of {full} for {:?}", attack.turns);
    }
}

#[test]
fn the_folder_and_the_registry_coincide() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rewards");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|file| file.strip_suffix(".toml").map(str::to_owned))
        .collect();
    let listed: BTreeSet<String> = REWARDS.iter().map(|reward| reward.about.name.to_owned()).collect();
    assert_eq!(files, listed);
    assert!(shipped("math").unwrap_err().to_string().contains("did you mean `maths`?"));
}

#[test]
fn every_shipped_reward_compiles_conforms_tells_solved_and_says_why() {
    let episodes = [
        play(Some("7"), Value::Null, &[Did::Answers("7")]),
        imported(play(None, json!({"actions": [], "outputs": []}), &[Did::Says("x")])),
        play(None, Value::Null, &[Did::Babbles]),
        play(None, Value::Null, &[]),
        broken(answers("7", "7")),
    ];
    for shipped in REWARDS {
        let name = shipped.about.name;
        let opening: String = shipped.text.lines().map_while(|line| line.strip_prefix('#')).collect();
        assert!(
            opening.contains("pays") || opening.contains("Pays") || opening.contains("paid"),
            "{name}: {opening}"
        );
        let config: RewardConfig =
            merit_graders::from_toml(shipped.text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let scorer = Scorer::compile(&config).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(scorer.tells_solved(), "{name}");
        let explains = scorer.term_names().len() == 1 || opening.contains("plain weighted sum");
        assert!(explains, "{name} does not say why it is not a plain weighted sum: {opening}");
        assert_eq!(conformance::check_reward(&scorer, &episodes), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_checker_finds_no_error_in_a_shipped_reward() {
    for shipped in REWARDS {
        let config: RewardConfig = merit_graders::from_toml(shipped.text).unwrap();
        let found = check_with(&config, &[]).unwrap();
        let errors: Vec<_> = found.iter().filter(|w| w.severity == merit_reward::Severity::Error).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", shipped.about.name);
    }
}

fn texts(right: Option<&str>, payload: &Value, given: &[&str]) -> Vec<Episode> {
    let mut made: Vec<Episode> =
        given.iter().map(|given| play(right, payload.clone(), &[Did::Answers(given)])).collect();
    let farm = Did::Calls(&[("search", "1", Ran, ""), ("calc", "1", Ran, "")]);
    let mut farmed = vec![farm; 20];
    farmed.push(Did::Answers("unknown"));
    made.push(play(right, payload.clone(), &farmed));
    made.push(play(right, payload.clone(), &[]));
    made.push(play(right, payload.clone(), &[Did::Says("<think>well</think>")]));
    made
}

const JUNK: [&str; 9] = [
    "",
    " \t\n",
    "qqq zzz",
    "What is to be done?",
    "{}",
    "[]",
    "null",
    r"\boxed{}",
    "<think></think><answer></answer>",
];

#[test]
fn maths_pays_right_answers_and_their_box() {
    check_paid("maths", &answers("42", r"\boxed{42}"), 1.0);
    check_paid("maths", &answers("42", "42"), 0.95);
    let long = format!("42 {}", "the answer is unknown. ".repeat(4000));
    let tricks =
        ["40, 41, 42, 43", r"\boxed{42} and \boxed{41}", "either 42 or 41", "42%", "-42", "4200", &long];
    let attacks = texts(Some("42"), &Value::Null, &[&JUNK[..], &tricks].concat());
    check_unpaid("maths", &answers("42", "42"), &attacks);
}

#[test]
fn search_qa_pays_the_answer_and_evidence_behind_it() {
    let fact = "The Eiffel Tower stands in Paris.";
    let cited = |answer| {
        let text = "<evidence>The Eiffel Tower stands in Paris [1].</evidence>";
        play(
            Some("Paris"),
            Value::Null,
            &[Did::Calls(&[("search", "eiffel", Ran, fact)]), Did::Writes(text, answer)],
        )
    };
    check_paid("search-qa", &cited("Paris"), 1.0);
    check_paid("search-qa", &answers("Paris", "paris."), 0.8);
    let long = format!("Paris {}", "or so they say ".repeat(500));
    let tricks = [
        "London, Rome, Paris, Berlin",
        "London or Paris",
        "either Paris or London",
        "Paris/London",
        "Рaris",
        &long,
    ];
    let mut attacks = texts(Some("Paris"), &Value::Null, &[&JUNK[..], &tricks].concat());
    attacks.push(cited("London"));
    check_unpaid("search-qa", &answers("Paris", "Paris"), &attacks);
}

#[test]
fn json_object_pays_content_behind_validity() {
    let schema = json!({"type": "object", "required": ["city", "n"], "additionalProperties": false,
        "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}});
    let payload = json!({ "schema": schema });
    let right = r#"{"city": "Rome", "n": 3}"#;
    let gold = play(Some(right), payload.clone(), &[Did::Answers(right)]);
    check_paid("json-object", &gold, 1.0);
    let fenced = format!("```json\n{right}\n```");
    let twice = format!("{right}\n{right}");
    let handed_back = schema.to_string();
    let padded = format!("{right}{}", " x".repeat(50_000));
    let tricks = [
        r#"{"city": "", "n": 0}"#,
        r#"{"answer": null}"#,
        r#"{"city": "Rome", "city": "Paris", "n": 3}"#,
        &fenced,
        &twice,
        &handed_back,
        &padded,
        r#"{"city": "Rome", "n": 3, "also": [1, 2, 3, 4]}"#,
    ];
    check_unpaid("json-object", &gold, &texts(Some(right), &payload, &[&JUNK[..], &tricks].concat()));
}

#[test]
fn sql_pays_the_right_rows_and_brevity_behind_them() {
    let payload = json!({"script": "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2), (3);"});
    let right = "SELECT n FROM t WHERE n > 1";
    let gold = play(Some(right), payload.clone(), &[Did::Answers(right)]);
    check_paid("sql", &gold, 1.0);
    let padded = format!("{right} -- {}", "x".repeat(1000));
    // 1038 − 400 characters over, of 1600: 0.95 + 0.05 · (1 − 638 / 1600).
    let over = (padded.chars().count() - 400) as f64;
    check_paid(
        "sql",
        &play(Some(right), payload.clone(), &[Did::Answers(&padded)]),
        0.95 + 0.05 * (1.0 - over / 1600.0),
    );
    let tricks = [
        "SELECT n FROM t",
        "SELECT 2 UNION ALL SELECT 3",
        "SELECT",
        "DROP TABLE t",
        "SELECT n FROM t; SELECT n FROM t WHERE n > 1",
    ];
    check_unpaid("sql", &gold, &texts(Some(right), &payload, &[&JUNK[..], &tricks].concat()));
}

fn desk() -> Value {
    json!({"actions": [{"name": "cancel_reservation", "kwargs": {"reservation_id": "R1"}}], "outputs": ["12"]})
}

#[test]
fn the_dialogue_checklist_opens_behind_doing_what_was_asked() {
    let done = Did::Calls(&[("cancel_reservation", r#"{"reservation_id": "R1"}"#, Ran, "ok")]);
    let gold = play(None, desk(), &[done.clone(), Did::Answers("You get 12 back.")]);
    check_paid("dialogue-checklist", &gold, 1.0);
    // Without the words that the user was to be told: 2 of 10 are missing.
    check_paid("dialogue-checklist", &play(None, desk(), &[done, Did::Answers("Done.")]), 0.8);
    let polite = play(None, desk(), &[Did::Says("Of course."), Did::Answers("You get 12 back.")]);
    let refused = Did::Calls(&[("cancel_reservation", r#"{"reservation_id": "R1"}"#, Refused, "no")]);
    let mut attacks = texts(None, &desk(), &JUNK);
    attacks.extend([polite, play(None, desk(), &[refused, Did::Answers("You get 12 back.")])]);
    check_unpaid("dialogue-checklist", &gold, &attacks);
}

#[test]
fn airline_pays_changes_by_turn_and_manner_only_behind_success() {
    let done = Did::Calls(&[("cancel_reservation", r#"{"reservation_id": "R1"}"#, Ran, "ok")]);
    let did = [Did::Says("One moment."), done, Did::Says("You get 12 back.")];
    let success = imported(play(None, desk(), &did));
    // 0.3 for the change; 0.5 + 0.1 + 0.05 + 0.05 behind success, less three turns and a call.
    check_paid("airline", &success, 1.0 - 4.0 * 0.002);
    assert_eq!(score(reward("airline"), &success).turn_rewards, [0.0, 0.3, 0.0]);
    let mut failure = success.clone();
    failure.reported.as_mut().unwrap().reward = 0.0;
    check_paid("airline", &failure, 0.3);
    let mut cheap = imported(play(None, desk(), &[Did::Says("No.")]));
    cheap.reported.as_mut().unwrap().reward = 0.0;
    let mut attacks = texts(None, &desk(), &JUNK);
    attacks.push(cheap);
    check_unpaid("airline", &success, &attacks);
}
