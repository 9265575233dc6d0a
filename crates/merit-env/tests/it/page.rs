//! What docs/worlds.md says of the worlds as a whole: every world has a section with a sample, its manners are named, and a world of more
//! than 400 lines says why.

use crate::played::{DOCUMENT, built};
use merit_env::WORLDS;
use merit_testing::root;
use std::path::{Path, PathBuf};

/// Worlds that are programs or files of somebody's own, which have pages or a section of another name.
const OF_ONES_OWN: [&str; 3] = ["command", "python", "tasks"];
const MOST_LINES: usize = 400;

/// What stands under the heading of this world.
fn section(world: &str) -> &'static str {
    let heading = format!("`{world}`\n");
    DOCUMENT.split("\n## ").find(|section| section.starts_with(&heading)).unwrap_or_default()
}

#[test]
fn every_world_has_a_section_with_a_sample_and_names_its_manners() {
    let known = WORLDS.iter().filter(|entry| !OF_ONES_OWN.contains(&entry.about.name));
    for entry in known {
        let (name, section) = (entry.about.name, section(entry.about.name));
        assert!(section.matches("\n```").count() >= 2, "`{name}` has no section with a sample");
        assert!(section.contains("`info`"), "`{name}` does not say what `info` tells");
        let row = DOCUMENT.lines().find(|line| line.starts_with(&format!("| `{name}` | `")));
        for manner in built(name, entry.example).manners() {
            let named = format!("`{}`", manner.name);
            let found = row.is_some_and(|row| row.contains(&named)) || section.contains(&named);
            assert!(found, "`{name}` does not name its manner {named}");
        }
    }
}

/// The files of each world, below `src`; what stands alone in a folder of its own is that folder.
fn files(world: &str) -> Vec<&str> {
    match world {
        "inquiry" => vec!["inquiry/mod.rs", "inquiry/form.rs"],
        "clinic" => vec!["inquiry/clinic.rs", "inquiry/diagnosis.rs", "inquiry/visit.rs"],
        "sale" => vec!["inquiry/sale.rs", "inquiry/customer.rs"],
        "catalogue" => vec!["catalogue/mod.rs", "catalogue/replies.rs", "catalogue/schema.rs"],
        "shop" => vec!["catalogue/shop"],
        "tables" => vec!["catalogue/tables"],
        "travel" => vec!["catalogue/travel"],
        "tutor" => vec!["catalogue/tutor.rs"],
        "synth" => vec![
            "programs/mod.rs",
            "programs/synth.rs",
            "programs/exercise.rs",
            "programs/language.rs",
            "programs/slack.rs",
            "programs/write.rs",
        ],
        "repair" => {
            vec!["programs/repair.rs", "programs/repo.rs", "programs/workspace.rs", "programs/mend.rs"]
        }
        other => vec![other],
    }
}

/// All files of Rust at a path: of a folder, those below it.
fn below(path: &Path) -> Vec<PathBuf> {
    let file = path.with_extension("rs");
    if path.is_dir() {
        let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        return entries.flat_map(|entry| below(&entry)).collect();
    }
    assert!(file.is_file(), "{} is no file", file.display());
    vec![file]
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap().lines().count()
}

#[test]
fn a_world_of_more_than_400_lines_says_why() {
    let source = root().join("crates/merit-env/src");
    let (_, table) = DOCUMENT.split_once("\n## How large they are\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let mut counted: Vec<PathBuf> = ["lib", "registry", "script"].map(|name| source.join(name)).to_vec();
    counted.iter_mut().for_each(|file| _ = file.set_extension("rs"));
    let mut wrong = Vec::new();
    for entry in WORLDS {
        let name = entry.about.name;
        let files: Vec<PathBuf> =
            files(name).into_iter().flat_map(|path| below(&source.join(path))).collect();
        let has: usize = files.iter().map(|file| lines(file)).sum();
        counted.extend(files);
        match rows.iter().find(|row| row[0] == format!("`{name}`")) {
            None if has > MOST_LINES => wrong.push(format!("`{name}` has {has} lines and no reason")),
            None => {}
            Some(_) if has <= MOST_LINES => {
                wrong.push(format!("`{name}` has {has} lines and needs no reason"))
            }
            Some(row) => {
                let told: usize = row[1].parse().unwrap();
                if told.abs_diff(has) * 10 > has || row[2].is_empty() {
                    wrong.push(format!("`{name}` has {has} lines, the page says {told}: {}", row[2]));
                }
            }
        }
    }
    let names = |row: &Vec<&str>| row[0].trim_matches('`').to_owned();
    let strange = rows.iter().map(names).filter(|name| WORLDS.iter().all(|entry| entry.about.name != name));
    wrong.extend(strange.map(|name| format!("there is no world `{name}`")));
    let lost = below(&source).into_iter().filter(|file| !counted.contains(file));
    wrong.extend(lost.map(|file| format!("{} belongs to no world", file.display())));
    assert!(wrong.is_empty(), "the table of docs/worlds.md is not right:\n{}", wrong.join("\n"));
}
