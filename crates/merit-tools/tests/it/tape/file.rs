//! The file: what it survives and what it refuses.

use crate::tape::bench_tools::{Bench, Shelf, ask, ok, task};
use merit_tools::{TAPE_FORMAT, Tape, TapeError};
use rusqlite::Connection;
use std::sync::Arc;

fn recorded() -> Shelf {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let session = toolbox.wrap(Bench::adder()).open(&task("t"), None).unwrap();
    for number in 0..50 {
        ask(&session, &number.to_string());
    }
    shelf
}

fn opened(shelf: &Shelf) -> TapeError {
    Tape::open(&shelf.path).err().unwrap()
}

/// Changes the tape as no merit would.
fn tamper(shelf: &Shelf, sql: &str) {
    assert!(Connection::open(&shelf.path).unwrap().execute(sql, []).unwrap() > 0, "{sql}");
}

#[test]
fn a_recording_needs_a_free_name_and_a_replay_a_tape() {
    let shelf = recorded();
    assert!(matches!(Tape::create(&shelf.path), Err(TapeError::Exists { .. })));
    let none = Shelf::new();
    assert!(matches!(opened(&none), TapeError::Missing { .. }));
    assert!(matches!(Tape::append(&none.path), Err(TapeError::Missing { .. })));
    assert!(!none.path.exists(), "looking for a tape makes none");
    std::fs::write(&none.path, "").unwrap();
    assert!(matches!(opened(&none), TapeError::Empty { .. }));
    drop(Tape::create(&none.path).unwrap());
    Tape::open(&none.path).unwrap();
    drop(Tape::create(&none.path).expect("one without calls is begun anew"));
}

#[test]
fn a_second_writer_is_refused_and_readers_wait_for_the_end() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let busy = |result: Result<Arc<Tape>, TapeError>| assert!(matches!(result, Err(TapeError::Busy { .. })));
    busy(Tape::append(&shelf.path));
    busy(Tape::cache(&shelf.path));
    busy(Tape::open(&shelf.path));
    ask(&toolbox.wrap(Bench::adder()).open(&task("t"), None).unwrap(), "1");
    drop(toolbox);
    let [one, two] = [Tape::open(&shelf.path).unwrap(), Tape::open(&shelf.path).unwrap()];
    assert_eq!(one.entries().unwrap(), two.entries().unwrap());
}

#[test]
fn what_is_no_tape_is_refused() {
    let shelf = Shelf::new();
    std::fs::write(
        &shelf.path,
        "this is not a database, but it is long enough to be taken for one".repeat(100),
    )
    .unwrap();
    assert!(matches!(opened(&shelf), TapeError::Damaged { .. }));
    let foreign = Shelf::new();
    Connection::open(&foreign.path).unwrap().execute_batch("CREATE TABLE meta (key, value)").unwrap();
    assert!(matches!(opened(&foreign), TapeError::Foreign { .. }));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Tape::open(folder.path()), Err(TapeError::Device { .. } | TapeError::Damaged { .. })));
    assert!(matches!(Tape::create(folder.path()), Err(TapeError::Exists { .. })));
    let nowhere = folder.path().join("no such folder").join("calls.tape");
    assert!(matches!(Tape::create(&nowhere), Err(TapeError::Device { .. })));
}

#[test]
fn a_tape_of_a_later_version_is_refused() {
    let shelf = recorded();
    Connection::open(&shelf.path).unwrap().pragma_update(None, "user_version", TAPE_FORMAT + 1).unwrap();
    let words = opened(&shelf).to_string();
    assert!(words.contains("has format 2, this merit reads up to 1"), "{words}");
}

#[test]
fn a_tape_that_was_cut_short_is_refused() {
    let shelf = recorded();
    let length = std::fs::metadata(&shelf.path).unwrap().len();
    for part in [2, 3, 10] {
        std::fs::File::options().write(true).open(&shelf.path).unwrap().set_len(length / part).unwrap();
        assert!(matches!(opened(&shelf), TapeError::Damaged { .. }), "cut to 1/{part}");
    }
}

#[test]
fn what_was_changed_by_hand_is_not_replayed() {
    for sql in [
        "UPDATE texts SET text = '999' WHERE text = '1'",
        "UPDATE calls SET answer = 'refused' WHERE number = 1",
        "UPDATE calls SET output = (SELECT hash FROM texts WHERE text = '3') WHERE number = 1",
        "UPDATE calls SET input = '2' WHERE number = 1",
    ] {
        let shelf = recorded();
        tamper(&shelf, sql);
        let replay = shelf.replay();
        let session = replay.wrap(Bench::stuck()).open(&task("t"), None).unwrap();
        assert_eq!(ask(&session, "0"), ok("0"));
        ask(&session, "1");
        let words = replay.check().err().unwrap().to_string();
        assert!(words.contains("call 2 of `bench` for task t is not what was recorded"), "{sql}: {words}");
    }
}

#[test]
fn a_tape_is_one_file_when_it_is_closed_and_can_be_read_where_nothing_can_be_written() {
    let shelf = recorded();
    let folder = shelf.path.parent().unwrap();
    let names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["calls.tape"]);
    let mut locked = std::fs::metadata(folder).unwrap().permissions();
    locked.set_readonly(true);
    std::fs::set_permissions(folder, locked.clone()).unwrap();
    let count = Tape::open(&shelf.path).and_then(|tape| tape.counts()).map(|counts| counts.calls);
    #[allow(clippy::permissions_set_readonly_false)]
    locked.set_readonly(false);
    std::fs::set_permissions(folder, locked).unwrap();
    assert_eq!(count, Ok(50));
}

#[test]
fn a_log_that_a_kill_left_behind_is_read() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let session = toolbox.wrap(Bench::adder()).open(&task("t"), None).unwrap();
    ask(&session, "1");
    ask(&session, "2");
    // What a kill leaves is what lies on the disk while the tape is open.
    let left = Shelf::new();
    for ending in ["", "-wal"] {
        let named = |path: &std::path::Path| format!("{}{ending}", path.display());
        std::fs::copy(named(&shelf.path), named(&left.path)).unwrap();
    }
    assert_eq!(Tape::open(&left.path).unwrap().entries().unwrap().len(), 2);
    assert_eq!(Tape::append(&left.path).unwrap().entries().unwrap().len(), 2);
}
