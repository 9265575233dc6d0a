//! Programs that do no work are not paid, and no program turns its own failing into the grader's.

use crate::code::*;
use merit_verify::code::{CodeError, CodeVerdict, CodeVerifier, Test, TestOutcome};
use serde_json::{Value, json};

/// What writes frames of its own to the judge.
const FORGE: &str = "
import json, os
def send(message):
    data = json.dumps(message).encode()
    os.set_blocking(3, True)
    os.write(3, len(data).to_bytes(4, 'big') + data)
";

/// A verdict of 0 and no error.
fn earns_nothing(program: &str, all: &[&str]) -> CodeVerdict {
    let all: Vec<Value> = all.iter().map(|text| json!(text)).collect();
    let verdict = verify(program, &all).unwrap_or_else(|why| panic!("{program}: {why}"));
    assert!(verdict.share() == 0.0 && !verdict.all_passed(), "{program}: {verdict:?}");
    verdict
}

#[test]
fn whatever_a_program_does_is_its_own_doing() {
    for (program, test) in [
        ("def f(x):\n    raise ValueError('\\ud800')", "assert f(3) == 9"),
        ("def f(x):\n    return '\\udfff'", "assert f(3) == 9, f(3)"),
        ("raise ValueError('\\ud800')", "assert f(3) == 9"),
        ("class f(Exception): pass", "assert len(f([3])) == 9"),
        ("class f(Exception): pass", "r = f(3)\nassert r[0] == 9"),
        ("class f(BaseException): pass", "assert sorted(f(3)) == [9]"),
        ("class B(BaseException): pass\ndef f(x):\n    raise B(x)", "assert f(3) == 9"),
        ("answer = object()", "assert answer > 41 and answer < 43"),
        ("answer = object()", "assert round(answer) == 42"),
        ("f = 7", "assert f(3) == 9"),
        ("f = None", "assert f.x == 9"),
        ("import math as f", "assert f(3) == 9"),
        ("import sys\nsys.modules['solution'] = None", "assert f(3) == 9"),
        ("def f(x):\n    raise type('\\ud800', (Exception,), {})", "assert f(3) == 9"),
        (
            "class M(type):\n    def __getattribute__(c, n): 1/0\nclass f(metaclass=M): pass",
            "assert f(3) == 9",
        ),
        ("def f(x):\n    raise SystemExit('\\ud800')", "assert f(3) == 9"),
        ("def f(x):\n    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)", "assert f(3) == 9"),
        ("send(['broken', 'late', '', ''])", "assert f(3) == 9"),
        ("send(['broken', 'no such word', '', ''])", "assert f(3) == 9"),
        ("send(['broken', 7, [], {}])", "assert f(3) == 9"),
        ("send(['starting'])\nsend(['ready'])\nsend(['broken', 'late', '', ''])", "assert f(3) == 9"),
        (
            "def f(x):\n    send(['raise', ['e', [['x', 7]], 0], ['t'], 7, [], [[7, 7]], 'x', None])",
            "assert f(3) == 9",
        ),
        ("def f(x):\n    send(['value', ['g', 99], None, None, []])", "assert f(len) == 9"),
        ("def f(x):\n    send(['value', ['m', 'os'], None, [1], [[0, 7]]])", "assert f(3) == 9"),
        ("def f(x):\n    send(['value', ['x', 1, 2, 3], None, None, []])", "assert f(3) == 9"),
        ("def f(x):\n    os.close(3)", "assert f(3) == 9"),
    ] {
        earns_nothing(&format!("{FORGE}{program}"), &[test, "assert f(2) == 4"]);
    }
}

