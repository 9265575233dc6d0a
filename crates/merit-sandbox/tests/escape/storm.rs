//! A storm of calls over one sandbox: harmless and hostile programs, short deadlines, sessions and cancelled calls in a
//! seeded mix, many at once, each answer checked against what that call alone must give.

use crate::bait::Bait;
use crate::dice::Dice;
use crate::program::{Program, name_of};
use crate::traces;
use merit_sandbox::{Cancel, Job, Limits, Report, Sandbox, SandboxError, Verdict};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How large a storm, and which.
pub(crate) struct Plan {
    /// Calls in all.
    pub(crate) calls: usize,
    /// Calls at once.
    pub(crate) at_once: usize,
    /// What the mix is drawn from.
    pub(crate) seed: u64,
}

/// What came of a storm.
#[derive(Default)]
pub(crate) struct Tally {
    /// How often each verdict was given.
    pub(crate) verdicts: BTreeMap<String, usize>,
    /// How often each kind of call was made.
    pub(crate) kinds: BTreeMap<&'static str, usize>,
    /// Answers that are not what they must be.
    pub(crate) wrong: Vec<String>,
    /// Milliseconds each harmless call took, waiting for its turn included.
    pub(crate) harmless_ms: Vec<f64>,
    /// Resident KiB of this process and of the servers, with the number of the call at which they were read.
    pub(crate) memory: Vec<(usize, u64, u64)>,
    /// Wall-clock seconds.
    pub(crate) seconds: f64,
}

/// Generous: 64 at once share few cores.
const AMPLE: f64 = 240.0;

/// Everything a call needs.
struct Storm<'a> {
    sandbox: &'a Sandbox,
    programs: Vec<&'a Program>,
    bait: &'a Bait,
    forbidden: Vec<String>,
    plan: &'a Plan,
    servers: Vec<u32>,
}

/// Lets the storm loose.
pub(crate) fn rage(sandbox: &Sandbox, programs: &[Program], bait: &Bait, plan: &Plan) -> Tally {
    let storm = Storm {
        sandbox,
        // Those that mean to run into a deadline would only make the storm longer; deadlines come on their own.
        programs: programs.iter().filter(|program| !program.runs_into_limits).collect(),
        bait,
        forbidden: bait.forbidden(),
        plan,
        servers: traces::below(&[bait.victim.id()]).iter().map(|one| one.pid).collect(),
    };
    let (next, tally, start) = (AtomicUsize::new(0), Mutex::new(Tally::default()), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..plan.at_once {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= plan.calls {
                        break;
                    }
                    storm.sample(index, &tally);
                    storm.one(index, &tally);
                }
            });
        }
    });
    let mut tally = tally.into_inner().unwrap();
    tally.seconds = start.elapsed().as_secs_f64();
    tally
}

