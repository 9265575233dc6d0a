//! Tests of every kind say what they should, and bad tests are nobody's fault but their own.

use crate::code::*;
use merit_verify::code::{CodeConfig, CodeError, CodeExtract, CodeVerifier, TestOutcome};
use serde_json::json;

#[test]
fn tests_come_as_statements_checks_functions_and_classes() {
    let program = "import math\ndef add(a, b):\n    return a + b\ndef sum(a, b):\n    return a * b\n\
                   class Solution:\n    def twoSum(self, nums, target):\n        return [0, 1]";
    passes_all(
        program,
        &[
            json!({"type": "asserts", "entry_point": "add", "asserts": "METADATA = {}\ndef check(candidate):\n    assert candidate(1, 2) == 3\n    assert math.isclose(candidate(0.1, 0.2), 0.3)"}),
            json!({"type": "asserts", "entry_point": "Solution().twoSum", "asserts": "def check(candidate):\n    assert candidate([2, 7], 9) == [0, 1]"}),
            json!({"type": "asserts", "entry_point": "sum", "asserts": "assert sum(2, 5) == 10"}),
            json!({"type": "asserts", "setup": "def double(x):\n    return 2 * x", "asserts": "assert add(1, 1) == double(1)"}),
            json!("from solution import add\nimport solution\nassert add(1, 2) == solution.add(1, 2) == 3"),
            json!("from solution import *\ndef test_add():\n    assert add(1, 2) == 3"),
        ],
    );
}

#[test]
fn calls_compare_by_the_types_they_ask_for() {
    let call = |result, more: serde_json::Value| {
        let mut test = json!({"type": "call", "function": "f", "args": [], "result": result});
        test.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        test
    };
    let passed = |returned: &str, test| {
        outcome(&format!("def f():\n    return {returned}"), test) == TestOutcome::Passed
    };
    for (returned, result, more, want) in [
        ("1", json!(1), json!({}), true),
        ("True", json!(1), json!({}), false),
        ("1.0", json!(1), json!({}), false),
        ("1.0", json!(1), json!({"types": "numbers"}), true),
        ("True", json!(1), json!({"types": "numbers"}), false),
        ("(1, 2)", json!([1, 2]), json!({}), false),
        ("(1, 2)", json!([1, 2]), json!({"types": "json"}), true),
        ("(1, 2)", json!({"$python": "(1, 2)"}), json!({}), true),
        ("{1: {2}}", json!({"$python": "{1: {2}}"}), json!({}), true),
        ("{True: 1}", json!({"$python": "{1: 1}"}), json!({}), false),
        ("{1.0, 2}", json!({"$python": "{1, 2}"}), json!({}), false),
        ("2 ** 70", json!({"$python": "1180591620717411303424"}), json!({}), true),
        ("0.1 + 0.2", json!(0.3), json!({}), false),
        ("[0.1 + 0.2]", json!([0.3]), json!({"tolerance": 1e-9}), true),
        ("float('inf')", json!(5.0), json!({"tolerance": 0.1}), false),
        ("5.0", json!({"$python": "1e999"}), json!({"tolerance": 0.1}), false),
        ("{'a': [None]}", json!({"a": [null]}), json!({}), true),
        ("{'a': 1, 'b': 2}", json!({"a": 1}), json!({}), false),
        ("print", json!(null), json!({}), false),
    ] {
        assert_eq!(passed(returned, call(result.clone(), more.clone())), want, "{returned} {result} {more}");
    }
    passes_all(
        "def order(a, reverse=False):\n    a.sort(reverse=reverse)",
        &[
            json!({"type": "call", "function": "order", "args": [[2, 1]], "kwargs": {"reverse": true}, "result": [2, 1], "in_place": true}),
        ],
    );
}

#[test]
fn scripts_read_and_print() {
    let script = "import sys\ndef main():\n    n = int(input())\n    print(sum(int(x) for x in sys.stdin.read().split()[:n]) / n)\n\
                  if __name__ == '__main__':\n    main()\n    sys.exit(0)";
    passes_all(
        script,
        &[
            json!({"type": "stdin", "stdin": "2\n1 2\n", "stdout": "1.5"}),
            json!({"type": "stdin", "stdin": "3\n1 1\n0\n", "stdout": "0.66667", "compare": {"numbers": 1e-4}}),
            json!("assert callable(main)"),
        ],
    );
    let wrong = outcome(script, json!({"type": "stdin", "stdin": "1\n1\n", "stdout": "2.0"}));
    assert_eq!(wrong, TestOutcome::Failed { why: "it printed \"1.0\\n\"".to_owned() });
    let raised = outcome(script, json!({"type": "stdin", "stdin": "x\n", "stdout": ""}));
    assert!(
        matches!(&raised, TestOutcome::Exception { what } if what.starts_with("ValueError")),
        "{raised:?}"
    );
}

