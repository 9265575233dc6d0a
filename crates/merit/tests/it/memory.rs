//! `merit memory`, as a process.

use crate::tiny::say;

#[test]
fn a_memory_is_made_searched_pruned_and_exported() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    std::fs::write(
        folder.join("notes.jsonl"),
        "Owls hunt at night.\nBats sleep by day.\nBats sleep by day.\n",
    )
    .unwrap();
    let said = say(folder, ["memory", "add", "notes", "notes.jsonl"]).well();
    assert!(
        said.out.contains("added 2, merged 1") && said.out.contains("2 items at version 1"),
        "{}",
        said.out
    );
    let said = say(folder, ["memory", "search", "notes", "who hunts", "--json"]).well();
    let found: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&found["items"][0]["text"], &found["version"]), (&"Owls hunt at night.".into(), &1.into()));
    let said = say(folder, ["memory", "look", "notes"]).well();
    assert!(said.out.contains("2 items, version 1") && said.out.contains("from notes.jsonl"), "{}", said.out);
    let said = say(folder, ["memory", "export", "notes"]).well();
    std::fs::write(folder.join("again.jsonl"), &said.out).unwrap();
    say(folder, ["memory", "add", "copy", "again.jsonl"]).well();
    assert_eq!(say(folder, ["memory", "export", "copy"]).well().out, said.out);
    let said = say(folder, ["memory", "prune", "notes", "--to", "1"]).well();
    assert_eq!(said.out, "forgot 1 item\n");
    let said = say(folder, ["memory", "search", "nowhere", "x"]);
    assert!(said.err.contains("is no memory") && said.err.contains("merit memory add"), "{}", said.err);
    let said = say(folder, ["memory", "add", "notes", "notes.jsonl", "--kind", "profile"]);
    assert!(said.err.contains("settings of its own"), "{}", said.err);
}

#[test]
fn settings_that_would_do_nothing_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    std::fs::write(folder.join("notes.txt"), "Owls hunt at night.\n").unwrap();
    say(folder, ["memory", "add", "notes", "notes.txt"]).well();
    for (arguments, why) in [
        (&["add", "notes", "notes.txt", "--stored-at", "0.5"][..], "notes.txt is no folder"),
        (&["prune", "notes", "--id", "999"], "notes has no item 999"),
        (&["look", "notes", "--id", "999"], "notes has no item 999"),
        (&["search", "notes", "owls", "-k", "0"], "give at least 1"),
        (&["search", "notes", "owls", "--words", "0"], "give at least 1"),
        (&["prune", "notes"], "<--to <ITEMS>|--losing <LOSSES>|--id <NUMBER>>"),
        (&["prune", "notes", "--id", "1", "--to", "0"], "cannot be used with"),
    ] {
        let said = say(folder, [&["memory"], arguments].concat());
        assert!(said.code == Some(2) && said.err.contains(why), "{arguments:?}: {}", said.err);
    }
    let left = say(folder, ["memory", "export", "notes"]).well().out;
    assert_eq!(left.lines().count(), 1, "{left}");
}

#[test]
fn a_mark_at_the_beginning_of_a_file_is_no_part_of_its_first_item() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    std::fs::write(folder.join("notes.jsonl"), "\u{feff}{\"text\": \"Owls hunt at night.\"}\n").unwrap();
    say(folder, ["memory", "add", "notes", "notes.jsonl"]).well();
    let said = say(folder, ["memory", "export", "notes"]).well();
    assert_eq!(said.json()[0]["text"], "Owls hunt at night.", "{}", said.out);
}