impl Storm<'_> {
    fn sample(&self, index: usize, tally: &Mutex<Tally>) {
        if index.is_multiple_of((self.plan.calls / 100).max(1)) {
            let own = resident_kb(std::process::id());
            let servers = self.servers.iter().map(|&pid| resident_kb(pid)).sum();
            tally.lock().unwrap().memory.push((index, own, servers));
        }
    }

    /// The call of number `index`: the same whatever else goes on.
    fn one(&self, index: usize, tally: &Mutex<Tally>) {
        let mut dice = Dice::new(self.plan.seed ^ (index as u64) << 20);
        let start = Instant::now();
        let (kind, answer) = match dice.below(100) {
            0..50 => ("harmless", self.harmless(&mut dice)),
            50..82 => ("hostile", self.hostile(&mut dice)),
            82..88 => ("deadline", self.deadline(&mut dice)),
            88..94 => ("session", self.session(&mut dice)),
            _ => ("cancelled", self.cancelled(&mut dice)),
        };
        let took = start.elapsed().as_secs_f64() * 1000.0;
        let mut tally = tally.lock().unwrap();
        *tally.kinds.entry(kind).or_default() += 1;
        if kind == "harmless" {
            tally.harmless_ms.push(took);
        }
        match answer {
            Ok(verdict) => *tally.verdicts.entry(verdict).or_default() += 1,
            Err(complaint) => tally.wrong.push(format!("call {index}, {kind}: {complaint}")),
        }
    }

    fn harmless(&self, dice: &mut Dice) -> Result<String, String> {
        let nonce = format!("{:016x}", dice.roll());
        let limits = Limits { seconds: AMPLE, ..Limits::default() };
        let mut job = Job::new("", limits);
        match dice.below(4) {
            0 => job.code = format!("print('{nonce}')"),
            1 => {
                job.code = "import sys\nprint(sys.stdin.read(), end='\\n')".to_owned();
                job.stdin = nonce.clone().into_bytes();
            }
            2 => {
                job.code = "import given\nprint(given.own)".to_owned();
                job.files = vec![("given.py".to_owned(), format!("own = '{nonce}'").into_bytes())];
            }
            _ => {
                job.code = "import json, math\nassert math.isqrt(49) == 7\nprint(json.loads(__argument__))"
                    .to_owned();
                job.argument = Some(format!("\"{nonce}\""));
            }
        }
        let report = self.sandbox.run(job, None).map_err(|error| error.to_string())?;
        if report.verdict == Verdict::Ok && report.stdout == format!("{nonce}\n") && report.stderr.is_empty()
        {
            return Ok("Ok".to_owned());
        }
        Err(format!("{nonce} expected: {report:?}"))
    }

    fn hostile(&self, dice: &mut Dice) -> Result<String, String> {
        let program = self.programs[dice.below(self.programs.len())];
        let limits = Limits { seconds: AMPLE, ..program.limits };
        let report = self.sandbox.run(Job::new(self.bait.fill_in(&program.code), limits), None);
        let report = report.map_err(|error| format!("{}: {error}", program.title()))?;
        judged(
            &report,
            program.complaint(&report, &self.forbidden).map(|why| format!("{}: {why}", program.title())),
        )
    }

    fn deadline(&self, dice: &mut Dice) -> Result<String, String> {
        let stubborn = [
            "while True: pass",
            "import time\ntime.sleep(100)",
            "import itertools\nsum(itertools.repeat(0))",
        ];
        let seconds = 0.02 + dice.below(100) as f64 / 1000.0;
        let job = Job::new(stubborn[dice.below(stubborn.len())], Limits { seconds, ..Limits::default() });
        let report = self.sandbox.run(job, None).map_err(|error| error.to_string())?;
        let wrong = report.verdict != Verdict::Time;
        judged(&report, wrong.then(|| format!("deadline of {seconds} s")))
    }

    /// A session keeps its own variables, survives an exception, and is not another's.
    fn session(&self, dice: &mut Dice) -> Result<String, String> {
        let nonce = format!("{:016x}", dice.roll());
        let limits = Limits { seconds: AMPLE, ..Limits::default() };
        let said = |error: SandboxError| format!("session: {error}");
        let mut session = self.sandbox.session(dice.roll(), &limits).map_err(said)?;
        session.run(&format!("own = '{nonce}'"), AMPLE, None).map_err(said)?;
        let raised = session.run("own = own + '!'\n1 / 0", AMPLE, None).map_err(said)?;
        let report = session.run("print(own)", AMPLE, None).map_err(said)?;
        let right = report.stdout == format!("{nonce}!\n") && name_of(&raised.verdict) == "Exception";
        judged(&report, (!right).then(|| format!("session of {nonce} after {}", raised.verdict)))
    }

    fn cancelled(&self, dice: &mut Dice) -> Result<String, String> {
        let patience = Duration::from_millis(dice.below(60) as u64);
        let cancel = Cancel::new().map_err(|error| error.to_string())?;
        let job = Job::new("import time\ntime.sleep(1000)", Limits { seconds: 2000.0, ..Limits::default() });
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(patience);
                cancel.cancel();
            });
            self.sandbox.run(job, Some(&cancel))
        });
        match answer {
            Err(SandboxError::Cancelled) => Ok("Cancelled".to_owned()),
            other => Err(format!("cancelled after {patience:?}: {other:?}")),
        }
    }
}

fn judged(report: &Report, complaint: Option<String>) -> Result<String, String> {
    match complaint {
        None => Ok(name_of(&report.verdict).to_owned()),
        Some(why) => Err(format!("{why}: {report:?}").chars().take(600).collect()),
    }
}

/// Resident memory of `pid` in KiB; 0 when it is gone.
fn resident_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