#[test]
fn a_program_that_does_not_parse_or_load_is_the_policys_doing() {
    let verdict = verify("def f(:", &[json!("assert f(1) == 1"), json!("assert f(2) == 2")]).unwrap();
    assert_eq!((verdict.passed, verdict.total), (0, 2));
    assert!(verdict.unusable.unwrap().contains("does not parse"));
    let raised = outcome("import nowhere\ndef f(x):\n    return x", json!("assert f(1) == 1"));
    assert!(
        matches!(&raised, TestOutcome::Exception { what } if what.contains("ModuleNotFoundError")),
        "{raised:?}"
    );
    let missing = outcome("def g(x):\n    return x", json!("assert f(1) == 1"));
    assert_eq!(missing, TestOutcome::Failed { why: "the program defines no `f`".to_owned() });
}

#[test]
fn the_program_is_the_response_or_its_last_block() {
    let config =
        CodeConfig { extract: CodeExtract::LastFence, prelude: "import math".to_owned(), ..config() };
    let verifier = CodeVerifier::compile(config).unwrap();
    let test = tests(&[json!("assert f(4) == 2")]);
    let fenced = "First:\n```python\ndef f(x): return 0\n```\nBetter:\n```python\ndef f(x):\n    return math.isqrt(x)\n```\nDone.";
    assert!(verifier.verify(fenced, &test, &[]).unwrap().all_passed());
    let bare = verifier.verify("def f(x): return 2", &test, &[]).unwrap();
    assert!(bare.unusable.is_some() && bare.passed == 0);
}

#[test]
fn a_test_that_is_no_good_is_an_error_and_no_verdict() {
    for (test, why) in [
        (json!("assert f(1) =="), "SyntaxError"),
        (json!("assert True"), "without asking"),
        (json!("def check(candidate):\n    assert candidate(1) == 1"), "entry_point"),
        (json!("import no_such_module\nassert f(1) == 1"), "no_such_module"),
        (json!("assert f(1 // 0) == 1"), "ZeroDivisionError"),
        (json!("assert eval('f(1)') == 1"), "`eval`"),
        (json!("import math\nassert f(math) == 1"), "no plain data"),
        (json!("try:\n    f(1)\nexcept BaseException:\n    pass"), "defines nothing"),
        (
            json!({"type": "asserts", "setup": "x = [][0]", "asserts": "assert f(1) == 1"}),
            "its setup raised IndexError",
        ),
        (json!({"type": "asserts", "asserts": " "}), "no statements"),
        (json!({"type": "call", "function": "f.g", "result": 1}), "`f.g`"),
        (json!({"type": "call", "function": "f", "args": [{"$python": "f("}], "result": 1}), "SyntaxError"),
        (json!({"type": "call", "function": "f", "result": 1, "tolerance": -1.0}), "tolerance"),
        (json!("import sys\nsys.exit(0)"), "SystemExit"),
    ] {
        let said = bad_test(test.clone());
        assert!(said.contains(why), "{test}: {said}");
    }
    let verifier = CodeVerifier::compile(config()).unwrap();
    let hidden = verifier.verify("def f(x): return x", &[], &tests(&[json!("assert f(1) == (")]));
    let error = hidden.unwrap_err();
    assert!(matches!(error, CodeError::Test { hidden: true, number: 1, .. }), "{error:?}");
    assert_eq!(error.discreet(), "hidden test 1 cannot be used");
}

#[test]
fn a_test_that_hangs_before_it_asks_anything_is_no_good() {
    let mut config = config();
    config.limits.seconds = 0.3;
    let verifier = CodeVerifier::compile(config).unwrap();
    let error = verifier.verify("def f(): pass", &tests(&[json!("while True: pass")]), &[]).unwrap_err();
    assert!(matches!(error, CodeError::Test { .. }), "{error:?}");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    for (toml, why) in [
        ("total_seconds = 1.0", "`total_seconds`"),
        ("entry_point = 'a.b'", "`entry_point`"),
        ("sandbox = { max_running = 1 }", "at least 2"),
        ("limits = { seconds = -1.0 }", "`seconds`"),
    ] {
        let config: CodeConfig = toml::from_str(toml).unwrap();
        let said = CodeVerifier::compile(config).unwrap_err().to_string();
        assert!(said.contains(why), "{toml}: {said}");
    }
    for (text, why) in
        [("language = 'rust'", "unknown variant `rust`"), ("timeout = 3", "unknown field `timeout`")]
    {
        let said = toml::from_str::<CodeConfig>(text).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
}
