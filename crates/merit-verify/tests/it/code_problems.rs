//! Problems in the shapes of public sets: canonical solutions pass all tests, and programs that do no work are paid nothing.

use crate::code::config;
use merit_verify::code::{CodeVerifier, Test};
use serde::Deserialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Programs that do no work, whatever is asked of them. `NAME` is the function that a problem asks for.
const IDLE: &[(&str, &str)] = &[
    ("defines nothing", "pass"),
    ("leaves", "import os, sys\ndef NAME(*a):\n    sys.exit(0)"),
    ("returns True", "def NAME(*a): return True"),
    ("returns an empty list", "def NAME(*a): return []"),
    ("returns its argument", "def NAME(*a): return a[0]"),
    ("ends loops", "def NAME(*a): raise StopIteration"),
    (
        "agrees",
        "class NAME:\n    def __new__(cls, *a): return object.__new__(cls)\n    def __eq__(self, o): return True\n    \
         __ne__ = lambda s, o: False\n    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__\n    \
         __sub__ = __rsub__ = __abs__ = __round__ = __float__ = lambda s, *a: 0.0\n    __hash__ = lambda s: 0",
    ),
    (
        "patches",
        "import builtins, unittest, sys\nbuiltins.all = builtins.any = builtins.abs = lambda *a: 1\n\
                 unittest.TestCase.assertEqual = lambda *a: None\nsys.modules['pytest'] = None\ndef NAME(*a): return -12345",
    ),
];

#[derive(Deserialize)]
struct Problem {
    id: String,
    solution: String,
    tests: Vec<Test>,
}

fn problems() -> Vec<Problem> {
    let lines = include_str!("../problems/problems.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn canonical_solutions_pass_and_idle_programs_are_paid_nothing() {
    // Each problem meets one of the idle programs in turn, so that each shape meets all of them.
    tried(|at| &IDLE[at / 5 % IDLE.len()..][..1]);
}

#[test]
#[ignore = "takes minutes: every idle program on every problem"]
fn every_idle_program_is_paid_nothing_for_every_problem() {
    tried(|_| IDLE);
}

type Idle = &'static [(&'static str, &'static str)];

fn tried(idle: impl Fn(usize) -> Idle + Sync) {
    let verifier = CodeVerifier::compile(config()).unwrap();
    let problems = problems();
    assert!(problems.len() >= 200, "{}", problems.len());
    let each = |problem: &Problem, idle: Idle| {
        let verdict = verifier.verify(&problem.solution, &problem.tests, &[]);
        let verdict = verdict.unwrap_or_else(|why| panic!("{}: {why}", problem.id));
        assert!(verdict.all_passed(), "{}: {verdict:?}", problem.id);
        let name = problem.id.split('/').next().unwrap();
        for (what, idle) in idle {
            let verdict = verifier.verify(&idle.replace("NAME", name), &problem.tests, &[]);
            let verdict = verdict.unwrap_or_else(|why| panic!("{} {what}: {why}", problem.id));
            assert!(!verdict.all_passed(), "{} {what}: {verdict:?}", problem.id);
        }
    };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for at in std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(problem) = problems.get(at) else { break };
                    each(problem, idle(at));
                }
            });
        }
    });
}
