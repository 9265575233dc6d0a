//! Programs that use too much fail the test they do it in; the others are tried all the same.

use crate::code::*;
use merit_sandbox::SandboxSettings;
use merit_verify::code::{CodeConfig, CodeError, CodeVerifier, TestOutcome};
use serde_json::{Value, json};

/// A verifier whose programs have a few seconds for each test.
fn brisk() -> CodeVerifier {
    let mut config = config();
    config.limits.seconds = 4.0;
    CodeVerifier::compile(config).unwrap()
}

fn outcomes(program: &str, asserts: &[&str]) -> Vec<TestOutcome> {
    let all: Vec<Value> = asserts.iter().map(|text| json!(text)).collect();
    brisk().verify(program, &tests(&all), &[]).unwrap().visible
}

#[test]
fn each_excess_has_its_name_and_the_next_test_a_fresh_program() {
    let cases = [
        ("while True: pass", TestOutcome::Time),
        ("import time; time.sleep(1000)", TestOutcome::Time),
        ("x = bytearray(1 << 40)", TestOutcome::Memory),
        ("x = []\n        while True: x.append(bytearray(1 << 20))", TestOutcome::Memory),
        ("while True: print('x' * 10000)", TestOutcome::Output),
    ];
    for (excess, want) in cases {
        let program = format!("def f(x):\n    if x == 1:\n        {excess}\n    return x * x");
        let found = outcomes(&program, &["assert f(3) == 9", "assert f(1) == 1", "assert f(2) == 4"]);
        assert_eq!(found, [TestOutcome::Passed, want, TestOutcome::Passed], "{excess}");
    }
}

#[test]
fn a_killed_program_is_told_from_one_that_ended() {
    let program = "import ctypes\ndef f(x):\n    if x == 1:\n        ctypes.string_at(1)\n    return x";
    let found = outcomes(program, &["assert f(1) == 1", "assert f(2) == 2"]);
    assert!(matches!(&found[..], [TestOutcome::Killed { .. }, TestOutcome::Passed]), "{found:?}");
}

#[test]
fn what_the_kernel_refuses_is_an_exception_to_the_program() {
    let program = "import os, socket\ndef f(x):\n    if x == 1:\n        os.fork()\n    if x == 2:\n        socket.socket().connect(('127.0.0.1', 1))\n    return x";
    let found = outcomes(program, &["assert f(1) == 1", "assert f(2) == 2", "assert f(3) == 3"]);
    assert!(
        matches!(found[0], TestOutcome::Exception { .. })
            && matches!(found[1], TestOutcome::Exception { .. }),
        "{found:?}"
    );
    assert_eq!(found[2], TestOutcome::Passed);
}

#[test]
fn scripts_have_the_same_limits() {
    let script = |excess: &str| {
        let test = json!({"type": "stdin", "stdout": "1"});
        brisk().verify(excess, &tests(&[test]), &[]).unwrap().visible.remove(0)
    };
    assert_eq!(script("while True: pass"), TestOutcome::Time);
    assert_eq!(script("x = bytearray(1 << 40)"), TestOutcome::Memory);
    assert_eq!(script("while True: print('x' * 10000)"), TestOutcome::Output);
    assert!(matches!(script("import os\nos.fork()"), TestOutcome::Refused { .. } | TestOutcome::Processes));
    assert!(matches!(script("import ctypes\nctypes.string_at(1)"), TestOutcome::Killed { .. }));
}

#[test]
fn a_program_that_hangs_while_loading_is_tried_once() {
    let mut config = config();
    config.limits.seconds = 1.0;
    // A second start would leave tests that were not tried.
    config.restarts = 0;
    let verifier = CodeVerifier::compile(config).unwrap();
    let all = vec![json!("assert f(1) == 1"); 20];
    let found = verifier.verify("while True: pass", &tests(&all), &[]).unwrap().visible;
    assert_eq!(found, vec![TestOutcome::Time; 20]);
}

#[test]
fn a_program_that_keeps_ending_is_started_only_so_often() {
    let mut config = config();
    config.restarts = 2;
    let verifier = CodeVerifier::compile(config).unwrap();
    let verdict = verifier
        .verify("import os\ndef f(x):\n    os._exit(1)", &tests(&vec![json!("assert f(1) == 1"); 6]), &[])
        .unwrap();
    let not_tried = verdict.visible.iter().filter(|o| o.to_string().contains("not tried")).count();
    assert_eq!((verdict.passed, not_tried), (0, 3), "{verdict:?}");
}

#[test]
fn all_tests_together_have_an_end() {
    let mut config = config();
    config.limits.seconds = 2.5;
    config.total_seconds = 2.5;
    config.restarts = 100;
    let verifier = CodeVerifier::compile(config).unwrap();
    // Each would pass within its own limit; together they take fifteen seconds.
    let slow = "import time\ndef f(x):\n    time.sleep(0.5)\n    return x";
    let verdict = verifier.verify(slow, &tests(&vec![json!("assert f(1) == 1"); 30]), &[]).unwrap();
    assert!(
        verdict.visible.iter().all(|o| matches!(o, TestOutcome::Passed | TestOutcome::Time)),
        "{verdict:?}"
    );
    assert_eq!(verdict.visible.last(), Some(&TestOutcome::Time));
}

#[test]
fn a_sandbox_that_cannot_start_is_no_verdict() {
    let sandbox = SandboxSettings { python: Some("/nowhere/python3".into()), ..SandboxSettings::default() };
    let verifier = CodeVerifier::compile(CodeConfig { sandbox, ..CodeConfig::default() }).unwrap();
    let error = verifier.verify("def f(): return 1", &tests(&[json!("assert f() == 1")]), &[]).unwrap_err();
    assert!(
        matches!(error, CodeError::Sandbox(_)) && error.to_string().contains("/nowhere/python3"),
        "{error}"
    );
}

#[test]
fn verdicts_are_the_same_at_any_concurrency() {
    let program = "import random\ndef f(x):\n    if x % 3 == 0:\n        raise ValueError(x)\n    return {str(i) for i in range(x)}, random.random()";
    let all = tests(&[
        json!("import random\nn = random.randrange(1000)\nassert f(n)[0] == {str(i) for i in range(n)}, n"),
        json!("assert f(3)"),
        json!("assert f(4)[1] == 0, f(4)"),
        json!("assert f(5)[0] == f, f"),
    ]);
    let verifier = CodeVerifier::compile(config()).unwrap();
    let alone = verifier.verify(program, &all, &all).unwrap();
    std::thread::scope(|scope| {
        let runs: Vec<_> =
            (0..12).map(|_| scope.spawn(|| verifier.verify(program, &all, &all).unwrap())).collect();
        for run in runs {
            assert_eq!(run.join().unwrap(), alone);
        }
    });
}
