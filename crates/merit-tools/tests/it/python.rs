//! The Python tool: what an agent sees of its programs, and an interpreter that can be forked.

use merit_tools::conformance::example_task;
use merit_tools::{NoAnswer, Tool, ToolAnswer, ToolSession, call_blocking, read_tool};
use std::sync::Arc;
use std::time::Duration;

fn python(settings: &str) -> Arc<dyn Tool> {
    read_tool(&format!("type = \"python\"\n{settings}")).unwrap().build_one().unwrap()
}

fn open(settings: &str) -> Arc<dyn ToolSession> {
    python(settings).open(&example_task(), None).unwrap()
}

fn ask(session: &Arc<dyn ToolSession>, code: &str) -> ToolAnswer {
    call_blocking(session, code, Duration::from_secs(30)).unwrap()
}

fn ok(text: &str) -> ToolAnswer {
    ToolAnswer::Ok(text.to_owned())
}

#[test]
fn output_and_the_last_value_are_shown() {
    let session = open("");
    assert_eq!(ask(&session, "print('a')\n1 + 1"), ok("a\n2"));
    assert_eq!(ask(&session, "x = 5"), ok("(no output)"));
}

#[test]
fn variables_are_kept_through_an_episode_and_not_beyond() {
    let session = open("");
    assert_eq!(ask(&session, "x = 20"), ok("(no output)"));
    assert_eq!(ask(&session, "x + 1"), ok("21"));
    let ToolAnswer::Refused(text) = ask(&open(""), "x") else { panic!("another episode sees it") };
    assert_eq!(text, "NameError: name 'x' is not defined");
}

#[test]
fn without_keeping_every_call_is_fresh() {
    let session = open("keep_variables = false");
    assert_eq!(ask(&session, "x = 1"), ok("(no output)"));
    assert!(matches!(ask(&session, "x"), ToolAnswer::Refused(_)));
    assert!(session.snapshot().is_null());
}

#[test]
fn an_error_shows_its_traceback_and_what_was_printed_before() {
    let ToolAnswer::Refused(text) = ask(&open(""), "print('before')\ndef f(n):\n    return 1 / n\nf(0)")
    else {
        panic!("it divides by zero")
    };
    assert!(text.starts_with("before\n"), "{text}");
    assert!(text.contains("return 1 / n") && text.ends_with("ZeroDivisionError: division by zero"), "{text}");
}

#[test]
fn a_fork_has_the_variables_and_goes_its_own_way() {
    let tool = python("");
    let original = tool.open(&example_task(), None).unwrap();
    assert_eq!(ask(&original, "import random\nx = random.random()\nlist_ = [1]"), ok("(no output)"));
    let drawn = ask(&original, "x");
    let fork = tool.open(&example_task(), Some(&original.snapshot())).unwrap();
    assert_eq!(ask(&fork, "x"), drawn);
    assert_eq!(ask(&fork, "list_.append(2); len(list_)"), ok("2"));
    assert_eq!(ask(&original, "len(list_)"), ok("1"));
}

#[test]
fn a_program_that_says_something_else_when_repeated_cannot_be_forked() {
    let tool = python("");
    let original = tool.open(&example_task(), None).unwrap();
    ask(&original, "import time\nprint(time.perf_counter_ns())");
    let fork = tool.open(&example_task(), Some(&original.snapshot())).unwrap();
    let ToolAnswer::Broken(why) = ask(&fork, "1") else { panic!("it went on") };
    assert!(why.contains("program 1 of 1 says something else"), "{why}");
}

#[test]
fn an_endless_program_times_out_and_the_agent_is_told_when_its_variables_are_gone() {
    let session = open("sandbox = { limits = { seconds = 2.5 } }");
    ask(&session, "x = 1");
    let ToolAnswer::TimedOut(text) = ask(&session, "while True: pass") else { panic!("it ended") };
    assert!(text.contains("stopped after 2.5 s"), "{text}");
    // An ordinary loop is interrupted and the interpreter lives on.
    assert_eq!(ask(&session, "x"), ok("1"));
    let deaf = "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass";
    assert!(matches!(ask(&session, deaf), ToolAnswer::TimedOut(_)));
    let ToolAnswer::Refused(text) = ask(&session, "x") else { panic!("x is still there") };
    assert!(text.contains("a fresh interpreter") && text.contains("NameError"), "{text}");
}

#[test]
fn what_is_not_allowed_is_said_in_few_words() {
    let session = open("sandbox = { limits = { memory_mb = 64, output_bytes = 1000 } }");
    for (code, word) in [
        ("import os\nos.fork()", "processes"),
        ("import socket\nsocket.socket()", "not allowed here"),
        ("x = bytearray(10**9)", "64 MiB"),
        ("open('/etc/passwd')", "FileNotFoundError"),
        ("print('x' * 5000)", "1000 bytes"),
        ("", "write a program"),
    ] {
        let ToolAnswer::Refused(text) = ask(&session, code) else { panic!("{code} was not refused") };
        assert!(text.contains(word), "{code}: {text}");
    }
}

#[test]
fn giving_a_call_up_ends_its_program() {
    let session = open("sandbox = { limits = { seconds = 60.0 } }");
    let late = call_blocking(&session, "import time\ntime.sleep(50)", Duration::from_millis(200));
    assert!(late.unwrap_err().to_string().contains("no answer within"));
    // The same interpreter answers again, so it was not waited for.
    assert_eq!(ask(&session, "1 + 1"), ok("2"));
}

#[test]
fn a_call_that_was_given_up_loses_the_variables_at_most() {
    const SOON: Duration = Duration::from_millis(300);
    let session = open("");
    assert_eq!(ask(&session, "x = 1"), ok("(no output)"));
    assert_eq!(call_blocking(&session, "while True: pass", SOON), Err(NoAnswer::Late(SOON)));
    assert_eq!(ask(&session, "x"), ok("1"));
    // A program that tells the time cannot be run again to the same end.
    assert!(matches!(ask(&session, "import time; y = 2; time.time_ns()"), ToolAnswer::Ok(_)));
    assert_eq!(call_blocking(&session, "while True: pass", SOON), Err(NoAnswer::Late(SOON)));
    let ToolAnswer::Ok(text) = ask(&session, "'y' in globals()") else { panic!("the session is gone") };
    assert!(text.contains("its variables are gone") && text.ends_with("False"), "{text}");
    assert_eq!(ask(&session, "1 + 1"), ok("2"));
}
