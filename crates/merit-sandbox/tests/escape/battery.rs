//! Runs the whole battery and looks around afterwards. Lives in a process of its own; its outcome travels as JSON.

use crate::bait::{Bait, SECRET_VARIABLE};
use crate::dice::Dice;
use crate::program::{self, Program};
use crate::{sessions, traces, wellness};
use merit_sandbox::{Job, Limits, Report, Sandbox, SandboxError, SandboxSettings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Programs at once: more than the cores, so that they disturb each other.
const AT_ONCE: usize = 10;
/// Calls of other people among the hostile ones, whose texts nobody else may see.
const OTHERS: usize = 24;
/// How long processes may take to be gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came of the battery.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// One entry for each run of each program.
    pub(crate) rows: Vec<Row>,
    /// What went wrong with hostile sessions.
    pub(crate) sessions: Vec<String>,
    /// What the sandbox answered wrongly afterwards.
    pub(crate) unwell: Vec<String>,
    /// What was left behind.
    pub(crate) left: Vec<String>,
    /// Programs that did not take the bait without a sandbox.
    pub(crate) missed_bait: Vec<String>,
}

/// One run of a hostile program.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Its family.
    pub(crate) family: String,
    /// Family and name.
    pub(crate) program: String,
    /// Which of the two rounds.
    pub(crate) round: usize,
    /// Its verdict or our error, in words.
    pub(crate) verdict: String,
    /// The end of what it said.
    pub(crate) tail: String,
    /// How long the call took.
    pub(crate) seconds: f64,
    /// What is wrong; absent when it was contained.
    pub(crate) complaint: Option<String>,
}

impl Row {
    /// The row as one line of a table.
    pub(crate) fn line(&self) -> String {
        let complaint = self.complaint.as_deref().unwrap_or("contained");
        format!(
            "{:<40} round {} {:.2} s | {complaint} | {} | {}",
            self.program, self.round, self.seconds, self.verdict, self.tail
        )
    }
}

/// Sixteen hexadecimal digits that no other run has.
pub(crate) fn fresh_nonce() -> String {
    format!("{:016x}", std::hash::RandomState::new().build_hasher().finish())
}

/// What the test process looks like from outside.
struct Look {
    descriptors: Vec<String>,
    mounts: BTreeSet<String>,
    shared_memory: BTreeSet<String>,
}

impl Look {
    fn take() -> Self {
        let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        Self {
            descriptors: traces::descriptors(),
            mounts: traces::mounts(),
            shared_memory: segments.lines().skip(1).map(str::to_owned).collect(),
        }
    }

    fn changes(&self, now: &Look) -> Vec<String> {
        let mut found = Vec::new();
        let fresh = now.descriptors.iter().filter(|line| !self.descriptors.contains(line));
        found.extend(fresh.map(|line| format!("descriptor {line}")));
        found.extend(now.mounts.symmetric_difference(&self.mounts).map(|line| format!("mount {line}")));
        found.extend(
            now.shared_memory.difference(&self.shared_memory).map(|line| format!("shared memory {line}")),
        );
        found
    }
}

/// Runs everything. `folder` is ours; its `temp` is the process's folder for temporary files.
pub(crate) fn run(folder: &Path) -> Outcome {
    let secret = std::env::var(SECRET_VARIABLE).unwrap();
    let nonce = secret.strip_prefix("canary-environment-").unwrap();
    let bait_folder = folder.join("bait");
    std::fs::create_dir(&bait_folder).unwrap();
    let mut bait = Bait::lay(&bait_folder, nonce);
    let programs = program::load();
    let missed_bait = run_bare(&programs, &bait, folder);
    let visits = bait.visits();
    let files = traces::names_in(&bait_folder);

    let before = Look::take();
    let sandbox = Sandbox::start(&SandboxSettings::default()).unwrap();
    let servers = traces::below(&[bait.victim.id()]);
    let spaces = traces::namespaces(&servers);
    let mut rows = round(&sandbox, &programs, &bait, 1);
    rows.extend(round(&sandbox, &programs, &bait, 2));
    let sessions = sessions::examine(&sandbox);
    let unwell = wellness::examine(&sandbox);
    let pids: BTreeSet<u32> = servers.iter().map(|one| one.pid).collect();
    drop(sandbox);

    let mut left = traces::settle(PATIENCE, || before.changes(&Look::take()));
    let victim = bait.victim.id();
    left.extend(texts("process", traces::settle(PATIENCE, || traces::below(&[victim]))));
    left.extend(texts("process elsewhere", traces::settle(PATIENCE, || traces::inhabitants(&spaces))));
    left.extend(texts("control group", traces::settle(PATIENCE, || traces::groups_of(&pids))));
    left.extend(
        traces::names_in(&folder.join("temp")).into_iter().map(|name| format!("temporary file {name}")),
    );
    left.extend(
        traces::names_in(&bait_folder).symmetric_difference(&files).map(|name| format!("bait file {name}")),
    );
    left.extend(marks_on_the_host());
    left.extend(bait.harm());
    if bait.visits() != visits {
        left.push(format!("{} connections to the bait's servers", bait.visits() - visits));
    }
    Outcome { rows, sessions, unwell, left, missed_bait }
}

