//! Programs that attack their tests instead of passing them. None gains anything.

use crate::code::*;
use merit_verify::code::{CodeConfig, CodeVerifier, TestOutcome};
use serde_json::json;

const SQUARE: &[&str] = &["assert f(3) == 9", "assert f(-2) == 4", "r = f(5)\nassert r == 25 and r > 24"];

/// It ended by its own doing: cleanly, or without a word to anybody.
fn ended(outcome: &TestOutcome) -> bool {
    match outcome {
        TestOutcome::Failed { why } => why == "the program ended",
        TestOutcome::Killed { how } => how.contains("exit code"),
        _ => false,
    }
}

#[test]
fn leaving_before_the_asserts_passes_nothing() {
    for program in [
        "import os\nos._exit(0)",
        "def f(x):\n    raise SystemExit(0)",
        "import sys\ndef f(x):\n    sys.exit(0)",
        "import os\ndef f(x):\n    os._exit(0)",
        "import os\ndef f(x):\n    os.close(3)\n    os._exit(0)",
    ] {
        let outcomes =
            verify(program, &[json!("assert f(1) == 1"), json!("assert f(2) == 2")]).unwrap().visible;
        assert!(outcomes.len() == 2 && outcomes.iter().all(ended), "{program}: {outcomes:?}");
    }
}

#[test]
fn a_test_that_swallows_everything_still_sees_the_end() {
    let test = json!(
        "r = None\ntry:\n    r = f(1)\nexcept BaseException:\n    r = r or 1\nassert f(2) == 4 or r == 1"
    );
    let all = [json!("assert f(3) == 9"), test];
    for end in ["import os\ndef f(x):\n    os._exit(0)", "import sys\ndef f(x):\n    sys.exit(0)"] {
        let found = verify(end, &all).unwrap().visible;
        assert!(found.iter().all(ended), "{end}: {found:?}");
    }
}

#[test]
fn objects_that_equal_everything_equal_nothing() {
    let program = "
class Any:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __bool__(self): return True
    def __hash__(self): return 0
    def __sub__(self, other): return 0.0
    __rsub__ = __add__ = __mul__ = __sub__
    def __abs__(self): return 0.0
    def __round__(self, n=None): return self
    def __instancecheck__(self, other): return True
    def startswith(self, other): return True
    endswith = count = index = find = issubset = isdisjoint = startswith
    @property
    def __class__(self): return int
f = lambda *a: Any()
";
    fails(
        program,
        &[
            "assert f(3) == 9",
            "assert 9 == f(3)",
            "assert not (f(3) != 9)",
            "assert [f(3)] == [9]",
            "assert {'a': f(3)} == {'a': 9}",
            "assert (9, f(3)) == (9, 9)",
            "assert f(3) in [9]",
            "assert 9 in [f(3)]",
            "assert f(3) in {9}",
            "assert abs(f(3) - 9) < 1e-6",
            "assert abs(9 - f(3)) < 1e-6",
            "assert 8 < f(3) < 10",
            "assert 9 in f(3)",
            "assert f(3).startswith('nine')",
            "assert f(3).issubset({9})",
            "assert f(3).count(9)",
            "assert isinstance(f(3), int)",
            "assert round(f(3), 2) == 9",
            "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(f(3), 9)",
        ],
    );
    let call =
        json!({"type": "call", "function": "f", "args": [3], "result": 9, "types": "json", "tolerance": 0.5});
    assert_ne!(outcome(program, call), TestOutcome::Passed);
    // A class in place of the function is no better: it is not the test that wants an object.
    fails(
        &format!("{program}\nf = Any\nAny.__init__ = lambda *a: None"),
        &["assert f(3) == 9", "assert abs(f(3) - 9) < 1e-6", "assert f(3).startswith('n')"],
    );
}

#[test]
fn subclasses_of_plain_data_are_the_data_underneath() {
    for (base, made) in [
        ("str", "'no'"),
        ("int", "7"),
        ("float", "7.0"),
        ("list", "[7]"),
        ("dict", "{7: 7}"),
        ("tuple", "(7,)"),
    ] {
        let program = format!(
            "class T({base}):\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    \
             def __hash__(self): return 0\n    def __lt__(self, o): return True\n    __gt__ = __contains__ = __lt__\n\
             def f(x):\n    return T({made})"
        );
        fails(&program, &["assert f(3) == 9", "assert f(3) == 'yes'", "assert f(3) in [[9], {9: 9}, (9,)]"]);
    }
}

