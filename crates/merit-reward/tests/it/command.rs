//! A reward function in another language: what it says is taken, and whatever goes wrong is the grader's failure, never 0.

use crate::episodes::{Did, broken, episode};
use merit_core::{CallEnd, Episode, Reward, TermOutcome, TermScore};
use merit_reward::conformance::check_reward;
use merit_reward::{RewardConfig, ScoreContext, Scorer};

fn scorer(command: &[&str], settings: &str) -> Scorer {
    let command: Vec<String> = command.iter().map(|word| format!("{word:?}")).collect();
    let toml = format!("type = 'command'\ncommand = [{}]\n{settings}", command.join(", "));
    Scorer::compile(&RewardConfig::from_toml(&toml).unwrap()).unwrap()
}

fn term(scorer: &Scorer, episode: &Episode) -> TermScore {
    scorer.score(episode, &ScoreContext::default()).terms.swap_remove(0)
}

fn says(python: &str) -> TermOutcome {
    let scorer = scorer(&["python3", "-c", python], "timeout_s = 60.0");
    term(&scorer, &episode(Some("7"), 1, &[Did::Answers("7")])).outcome
}

fn failure(python: &str) -> String {
    match says(python) {
        TermOutcome::GraderFailed { why } => why,
        other => panic!("{python}: {other:?}"),
    }
}

#[test]
fn the_python_example_scores_episodes_and_says_why() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/reward.py");
    let scorer = scorer(&["python3", file], "low = 0.0\nhigh = 1.0\ntimeout_s = 60.0");
    let calls = Did::Calls(&[CallEnd::Ok]);
    let right = term(&scorer, &episode(Some("7"), 1, &[calls, Did::Answers("7")]));
    assert_eq!(right.outcome, TermOutcome::Value { value: 0.75 });
    assert_eq!(right.evidence[0].finding, "2 turns, correct: True");
    let wrong = term(&scorer, &episode(Some("7"), 1, &[Did::Answers("8")]));
    assert_eq!(wrong.outcome, TermOutcome::Value { value: 0.0 });
    let babble = term(&scorer, &episode(Some("7"), 1, &[Did::Babbles]));
    assert_eq!(babble.outcome, TermOutcome::ParseFailure { why: "no tag".into() });
    let open = term(&scorer, &episode(None, 1, &[Did::Answers("8")]));
    assert!(matches!(open.outcome, TermOutcome::NotApplicable { .. }), "{:?}", open.outcome);
}

#[test]
fn the_python_example_keeps_the_rules_of_a_score() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/reward.py");
    let scorer = scorer(&["python3", file], "low = 0.0\nhigh = 1.0\ntimeout_s = 60.0");
    let episodes = [
        episode(Some("7"), 1, &[Did::Answers("7")]),
        episode(Some("7"), 1, &[Did::Calls(&[CallEnd::Ok]), Did::Answers("7")]),
        episode(Some("7"), 1, &[Did::Answers("8")]),
        episode(Some("7"), 1, &[Did::Babbles]),
        episode(Some("7"), 1, &[]),
        episode(None, 1, &[Did::Answers("8")]),
        broken(episode(Some("7"), 1, &[Did::Answers("7")])),
    ];
    let episodes: Vec<Episode> = (0..).zip(episodes).map(|(group, one)| numbered(one, group)).collect();
    assert_eq!(check_reward(&scorer, &episodes), Vec::<String>::new());
    // The program answered: a grader that fails everywhere would keep the rules too.
    let said: Vec<Reward> =
        episodes.iter().map(|one| scorer.score(one, &ScoreContext::default()).reward).collect();
    let values: Vec<f64> = said.iter().filter_map(Reward::value).collect();
    assert_eq!(values, [1.0, 0.75, 0.0, 0.0, 0.0], "{said:?}");
    assert!(!said.iter().any(|reward| matches!(reward, Reward::GraderFailed { .. })), "{said:?}");
}

