//! Whether a sandbox is well: harmless programs with answers known ahead, many at once, and the limits still in force.

use crate::battery::call;
use crate::program::name_of;
use merit_sandbox::{Job, Limits, Sandbox};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Programs with the output they must have.
const HARMLESS: &[(&str, &str)] = &[
    ("print(7, 3 + 4, 1 + 1, len([1, 2]), 'x' == 'y')", "7 7 2 2 False\n"),
    (
        "import json\nprint(json.dumps({'a': [1, 2.5, None]}), hasattr(json, 'poisoned'))",
        "{\"a\": [1, 2.5, null]} False\n",
    ),
    (
        "import bisect\nrow = [1, 3]\nbisect.insort(row, 2)\nprint(row, hasattr(bisect, 'poisoned'))",
        "[1, 2, 3] False\n",
    ),
    ("import math, re\nprint(math.sqrt(16), re.sub('a+', 'b', 'caat'))", "4.0 cbt\n"),
    (
        "import builtins\nprint(builtins.print is print, repr('x'), isinstance(1, int), str(5))",
        "True 'x' True 5\n",
    ),
    (
        "try:\n    import merit_poison\nexcept ImportError as error:\n    print(error)",
        "No module named 'merit_poison'\n",
    ),
    ("import os\nprint(os.listdir('.'), os.path.exists('/merit-mark'))", "[] False\n"),
    ("import socket\nprint(socket.gethostname() == 'poison')", "False\n"),
    (
        "import sys\nprint(sys.gettrace(), sys.getprofile(), sys.stdin.read(), hasattr(str, 'append_poison'))",
        "None None  False\n",
    ),
    (
        "import fcntl, os\nprint(fcntl.fcntl(0, fcntl.F_GETFL) & (os.O_APPEND | os.O_NONBLOCK), fcntl.fcntl(0, fcntl.F_GETOWN))",
        "0 0\n",
    ),
    ("import os\nprint([key for key in os.environ if 'SECRET' in key])", "[]\n"),
    (
        "import threading\nseen = []\none = threading.Thread(target=seen.append, args=(1,))\none.start()\none.join()\nprint(seen)",
        "[1]\n",
    ),
    ("with open('note', 'w') as file:\n    file.write('kept')\nprint(open('note').read())", "kept\n"),
];

/// Programs with the verdict they must have.
const LIMITED: &[(&str, &str)] = &[
    ("while True: pass", "Time"),
    ("held = []\nwhile True: held.append(bytearray(1 << 20))", "Memory"),
    ("while True: print('x' * 100)", "Output"),
    ("1 / 0", "Exception"),
    ("import ctypes\nctypes.string_at(0)", "Killed"),
];

/// What `sandbox` answers wrongly, in words; nothing when it is well.
pub(crate) fn examine(sandbox: &Sandbox) -> Vec<String> {
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let found = harmless(sandbox);
                wrong.lock().unwrap().extend(found);
            });
        }
        scope.spawn(|| {
            let found = limited(sandbox);
            wrong.lock().unwrap().extend(found);
        });
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.extend(same_seed_same_numbers(sandbox));
    wrong.extend(same_program_same_order(sandbox));
    wrong
}

fn harmless(sandbox: &Sandbox) -> Vec<String> {
    let limits = Limits { seconds: 60.0, ..Limits::default() };
    let answers = HARMLESS.iter().map(|(code, right)| (code, right, call(sandbox, Job::new(*code, limits))));
    let wrong =
        answers.filter(|(_, right, answer)| !answer.as_ref().is_ok_and(|report| report.stdout == **right));
    wrong.map(|(code, right, answer)| format!("{code:?} should print {right:?}: {answer:?}")).collect()
}

fn limited(sandbox: &Sandbox) -> Vec<String> {
    let limits = Limits { seconds: 1.0, memory_mb: 64, ..Limits::default() };
    let answers = LIMITED.iter().map(|(code, right)| (code, right, call(sandbox, Job::new(*code, limits))));
    let wrong = answers.filter(|(_, right, answer)| {
        !answer.as_ref().is_ok_and(|report| name_of(&report.verdict) == **right)
    });
    wrong.map(|(code, right, answer)| format!("{code:?} should end as {right}: {answer:?}")).collect()
}

fn same_seed_same_numbers(sandbox: &Sandbox) -> Option<String> {
    let ask = |seed| {
        let mut job = Job::new("import random\nprint(random.random())", Limits::default());
        job.seed = seed;
        call(sandbox, job).map(|report| report.stdout)
    };
    let (first, again, other) = (ask(5), ask(5), ask(6));
    (first != again || first == other || first.is_err())
        .then(|| format!("seeds 5, 5, 6 gave {first:?}, {again:?}, {other:?}"))
}

/// The order of a set, which follows the hashes of its texts, is the same in every worker of every server.
fn same_program_same_order(sandbox: &Sandbox) -> Option<String> {
    let ask =
        || call(sandbox, Job::new("print(hash('merit'), {'a', 'b', 'c', 'd', 'e', 'f'})", Limits::default()));
    let answers: BTreeSet<String> =
        (0..16).map(|_| ask().map_or_else(|error| error.to_string(), |report| report.stdout)).collect();
    (answers.len() != 1).then(|| format!("one program, {} different outputs: {answers:?}", answers.len()))
}
