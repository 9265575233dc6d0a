//! A folder is a run or says why it is not; one writer at a time.

use crate::episodes::{batch, info, new_run};
use merit_store::{EpisodeFilter, FORMAT, RunFolder, StoreError, preflight};
use std::path::Path;

fn sql(run: &Path, text: &str) {
    rusqlite::Connection::open(run.join("merit.db")).unwrap().execute_batch(text).unwrap();
}

#[test]
fn a_run_remembers_what_it_is() {
    let home = tempfile::tempdir().unwrap();
    drop(new_run(home.path()));
    let run = RunFolder::open(&home.path().join("run")).unwrap();
    assert_eq!(run.info().unwrap(), info());
    assert_eq!(run.recipe().unwrap(), "world = \"ledger\"\n");
}

#[test]
fn a_run_is_never_made_over_another_nor_among_other_files() {
    let home = tempfile::tempdir().unwrap();
    drop(new_run(home.path()));
    let again = RunFolder::create(&home.path().join("run"), "", &info()).unwrap_err();
    assert!(matches!(again, StoreError::Exists { .. }), "{again}");
    std::fs::write(home.path().join("thesis.tex"), "years of work").unwrap();
    std::fs::remove_dir_all(home.path().join("run")).unwrap();
    let error = RunFolder::create(home.path(), "", &info()).unwrap_err();
    assert!(error.to_string().contains("thesis.tex"), "{error}");
}

#[test]
fn a_creation_that_was_cut_off_can_be_repeated() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("recipe.toml"), "half").unwrap();
    std::fs::write(path.join("merit.db"), "").unwrap();
    let error = RunFolder::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::NotARun { .. }), "{error}");
    let run = RunFolder::create(&path, "whole", &info()).unwrap();
    assert_eq!(run.recipe().unwrap(), "whole");
}

#[test]
fn what_is_not_a_run_says_so() {
    let home = tempfile::tempdir().unwrap();
    for path in [home.path().to_owned(), home.path().join("absent")] {
        for error in [RunFolder::open(&path).unwrap_err(), RunFolder::open_read_only(&path).unwrap_err()] {
            assert!(matches!(error, StoreError::NotARun { .. }), "{error}");
        }
    }
    assert!(!home.path().join("run.lock").exists(), "looking at a folder must not write into it");
}

#[test]
fn a_newer_format_is_refused_with_both_numbers() {
    let home = tempfile::tempdir().unwrap();
    drop(new_run(home.path()));
    let path = home.path().join("run");
    sql(&path, "UPDATE meta SET value = '99' WHERE key = 'format'");
    for opened in [RunFolder::open(&path), RunFolder::open_read_only(&path)] {
        let error = opened.unwrap_err();
        assert!(matches!(error, StoreError::NewerFormat { found: 99, known: FORMAT, .. }), "{error}");
    }
}

#[test]
fn a_second_writer_is_told_who_holds_the_run_and_readers_are_welcome() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    run.record_episodes(&batch(1, 1, 5)).unwrap();
    let path = home.path().join("run");
    let error = RunFolder::open(&path).unwrap_err();
    let StoreError::Locked { pid, .. } = &error else { panic!("{error}") };
    assert_eq!(*pid, Some(std::process::id()));

    let reader = RunFolder::open_read_only(&path).unwrap();
    assert_eq!(reader.episode_rows(&EpisodeFilter::default()).unwrap().len(), 8);
    run.record_episodes(&batch(2, 1, 5)).unwrap();
    assert_eq!(reader.episode_rows(&EpisodeFilter::default()).unwrap().len(), 16);
    let refused = reader.record_event(0, "x", "y").unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
    assert!(matches!(reader.save_checkpoint(1, &[]).unwrap_err(), StoreError::ReadOnly { .. }));

    drop(run);
    RunFolder::open(&path).unwrap();
}

#[test]
fn a_damaged_database_is_an_error_and_not_a_crash() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    run.record_episodes(&batch(1, 8, 50)).unwrap();
    drop(run);
    let path = home.path().join("run");
    let whole = std::fs::read(path.join("merit.db")).unwrap();

    std::fs::write(path.join("merit.db"), b"this is not a database, whatever its name says").unwrap();
    let error = RunFolder::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");

    // Wherever it is cut or overwritten, reading ends in rows or in an error.
    let mut failures = 0;
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        let end = (at + 600).min(bytes.len());
        bytes[at..end].fill(0xA5);
        for bytes in [bytes.as_slice(), &whole[..at]] {
            std::fs::write(path.join("merit.db"), bytes).unwrap();
            let read = RunFolder::open_read_only(&path).and_then(|run| {
                run.info()?;
                run.costs()?;
                run.episodes(&EpisodeFilter::default())
            });
            failures += u32::from(read.is_err());
        }
    }
    assert!(failures > 40, "only {failures} of 80 damages were noticed");
}

#[test]
fn streams_that_do_not_fit_their_segments_are_damage() {
    let home = tempfile::tempdir().unwrap();
    let run = new_run(home.path());
    run.record_episodes(&batch(1, 1, 5)).unwrap();
    let path = home.path().join("run");
    for change in
        ["tokens = x'010203'", "tokens = x'01020304'", "logprobs = x''", "record = '{}'", "score = 'no'"]
    {
        let before = run.episodes(&EpisodeFilter::default()).unwrap().len();
        assert_eq!(before, 8);
        sql(&path, &format!("CREATE TABLE kept AS SELECT * FROM episodes; UPDATE episodes SET {change}"));
        let error = run.episodes(&EpisodeFilter::default()).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{change}: {error}");
        sql(
            &path,
            "UPDATE episodes SET (tokens, logprobs, record, score) = (SELECT tokens, logprobs, record, score FROM kept
             WHERE kept.key = episodes.key); DROP TABLE kept",
        );
    }
}

#[test]
fn preflight_finds_room_and_says_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("new");
    let space = preflight(&path, 1).unwrap();
    assert!(space.free_bytes > 0);
    assert!(!path.exists(), "preflight leaves nothing behind");
    preflight(&path.join("runs").join("one"), 1).unwrap();
    assert!(!path.exists(), "nor the folders above it");

    let error = preflight(&path, u64::MAX).unwrap_err();
    assert!(matches!(error, StoreError::NoRoom { need: u64::MAX, .. }), "{error}");
    assert!(error.to_string().contains("MiB"), "{error}");

    std::fs::write(&path, "a file").unwrap();
    for error in [preflight(&path, 1).unwrap_err(), preflight(&path.join("below"), 1).unwrap_err()] {
        assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    }
}
