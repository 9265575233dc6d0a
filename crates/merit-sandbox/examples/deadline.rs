//! How long after its deadline is a program that ignores it really gone? Prints one JSON line: milliseconds after the
//! deadline at which the report was there, and at which the kernel had closed the program's descriptors, each as median,
//! 99th percentile and worst; once alone and once beside 16 programs that spin.
//!
//! `cargo run --release -p merit-sandbox --example deadline [programs]`
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[cfg(target_os = "linux")]
fn main() {
    let programs = std::env::args().nth(1).map_or(300, |text| text.parse().unwrap());
    let sandbox = merit_sandbox::Sandbox::start(&merit_sandbox::SandboxSettings::default()).unwrap();
    let alone = linux::measure(&sandbox, programs, 0);
    let beside = linux::measure(&sandbox, programs, 16);
    println!("{}", serde_json::json!({ "programs": programs, "alone": alone, "beside_16_spinning": beside }));
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the sandbox needs Linux");
}

#[cfg(target_os = "linux")]
mod linux {
    use merit_sandbox::{Job, Limits, Sandbox, Verdict};
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    /// Says through its socket, by the clock we share, when it began.
    const BEGIN: &str = "import os, time\nos.write(3, time.time_ns().to_bytes(8, 'little'))\n";

    /// Ways to ignore a deadline.
    const STUBBORN: &[(&str, &str)] = &[
        ("busy_loop", "while True: pass"),
        ("busy_in_c", "import itertools\nsum(itertools.repeat(0))"),
        ("sleep_in_c", "import ctypes\nwhile True: ctypes.CDLL(None).sleep(1000)"),
        ("alarm_ignored", "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass"),
        (
            "signals_masked",
            "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
        ),
        ("swallowed", "while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
    ];
    const DEADLINE: f64 = 0.2;

    /// Runs `programs` stubborn programs one after the other beside `spinning` others; what came of them.
    pub(crate) fn measure(sandbox: &Sandbox, programs: usize, spinning: usize) -> serde_json::Value {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..spinning {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let limits = Limits { seconds: 2.0, ..Limits::default() };
                        sandbox.run(Job::new("while True: pass", limits), None).unwrap();
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(if spinning > 0 { 500 } else { 0 }));
            let (mut reported, mut gone, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
            for index in 0..programs {
                let (name, body) = STUBBORN[index % STUBBORN.len()];
                let overrun = run_past_deadline(sandbox, body);
                reported.push(overrun.reported_ms);
                gone.push(overrun.gone_ms);
                if overrun.verdict != Verdict::Time {
                    wrong.push(format!("{name}: {}", overrun.verdict));
                }
            }
            done.store(true, Ordering::Relaxed);
            serde_json::json!({ "reported_ms": spread(reported), "gone_ms": spread(gone), "wrong_verdicts": wrong })
        })
    }

    struct Overrun {
        verdict: Verdict,
        reported_ms: f64,
        gone_ms: f64,
    }

    fn run_past_deadline(sandbox: &Sandbox, body: &str) -> Overrun {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let watch = std::thread::spawn(move || began_and_gone(ours));
        let mut job = Job::new(format!("{BEGIN}{body}"), Limits { seconds: DEADLINE, ..Limits::default() });
        job.peer = Some(theirs.into());
        let report = sandbox.run(job, None).unwrap();
        let reported = now_ms();
        let (began, gone) = watch.join().unwrap();
        let deadline = began + DEADLINE * 1000.0;
        Overrun { verdict: report.verdict, reported_ms: reported - deadline, gone_ms: gone - deadline }
    }

    /// When the program began by its own word, and when the last holder of its socket was gone by the kernel's.
    fn began_and_gone(mut ours: UnixStream) -> (f64, f64) {
        let mut nanoseconds = [0; 8];
        ours.read_exact(&mut nanoseconds).unwrap();
        let end = ours.read(&mut [0; 1]).map_or(0, |count| count);
        let gone = now_ms();
        assert_eq!(end, 0, "the program said more than it should");
        (u64::from_le_bytes(nanoseconds) as f64 / 1e6, gone)
    }

    fn now_ms() -> f64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as f64 / 1e6
    }

    fn spread(mut values: Vec<f64>) -> serde_json::Value {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values.get((values.len() as f64 * share) as usize).or(values.last()).copied();
        serde_json::json!({ "p50": at(0.5), "p99": at(0.99), "max": values.last() })
    }
}
