//! The vault keeps its state: which box is open, who has the key, and that only the key opens the door.

use merit_api::puzzle_of;
use merit_core::registry::Component as _;
use merit_core::{Action, Seed, Split, Task};
use merit_env::vault::Vault;
use merit_env::{Env, EnvError, ExpertTurn, LiveTools, Termination, World, WorldSettings as _};
use serde_json::json;
use std::sync::Arc;

/// The way is 2, 4, 1; box 1 has the key and box 3 leads astray.
fn vault_task() -> Arc<Task> {
    let task = Task::new("vault", "vault/train/00000-way241").with_size(3);
    Arc::new(task.with_payload(json!({ "start": 2, "notes": [0, 4, 3, 1] })))
}

fn vault() -> Box<dyn World> {
    Vault::default().build(&LiveTools).unwrap()
}

fn open() -> Box<dyn Env> {
    vault().open(&vault_task(), &Seed::root(1), None).unwrap()
}

fn say(env: &mut dyn Env, line: &str) -> (String, Option<Termination>) {
    let result = env.step(&env.parse(line), &[]).unwrap();
    (result.observations[0].text.clone(), result.terminated)
}

fn check(lines: &[(&str, &str)]) {
    let mut env = open();
    for (line, seen) in lines {
        assert_eq!(say(env.as_mut(), line), ((*seen).to_owned(), None), "{line}");
    }
}

#[test]
fn the_notes_lead_to_the_key_and_the_key_leads_out() {
    assert_eq!(open().reset().unwrap()[0].text, "4 boxes. note 2. get out.");
    let mut env = open();
    for (line, seen) in [("open 2", "note 4"), ("open 4", "note 1"), ("open 1\n", "key"), ("take", "taken")] {
        assert_eq!(say(env.as_mut(), line), (seen.to_owned(), None));
    }
    assert_eq!(say(env.as_mut(), "go"), ("out".to_owned(), Some(Termination::Done)));
    assert!(matches!(env.step(&env.parse("go"), &[]), Err(EnvError::Broken { .. })));
}

#[test]
fn the_door_is_locked_without_the_key() {
    check(&[("go", "locked"), ("open 1", "key"), ("go", "locked")]);
}

#[test]
fn only_what_lies_in_the_open_box_can_be_taken() {
    check(&[
        ("take", "nothing to take"),
        ("open 1", "key"),
        ("open 2", "note 4"),
        ("take", "nothing to take"),
        ("open 1", "key"),
        ("take", "taken"),
        ("take", "nothing to take"),
        ("open 1", "empty"),
    ]);
}

#[test]
fn a_box_that_is_not_there_leaves_the_open_one_open() {
    check(&[
        ("open 1", "key"),
        ("open 9", "boxes are 1 to 4"),
        ("open 0", "boxes are 1 to 4"),
        ("take", "taken"),
    ]);
}

#[test]
fn what_is_no_command_is_malformed_and_answered_with_the_commands() {
    for line in ["", "open", "open x", "open 100", "open +1", "Take", "take it", "answer 3", "go\ngo"] {
        assert!(matches!(open().parse(line), Action::Malformed { .. }), "{line:?}");
    }
    check(&[("help", "say open NUMBER, take or go")]);
}

#[test]
fn a_wanderer_needs_longer_than_the_oracle() {
    let (vault, mut oracle_turns, mut wanderer_turns) = (vault(), 0, 0);
    for index in 0..20 {
        let task = Arc::new(vault.task(Split::Train, index, &Seed::root(5)).unwrap());
        oracle_turns += turns_to_get_out(vault.as_ref(), &task, 1.0, index);
        wanderer_turns += turns_to_get_out(vault.as_ref(), &task, 0.0, index);
        assert_eq!(puzzle_of(&Vault::default(), &task).unwrap().way().unwrap().len(), task.size as usize);
    }
    // Sizes 2 and 3 in turn, and take and go.
    assert_eq!(oracle_turns, 10 * (2 + 2) + 10 * (3 + 2));
    assert!(wanderer_turns > oracle_turns, "{wanderer_turns}");
}

fn turns_to_get_out(vault: &dyn World, task: &Arc<Task>, p_correct: f64, run: u64) -> usize {
    let mut env = vault.open(task, &Seed::root(run), None).unwrap();
    let mut turns = Vec::new();
    while turns.len() < 200 {
        let said = vault.expert().unwrap().say(task, &turns, p_correct, &Seed::root(run)).unwrap();
        let result = env.step(&env.parse(&said), &[]).unwrap();
        turns.push(ExpertTurn { said, observed: result.observations });
        if result.terminated == Some(Termination::Done) {
            return turns.len();
        }
    }
    panic!("200 turns and not out: {turns:?}");
}

#[test]
fn boxes_that_run_in_a_circle_are_refused() {
    for (payload, why) in [
        (json!({ "start": 3, "notes": [0, 4, 3, 1] }), "its notes do not lead to the key"),
        (json!({ "start": 2, "notes": [0, 7, 3, 1] }), "its notes do not lead to the key"),
        (json!({ "start": 4, "notes": [0, 4, 3, 1] }), "its way has 2 boxes, its size is 3"),
        (json!({ "start": 4, "notes": vec![0; 10] }), "10 boxes; at most 9"),
    ] {
        let task = Arc::new(Task { payload, ..Task::clone(&vault_task()) });
        let error = vault().open(&task, &Seed::root(1), None).err().unwrap().to_string();
        assert_eq!(error, format!("world `vault` cannot open task vault/train/00000-way241: {why}"));
    }
}

#[test]
fn settings_that_cannot_be_are_refused_with_the_reason() {
    let check = |text: &str, why: &str| {
        let settings: Vault = toml::from_str(text).unwrap();
        assert_eq!(settings.check().unwrap_err().to_string(), why);
        let refused = settings.build(&LiveTools).err().unwrap().to_string();
        assert_eq!(refused, format!("world `vault`: {why}"));
    };
    check("boxes = 3", "`boxes` is 3; it must be 4 to 9");
    check("sizes = []", "`sizes` is empty; list the sizes to train on, as in [2, 3]");
    check("sizes = [7]", "a way of 7 boxes; give 2 to 6, the boxes in the row");
    let unknown = toml::from_str::<Vault>("box = 3").unwrap_err();
    assert!(unknown.message().starts_with("unknown field `box`"), "{unknown}");
}
