//! `merit init`: what it leaves runs at once, and nothing of anybody's is overwritten.

use crate::models::made::{TEMPLATE, gguf};
use crate::tiny::say;

#[test]
fn what_it_leaves_is_checked_played_trained_and_better_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let said = say(folder.path(), ["init", "mine/first"]).well().out;
    for word in ["wrote mine/first/recipe.toml", "wrote mine/first/tasks.jsonl", "next, in mine/first:"] {
        assert!(said.contains(word), "{said}");
    }
    let mine = folder.path().join("mine/first");
    let tasks = std::fs::read_to_string(mine.join("tasks.jsonl")).unwrap();
    assert_eq!(tasks.lines().count(), 10);
    let checked = say(&mine, ["recipe", "check", "recipe.toml"]).well().out;
    assert!(checked.contains("`my-tasks` is fine") && !checked.contains("note:"), "{checked}");
    // The commands it names, word for word.
    let commands = said.lines().filter_map(|line| line.strip_prefix("  merit "));
    let commands: Vec<&str> = commands.map(|line| line.split("   ").next().unwrap()).collect();
    assert_eq!(commands.len(), 3, "{said}");
    let told: Vec<String> =
        commands.iter().map(|words| say(&mine, words.split_whitespace()).well().out).collect();
    assert!(told[0].contains("solved"), "{}", told[0]);
    let finished = merit_store::RunFolder::open_read_only(&mine.join("runs/my-tasks-1")).unwrap();
    assert!(finished.mark::<bool>("finished").unwrap().unwrap_or(false));
    let gained = told[1].lines().find(|line| line.contains("held-out tasks gained")).unwrap();
    assert!(!gained.starts_with("0 ") && gained.contains(", 0 lost"), "{gained}");
}

#[test]
fn whatever_folder_and_model_are_called_the_recipe_is_sound_and_a_task_is_held_out() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("NAME COUNT");
    std::fs::create_dir(&models).unwrap();
    let model = gguf(&models, Some(TEMPLATE));
    let tasks = folder.path().join("q.jsonl");
    for (name, lines, called) in [("MyTasks", 2, "mytasks"), ("ü", 4, "my-tasks"), ("COUNT", 3, "count")] {
        let text: String =
            (0..lines).map(|n| format!("{{\"prompt\": \"{n}?\", \"answer\": \"{n}\"}}\n")).collect();
        std::fs::write(&tasks, format!("\u{feff}{text}")).unwrap();
        let words = ["init", name, "--tasks", "q.jsonl", "--model", model.to_str().unwrap()];
        let said = say(folder.path(), words).well().out;
        assert!(said.contains(&format!("'{}'", model.canonicalize().unwrap().display())), "{said}");
        let checked = say(&folder.path().join(name), ["recipe", "check", "recipe.toml"]).well().out;
        assert!(checked.contains(&format!("`{called}` is fine")), "{checked}");
    }
    std::fs::write(&tasks, "{\"prompt\": \"1?\", \"answer\": \"1\"}").unwrap();
    let said = say(folder.path(), ["init", "one", "--tasks", "q.jsonl", "--model", model.to_str().unwrap()]);
    assert!(said.code == Some(2) && said.err.contains("give two at least"), "{}", said.err);
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = folder.path().join("tasks.jsonl");
    std::fs::write(&tasks, "mine").unwrap();
    let said = say(folder.path(), ["init"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("tasks.jsonl is there already, and nothing was written"), "{}", said.err);
    assert_eq!(std::fs::read_to_string(&tasks).unwrap(), "mine");
    assert!(!folder.path().join("recipe.toml").exists());
    std::fs::remove_file(&tasks).unwrap();
    say(folder.path(), ["init"]).well();
    assert_eq!(say(folder.path(), ["init"]).code, Some(2));
}
