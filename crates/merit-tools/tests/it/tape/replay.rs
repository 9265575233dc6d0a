//! What a replay says to calls that were recorded, and to those that were not.

use crate::tape::bench_tools::{Bench, Shelf, ask, broken, ok, task};
use merit_tools::{Lookup, Match, Tape, TapeError, Timing, ToolAnswer, Toolbox};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn recorded() -> Shelf {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let session = toolbox.wrap(Bench::adder()).open(&task("t"), None).unwrap();
    assert_eq!([ask(&session, "1"), ask(&session, "2")], [ok("1"), ok("3")]);
    shelf
}

/// What a replay of one session says to `inputs`, and what it says of itself in the end.
fn replayed(shelf: &Shelf, matching: Match, id: &str, inputs: &[&str]) -> (Vec<ToolAnswer>, String) {
    let toolbox = shelf.matched(matching);
    let tool = Bench::adder();
    let live = Arc::clone(&tool.calls);
    let session = toolbox.wrap(tool).open(&task(id), None).unwrap();
    let said = inputs.iter().map(|input| ask(&session, input)).collect();
    assert_eq!(live.load(Ordering::Relaxed), 0, "a replay asks no tool");
    (said, toolbox.check().err().map(|error| error.to_string()).unwrap_or_default())
}

#[test]
fn a_replay_says_what_was_said() {
    let (said, trouble) = replayed(&recorded(), Match::Strict, "t", &["1", "2"]);
    assert_eq!((said, trouble.as_str()), (vec![ok("1"), ok("3")], ""));
}

#[test]
fn a_call_that_is_not_on_the_tape_is_broken_and_names_the_nearest() {
    let (said, trouble) = replayed(&recorded(), Match::Strict, "t", &["1", "25"]);
    let words = broken(said[1].clone());
    assert!(
        words.starts_with("call 2 of `bench` for task t, with input \"25\", is not on the tape"),
        "{words}"
    );
    assert!(words.ends_with("nearest for this task is call 2 with input \"2\""), "{words}");
    assert_eq!(words, trouble);
}

#[test]
fn the_same_call_after_another_past_is_another_call() {
    let (said, trouble) = replayed(&recorded(), Match::Strict, "t", &["2"]);
    assert!(matches!(said[0], ToolAnswer::Broken(_)));
    assert!(trouble.contains("nearest for this task is call 2 with input \"2\""), "{trouble}");
    let shelf = recorded();
    let toolbox = Toolbox::record(Tape::append(&shelf.path).unwrap());
    let session = toolbox.wrap(Bench::adder()).open(&task("t"), None).unwrap();
    assert_eq!([ask(&session, "5"), ask(&session, "6")], [ok("5"), ok("11")]);
    drop((session, toolbox));
    let (_, trouble) = replayed(&shelf, Match::Strict, "t", &["5", "2"]);
    assert!(trouble.contains("the same call was recorded after other calls or answers"), "{trouble}");
}

#[test]
fn a_tape_of_other_tasks_says_so() {
    let (_, trouble) = replayed(&recorded(), Match::Strict, "u", &["1"]);
    assert!(
        trouble.contains("2 calls of 1 other tasks, such as t; was it recorded with another recipe or seed?")
    );
    let (_, trouble) = replayed(&recorded_nothing(), Match::Strict, "u", &["1"]);
    assert!(trouble.contains("it has no call of this tool at all"), "{trouble}");
}

fn recorded_nothing() -> Shelf {
    let shelf = Shelf::new();
    drop(shelf.record());
    shelf
}

#[test]
fn of_several_missing_calls_the_first_task_is_told_whatever_the_order() {
    for order in [["a", "b"], ["b", "a"]] {
        let shelf = recorded();
        let toolbox = shelf.replay();
        for id in order {
            ask(&toolbox.wrap(Bench::adder()).open(&task(id), None).unwrap(), "1");
        }
        let Err(TapeError::Missed(miss)) = toolbox.check() else { panic!("two calls were missing") };
        assert_eq!(miss.task, "a");
    }
}

#[test]
fn a_loose_replay_forgives_white_space_and_order_of_calls() {
    let (said, trouble) = replayed(&recorded(), Match::Loose, "t", &[" 2 ", "1"]);
    assert_eq!((said, trouble.as_str()), (vec![ok("3"), ok("1")], ""));
    let (said, trouble) = replayed(&recorded(), Match::Loose, "u", &["1"]);
    assert_eq!((said, trouble.as_str()), (vec![ok("1")], ""), "another task, but nobody disagrees");
    let (_, trouble) = replayed(&recorded(), Match::Loose, "t", &["3"]);
    assert!(trouble.contains("is not on the tape"), "{trouble}");
}

#[test]
fn a_loose_replay_does_not_guess_where_the_answer_depends_on_the_task() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    for (id, price) in [("a", 1), ("b", 2)] {
        let mut task = task(id);
        task.payload = serde_json::json!({ "table": { "mug": price } });
        let session = toolbox.wrap(Arc::new(Lookup)).open(&task, None).unwrap();
        assert_eq!(ask(&session, "mug"), ok(&price.to_string()));
    }
    drop(toolbox);
    let tool = shelf.matched(Match::Loose).wrap(Arc::new(Lookup));
    let of = |id: &str| ask(&tool.open(&task(id), None).unwrap(), "mug");
    assert_eq!([of("a"), of("b")], [ok("1"), ok("2")]);
    assert!(broken(of("c")).contains("answered differently (a, b): the answer depends on the task"));
}

#[test]
fn recorded_delays_are_kept_when_asked_for() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let slow = Bench::new(false, |_, _, _| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            ToolAnswer::Ok("done".to_owned())
        })
    });
    assert_eq!(ask(&toolbox.wrap(slow).open(&task("t"), None).unwrap(), "x"), ok("done"));
    drop(toolbox);
    let replay = Toolbox::replay(Tape::open(&shelf.path).unwrap(), Match::Strict, Timing::Recorded).unwrap();
    let session = replay.wrap(Bench::stuck()).open(&task("t"), None).unwrap();
    let begun = std::time::Instant::now();
    assert_eq!(ask(&session, "x"), ok("done"));
    assert!(begun.elapsed() >= Duration::from_millis(200));
}