#[test]
fn patching_builtins_and_test_modules_changes_the_program_only() {
    for patch in [
        "import builtins\nbuiltins.len = builtins.isinstance = builtins.abs = builtins.all = builtins.any = lambda *a: True",
        "import builtins\nbuiltins.AssertionError = type('AssertionError', (Exception,), {'__new__': lambda *a: None})",
        "AssertionError = ValueError",
        "import builtins\nbuiltins.print = builtins.type = builtins.repr = lambda *a, **k: True",
        "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\nunittest.TestCase.run = lambda *a: None",
        "import sys, types\nsys.modules['pytest'] = types.ModuleType('pytest')\nsys.modules['unittest'] = sys.modules['pytest']",
        "import sys\nsys.settrace(lambda *a: None)\nsys.excepthook = lambda *a: None",
        "import operator, math\noperator.eq = math.isclose = lambda *a, **k: True",
        "import json\njson.dumps = json.JSONEncoder.encode = lambda *a, **k: '[\"value\",9,null,null,[]]'",
    ] {
        let program = format!("{patch}\ndef f(x):\n    return -1");
        fails(
            &program,
            &[
                "assert f(3) == 9",
                "assert len([f(3)]) == 0",
                "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(f(3), 9)",
                "assert math.isclose(f(3), 9)",
            ],
        );
    }
}

#[test]
fn names_of_the_program_do_not_shadow_what_the_tests_use() {
    let program = "class Always:\n    def __getattr__(self, name): return lambda *a, **k: True\n\
                   math = re = Always()\ndef isinstance(*a): return True\ndef sorted(*a): return 9\ndef abs(*a): return 0\n\
                   def f(x):\n    return -1";
    fails(
        program,
        &[
            "assert math.isclose(f(3), 9)",
            "assert re.match('9', str(f(3)))",
            "assert isinstance(f(3), str)",
            "assert sorted([f(3)]) == 9",
            "assert abs(f(3) - 9) < 1",
        ],
    );
}

#[test]
fn overwriting_files_and_modules_changes_no_test() {
    let program = "
import os, sys
for name in ('solution.py', 'conftest.py', 'tests.py', 'test_solution.py', 'judge.py', 'sitecustomize.py', 'unittest.py'):
    for folder in ('.', '/tmp', os.path.dirname(os.__file__)):
        try:
            with open(os.path.join(folder, name), 'w') as out:
                out.write('import os; os._exit(0)')
        except OSError:
            pass
sys.path.insert(0, '.')
def f(x):
    return -1
";
    fails(program, SQUARE);
    fails(
        program,
        &[
            "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(f(3), 9)",
        ],
    );
}

/// A program that looks for `needle` wherever a process can look, and says where it is.
fn seeker() -> String {
    "
import gc, os, sys, types
NEEDLE = ''.join(['KEEP', '_', 'THIS', '_SECRET'])
def reachable():
    # Every text that anything alive in this process leads to.
    stack, seen = gc.get_objects() + list(sys._current_frames().values()) + [dict(os.environ), sys.argv], set()
    while stack:
        one = stack.pop()
        if id(one) in seen or one is NEEDLE:
            continue
        seen.add(id(one))
        if isinstance(one, str):
            yield one
        elif isinstance(one, (bytes, bytearray)):
            yield one.decode('latin-1')
        else:
            stack.extend(one.co_consts if isinstance(one, types.CodeType) else gc.get_referents(one))
def readable():
    # Every file and descriptor that can be read.
    for fd in range(16):
        if fd != 3:
            try:
                os.set_blocking(fd, False)
                yield os.read(fd, 100000).decode('latin-1')
            except OSError:
                pass
    for top in ('/proc', '/tmp', '.', '/dev/shm', '/home', '/root', '/var'):
        for folder, _, names in os.walk(top):
            if folder.count('/') > 4:
                continue
            for name in names:
                if name in ('cmdline', 'environ', 'maps', 'mem', 'comm', 'status') or top != '/proc':
                    try:
                        with open(os.path.join(folder, name), 'rb') as file:
                            yield file.read(200000).decode('latin-1')
                    except (OSError, ValueError):
                        pass
def f(x):
    for search in (reachable, readable):
        for text in search():
            if NEEDLE in text:
                return search.__name__
    return x * x
"
    .to_owned()
}

