//! Sessions keep their variables, stand still between cells, and say when they are over.
#![cfg(target_os = "linux")]

use merit_sandbox::{Cancel, Limits, Report, Sandbox, SandboxError, SandboxSettings, Session, Verdict};
use std::time::Duration;

fn session_with(seed: u64) -> Session {
    let settings = SandboxSettings { servers: 1, ..SandboxSettings::default() };
    Sandbox::shared(&settings).unwrap().session(seed, &Limits::default()).unwrap()
}

fn session() -> Session {
    session_with(0)
}

fn run(session: &mut Session, cell: &str) -> Report {
    session.run(cell, 10.0, None).unwrap()
}

#[test]
fn a_session_keeps_variables_functions_imports_and_files() {
    let mut session = session();
    assert_eq!(run(&mut session, "import math\nx = 4\ndef f(n): return n * x").verdict, Verdict::Ok);
    assert_eq!(
        run(&mut session, "open('note', 'w').write('kept')\nf(math.floor(2.5))").value.as_deref(),
        Some("8")
    );
    assert_eq!(run(&mut session, "print(open('note').read())\nx = 5").stdout, "kept\n");
    assert_eq!(run(&mut session, "f(2)").value.as_deref(), Some("10"));
}

#[test]
fn an_exception_ends_the_cell_and_not_the_session() {
    let mut session = session();
    run(&mut session, "x = 1");
    let Verdict::Exception { traceback, .. } = run(&mut session, "x = 2\nx / 0").verdict else { panic!() };
    assert!(traceback.contains("File \"<cell 2>\", line 2"), "{traceback}");
    assert_eq!(run(&mut session, "import sys; sys.exit(1)").verdict.to_string(), "SystemExit: 1");
    assert_eq!(run(&mut session, "bytearray(1 << 40)").verdict, Verdict::Memory);
    assert_eq!(run(&mut session, "x").value.as_deref(), Some("2"));
}

#[test]
fn an_honest_cell_at_its_deadline_leaves_the_session_alive() {
    // On a machine with more to do than processors a cell may come too late to say that it was interrupted.
    let at_its_deadline = || {
        let mut session = session();
        run(&mut session, "n = 0");
        let report = session.run("while True: n += 1", 0.2, None).unwrap();
        assert_eq!(report.verdict, Verdict::Time);
        session.alive().then(|| run(&mut session, "n > 10").value)
    };
    let alive = (0..20).find_map(|_| at_its_deadline()).expect("one of twenty stays alive");
    assert_eq!(alive.as_deref(), Some("True"));
}

#[test]
fn a_cell_that_ignores_its_deadline_ends_the_session_and_the_next_call_says_so() {
    let mut session = session();
    assert_eq!(session.run("sum(range(10 ** 12))", 0.2, None).unwrap().verdict, Verdict::Time);
    assert!(!session.alive());
    let error = session.run("1", 1.0, None).unwrap_err();
    assert_eq!(error, SandboxError::SessionEnded("cell 1: out of time".into()));
}

#[test]
fn a_session_whose_program_leaves_is_over() {
    let mut session = session();
    assert!(matches!(run(&mut session, "import os; os._exit(0)").verdict, Verdict::Killed { .. }));
    assert!(matches!(session.run("1", 1.0, None), Err(SandboxError::SessionEnded(_))));
}

#[test]
fn threads_left_running_do_nothing_between_cells() {
    let mut session = session();
    let start = "import threading, time\nn = 0\ndef count():\n    global n\n    while True:\n        n += 1\n        \
                 time.sleep(0.001)\nthreading.Thread(target=count, daemon=True).start()\ntime.sleep(0.1)";
    run(&mut session, start);
    let count = |session: &mut Session| run(session, "n").value.unwrap().parse::<u64>().unwrap();
    let before = count(&mut session);
    std::thread::sleep(Duration::from_millis(1500));
    let after = count(&mut session);
    assert!(before > 0);
    // A thread that ran on would have counted many hundreds.
    assert!(after - before < 400, "{before} -> {after}");
}

#[test]
fn the_seed_decides_and_replaying_the_cells_is_exact() {
    let cells = [
        "import random\na = random.random()",
        "b = random.choice(sorted({'x', 'y', 'z'}))",
        "(a, b, hash('q'))",
    ];
    let play = |seed| {
        let mut session = session_with(seed);
        cells.map(|cell| run(&mut session, cell).value).last().cloned().flatten().unwrap()
    };
    assert_eq!(play(7), play(7));
    assert_ne!(play(7), play(8));
}

#[test]
fn output_and_time_are_counted_for_each_cell() {
    let mut session = session();
    for _ in 0..3 {
        assert_eq!(run(&mut session, "print('x' * 200000)").stdout.len(), 200_001);
    }
    let busy =
        run(&mut session, "import time\nt = time.process_time()\nwhile time.process_time() - t < 0.2: pass");
    let idle = run(&mut session, "1");
    assert!(busy.cpu_seconds >= 0.19 && idle.cpu_seconds < 0.15, "{} {}", busy.cpu_seconds, idle.cpu_seconds);
}

#[test]
fn a_cancelled_cell_ends_the_session_at_once() {
    let mut session = session();
    let cancel = Cancel::new().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            cancel.cancel();
        });
        assert_eq!(
            session.run("while True: pass", 60.0, Some(&cancel)).unwrap_err(),
            SandboxError::Cancelled
        );
    });
    assert!(!session.alive());
}

#[test]
fn a_report_written_for_a_later_cell_ends_the_session() {
    let forge = |cell: u32| {
        format!(
            "import json, os, struct\nbody = json.dumps({{'verdict': 'ok', 'value': 'forged', 'cell': {cell}}}).encode()\n\
             os.write(4, struct.pack('<I', len(body)) + body)"
        )
    };
    let mut session = session();
    run(&mut session, "x = 1");
    // Ahead of its own report: the program's word for this cell is not for this cell.
    assert!(matches!(run(&mut session, &forge(3)).verdict, Verdict::Killed { .. }));
    assert!(matches!(session.run("x", 1.0, None), Err(SandboxError::SessionEnded(_))));
}

#[test]
fn sessions_do_not_see_each_other() {
    let (mut one, mut two) = (session(), session());
    run(&mut one, "secret = 1\nopen('secret', 'w').close()");
    assert_eq!(
        run(&mut two, "import os\n('secret' in globals(), os.listdir('.'))").value.as_deref(),
        Some("(False, [])")
    );
    assert_eq!(run(&mut one, "secret").value.as_deref(), Some("1"));
}
