//! Modes and worlds whose sample in docs/worlds.md was drawn: what the expert says in a task, and what it is told.

use crate::played::{DOCUMENT, built, demonstrated, prompt, said, tasks};

/// World, settings, the number of the task, and the manner in which it is played.
const DRAWN: &[(&str, &str, usize, &str)] = &[
    ("rows", "", 0, "exact"),
    ("vault", "", 1, "exact"),
    ("mix", MIX, 0, "exact"),
    ("mix", MIX, 1, "exact"),
    ("kbqa", "fixed = 0.5\nlabel = 'search'\nsizes = [1]", 0, "exact"),
    ("kbqa", "fixed = 0.5\nlabel = 'rollouts'\nsizes = [1]", 0, "hasty"),
    ("toolshelf", "mode = 'retrieve'\nsizes = [2]", 0, "exact"),
    ("toolshelf", "mode = 'document'\nsizes = [1]", 0, "exact"),
    ("synth", "kind = 'faster'\nsizes = [2]", 0, "exact"),
    ("travel", "api = 'live'\nsizes = [2]", 0, "exact"),
];

const MIX: &str = "of = [{ name = 'lookup', world = { type = 'ledger', sizes = [2] } }, \
                   { name = 'sql', world = { type = 'rows', sizes = [2] } }]";

/// The play as it stands in the document.
fn drawn(world: &str, settings: &str, at: usize, manner: &str) -> String {
    let world = built(world, settings);
    let task = tasks(world.as_ref(), at as u64 + 1).pop().unwrap();
    let lines = demonstrated(world.as_ref(), &task, manner, at as u64).0;
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let answers = said(world.as_ref(), &task, &lines);
    let turns = lines.iter().zip(answers).map(|(line, answer)| format!("  > {line:<26}  {answer}"));
    let turns: Vec<String> = turns.map(|turn| turn.trim_end().to_owned()).collect();
    format!("```\n{}\n{}\n```\n", prompt(world.as_ref(), &task), turns.join("\n"))
}

#[test]
fn every_drawn_sample_in_the_documents_is_what_is_said() {
    let mut missing = Vec::new();
    for (world, settings, at, manner) in DRAWN {
        let name = format!("`{world}`\n");
        let section = DOCUMENT.split("\n## ").find(|section| section.starts_with(&name)).unwrap_or_default();
        let sample = drawn(world, settings, *at, manner);
        if !section.contains(&sample) {
            missing.push(format!("{world}, {settings}:\n{sample}"));
        }
    }
    assert!(missing.is_empty(), "not in docs/worlds.md:\n{}", missing.join("\n"));
}
