//! One program, one verdict: what each kind of program gets, what it sees, and what its limits do.
#![cfg(target_os = "linux")]

use merit_sandbox::{Cancel, Job, Limits, PEER_FD, Report, Sandbox, SandboxError, SandboxSettings, Verdict};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

fn settings() -> SandboxSettings {
    SandboxSettings { servers: 1, ..SandboxSettings::default() }
}

fn sandbox() -> Sandbox {
    Sandbox::shared(&settings()).unwrap()
}

fn short() -> Limits {
    Limits { seconds: 10.0, ..Limits::default() }
}

fn run(code: &str) -> Report {
    sandbox().run(Job::new(code, short()), None).unwrap()
}

fn run_within(code: &str, change: impl Fn(&mut Limits)) -> Report {
    let mut limits = short();
    change(&mut limits);
    sandbox().run(Job::new(code, limits), None).unwrap()
}

/// The verdict in a few words.
fn check(code: &str, expected: &str) {
    let report = run(code);
    assert_eq!(report.verdict.to_string(), expected, "{code}\n{report:#?}");
}

#[test]
fn each_way_to_end_has_its_verdict() {
    check("x = 1", "ok");
    check("import sys; sys.exit()", "ok");
    check("import sys; sys.exit(0)", "ok");
    check("import sys; sys.exit(3)", "SystemExit: 3");
    check("raise ValueError('no')", "ValueError: no");
    check("class Own(Exception): pass\nraise Own()", "Own");
    check(
        "import json; json.loads('x')",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    );
    check("bytearray(1 << 40)", "out of memory");
    check("import os; os.fork()", "too many processes or threads");
    check("import subprocess; subprocess.run(['true'])", "too many processes or threads");
    check("import os; os._exit(3)", "killed: it left with exit code 3 before its end");
    check("import ctypes; ctypes.string_at(0)", "killed: signal 11 (SIGSEGV)");
    check("import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)", "refused: a forbidden system call");
    check(
        "import os; os.execv('/bin/sh', ['sh'])",
        "refused: os.exec, line 1: import os; os.execv('/bin/sh', ['sh'])",
    );
}

#[test]
fn a_socket_is_refused_and_the_call_named() {
    let Verdict::Refused { call } = run("import socket\ns = socket.socket()").verdict else {
        panic!("not refused")
    };
    assert_eq!(call, "socket.__new__, line 2: s = socket.socket()");
}

#[test]
fn a_program_may_live_with_a_refusal() {
    let code = "import socket\ntry:\n    socket.socket()\nexcept OSError:\n    print('so be it')";
    let report = run(code);
    assert_eq!((report.verdict, report.stdout.as_str()), (Verdict::Ok, "so be it\n"));
}

#[test]
fn memory_grown_bit_by_bit_is_out_of_memory() {
    let report = run_within("x = []\nwhile True: x.append(bytearray(1 << 20))", |l| l.memory_mb = 64);
    assert_eq!(report.verdict, Verdict::Memory);
    assert!(report.peak_memory_kb < (64 + 64) << 10, "{}", report.peak_memory_kb);
}

#[test]
fn threads_are_counted_for_each_program_alone() {
    let code = "import threading, time\nfor _ in range(N):\n    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()";
    let with = |count: u32, limit: u32| {
        run_within(&code.replace('N', &count.to_string()), |l| l.threads = limit).verdict
    };
    assert_eq!(with(4, 4), Verdict::Ok);
    assert_eq!(with(5, 4), Verdict::Processes);
    assert_eq!(with(1, 0), Verdict::Processes);
}

#[test]
fn processes_are_possible_where_allowed_and_die_with_the_program() {
    let code = "import os, time\nif os.fork() == 0:\n    time.sleep(60)\n    os._exit(0)\nprint(os.getpid())";
    let report = run_within(code, |l| l.processes = 2);
    assert_eq!((report.verdict, report.stdout.as_str()), (Verdict::Ok, "1\n"));
}