/// The episode in a group of its own.
fn numbered(mut one: Episode, group: u32) -> Episode {
    one.id.group = group;
    one
}

#[test]
fn whatever_goes_wrong_in_a_program_is_its_failure() {
    assert!(failure("import sys; sys.exit('out of cheese')").contains("out of cheese"));
    assert!(failure("print('what?', flush=True); input()").contains("no JSON object"));
    assert!(failure("input(); print('{\"id\": 9, \"value\": 1}', flush=True)").contains("another `id`"));
    assert!(failure("input(); print('{\"id\": 1}', flush=True)").contains("no number `value`"));
    assert!(failure("input(); print('{\"id\": 1, \"value\": NaN}', flush=True)").contains("no JSON object"));
    assert!(
        failure("input(); print('{\"id\": 1, \"error\": \"no model\"}', flush=True)").contains("no model")
    );
    for (answer, why) in [
        (r#"{"id": 1, "value": 1, "evidense": "x"}"#, "unknown key `evidense` (did you mean `evidence`?)"),
        (r#"{"id": 1, "value": 1, "parse_failure": "no tag"}"#, "both `value` and `parse_failure`"),
        (r#"{"id": 1, "value": 1, "error": "no model"}"#, "both `value` and `error`"),
        (r#"{"id": 1, "value": null}"#, "no number `value`"),
    ] {
        let said = failure(&format!("input(); print('{answer}', flush=True)"));
        assert!(said.contains(why), "{answer}: {said}");
    }
    let turns = "input(); print('{\"id\": 1, \"value\": 1, \"turns\": [1, 2]}', flush=True)";
    assert!(failure(turns).contains("2 values for 1 turns"));
}

#[test]
fn what_is_null_is_left_out() {
    let nulls =
        r#"{"id": 1, "value": 0.5, "turns": null, "evidence": null, "parse_failure": null, "error": null}"#;
    let outcome = says(&format!("input(); print('{nulls}', flush=True)"));
    assert_eq!(outcome, TermOutcome::Value { value: 0.5 });
}

#[test]
fn a_program_that_hangs_or_leaves_its_bounds_makes_the_reward_a_failure() {
    let hangs = scorer(&["sleep", "60"], "start_s = 0.2");
    let one = episode(Some("7"), 1, &[Did::Answers("7")]);
    let reward = hangs.score(&one, &ScoreContext::default()).reward;
    assert!(
        matches!(&reward, Reward::GraderFailed { why } if why.contains("no answer in 0.2 s")),
        "{reward:?}"
    );
    let python = "input(); print('{\"id\": 1, \"value\": 3}', flush=True)";
    let outside = scorer(&["python3", "-c", python], "high = 1.0\nstart_s = 60.0");
    let outcome = term(&outside, &one).outcome;
    assert!(matches!(&outcome, TermOutcome::GraderFailed { why } if why.contains("outside")), "{outcome:?}");
}

#[test]
fn reading_and_compiling_start_nothing() {
    let folder = std::env::temp_dir().join(format!("merit-command-{}", std::process::id()));
    let touch = scorer(&["touch", folder.to_str().unwrap()], "");
    assert!(!folder.exists());
    term(&touch, &episode(Some("7"), 1, &[Did::Answers("7")]));
    assert!(folder.exists());
    std::fs::remove_file(folder).unwrap();
}

#[test]
fn settings_that_cannot_work_are_refused() {
    for (toml, why) in [
        ("command = []", "`command` is empty"),
        ("command = ['x']\ntimeout_s = 0.0", "`timeout_s` is 0; it must be above 0"),
        ("command = ['x']\nlow = 1.0\nhigh = 0.0", "`low` is 1; it must be at most `high`, 0"),
    ] {
        let error = RewardConfig::from_toml(&format!("type = 'command'\n{toml}")).unwrap_err().to_string();
        assert!(error.contains(why), "{toml}: {error}");
    }
}
