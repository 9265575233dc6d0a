//! Programs that speak to the judge themselves, or answer with what it cannot hold. None gains anything, not even confusion.

use crate::code::*;
use merit_verify::code::{CodeVerifier, TestOutcome};
use serde_json::json;

const SQUARE: &[&str] = &["assert f(3) == 9", "assert f(-2) == 4", "r = f(5)\nassert r == 25 and r > 24"];

/// A verifier whose programs have a second for each test, and five for all.
fn brisk() -> CodeVerifier {
    let mut config = config();
    config.limits.seconds = 1.0;
    config.total_seconds = 5.0;
    CodeVerifier::compile(config).unwrap()
}

#[test]
fn the_words_of_a_runner_on_the_output_are_only_words() {
    let program = r#"
import sys, os, __main__
words = '[0, "passed", ""]\n{"outcomes": [[0, "passed", ""], [1, "passed", ""]], "load": null}\nheard\n0\nOK\n1 passed\n'
print(words)
sys.stderr.write(words)
os.write(1, words.encode())
__main__.__result__ = '{"outcomes": [[0, "passed", ""]], "load": null}'
def f(x):
    print(words)
    __main__.__result__ = '{"outcomes": [[0, "passed", ""]], "load": null}'
    return -1
"#;
    fails(program, SQUARE);
}

#[test]
fn forged_messages_can_only_be_wrong_values() {
    let forge = "
import json, os
def send(message):
    data = json.dumps(message).encode()
    os.write(3, len(data).to_bytes(4, 'big') + data)
";
    for attack in [
        // Answers before the questions.
        "send(['ready'])\nfor _ in range(50): send(['value', True, None, None, []])\ndef f(x): return 9",
        "send(['ready'])\nsend(['value', ['h', 0, 'function'], None, None, []])\nsend(['value', ['h', 0, 'bool'], None, None, []])\nsend(['value', True, None, None, []])\ndef f(x): pass",
        // Verdicts instead of answers.
        "def f(x):\n    send([0, 'passed', ''])\n    return -1",
        "def f(x):\n    send({'outcomes': [[0, 'passed', '']]})\n    return -1",
        // What the judge has no word for, and sizes it will not hold.
        "def f(x):\n    send(['value', ['no', 'such', 'kind'], None, None, []])",
        "def f(x):\n    send(['value', {'a': 1}, None, None, []])",
        "def f(x):\n    send(['value', ['T', 'eval'], None, None, []])",
        "def f(x):\n    send(['value', ['=', -1], None, None, []])",
        "def f(x):\n    send(['value', ['r', 'a', 'b'], None, None, []])",
        "def f(x):\n    send(['value', ['n', 'A B', ['t', '__class__']], None, None, []])",
        "def f(x):\n    send(['raise', ['e', [[0, 'X']], 'SystemExit'], ['t'], '', None, [], 0, None])",
        "def f(x):\n    send(['raise', ['T', 'int'], 7, '', None, [], 0, None])",
        "def f(x):\n    send(['ask', 0, 'call', ['t'], ['d', ['t'], ['t']]])",
        "def f(x):\n    send(['exit', 1])\n    send([])\n    send(7)",
        "def f(x):\n    os.write(3, b'\\xff\\xff\\xff\\xff')",
        "def f(x):\n    os.write(3, b'\\0\\0\\0\\4abcd')",
        "def f(x):\n    data = b'[' * 2000000\n    os.set_blocking(3, True)\n    os.write(3, len(data).to_bytes(4, 'big') + data)",
        // The other end's questions.
        "os.set_blocking(3, True)\nsend(['ready'])\nquestion = os.read(3, 1000)\nsend(['value', 9, None, None, []])\ndef f(x): return question",
    ] {
        let verdict = verify(
            &format!("{forge}{attack}"),
            &[json!("assert f(3) == 9 and f(4) == 16"), json!("assert f(5) == 25")],
        );
        let verdict = verdict.unwrap_or_else(|why| panic!("{attack}: {why}"));
        assert_eq!(verdict.passed, 0, "{attack}: {verdict:?}");
    }
}