/// Forks `children`, each of which takes `each` MiB and holds it; the program waits for all of them to have taken it, then goes on.
fn spread(children: u32, each: u32, then: &str) -> String {
    let code = "import os, time
ours, theirs = os.pipe()
for _ in range(CHILDREN):
    if os.fork() == 0:
        held = bytearray(EACH << 20)
        for at in range(0, len(held), 4096): held[at] = 1
        os.write(theirs, b'x')
        while True: time.sleep(1)
got = 0
while got < CHILDREN: got += len(os.read(ours, 64))
";
    code.replace("CHILDREN", &children.to_string()).replace("EACH", &each.to_string()) + then
}

/// A limit that no slow machine reaches.
fn at_leisure(code: &str, memory_mb: u64) -> Report {
    run_within(code, |l| (l.processes, l.memory_mb, l.seconds) = (8, memory_mb, 300.0))
}

#[test]
fn the_processes_of_a_call_share_one_memory_limit() {
    let wait = "while True: time.sleep(1)";
    let report = at_leisure(&spread(6, 40, wait), 128);
    assert_eq!(report.verdict, Verdict::Memory, "{report:#?}");
    assert!(report.peak_memory_kb > 128 << 10, "{report:#?}");
    // Fresh interpreters cost nothing, so what fits, fits.
    let report = at_leisure(&spread(6, 10, "print('held')"), 128);
    assert_eq!((report.verdict, report.stdout.as_str()), (Verdict::Ok, "held\n"));
}

#[test]
fn processes_of_processes_and_of_threads_count_too() {
    let code = "import os, threading, time
def grow():
    if os.fork() == 0:
        if os.fork() == 0:
            held = bytearray(50 << 20)
            for at in range(0, len(held), 4096): held[at] = 1
            while True: time.sleep(1)
        os._exit(0) # the grandchild is now process 1's
    while True: time.sleep(1)
for _ in range(4): threading.Thread(target=grow).start()";
    let report = at_leisure(code, 128);
    assert_eq!(report.verdict, Verdict::Memory, "{report:#?}");
}

#[test]
fn a_session_is_held_to_the_memory_of_its_processes() {
    let limits = Limits { processes: 8, memory_mb: 128, ..short() };
    let mut session = sandbox().session(0, &limits).unwrap();
    assert_eq!(session.run(&spread(2, 40, ""), 300.0, None).unwrap().verdict, Verdict::Ok);
    let more = spread(3, 40, "while True: time.sleep(1)");
    assert_eq!(session.run(&more, 300.0, None).unwrap().verdict, Verdict::Memory);
    assert!(!session.alive());
}

#[test]
fn a_flood_of_output_is_cut_and_the_program_ended() {
    let report = run_within("while True: print('x' * 999)", |l| l.output_bytes = 10_000);
    assert_eq!(report.verdict, Verdict::Output);
    assert_eq!(report.stdout.len(), 10_000);
    let both = run_within("import sys\nprint('x' * 5000)\nprint('y' * 5000, file=sys.stderr)", |l| {
        l.output_bytes = 9000
    });
    assert_eq!(both.verdict, Verdict::Output);
}

#[test]
fn output_is_text_whatever_the_bytes() {
    let report = run("import sys\nsys.stdout.buffer.write(b'a\\xffb')\nsys.stderr.write('caf\\u00e9')");
    assert_eq!((report.stdout.as_str(), report.stderr.as_str()), ("a\u{fffd}b", "caf\u{e9}"));
}

#[test]
fn the_last_expression_or_the_result_is_the_value() {
    assert_eq!(run("x = 20\nx + 1").value.as_deref(), Some("21"));
    assert_eq!(run("x = 20").value, None);
    assert_eq!(run("None").value, None);
    assert_eq!(run("__result__ = 'text'\n5").value.as_deref(), Some("text"));
    assert_eq!(run("__result__ = 'z' * 50000").value.unwrap().len(), 50_000);
    assert!(run("'z' * 50000").value.unwrap().len() < 5_000);
    assert_eq!(run("'\\ud800'").value.as_deref(), Some("'\\ud800'"));
    assert_eq!(run_within("__result__ = 'z' * 50", |l| l.output_bytes = 40).verdict, Verdict::Output);
}

