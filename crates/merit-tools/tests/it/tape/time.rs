//! Calls that are given up: what the engine's deadline does to a recording.

use crate::tape::bench_tools::{Bench, PATIENCE, Shelf, ask, ok, task, timed_out};
use merit_tools::{NoAnswer, ToolAnswer, ToolSession, Toolbox, call_blocking};
use std::sync::{Arc, mpsc};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(30);

fn give_up(session: &Arc<dyn ToolSession>, input: &str) {
    assert_eq!(call_blocking(session, input, SOON), Err(NoAnswer::Late(SOON)), "nothing answers here");
}

fn answers(toolbox: &Toolbox) -> Vec<ToolAnswer> {
    toolbox.tape().unwrap().entries().unwrap().into_iter().map(|call| call.answer).collect()
}

#[test]
fn a_call_that_is_given_up_is_recorded_as_timed_out_and_replayed_at_once() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    give_up(&toolbox.wrap(Bench::stuck()).open(&task("t"), None).unwrap(), "x");
    assert_eq!(answers(&toolbox), [timed_out()]);
    drop(toolbox);
    let session = shelf.replay().wrap(Bench::stuck()).open(&task("t"), None).unwrap();
    assert_eq!(ask(&session, "x"), timed_out());
}

#[test]
fn a_call_that_is_given_up_long_before_its_limit_is_not_recorded() {
    let shelf = Shelf::new();
    let toolbox = shelf.record().within(1000.0);
    give_up(&toolbox.wrap(Bench::stuck()).open(&task("t"), None).unwrap(), "x");
    assert_eq!(answers(&toolbox), [], "the run was stopped; nobody was told of a time-out");
}

#[test]
fn an_answer_that_comes_too_late_is_recorded_as_what_the_agent_saw() {
    let shelf = Shelf::new();
    let toolbox = shelf.record().within(0.02);
    let slow = Bench::new(false, |_, _, _| {
        std::thread::sleep(Duration::from_millis(60));
        Box::pin(std::future::ready(ToolAnswer::Ok("late".to_owned())))
    });
    let session = toolbox.wrap(slow).open(&task("t"), None).unwrap();
    assert_eq!(ask(&session, "x"), timed_out());
    assert_eq!(answers(&toolbox), [timed_out()]);
}

/// Begins a call that blocks its thread until `release` is dropped, as code does that never yields.
fn blocked(
    toolbox: &Toolbox,
) -> (Arc<dyn ToolSession>, mpsc::Sender<()>, std::thread::JoinHandle<ToolAnswer>) {
    let (release, wait) = mpsc::channel::<()>();
    let (begun, started) = mpsc::channel();
    let wait = std::sync::Mutex::new(wait);
    let tool = Bench::new(false, move |input, _, _| {
        if input == "block" {
            begun.send(()).unwrap();
            assert!(wait.lock().unwrap().recv_timeout(PATIENCE).is_err());
        }
        Box::pin(std::future::ready(ToolAnswer::Ok(input.to_owned())))
    });
    let session = toolbox.wrap(tool).open(&task("t"), None).unwrap();
    let there = Arc::clone(&session);
    let thread = std::thread::spawn(move || ask(&there, "block"));
    started.recv_timeout(PATIENCE).unwrap();
    (session, release, thread)
}

#[test]
fn a_call_overtaken_by_the_next_was_given_up_even_if_it_answers_later() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let (session, release, thread) = blocked(&toolbox);
    let next = std::thread::spawn(move || ask(&session, "next"));
    while answers(&toolbox).is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(release);
    assert_eq!(thread.join().unwrap(), timed_out());
    assert_eq!(next.join().unwrap(), ok("next"));
    assert_eq!(answers(&toolbox), [timed_out(), ok("next")]);
}

#[test]
fn calls_that_never_notice_are_settled_when_the_episodes_are_over() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let (_session, release, thread) = blocked(&toolbox);
    toolbox.check().unwrap();
    assert_eq!(answers(&toolbox), [timed_out()]);
    drop(release);
    assert_eq!(thread.join().unwrap(), timed_out(), "nobody hears it any more");
    assert_eq!(answers(&toolbox), [timed_out()]);
}