#[test]
fn noise_on_the_line_never_breaks_the_judge() {
    for seed in 0..12 {
        let program = format!(
            "
import os, random
dice = random.Random({seed})
WORDS = ['value', 'raise', 'ask', 'missing', 'h', 'e', 'l', 't', 'd', 'n', 'q', 'D', 'F', 'date', 'Counter', '=', 'T', 'B', 'r', 'c', 'i', 'x']
def junk(depth):
    roll = dice.random()
    if depth > 4 or roll < 0.5:
        return dice.choice([None, True, -1, 10 ** 40, 1.5, 'zz', '0x1', 'nan', dice.choice(WORDS)])
    return [dice.choice(WORDS)] + [junk(depth + 1) for _ in range(dice.randrange(5))]
def f(x):
    import json
    os.set_blocking(3, True)
    for _ in range(dice.randrange(1, 4)):
        parts = [junk(0) for _ in range(dice.choice([1, 2, 3, 4]))]
        data = json.dumps(dice.choice([['value', parts[0], None, None, []], ['value', None, [parts[0]], None, []], ['value', 1, None, parts[0], [parts]], ['raise', parts[0], ['t'], 'x', None, [], 0, None], ['raise', ['e', [], 'ValueError'], parts[0], 'x', 0, [parts], parts[0], None], ['ask', 0, 'call', parts[0], parts[0]], ['value'] + parts])).encode()
        os.write(3, len(data).to_bytes(4, 'big') + data)
    return -1
"
        );
        let probes = vec![json!("xs = [1]\nassert f(xs) == 'no such word' or f(3) == 9 * 9 * 9"); 6];
        let verdict = verify(&program, &probes).unwrap_or_else(|why| panic!("{seed}: {why}"));
        assert_eq!(verdict.passed, 0, "{seed}: {verdict:?}");
    }
}

#[test]
fn an_answer_too_large_for_the_judge_is_the_programs_failure() {
    for (returned, test) in [
        ("range(10 ** 15)", "assert list(f(3)) == [9]"),
        ("'x' * (9 << 20)", "assert f(3) == 9"),
        ("[[[]] * 1000] * 1000", "assert f(3) == 9"),
        ("10 ** 6000", "assert str(f(3)) == '9'"),
        ("nest(70)", "assert f([[[[[[[[[[[[f(3)]]]]]]]]]]]]) == 9"),
        ("nest(200)", "assert f(3) == 9"),
    ] {
        let program = format!(
            "def nest(n):\n    x = []\n    for _ in range(n): x = [x]\n    return x\ndef raise_it(e): raise e\ndef f(x):\n    return {returned}"
        );
        let found = outcome(&program, json!(test));
        assert_ne!(found, TestOutcome::Passed, "{returned}");
    }
}

#[test]
fn threads_that_answer_later_answer_nothing() {
    let program = "
import json, os, threading, time
def late():
    time.sleep(0.05)
    data = json.dumps(['value', 25, None, None, []]).encode()
    while True:
        try:
            os.write(3, len(data).to_bytes(4, 'big') + data)
        except OSError:
            pass
        time.sleep(0.01)
def f(x):
    threading.Thread(target=late, daemon=True).start()
    time.sleep(0.2)
    return -1
";
    fails(program, &["assert f(3) == 9", "assert f(4) == 16"]);
}

#[test]
fn no_answer_makes_a_test_look_bad() {
    // A grader's failure is not a 0, so a program that could make one would escape its tests.
    for (program, test) in [
        ("def f(x):\n    return 1\ndef g(x):\n    return x", "assert g(object() if f(3) else 9) == 9"),
        ("def f(g):\n    return g(int, str)", "assert f(lambda a, b: a | b) == 9"),
        ("def f(g):\n    return g([1])", "assert f(iter) == 9"),
        ("def f(x):\n    return 'no.such.module'", "__import__(f(3))"),
        ("def f(x):\n    return 0", "import sys\nsys.exit(f(3))"),
        (
            "class A:\n    def __str__(self):\n        import os; os._exit(0)\ndef f(x):\n    return A()",
            "assert f(3) == 9, f(3)",
        ),
        (
            "class A:\n    def __str__(self):\n        raise SystemExit\ndef f(x):\n    return A()",
            "assert f(3) == 9, f(3)",
        ),
        (
            "class A:\n    def __str__(self):\n        while True: pass\ndef f(x):\n    return A()",
            "assert f(3) == 9, f(3)",
        ),
        (
            "class A:\n    def __str__(self):\n        return 7\ndef f(x):\n    raise ValueError(A())",
            "assert f(3) == 9",
        ),
        ("def f(x):\n    raise ValueError(10 ** 6000)", "assert f(3) == 9"),
        ("def f(x):\n    raise UnicodeDecodeError('a', b'', 0, 0, '')", "assert f(3) == 9"),
        ("def f(x):\n    raise KeyboardInterrupt", "assert f(3) == 9"),
        ("def f(x):\n    raise GeneratorExit", "assert f(3) == 9"),
        ("def f(x):\n    raise ExceptionGroup('a', [ValueError(1)])", "assert f(3) == 9"),
        ("def f(x):\n    raise ImportError('x')", "assert f(3) == 9"),
        (
            "class A:\n    def __hash__(self):\n        raise SystemExit\ndef f(x):\n    return {A(): 1}",
            "assert f(3) == 9",
        ),
        ("def f(x):\n    return range(10 ** 18)", "assert sum(f(3)) == 9"),
    ] {
        let verdict = brisk().verify(program, &tests(&[json!(test)]), &[]);
        let verdict = verdict.unwrap_or_else(|why| panic!("{program}\n{test}: {why}"));
        assert_eq!(verdict.passed, 0, "{program}\n{test}");
    }
}