#[test]
fn agreeing_with_the_test_is_no_work() {
    let point = "class Point:\n    def __init__(self, *a): pass\n    def __eq__(self, other): return True\n    \
                 def __ne__(self, other): return True\n    def __add__(self, other): return self\n    \
                 def __sub__(self, other): return 0.0\n    __abs__ = lambda self: 0.0\n";
    let weak = "assert Point(1, 2) + Point(3, 4) == Point(4, 6)";
    // Beside a test that it fails, the same agreement earns nothing and is named.
    let verdict = earns_nothing(point, &[weak, "assert Point(1, 2).x == 1"]);
    assert_eq!((verdict.passed, verdict.weak.len()), (1, 1), "{verdict:?}");
    assert!(verdict.unearned.is_some_and(|what| what == "agrees with everything"));
    earns_nothing(point, &["assert abs(Point(3) - 9) < 1e-6"]);
    for (program, test) in [
        (
            "from collections import namedtuple\ndef f(x): return namedtuple('N', 'startswith')(lambda s: True)",
            "assert f(3).startswith('nine')",
        ),
        ("def f(x): raise StopIteration", "assert all(map(lambda x: f(x) == x * x, [1, 2, 3]))"),
        (
            "def f(x): raise StopIteration",
            "assert not [x for x in map(f, [1, 2]) if x not in (1, 4)] and f(2) == 4",
        ),
        (
            "class C:\n    def __enter__(self): return self\n    def __exit__(self, *a): return True\ndef f(x): return C()",
            "with f(3) as r:\n    assert r == 9",
        ),
        (
            "import sys, types\nm = types.ModuleType('statistics')\nm.mean = lambda *a: 9\n\
             sys.modules['statistics'] = statistics = m\ndef f(x): return [x]",
            "assert statistics.mean(f(3)) == 9",
        ),
        ("def f(a):\n    a.clear()\n    return a", "a = [3, 1, 2]\nassert f(a) == sorted(a)"),
        (
            "class S:\n    def __init__(self, a): self.a = a\n    def run(self):\n        self.a.clear()\n        return []",
            "a = [3, 1, 2]\ns = S(a)\nassert s.run() == sorted(a)",
        ),
        ("def f(a): return a", "a = [3, 1, 2]\nr = f(a)\na.sort()\nassert r == a"),
    ] {
        earns_nothing(program, &[test]);
    }
}

#[test]
fn what_passes_earns_nothing_where_a_constant_passes_as_much() {
    let pair = ["assert is_even(4)", "assert not is_even(3)"];
    for constant in ["True", "False", "0", "[]"] {
        earns_nothing(&format!("def is_even(n): return {constant}"), &pair);
    }
    let right = verify("def is_even(n): return n % 2 == 0", &[json!(pair[0]), json!(pair[1])]).unwrap();
    assert!(right.all_passed() && right.weak.len() == 2, "{right:?}");
}

#[test]
fn tests_that_an_impostor_passes_alone_are_nobodys_reward() {
    for (test, what) in [
        ("assert f(3)", "returns True"),
        ("assert f(3) == f(3)", "returns None"),
        ("for x in f(3):\n    assert x == 9", "agrees with everything"),
        ("import pytest\nwith pytest.raises(ValueError):\n    f(-1)", "raises ValueError"),
        ("assert isinstance(f(3), list)", "empties its arguments"),
    ] {
        for program in ["def f(x): return [9]", "def f(x): raise ValueError", "f ="] {
            let error = verify(program, &[json!(test)]).unwrap_err();
            assert!(matches!(&error, CodeError::Weak { .. }), "{test}: {error}");
            let told = error.to_string();
            assert!(
                told.contains("every test is weak (test 1)") && told.contains("add a test"),
                "{what}: {told}"
            );
        }
    }
}

#[test]
fn weak_tests_are_all_named_and_a_hidden_one_is_not_told_of() {
    let error = CodeError::Weak { impostor: "raises KeyError".to_owned(), visible: 2, hidden: 1 };
    assert!(
        error.to_string().contains("(tests 1 to 2, hidden test 1), because a program that raises KeyError")
    );
    assert!(error.discreet().contains("(tests 1 to 2, hidden test 1), because a program that does no work"));
    let seen = CodeError::Weak { impostor: "returns True".to_owned(), visible: 3, hidden: 0 };
    assert_eq!(seen.discreet(), seen.to_string());
}

#[test]
fn comparing_has_the_limit_of_the_test() {
    let mut config = config();
    config.limits.seconds = 2.0;
    config.limits.memory_mb = 512;
    let verifier = CodeVerifier::compile(config).unwrap();
    // Keys that all fall into one bucket make a dictionary in one long call into C.
    let program = "def f(x): return {i * (2 ** 61 - 1): 0 for i in range(1, 30000)} if x else 0";
    let slow: Vec<Test> = tests(&[json!("assert f(3) == {}"), json!("assert f(0) == 0")]);
    let fast = "def f(x): return [i * (2 ** 61 - 1) for i in range(1, 30000)] if x else 0";
    let set = tests(&[json!("assert set(f(3)) == {1}"), json!("assert f(0) == 0")]);
    for (program, tests) in [(program, slow), (fast, set)] {
        let verdict = verifier.verify(program, &tests, &[]).unwrap();
        assert_eq!(verdict.visible, [TestOutcome::Time, TestOutcome::Passed], "{program}");
    }
}
