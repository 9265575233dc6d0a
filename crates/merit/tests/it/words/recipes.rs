//! Recipes and every other TOML of the repository.

use crate::tiny::{RECIPE, say};
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every TOML file below `dir`; hidden folders and what is built are nobody's source.
fn toml_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() && !name.starts_with('.') && name != "target" {
            toml_files(&path, found);
        } else if name.ends_with(".toml") {
            found.push(path);
        }
    }
}

/// Checks a recipe. One whose model was not fetched is told so, and nothing else is wrong with it.
fn fine(recipe: &Path) {
    let said = say(&repository(), [Path::new("recipe"), Path::new("check"), recipe]);
    if said.err.contains("`model.file` is ") {
        assert!(said.err.contains(", which is not there; "), "{}", said.err);
    } else {
        assert!(said.well().out.contains("is fine"));
    }
}

/// The hash in `recipe check`'s answer.
fn hash_of(dir: &Path, recipe: &str) -> String {
    let said = say(dir, ["recipe", "check", recipe]).well();
    let (_, hash) = said.out.trim().rsplit_once("(hash ").unwrap();
    hash.trim_end_matches(')').to_owned()
}

#[test]
fn every_shipped_recipe_is_fine_and_described_as_it_describes_itself() {
    for shipped in merit_run::shipped::recipes() {
        let recipe = merit_run::shipped::load(shipped.about.name).unwrap();
        let about = [recipe.name.as_str(), &recipe.about, &recipe.paper];
        assert_eq!(about, [shipped.about.name, shipped.about.summary, shipped.about.paper]);
        fine(Path::new(shipped.about.name));
    }
}

#[test]
fn every_recipe_of_the_repository_is_fine_and_every_one_in_recipes_is_shipped() {
    let mut files = Vec::new();
    toml_files(&repository().join("recipes"), &mut files);
    assert!(!files.is_empty());
    for file in files {
        fine(&file);
        let stem = file.file_stem().unwrap().to_string_lossy();
        let shipped = merit_run::shipped::recipes().iter().find(|r| r.about.name == stem);
        assert_eq!(shipped.map(|r| r.text), Some(std::fs::read_to_string(&file).unwrap().as_str()));
    }
    say(&repository(), ["recipe", "check", RECIPE]).well();
}

#[test]
fn every_toml_of_the_repository_parses() {
    let mut files = Vec::new();
    toml_files(&repository(), &mut files);
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let parsed = toml::from_str::<toml::Table>(&text);
        assert!(parsed.is_ok(), "{}: {:?}", file.display(), parsed.err());
    }
}

#[test]
fn a_recipe_that_is_shown_and_checked_again_is_the_same_recipe() {
    let dir = tempfile::tempdir().unwrap();
    for recipe in [merit_run::shipped::DEFAULT, RECIPE] {
        let shown = say(dir.path(), ["recipe", "show", recipe]).well().out;
        std::fs::write(dir.path().join("shown.toml"), &shown).unwrap();
        assert_eq!(hash_of(dir.path(), "shown.toml"), hash_of(dir.path(), recipe));
        let again = say(dir.path(), ["recipe", "show", "shown.toml"]).well().out;
        assert_eq!(again, shown);
    }
}