#[test]
fn an_honest_program_says_where_it_stood_at_the_deadline() {
    // A machine that is starved for longer than the grace kills it before it can say so; one attempt in many must do.
    let said = (0..20).any(|_| {
        let report =
            run_within("def wait():\n    while True: pass\nprint('on')\nwait()", |l| l.seconds = 0.2);
        assert_eq!((report.verdict, report.stdout.as_str()), (Verdict::Time, "on\n"));
        report.stderr.contains("line 2, in wait")
    });
    assert!(said);
}

#[test]
fn a_program_that_ignores_its_deadline_is_stopped() {
    let stubborn = [
        "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nprint('on')\nwhile True: pass",
        "print('on')\nsum(range(10 ** 12))",
        "print('on')\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import threading, time\nprint('on')\nt = threading.Thread(target=time.sleep, args=(60,))\nt.start()\nwhile True:\n    try: t.join()\n    except BaseException: pass",
    ];
    for code in stubborn {
        let report = run_within(code, |l| l.seconds = 0.3);
        assert_eq!((report.verdict, report.stdout.as_str()), (Verdict::Time, "on\n"), "{code}");
    }
}

#[test]
fn tracebacks_are_short_and_show_the_programs_own_lines() {
    let traceback = |code: &str| match run(code).verdict {
        Verdict::Exception { traceback, .. } => traceback,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        traceback("def f(x):\n    return 1 / x\nf(0)"),
        "Traceback (most recent call last):\n  File \"<snippet>\", line 3, in <module>\n    f(0)\n  \
         File \"<snippet>\", line 2, in f\n    return 1 / x\nZeroDivisionError: division by zero"
    );
    assert!(traceback("def f(): f()\nf()").contains("[repeated 9"));
    let mutual = traceback("def f(): g()\ndef g(): f()\nf()");
    assert!(mutual.contains("more frames") && mutual.len() <= 2000, "{mutual}");
    assert!(traceback("raise ValueError('x' * 10**6)").len() <= 2000);
    let chained =
        traceback("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e");
    assert!(
        chained.ends_with("KeyError: 'k'\nafter ZeroDivisionError: division by zero (<snippet>, line 2)"),
        "{chained}"
    );
    let syntax = traceback("x = 1\ny = $ 2\n");
    assert!(
        syntax.starts_with("SyntaxError: invalid syntax (<snippet>, line 2, column 5): y = $ 2"),
        "{syntax}"
    );
}

#[test]
fn stdin_files_argument_and_seed_reach_the_program() {
    let mut job = Job::new(
        "import random, helper\nprint(input(), helper.value, open('data/x.txt').read(), __argument__, random.random())",
        short(),
    );
    job.stdin = b"first line\nsecond".to_vec();
    job.files = vec![("helper.py".into(), b"value = 7".to_vec()), ("data/x.txt".into(), b"deep".to_vec())];
    job.argument = Some("words".into());
    job.seed = 5;
    let report = sandbox().run(job, None).unwrap();
    assert_eq!(report.stdout, "first line 7 deep words 0.6229016948897019\n", "{report:?}");
}

#[test]
fn two_programs_can_talk_over_a_pair() {
    let (left, right) = UnixStream::pair().unwrap();
    let with = |code: &str, peer: UnixStream| Job { peer: Some(peer.into()), ..Job::new(code, short()) };
    let asker = with(
        &format!("import os\nos.write({PEER_FD}, b'6*7')\nprint(os.read({PEER_FD}, 99).decode())"),
        left,
    );
    let answerer =
        with(&format!("import os\nos.write({PEER_FD}, str(eval(os.read({PEER_FD}, 99))).encode())"), right);
    let sandbox = sandbox();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| sandbox.run(answerer, None).unwrap());
        assert_eq!(sandbox.run(asker, None).unwrap().stdout, "42\n");
        assert_eq!(other.join().unwrap().verdict, Verdict::Ok);
    });
}

#[test]
fn a_peer_on_our_side_can_talk_to_a_program() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let code = format!("import socket\ns = socket.socket(fileno={PEER_FD})\ns.sendall(s.recv(9)[::-1])");
    let job = Job { peer: Some(theirs.into()), ..Job::new(code, short()) };
    ours.write_all(b"abc").unwrap();
    assert_eq!(sandbox().run(job, None).unwrap().verdict, Verdict::Ok);
    let mut text = String::new();
    ours.read_to_string(&mut text).unwrap();
    assert_eq!(text, "cba");
}

