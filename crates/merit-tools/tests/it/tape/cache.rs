//! The cache that fills itself.

use crate::tape::bench_tools::{Bench, PATIENCE, Shelf, ask, broken, ok, task, timed_out};
use merit_tools::{
    Match, NoAnswer, Scope, Tape, TapeError, Timing, Tool, ToolAnswer, ToolSession, Toolbox, call_blocking,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

fn cache(shelf: &Shelf, scope: Scope) -> Toolbox {
    Toolbox::cache(Tape::cache(&shelf.path).unwrap(), scope)
}

fn open(toolbox: &Toolbox, tool: &Arc<Bench>, id: &str) -> Arc<dyn ToolSession> {
    toolbox.wrap(Arc::clone(tool) as Arc<dyn Tool>).open(&task(id), None).unwrap()
}

#[test]
fn the_same_question_has_one_answer_for_all_episodes_of_a_task_and_for_ever() {
    let shelf = Shelf::new();
    let toolbox = cache(&shelf, Scope::Task);
    let tool = Bench::fickle(false);
    let said = ["t", "t", "u"].map(|id| ask(&open(&toolbox, &tool, id), "red  shoes "));
    assert_eq!(said, [ok("call 0"), ok("call 0"), ok("call 1")]);
    let counts = toolbox.tape().unwrap().counts().unwrap();
    assert_eq!((counts.hits, counts.live, counts.calls), (1, 2, 2));
    drop(toolbox);
    let toolbox = cache(&shelf, Scope::Task);
    assert_eq!(ask(&open(&toolbox, &Bench::stuck(), "t"), "red shoes"), ok("call 0"));
}

#[test]
fn tasks_share_answers_when_told_that_these_do_not_depend_on_the_task() {
    let shelf = Shelf::new();
    let toolbox = cache(&shelf, Scope::Everywhere);
    let tool = Bench::fickle(false);
    let said = ["t", "u"].map(|id| ask(&open(&toolbox, &tool, id), "x"));
    assert_eq!(said, [ok("call 0"), ok("call 0")]);
}

#[test]
fn many_who_ask_at_the_same_time_make_one_live_call() {
    let shelf = Shelf::new();
    let toolbox = cache(&shelf, Scope::Task);
    let tool = Bench::new(false, |_, count, _| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            ToolAnswer::Ok(format!("call {count}"))
        })
    });
    let together = Barrier::new(16);
    let said: Vec<ToolAnswer> = std::thread::scope(|scope| {
        let asking = || {
            let session = open(&toolbox, &tool, "t");
            together.wait();
            ask(&session, "x")
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(asking)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(said, vec![ok("call 0"); 16]);
    assert_eq!(tool.calls.load(Ordering::Relaxed), 1);
    assert_eq!(toolbox.tape().unwrap().counts().unwrap().hits, 15);
}

#[test]
fn who_waits_for_a_call_that_is_given_up_asks_in_its_place() {
    let shelf = Shelf::new();
    let toolbox = cache(&shelf, Scope::Task);
    let open_now = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&open_now);
    let tool = Bench::new(false, move |_, count, _| {
        let answers = gate.load(Ordering::SeqCst);
        Box::pin(async move {
            if !answers {
                std::future::pending::<()>().await;
            }
            ToolAnswer::Ok(format!("call {count}"))
        })
    });
    let [first, second] = ["t", "t"].map(|id| open(&toolbox, &tool, id));
    let soon = Duration::from_millis(100);
    std::thread::scope(|scope| {
        let gives_up = scope.spawn(|| call_blocking(&first, "x", soon));
        while tool.calls.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        open_now.store(true, Ordering::SeqCst);
        assert_eq!(call_blocking(&second, "x", PATIENCE), Ok(ok("call 1")));
        assert_eq!(gives_up.join().unwrap(), Err(NoAnswer::Late(soon)));
    });
}

#[test]
fn what_broke_or_timed_out_is_asked_again() {
    let shelf = Shelf::new();
    let toolbox = cache(&shelf, Scope::Task);
    let tool = Bench::new(false, |_, count, _| {
        let answer = match count {
            0 => ToolAnswer::Broken("no route".to_owned()),
            1 => timed_out(),
            2 => ToolAnswer::Refused("one word".to_owned()),
            _ => ToolAnswer::Ok("never".to_owned()),
        };
        Box::pin(std::future::ready(answer))
    });
    let session = open(&toolbox, &tool, "t");
    assert_eq!(broken(ask(&session, "x")), "no route");
    assert_eq!(ask(&session, "x"), timed_out());
    let refused = ToolAnswer::Refused("one word".to_owned());
    assert_eq!([ask(&session, "x"), ask(&session, "x")], [refused.clone(), refused]);
    toolbox.check().unwrap();
}

#[test]
fn a_tool_that_keeps_state_cannot_be_cached() {
    let shelf = Shelf::new();
    let toolbox = cache(&shelf, Scope::Task);
    let error = toolbox.wrap(Bench::adder()).open(&task("t"), None).err().unwrap().to_string();
    assert!(error.contains("keeps state, so the same input need not have the same answer"), "{error}");
    assert!(matches!(toolbox.check(), Err(TapeError::Stateful { .. })), "whoever runs episodes is told");
}

#[test]
fn a_cache_is_replayed_loosely_and_is_no_recording() {
    let shelf = Shelf::new();
    let toolbox = cache(&shelf, Scope::Task);
    ask(&open(&toolbox, &Bench::fickle(false), "t"), "x");
    drop(toolbox);
    let refused = Toolbox::replay(Tape::open(&shelf.path).unwrap(), Match::Strict, Timing::Fast);
    let refused = refused.err().unwrap().to_string();
    assert!(refused.contains("is a cache of tool answers, not the recording of a run"), "{refused}");
    let session = shelf.matched(Match::Loose).wrap(Bench::stuck()).open(&task("t"), None).unwrap();
    assert_eq!(ask(&session, " x"), ok("call 0"));
    drop(session);
    assert!(matches!(Tape::append(&shelf.path), Err(TapeError::Kind { .. })));
    let recording = Shelf::new();
    drop(recording.record());
    assert!(matches!(Tape::cache(&recording.path), Err(TapeError::Kind { .. })));
}
