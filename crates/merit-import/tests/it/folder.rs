//! A folder of imported episodes: what it holds, and what it is not.

use merit_core::{Outcome, Reward, TermOutcome};
use merit_import::{AUTO, ImportError, ImportOptions, import_into, read};
use merit_store::{EpisodeFilter, RunFolder, StoreError};
use std::path::Path;

const PLAIN: &str = include_str!("../fixtures/plain.jsonl");
const OPENAI: &str = include_str!("../fixtures/openai.jsonl");

fn write(folder: &Path, text: &str, options: &ImportOptions) {
    let imported = read(text.as_bytes(), AUTO, options).unwrap();
    import_into(folder, imported, "plain.jsonl", "0.0.0", 5).unwrap();
}

#[test]
fn the_folder_says_where_its_episodes_come_from() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("in");
    write(&folder, OPENAI, &ImportOptions::default());
    let run = RunFolder::open_read_only(&folder).unwrap();
    let info = run.import().unwrap().unwrap();
    assert_eq!((info.source.as_str(), info.format.as_str(), info.imported_ms), ("plain.jsonl", "openai", 5));
    assert_eq!((info.entries, info.episodes, info.skipped, info.remarks), (5, 5, 0, 2));
    assert_eq!(info.sha256.len(), 64);
    assert!(folder.join("import.toml").is_file() && !folder.join("recipe.toml").exists());
    assert_eq!(run.phases().unwrap(), [merit_core::Phase::Import]);
    let kinds: Vec<String> = run.events().unwrap().into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["imported", "remark", "remark", "left-out", "left-out"]);
    assert!(matches!(run.recipe(), Err(StoreError::NoRecipe { .. })));
    let costs = run.costs().unwrap();
    assert_eq!(
        (
            costs[&merit_core::Phase::Import].tool_calls,
            costs[&merit_core::Phase::Import].known_policy_tokens()
        ),
        (4, None)
    );
}

#[test]
fn a_reported_reward_is_a_claim_until_somebody_says_what_it_means() {
    let home = tempfile::tempdir().unwrap();
    let outcomes = |name: &str, options: &ImportOptions| {
        let folder = home.path().join(name);
        write(&folder, PLAIN, options);
        let run = RunFolder::open_read_only(&folder).unwrap();
        let stored = run.episodes(&EpisodeFilter::default()).unwrap();
        let value = stored[0].scored.score.as_ref().unwrap().terms[0].outcome.clone();
        assert_eq!(value, TermOutcome::Value { value: 1.0 });
        let silent = &stored[2].scored.score.as_ref().unwrap().reward;
        assert!(matches!(silent, Reward::Unscorable { why } if why == "the file reports no reward"));
        stored.iter().map(|s| s.scored.outcome()).collect::<Vec<_>>()
    };
    let plain = outcomes("plain", &ImportOptions::default());
    assert_eq!(plain, [Outcome::Unscorable; 4]);
    let options = ImportOptions { solved_at: Some(1.0), ..ImportOptions::default() };
    let told = outcomes("told", &options);
    assert_eq!(told, [Outcome::Solved, Outcome::PolicyWrong, Outcome::Unscorable, Outcome::Unscorable]);
}

#[test]
fn skipped_lines_are_kept_in_the_record() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("in");
    let options = ImportOptions { allow_skipped: true, ..ImportOptions::default() };
    write(&folder, &format!("{PLAIN}\nnonsense\n"), &options);
    let run = RunFolder::open_read_only(&folder).unwrap();
    let skipped: Vec<String> =
        run.events().unwrap().into_iter().filter(|e| e.kind == "skipped").map(|e| e.text).collect();
    assert_eq!(skipped.len(), 1);
    assert!(skipped[0].starts_with("line 7 (item 4): not JSON"), "{skipped:?}");
    assert_eq!(run.import().unwrap().unwrap().skipped, 1);
}

#[test]
fn an_import_never_writes_over_anything() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("in");
    write(&folder, PLAIN, &ImportOptions::default());
    let again = read(PLAIN.as_bytes(), AUTO, &ImportOptions::default()).unwrap();
    let refused = import_into(&folder, again, "plain.jsonl", "0.0.0", 5);
    assert!(matches!(
        refused,
        Err(ImportError::Store(StoreError::Exists { .. } | StoreError::NotEmpty { .. }))
    ));
}

#[test]
fn an_interrupted_import_says_so() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("in");
    write(&folder, PLAIN, &ImportOptions::default());
    std::fs::remove_file(folder.join("import.toml")).unwrap();
    let run = RunFolder::open_read_only(&folder).unwrap();
    assert!(matches!(run.import(), Err(StoreError::InterruptedImport { .. })));
}