#[test]
fn a_program_finds_nothing_of_the_host_and_nothing_of_others() {
    let see = |code: &str| run(code).stdout;
    assert_eq!(see("import os; print(sorted(os.environ))"), "['LC_ALL', 'PYTHONHASHSEED', 'TMPDIR']\n");
    assert_eq!(see("import os; print(os.listdir('.'), os.getpid(), os.getuid() != 0)"), "[] 1 True\n");
    let missing = "import os\nprint([p for p in ('/proc', '/sys', '/etc', '/home', '/bin', '/dev/shm') if os.path.exists(p)])";
    assert_eq!(see(missing), "[]\n");
    let open = "import os\nfound = []\nfor fd in range(64):\n    try: os.fstat(fd); found.append(fd)\n    except OSError: pass\nprint(found)";
    assert_eq!(see(open), "[0, 1, 2, 4]\n");
    assert_eq!(see("open('mark', 'w').write('me')"), "");
    assert_eq!(see("import os; print(os.path.exists('mark'))"), "False\n");
}

#[test]
fn files_stay_within_the_private_folder_and_its_size() {
    let code = "with open('big', 'wb') as f:\n    for _ in range(64): f.write(bytes(1 << 20))";
    assert_eq!(run_within(code, |l| l.disk_mb = 8).verdict.to_string(), "OSError: [Errno 27] File too large");
    let many = "for n in range(64):\n    with open(str(n), 'wb') as f: f.write(bytes(1 << 20))";
    assert_eq!(
        run_within(many, |l| l.disk_mb = 8).verdict.to_string(),
        "OSError: [Errno 28] No space left on device"
    );
    assert!(matches!(
        run("import os; os.symlink('/', 'up'); open('up/x', 'w')").verdict,
        Verdict::Exception { .. }
    ));
}

#[test]
fn limits_other_than_the_spares_are_held_either_way() {
    let memory = "import resource; print(resource.getrlimit(resource.RLIMIT_AS)[1] >> 20)";
    let of = |mb: u64| -> u64 { run_within(memory, |l| l.memory_mb = mb).stdout.trim().parse().unwrap() };
    let usual = of(Limits::default().memory_mb);
    assert_eq!(of(Limits::default().memory_mb - 100), usual - 100);
    assert_eq!(of(Limits::default().memory_mb + 100), usual + 100);
    let space = "n, chunk = 0, bytes(1 << 18)
try:
    for n in range(1000): open(f'f{n}', 'wb', buffering=0).write(chunk)
except OSError: print(n >> 2)";
    assert_eq!(run_within(space, |l| l.disk_mb = 3).stdout, "3\n");
    assert_eq!(run_within(space, |l| l.disk_mb = 30).stdout, "30\n");
}

#[test]
fn calls_work_without_spares() {
    let settings = SandboxSettings { spare: 0, ..settings() };
    let sandbox = Sandbox::start(&settings).unwrap();
    for _ in 0..3 {
        assert_eq!(sandbox.run(Job::new("print(1)", short()), None).unwrap().stdout, "1\n");
    }
}

#[test]
fn a_program_cannot_break_our_side_with_nonsense_on_its_channel() {
    let lies = [
        ("import os; os.write(4, b'\\xff\\xff\\xff\\xff')", "killed: it wrote nonsense to its channel"),
        ("import os; os.write(4, b'\\x02\\0\\0\\0{}')", "killed: it wrote nonsense to its channel"),
        (
            "import os; os.write(4, b'\\x10\\0\\0\\0{\"verdict\":\"oh\"}')",
            "killed: it wrote nonsense to its channel",
        ),
        ("import os; os.close(4)", "killed: it left with exit code 0 before its end"),
    ];
    for (code, verdict) in lies {
        check(code, verdict);
    }
    let deep =
        "import os\nos.write(4, (60000).to_bytes(4, 'little') + b'[' * 60000)\nimport time\ntime.sleep(30)";
    check(deep, "killed: it wrote nonsense to its channel");
}

