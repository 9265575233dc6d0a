//! Where the tasks of a reward come from, and what is said of those that cannot be used.

use merit_attack::targets::{RewardTarget, open};
use merit_attack::tasks::{load, parse};
use merit_attack::{Grade, Settings, Target, audit};

fn refused(text: &str) -> String {
    parse("t.jsonl", text).unwrap_err().to_string()
}

#[test]
fn a_line_that_cannot_be_used_is_named() {
    let fine = r#"{"prompt": "a", "answer": "1"}"#;
    let (file, line_2) = (|line: &str| format!("{fine}\n{line}\n"), "t.jsonl, line 2: ");
    for (line, why) in [
        ("{", "EOF while parsing an object"),
        (r#"{"answer": "1"}"#, "missing field `prompt`"),
        (r#"{"prompt": "a", "anser": "1"}"#, "unknown field `anser`"),
        (r#"{"prompt": "a", "answer": " "}"#, "the right answer is empty"),
        (r#"{"prompt": "a", "answer": "1", "others": ["2", "1"]}"#, "`others` lists the right answer, `1`"),
        (r#"{"prompt": "a", "gold_moves": [{"type": "jump"}]}"#, "unknown variant `jump`"),
    ] {
        let said = refused(&file(line));
        assert!(said.starts_with(line_2) && said.contains(why), "{line}: {said}");
    }
}

#[test]
fn the_answers_of_other_tasks_stand_for_wrong_ones() {
    let lines = "{\"prompt\": \"a\", \"answer\": \"1\"}\n\n{\"prompt\": \"b\", \"answer\": \"2\"}\n{\"prompt\": \"c\", \"answer\": \"1.0\"}";
    let tasks = parse("dir/t.jsonl", lines).unwrap();
    assert_eq!(tasks[0].1.id, "t/0");
    assert_eq!(tasks[0].1.others, ["2"], "1.0 is right for 1 as well");
}

#[test]
fn a_mark_at_the_beginning_of_a_file_is_no_part_of_it() {
    assert_eq!(parse("t.jsonl", "\u{feff}{\"prompt\": \"a\", \"answer\": \"1\"}\n").unwrap().len(), 1);
}

#[test]
fn a_file_without_tasks_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("empty.jsonl");
    std::fs::write(&file, "\n").unwrap();
    let said = load(&file, 10).unwrap_err().to_string();
    assert!(said.contains("empty.jsonl holds no tasks"), "{said}");
}

#[test]
fn tasks_of_which_some_have_no_answer_are_counted_and_without_any_there_is_no_audit() {
    let audited = |lines: &str| {
        let tasks = Some(parse("t.jsonl", lines).unwrap());
        let reward = "type = \"exact-answer\"";
        let mut target = RewardTarget::from_toml("own.toml", reward, tasks, &merit_run::built_in()).unwrap();
        audit(&mut target, &Settings::default())
    };
    let some = audited("{\"prompt\": \"a\", \"answer\": \"1\"}\n{\"prompt\": \"b\"}\n").unwrap();
    assert_eq!((some.grade, some.unknown), (Grade::A, 1), "{}", some.render());
    assert!(some.render().contains("on 1 of 2 tasks nobody knows"), "{}", some.render());
    let none = audited("{\"prompt\": \"a\"}\n{\"prompt\": \"b\"}\n").unwrap_err().to_string();
    assert!(none.contains("none of its 2 tasks says what is right"), "{none}");
}

#[test]
fn tasks_beside_a_reward_file_are_found() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("tasks")).unwrap();
    std::fs::write(dir.path().join("mine.toml"), "type = \"exact-answer\"\n").unwrap();
    std::fs::write(dir.path().join("tasks/mine.jsonl"), r#"{"prompt": "x", "answer": "7"}"#).unwrap();
    let file = dir.path().join("mine.toml").display().to_string();
    let mut target = open(&file, None, &Settings::default()).unwrap();
    assert_eq!((target.name().as_str(), target.subjects().len()), ("mine", 1));
    assert_eq!(audit(target.as_mut(), &Settings::default()).unwrap().grade, Grade::A);
}

#[test]
fn plain_questions_are_used_only_where_they_fit() {
    let fits =
        RewardTarget::from_toml("own.toml", "type = \"exact-answer\"", None, &merit_run::built_in()).unwrap();
    assert!(fits.subjects().len() > 3);
    let json = "type = \"json\"\nschema_at = \"/schema\"\nreference = \"answer\"\n";
    let refused =
        RewardTarget::from_toml("own.toml", json, None, &merit_run::built_in()).err().unwrap().to_string();
    assert!(refused.contains("give tasks with `--tasks`"), "{refused}");
}

#[test]
fn what_is_neither_a_reward_nor_a_recipe_is_refused_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let said = |text: &str| {
        let file = dir.path().join("x.toml");
        std::fs::write(&file, text).unwrap();
        open(&file.display().to_string(), None, &Settings::default()).err().unwrap().to_string()
    };
    assert!(said("name = 1").contains("neither a reward"));
    assert!(said("type = \"exact-anwser\"").contains("exact-anwser"));
    assert!(said("type = ").contains("x.toml"));
    assert!(
        open("no/such.toml", None, &Settings::default()).err().unwrap().to_string().contains("cannot read")
    );
}

#[test]
fn recorded_episodes_give_tasks_and_the_moves_that_solved_them() {
    let dir = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "5"}], "reward": 0, "task_id": "sum"}"#,
        r#"{"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}], "reward": 1, "task_id": "sum"}"#,
    ];
    let file = dir.path().join("log.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let options = merit_import::ImportOptions::default();
    let folder = dir.path().join("import");
    let imported = merit_import::read_file(&file, "auto", &options).unwrap();
    merit_import::import_into(&folder, imported, "log.jsonl", "test", 0).unwrap();
    let tasks = load(&folder, 10).unwrap();
    assert!(tasks.iter().any(|(_, subject)| subject.prompt == "2 + 2?"), "{tasks:?}");
}