#[test]
fn the_tests_cannot_be_found_in_memory_frames_files_or_other_processes() {
    let verifier = CodeVerifier::compile(CodeConfig {
        limits: merit_sandbox::Limits { seconds: 20.0, ..config().limits },
        ..config()
    })
    .unwrap();
    let test = json!({"type": "asserts", "setup": "word = 'KEEP_THIS_SECRET'", "asserts": "assert f(3) == 9, 'KEEP_THIS_SECRET'"});
    let verdict = verifier
        .verify(&seeker(), &tests(std::slice::from_ref(&test)), &tests(std::slice::from_ref(&test)))
        .unwrap();
    assert!(verdict.all_passed(), "{verdict:?}");
    // The same search does find what is left lying about.
    for left in [
        "LEFT = {'word': 'KEEP_THIS' '_SECRET'}",
        "def left():\n    return 'KEEP_THIS' '_SECRET'",
        "open('left', 'w').write('KEEP_THIS' + '_SECRET'[:])",
    ] {
        let careless = format!("{}\n{left}", seeker());
        let found = outcome(&careless, json!("assert f(3) in ('reachable', 'readable')"));
        assert_eq!(found, TestOutcome::Passed, "{left}");
    }
}

#[test]
fn arguments_changed_behind_the_tests_back_change_nothing_in_the_test() {
    fails(
        "def f(a):\n    a.clear()\n    return []",
        &["a = [3, 1, 2]\nassert f(a) == sorted(a)", "a = [3, 1]\nb = a\nassert f(a) == b"],
    );
    let always = json!({"type": "asserts", "asserts": "want = [1, 2, 3]\na = [3, 1, 2]\nassert f(a) == want and want == [1, 2, 3]", "write_back": "always"});
    assert_ne!(outcome("def f(a):\n    a[:] = []\n    return a", always), TestOutcome::Passed);
}

#[test]
fn code_in_an_answer_is_never_run_by_the_judge() {
    let answer = "def f(x):\n    return \"__import__('os')._exit(0)\"";
    fails(
        answer,
        &["import ast\ntry:\n    assert ast.literal_eval(f(3)) == 9\nexcept ValueError:\n    assert False"],
    );
}

#[test]
fn a_program_that_knows_the_visible_tests_fails_the_hidden_ones() {
    let program = "def f(x):\n    return {2: 4, 3: 9}.get(x, 0)";
    let verifier = CodeVerifier::compile(config()).unwrap();
    let visible = tests(&[json!("assert f(2) == 4"), json!("assert f(3) == 9")]);
    let hidden = tests(&[json!("assert f(5) == 25"), json!("assert f(0) == 0")]);
    let verdict = verifier.verify(program, &visible, &hidden).unwrap();
    assert_eq!((verdict.passed, verdict.total), (3, 4));
    assert!(verdict.visible.iter().all(|outcome| *outcome == TestOutcome::Passed));
    assert!(matches!(verdict.hidden[0], TestOutcome::Failed { .. }) && !verdict.all_passed());
}

#[test]
fn the_judge_cannot_be_told_from_a_user_by_its_calls() {
    // Counting calls, looking at the clock and at the caller's frames find nothing that says which call decides.
    let program = "
import sys, time
calls = []
def f(x):
    calls.append((time.time(), [frame for frame in sys._current_frames()]))
    return x * x if len(calls) > 2 else -1
";
    let outcomes =
        verify(program, &[json!("assert f(3) == 9"), json!("assert f(3) == 9"), json!("assert f(3) == 9")])
            .unwrap();
    assert_eq!(outcomes.passed, 1, "{outcomes:?}");
}