#[test]
fn a_call_can_be_cancelled_from_another_thread() {
    let cancel = Cancel::new().unwrap();
    let sandbox = sandbox();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            sandbox.run(Job::new("while True: pass", Limits { seconds: 60.0, ..short() }), Some(&cancel))
        });
        std::thread::sleep(Duration::from_millis(100));
        cancel.cancel();
        assert_eq!(call.join().unwrap().unwrap_err(), SandboxError::Cancelled);
    });
    assert_eq!(sandbox.run(Job::new("1", short()), Some(&cancel)).unwrap_err(), SandboxError::Cancelled);
}

#[test]
fn a_call_waits_when_too_many_run() {
    let settings = SandboxSettings { max_running: 1, ..settings() };
    let sandbox = Sandbox::start(&settings).unwrap();
    let cancel = Cancel::new().unwrap();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| sandbox.run(Job::new("while True: pass", short()), Some(&cancel)));
        std::thread::sleep(Duration::from_millis(200));
        let second = scope.spawn(|| sandbox.run(Job::new("print(2)", short()), None));
        std::thread::sleep(Duration::from_millis(200));
        assert!(!second.is_finished());
        cancel.cancel();
        assert_eq!(first.join().unwrap().unwrap_err(), SandboxError::Cancelled);
        assert_eq!(second.join().unwrap().unwrap().stdout, "2\n");
    });
}

#[test]
fn many_callers_at_once_get_their_own_answers() {
    let sandbox = sandbox();
    std::thread::scope(|scope| {
        for caller in 0..32 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for round in 0..3 {
                    let code = format!("print({caller} * 1000 + {round})");
                    let report =
                        sandbox.run(Job::new(code, Limits { seconds: 60.0, ..short() }), None).unwrap();
                    assert_eq!(report.stdout, format!("{}\n", caller * 1000 + round));
                }
            });
        }
    });
}

#[test]
fn the_same_job_gives_the_same_report() {
    let code = "import random\nprint(random.random(), hash('text'), sorted({'a', 'b', 'c'}, key=hash))\n{'x', 'y', 'z'}";
    let reports: Vec<_> = (0..4).map(|_| run(code)).map(|r| (r.verdict, r.stdout, r.value)).collect();
    assert!(reports.windows(2).all(|pair| pair[0] == pair[1]), "{reports:?}");
}

#[test]
fn jobs_that_cannot_be_sent_are_refused_with_the_reason() {
    let refused = |change: &dyn Fn(&mut Job)| {
        let mut job = Job::new("1", short());
        change(&mut job);
        sandbox().run(job, None).unwrap_err().to_string()
    };
    for name in ["/etc/x", "../x", "a//b", "", "a/./b", "x\0"] {
        let error = refused(&|job| job.files = vec![(name.into(), Vec::new())]);
        assert!(error.contains("does not stay inside"), "{name}: {error}");
    }
    let files = |names: &[&str]| -> Vec<_> { names.iter().map(|&name| (name.to_owned(), vec![1])).collect() };
    assert!(refused(&|job| job.files = files(&["a", "b", "a"])).contains("comes twice"));
    assert!(refused(&|job| job.files = files(&["a/b", "a"])).contains("both as a file and as a folder"));
    assert!(
        refused(&|job| job.files = (0..1001).map(|n| (n.to_string(), Vec::new())).collect())
            .contains("more than")
    );
    let many = |job: &mut Job| {
        job.limits.disk_mb = 1;
        job.files = (0..900).map(|n| (n.to_string(), vec![1])).collect();
    };
    assert!(refused(&many).contains("`disk_mb` gives"));
    assert!(refused(&|job| job.stdin = vec![0; 17 << 20]).contains("`disk_mb` gives"));
    assert!(refused(&|job| job.limits.seconds = f64::NAN).contains("`seconds`"));
    assert!(refused(&|job| job.limits.memory_mb = 0).contains("`memory_mb` = 0"));
    assert!(refused(&|job| job.code = " ".repeat(5 << 20)).contains("bytes of code"));
}
