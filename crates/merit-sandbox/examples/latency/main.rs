//! What a fenced call costs beside a bare fork and a fresh interpreter. Prints one JSON object per line.
//!
//! `cargo run --release -p merit-sandbox --example latency -- [rounds] [calls per round]`. Rounds interleave the ways, so
//! that a busy machine is busy for all of them. `pause_ms` tells calls that come one after another without a pause (then
//! the servers' forking is part of the time) from calls with thinking time between them, as an agent's are.

mod bare;

use bare::Bare;
use merit_sandbox::{Job, Limits, Sandbox, SandboxSettings, Verdict};
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const SNIPPET: &str = "import math; sum(math.sqrt(i) for i in range(1000))";
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let calls: usize = arguments.next().map_or(Ok(40), |text| text.parse())?;
    sequential(rounds, calls)?;
    for _ in 0..rounds.min(3) {
        crowd(calls * 25)?;
    }
    stops(rounds)
}

/// How late programs that ignore their deadline are stopped: one alone, and 64 that all spin.
fn stops(rounds: usize) -> Outcome<()> {
    const STUBBORN: &str = "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass";
    let settings = SandboxSettings::default();
    let limits = Limits { seconds: 0.5, ..settings.limits };
    let sandbox = Sandbox::start(&settings)?;
    for callers in [1, 64] {
        let late = Mutex::new(Vec::new());
        spread(callers, rounds * callers, &|_| {
            let report = sandbox.run(Job::new(STUBBORN, limits), None)?;
            late.lock().map_err(|_| "a caller panicked")?.push((report.seconds - limits.seconds) * 1e3);
            Ok(())
        })?;
        let mut late = late.into_inner().map_err(|_| "a caller panicked")?;
        late.sort_by(f64::total_cmp);
        say(json!({"stopped_after_deadline": late.len(), "callers": callers, "median_ms": at(&late, 0.5),
            "p95_ms": at(&late, 0.95), "max_ms": at(&late, 1.0)}))?;
    }
    Ok(())
}

/// Ways to run the snippet once.
struct Ways {
    settings: SandboxSettings,
    spares: Sandbox,
    no_spares: Sandbox,
    bare: Bare,
    python: String,
}

impl Ways {
    fn start() -> Outcome<Self> {
        let settings = SandboxSettings::default();
        let python = real_python()?;
        Ok(Self {
            spares: Sandbox::start(&settings)?,
            no_spares: Sandbox::start(&SandboxSettings { spare: 0, ..settings.clone() })?,
            bare: Bare::start(
                &python,
                std::thread::available_parallelism()?.get().min(4),
                &settings.modules,
            )?,
            settings,
            python,
        })
    }

    fn run(&self, way: &str, number: usize) -> Outcome<()> {
        match way {
            "fenced" => fenced(&self.spares, &self.settings),
            "fenced, no spares" => fenced(&self.no_spares, &self.settings),
            "bare fork" => Ok(self.bare.run(number, SNIPPET).map(drop)?),
            _ => fresh(&self.python),
        }
    }
}

const WAYS: [&str; 4] = ["fenced", "fenced, no spares", "bare fork", "python3 -c"];

fn sequential(rounds: usize, calls: usize) -> Outcome<()> {
    let ways = Ways::start()?;
    for way in WAYS {
        ways.run(way, 0)?;
    }
    for round in 0..rounds {
        for pause_ms in [0, 20] {
            for way in WAYS {
                let times = timed(&ways, way, calls, Duration::from_millis(pause_ms))?;
                say(json!({"round": round, "way": way, "pause_ms": pause_ms, "calls": calls,
                    "median_ms": at(&times, 0.5), "p95_ms": at(&times, 0.95)}))?;
            }
        }
    }
    Ok(())
}

fn timed(ways: &Ways, way: &str, calls: usize, pause: Duration) -> Outcome<Vec<f64>> {
    let mut times = Vec::with_capacity(calls);
    for number in 0..calls {
        std::thread::sleep(pause);
        let start = Instant::now();
        ways.run(way, number)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// 64 callers at once. Processor seconds are those of everything started, so each way is ended before they are read.
fn crowd(calls: usize) -> Outcome<()> {
    let settings = SandboxSettings::default();
    let before = child_seconds()?;
    let sandbox = Sandbox::start(&settings)?;
    let wall = spread(64, calls, &|_| fenced(&sandbox, &settings))?;
    drop(sandbox);
    say_crowd("fenced", calls, wall, child_seconds()? - before)?;

    let python = real_python()?;
    let before = child_seconds()?;
    let bare = Bare::start(&python, std::thread::available_parallelism()?.get().min(4), &settings.modules)?;
    let wall = spread(64, calls, &|number| Ok(bare.run(number, SNIPPET).map(drop)?))?;
    drop(bare);
    say_crowd("bare fork", calls, wall, child_seconds()? - before)?;

    let before = child_seconds()?;
    let wall = spread(64, calls / 5, &|_| fresh(&python))?;
    say_crowd("python3 -c", calls / 5, wall, child_seconds()? - before)
}

fn spread(callers: usize, calls: usize, run: &(dyn Fn(usize) -> Outcome<()> + Sync)) -> Outcome<f64> {
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let work = || -> Outcome<()> {
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                number if number < calls => run(number)?,
                _ => return Ok(()),
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..callers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a caller panicked")?)
    })?;
    Ok(start.elapsed().as_secs_f64())
}

fn fenced(sandbox: &Sandbox, settings: &SandboxSettings) -> Outcome<()> {
    let report = sandbox.run(Job::new(SNIPPET, settings.limits), None)?;
    if report.verdict != Verdict::Ok {
        return Err(report.verdict.to_string().into());
    }
    Ok(())
}

/// The interpreter behind any shim, so that no way pays for one.
fn real_python() -> Outcome<String> {
    let answer = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output()?;
    Ok(String::from_utf8(answer.stdout)?.trim().to_owned())
}

fn fresh(python: &str) -> Outcome<()> {
    let status =
        Command::new(python).args(["-I", "-S", "-B", "-c", SNIPPET]).stdout(Stdio::null()).status()?;
    status.success().then_some(()).ok_or_else(|| "python3 failed".into())
}

fn at(sorted: &[f64], share: f64) -> f64 {
    let place = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
    sorted.get(place).map_or(f64::NAN, |ms| (ms * 1e3).round() / 1e3)
}

/// Processor seconds of all children that have ended and were waited for.
fn child_seconds() -> Outcome<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    Ok((ticks(13) + ticks(14)) / 100.0)
}

fn say_crowd(way: &str, calls: usize, wall: f64, cpu: f64) -> Outcome<()> {
    say(json!({"way": way, "callers": 64, "calls": calls, "calls_per_s": (calls as f64 / wall).round(),
        "cpu_ms_per_call": (cpu / calls as f64 * 1e6).round() / 1e3}))
}

fn say(line: serde_json::Value) -> Outcome<()> {
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}