fn texts<T: std::fmt::Debug>(what: &str, found: Vec<T>) -> Vec<String> {
    found.into_iter().map(|one| format!("{what} {one:?}")).collect()
}

/// Files under the names that hostile programs use, in places they try.
fn marks_on_the_host() -> Vec<String> {
    let names = ["merit-mark", "merit_poison.py", "filler", "merit-left", "fill0", "part0"];
    let folders = ["/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/root", "/home", "/etc"];
    let places = folders.iter().flat_map(|folder| names.iter().map(move |name| Path::new(folder).join(name)));
    places.filter(|path| path.exists()).map(|path| format!("file {}", path.display())).collect()
}

/// One thing to run.
#[derive(Clone)]
enum Task<'a> {
    Hostile(&'a Program),
    Other(String),
}

/// All programs once, in an order of their own, between calls of other people.
fn round(sandbox: &Sandbox, programs: &[Program], bait: &Bait, number: usize) -> Vec<Row> {
    let nonces: Vec<String> = (0..OTHERS).map(|_| fresh_nonce()).collect();
    let mut forbidden = bait.forbidden();
    forbidden.extend(nonces.iter().cloned());
    // Some of the others come first, so that their texts could linger in whatever is reused.
    let early = nonces.iter().take(OTHERS / 2).cloned().map(Task::Other);
    let late = nonces.iter().skip(OTHERS / 2).cloned().map(Task::Other);
    let mixed: Vec<Task> = programs.iter().map(Task::Hostile).chain(late).collect();
    let tasks: Vec<Task> = early.chain(Dice::new(number as u64).shuffled(&mixed)).collect();
    let (queue, rows) = (Mutex::new(tasks.into_iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(task) = queue.lock().unwrap().next() else { break };
                    let row = match task {
                        Task::Hostile(program) => hostile(sandbox, program, bait, &forbidden, number),
                        Task::Other(nonce) => other(sandbox, &nonce, number),
                    };
                    rows.lock().unwrap().push(row);
                }
            });
        }
    });
    rows.into_inner().unwrap()
}

fn hostile(sandbox: &Sandbox, program: &Program, bait: &Bait, forbidden: &[String], round: usize) -> Row {
    let job = Job::new(bait.fill_in(&program.code), program.limits);
    row(sandbox, job, &program.family, &program.title(), round, |report| program.complaint(report, forbidden))
}

/// A harmless call whose nonce is in its code, input, file and argument.
fn other(sandbox: &Sandbox, nonce: &str, round: usize) -> Row {
    let mark = format!("CROSS-CALL-{nonce}");
    let code = format!(
        "import sys\nown = '{mark}'\ngiven = [sys.stdin.read(), open('own').read(), __argument__]\n\
         print(given == [own] * 3, own)"
    );
    let mut job = Job::new(code, Limits { seconds: 60.0, ..Limits::default() });
    job.stdin = mark.clone().into_bytes();
    job.files = vec![("own".to_owned(), mark.clone().into_bytes())];
    job.argument = Some(mark.clone());
    let right = format!("True {mark}\n");
    row(sandbox, job, "environment", "environment/(somebody else's call)", round, |report| {
        (report.stdout != right).then(|| format!("answered {:?}", report.stdout))
    })
}

fn row(
    sandbox: &Sandbox,
    job: Job,
    family: &str,
    title: &str,
    round: usize,
    judge: impl Fn(&Report) -> Option<String>,
) -> Row {
    let start = Instant::now();
    let answer = call(sandbox, job);
    let seconds = start.elapsed().as_secs_f64();
    let (verdict, tail, complaint) = match answer {
        Ok(report) => (report.verdict.to_string(), tail_of(&program::everything(&report)), judge(&report)),
        Err(error) => (error.to_string(), String::new(), Some("our side broke".to_owned())),
    };
    let (family, program) = (family.to_owned(), title.to_owned());
    let verdict = verdict.chars().take(200).collect();
    Row { family, program, round, verdict, tail, seconds, complaint }
}

/// Runs a job to its end.
pub(crate) fn call(sandbox: &Sandbox, job: Job) -> Result<Report, SandboxError> {
    sandbox.run(job, None)
}

fn tail_of(text: &str) -> String {
    let text = text.trim().replace('\n', " / ");
    let skip = text.chars().count().saturating_sub(240);
    text.chars().skip(skip).collect()
}

/// Runs the programs that say so without a sandbox. Returns those that did not get what they should.
fn run_bare(programs: &[Program], bait: &Bait, folder: &Path) -> Vec<String> {
    let marked = programs.iter().filter_map(|program| Some((program, program.bare.as_ref()?)));
    let missed = marked.filter_map(|(program, expected)| {
        let home = folder.join("bare");
        std::fs::create_dir(&home).unwrap();
        let output = Command::new("python3")
            .args(["-I", "-c", &bait.fill_in(&program.code)])
            .current_dir(&home)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        std::fs::remove_dir_all(&home).unwrap();
        let heard =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (!heard.contains(expected.as_str())).then(|| format!("{}: {}", program.title(), tail_of(&heard)))
    });
    missed.collect()
}
