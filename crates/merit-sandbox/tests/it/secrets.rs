//! Two programs in two sandboxes cannot pass a secret, by whatever both can touch. Each way is first shown to work between two
//! programs without a sandbox, where the machine lets it work at all.
#![cfg(target_os = "linux")]

use merit_sandbox::{Job, Limits, Sandbox, SandboxSettings};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const CHANNELS: &str = include_str!("../channels/channels.py");

/// Every channel, and whether it must work outside for the test to mean something.
const NAMES: &[(&str, bool)] = &[
    ("record-lock", true),
    ("record-lock-on-a-device", true),
    ("flock", true),
    ("futex", true),
    ("inotify", true),
    ("shared-memory", true),
    ("abstract-socket", true),
    ("task-count", false),
    ("cached-pages", false),
    ("own-tasks", false),
    ("pipe-room", false),
    ("file-times", false),
];

/// Drawn anew each time, with bits of both kinds.
fn secret(salt: u64) -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    now.wrapping_mul(0x9E37_79B9).rotate_left(salt as u32 % 32) ^ 0x5A5A_3C3C
}

fn program(name: &str, role: &str, secret: u32, start: f64) -> String {
    format!("NAME, ROLE, SECRET, START = {name:?}, {role:?}, {secret}, {start:.6}\n{CHANNELS}")
}

/// Runs a sender and a reader side by side; what the reader read.
fn passed(name: &str, secret: u32, run: impl Fn(String) -> String + Sync) -> u32 {
    let lead = SystemTime::now() + Duration::from_millis(700);
    let start = lead.duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let read = std::thread::scope(|scope| {
        let sender = scope.spawn(|| run(program(name, "send", secret, start)));
        // The reader is not told the secret.
        let read = run(program(name, "read", 0, start));
        sender.join().unwrap();
        read
    });
    read.trim().parse().unwrap_or(0)
}

fn outside(code: String) -> String {
    let done = Command::new("python3").args(["-c", &code]).output().unwrap();
    String::from_utf8(done.stdout).unwrap()
}

/// Bits that came over beyond what a reader that always says 0, or always 1, gets right.
fn agreement(secret: u32, read: u32) -> u32 {
    let constant = secret.count_ones().max(secret.count_zeros());
    (!(secret ^ read)).count_ones().saturating_sub(constant)
}

#[test]
fn two_sandboxes_cannot_pass_a_secret() {
    let settings = SandboxSettings { servers: 1, ..SandboxSettings::default() };
    let boxes = [Sandbox::start(&settings).unwrap(), Sandbox::start(&settings).unwrap()];
    let limits = Limits { seconds: 20.0, ..Limits::default() };
    let inside = |code: String| {
        let sandbox = if code.contains(", \"send\", ") { &boxes[0] } else { &boxes[1] };
        sandbox.run(Job::new(&code, limits), None).unwrap().stdout
    };
    for (at, &(name, works_outside)) in NAMES.iter().enumerate() {
        let secret = secret(at as u64);
        // A busy machine misses slots; a way that works is seen to work within a few attempts.
        let works = || (0..5).any(|_| agreement(secret, passed(name, secret, outside)) > 4);
        assert!(!works_outside || works(), "{name} does not work outside");
        let told = passed(name, secret, inside);
        assert!(agreement(secret, told) <= 4, "{name} passed {told:x} of {secret:x}");
    }
}

#[test]
fn sqlite_keeps_its_files_in_the_private_folder() {
    let code = "import sqlite3
one, two = sqlite3.connect('/tmp/a.db', timeout=0.2), sqlite3.connect('/tmp/a.db', timeout=0.2)
one.execute('create table t (x)'); one.commit()
one.execute('insert into t values (1)')
try:
    two.execute('insert into t values (2)'); print('both write')
except sqlite3.OperationalError as error:
    print(error)
one.commit()
print(two.execute('select count(*) from t').fetchall())";
    let settings = SandboxSettings { servers: 1, ..SandboxSettings::default() };
    let report = Sandbox::shared(&settings).unwrap().run(Job::new(code, Limits::default()), None).unwrap();
    assert_eq!(report.stdout, "database is locked\n[(1,)]\n", "{report:#?}");
}
