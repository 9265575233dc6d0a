//! `--on ray`: a Ray cluster, behind the Python package.
//!
//! The package is started as a process. It is Ray's driver, and is asked by JSON lines: which episodes to play, which cells to run.
//! Everything else stays here. Weights go by a file, since they may be large.

use super::WrongInput;
use anyhow::{Result, anyhow};
use merit_command::{Failure, Process};
use merit_core::Episode;
use merit_lab::{CellEvent, CellRunner, OpenCell};
use merit_rollout::EpisodePlan;
use merit_run::{Players, SentPolicy, Work, lost};
use serde_json::{Map, Value, json};
use std::io::Write as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time to find a cluster.
const REACH: Duration = Duration::from_secs(10);
/// Time to join a cluster, or to start one.
const START: Duration = Duration::from_secs(300);
/// Time to leave a cluster.
const END: Duration = Duration::from_secs(20);
/// How often a flag is looked at meanwhile.
const NAP: Duration = Duration::from_millis(200);
/// Bytes of one answer; more is a failure.
const LINE_BYTES: usize = 16 << 30;
/// Says what an interpreter lacks.
const LACKS: &str =
    "import importlib.util as u; print(*(n for n in ('merit_rl', 'ray') if not u.find_spec(n)), sep=' and ')";

/// How often a driver that is lost during one question is replaced.
const DRIVERS: usize = 3;

/// A cluster that plays episodes and runs cells.
pub(crate) struct Cluster {
    address: String,
    actors: Option<u16>,
    /// Whether episodes that were lost are played again also where their world reaches outside.
    replay_lost: bool,
    talk: Mutex<Talk>,
}

impl Cluster {
    /// Joins the cluster at `address`; an empty one leaves it to Ray. So many processors of it are used, or all.
    pub(crate) fn join(address: &str, actors: Option<u16>, replay_lost: bool) -> Result<Self> {
        let talk = Mutex::new(Talk::begin(address, actors)?);
        Ok(Self { address: address.to_owned(), actors, replay_lost, talk })
    }

    fn talk(&self) -> MutexGuard<'_, Talk> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `ask` makes of the conversation. Nothing is kept by the driver alone, so one that is lost is replaced and asked anew:
    /// it goes with the node it had joined, and the cluster goes on without that. What reaches outside, by `outside`, is asked once.
    fn ask<T>(
        &self,
        outside: &str,
        mut ask: impl FnMut(&mut Talk) -> Result<T, Trouble>,
    ) -> Result<T, String> {
        let (mut talk, mut lost) = (self.talk(), 0);
        loop {
            let why = match ask(&mut talk) {
                Ok(answer) => return Ok(answer),
                Err(Trouble::Said(why)) => return Err(why),
                Err(Trouble::Lost(why)) => why,
            };
            if !outside.is_empty() {
                return Err(format!(
                    "Ray's driver was lost ({why}) while episodes were played that reach outside by {outside}; see what they have done \
                     there and go on with --resume, and with --replay-lost where they may be played again"
                ));
            }
            lost += 1;
            if lost > DRIVERS {
                return Err(format!("Ray's driver was lost {lost} times in a row; the last time: {why}"));
            }
            *talk = Talk::begin(&self.address, self.actors)
                .map_err(|again| format!("Ray's driver was lost ({why}), and there is no other: {again}"))?;
        }
    }
}

impl Talk {
    fn begin(address: &str, actors: Option<u16>) -> Result<Self> {
        let python = interpreter()?.display().to_string();
        reach(address)?;
        let actors = actors.unwrap_or(0).to_string();
        let words = [&python, "-m", "merit_rl._on_ray", address, &actors].map(str::to_owned);
        let process = Process::start(&words, LINE_BYTES).map_err(|why| anyhow!("{python}: {why}"))?;
        let mut talk = Self { process, policy: None };
        let hello = talk.hear(Some(START), &NEVER).map_err(|why| anyhow!("Ray: {why}"))?;
        let (theirs, ours) =
            (hello.get("version").and_then(Value::as_str).unwrap_or("?"), env!("CARGO_PKG_VERSION"));
        if theirs != ours {
            return Err(WrongInput(format!(
                "this is merit {ours}, and the package of {python} is {theirs}; install one version, here and on every node"
            ))
            .into());
        }
        Ok(talk)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Whatever becomes of it, the process is ended afterwards.
        let mut talk = self.talk();
        let mut said = talk.ask(&json!({ "ask": "end" }), Some(END), &NEVER);
        while said.is_ok_and(|said| !said.contains_key("ended")) {
            said = talk.hear(Some(END), &NEVER);
        }
    }
}

/// For whoever waits as long as it takes.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Players for Cluster {
    fn play(&self, work: &Work<'_>) -> Result<Vec<Arc<Episode>>, String> {
        let plans: Vec<&[EpisodePlan]> = work.plans.chunk_by(|a, b| a.id.group == b.id.group).collect();
        let groups: Vec<String> = plans
            .iter()
            .map(serde_json::to_string)
            .collect::<Result<_, _>>()
            .map_err(|why| why.to_string())?;
        let settings = serde_json::to_string(work.settings).map_err(|why| why.to_string())?;
        let outside = if self.replay_lost { String::new() } else { quoted(&work.setup.reaches_outside()) };
        let answer = self.ask(&outside, |talk| {
            let weights = talk.write(work.policy).map_err(Trouble::Said)?;
            let request = json!({
                "ask": "play", "setup": work.setup.to_toml(), "policy": work.policy.name(), "weights": weights,
                "settings": settings, "groups": groups, "replay": outside.is_empty(),
            });
            let answer = talk.ask(&request, None, &NEVER)?;
            talk.policy = Some(work.policy.name().to_owned());
            Ok(answer)
        })?;
        let mut episodes: Vec<Arc<Episode>> = Vec::with_capacity(work.plans.len());
        let played = answer.get("groups").and_then(Value::as_array).ok_or("it gave no episodes")?;
        for (plans, group) in plans.into_iter().zip(played) {
            if group.is_null() {
                let why = format!(
                    "whoever played it was lost, and it was not played again, since it reaches outside by {outside}"
                );
                episodes.extend(plans.iter().map(|plan| Arc::new(lost(plan, &why))));
                continue;
            }
            let read = serde_json::from_str::<Vec<_>>(group.as_str().unwrap_or_default());
            episodes.extend(read.map_err(|why| format!("an episode cannot be read: {why}"))?);
        }
        Ok(episodes)
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

/// The cells of one system on a cluster.
pub(crate) struct CellsOf {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) name: String,
    /// Text of the system's file. Absent: it is a shipped one.
    pub(crate) text: Option<String>,
    /// What else the command was told of its experiments.
    pub(crate) flags: Vec<String>,
}

impl CellRunner for CellsOf {
    fn run(
        &self,
        cells: &[OpenCell],
        stop: &AtomicBool,
        told: &mut dyn FnMut(usize, CellEvent<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let system = json!({ "name": self.name, "text": self.text, "flags": self.flags });
        let mut course = Course { open: (0..cells.len()).collect(), begun: Vec::new() };
        self.cluster.ask("", |talk| {
            let wanted: Vec<Value> = course.open.iter().map(|at| wanted(&cells[*at])).collect();
            let question = json!({ "ask": "cells", "system": system, "cells": wanted });
            let ran = course.follow(talk, &question, stop, told);
            // Whoever stops it himself knows what he stopped.
            if let Err(trouble) = &ran
                && !stop.load(Ordering::Relaxed)
            {
                course.lose(&trouble.to_cells(), told).map_err(Trouble::Said)?;
            }
            ran
        })
    }
}

/// How far the cells of one system are, by their places.
struct Course {
    /// Those that are to be asked for.
    open: Vec<usize>,
    /// Those that reach outside, and of which a driver has not told what came.
    begun: Vec<usize>,
}

/// Whom a runner of cells tells what happens to them.
type Told<'a> = dyn FnMut(usize, CellEvent<'_>) -> Result<(), String> + 'a;

impl Course {
    /// Asks for the cells, and tells what happens to them until the driver is done.
    fn follow(
        &mut self,
        talk: &mut Talk,
        question: &Value,
        stop: &AtomicBool,
        told: &mut Told<'_>,
    ) -> Result<(), Trouble> {
        let asked = self.open.clone();
        let mut answer = talk.ask(question, None, stop)?;
        while !answer.contains_key("done") {
            let at = answer.get("at").and_then(Value::as_u64).and_then(|at| asked.get(at as usize));
            let at = *at.ok_or_else(|| Trouble::Said("it said something else than a cell".into()))?;
            answer = match self.pass_on(at, &answer, told).map_err(Trouble::Said)? {
                // By now it is known on disk.
                true => talk.ask(&json!({ "ask": "go" }), None, stop)?,
                false => talk.hear(None, stop)?,
            };
        }
        Ok(())
    }

    /// Tells what the driver said of the cell at `at`. Whether it waits to begin it.
    fn pass_on(
        &mut self,
        at: usize,
        answer: &Map<String, Value>,
        told: &mut Told<'_>,
    ) -> Result<bool, String> {
        let said = |key| answer.get(key).and_then(Value::as_str);
        let lost = said("gone").map(|why| format!("the worker that ran it was lost ({why})"));
        let lost = lost.or(said("failed").map(|why| format!("the process that ran it failed ({why})")));
        match (said("cell"), &lost, said("refused")) {
            (Some(cell), ..) => told(at, CellEvent::Finished(cell))?,
            (None, Some(why), _) => told(at, CellEvent::Lost(why))?,
            (None, None, Some(_)) => told(at, CellEvent::Refused)?,
            (None, None, None) => {
                told(at, CellEvent::Begun)?;
                self.begun.push(at);
                return Ok(true);
            }
        }
        self.begun.retain(|one| *one != at);
        self.open.retain(|one| *one != at);
        Ok(false)
    }

    /// Tells that what was begun is lost, and why.
    fn lose(&mut self, why: &str, told: &mut Told<'_>) -> Result<(), String> {
        for at in std::mem::take(&mut self.begun) {
            told(at, CellEvent::Lost(why))?;
            self.open.retain(|one| *one != at);
        }
        Ok(())
    }
}

/// A cell as the driver is asked for it.
fn wanted(cell: &OpenCell) -> Value {
    json!({ "name": cell.name, "seed": cell.seed, "replay": cell.reaches_outside.is_empty() })
}

/// Why there is no answer.
enum Trouble {
    /// The driver says why, or what it said cannot be used: another would fare no better.
    Said(String),
    /// The driver is gone, or has no cluster any more.
    Lost(String),
}

impl Trouble {
    /// What happened to the cells that were under way.
    fn to_cells(&self) -> String {
        match self {
            Self::Said(why) => format!("the run was given up while it was under way ({why})"),
            Self::Lost(why) => format!("Ray's driver, or the node it had joined, was lost ({why})"),
        }
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Said(why) | Self::Lost(why)) = self;
        f.write_str(why)
    }
}

/// A conversation with the package: one question at a time.
struct Talk {
    process: Process,
    /// The name of the weights that it has.
    policy: Option<String>,
}

impl Talk {
    fn ask(
        &mut self,
        question: &Value,
        within: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<Map<String, Value>, Trouble> {
        match self.process.ask(format!("{question}\n"), NAP) {
            Err(Failure::Deadline) => self.hear(within, stop),
            heard => read(heard),
        }
    }

    fn hear(&mut self, within: Option<Duration>, stop: &AtomicBool) -> Result<Map<String, Value>, Trouble> {
        let began = Instant::now();
        loop {
            match self.process.hear(NAP) {
                Err(Failure::Deadline) if stop.load(Ordering::Relaxed) => {
                    return Err(Trouble::Said("stopped".into()));
                }
                Err(Failure::Deadline) if within.is_none_or(|within| began.elapsed() < within) => {}
                heard => return read(heard),
            }
        }
    }

    /// Leaves weights in a file, which whoever reads it removes. Absent: they are there already.
    fn write(&self, policy: &SentPolicy) -> Result<Option<PathBuf>, String> {
        if self.policy.as_deref() == Some(policy.name()) {
            return Ok(None);
        }
        let name = format!("merit-{}-{}.safetensors", std::process::id(), policy.name());
        let path = std::env::temp_dir().join(name);
        // A driver that is gone may have left it.
        let _ = std::fs::remove_file(&path);
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written = file.and_then(|mut file| file.write_all(policy.bytes()));
        written.map_err(|why| format!("cannot write {}: {why}", path.display()))?;
        Ok(Some(path))
    }
}

fn read(heard: Result<String, Failure>) -> Result<Map<String, Value>, Trouble> {
    let line = heard.map_err(|failure| match failure {
        Failure::Deadline => Trouble::Said("it took too long".to_owned()),
        Failure::Gone(why) => Trouble::Lost(why),
    })?;
    let answer: Map<String, Value> = serde_json::from_str(&line)
        .map_err(|why| Trouble::Said(format!("its answer cannot be read: {why}")))?;
    let said = |key| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    match (said("error"), said("lost")) {
        (Some(why), _) => Err(Trouble::Said(why)),
        (None, Some(why)) => Err(Trouble::Lost(why)),
        (None, None) => Ok(answer),
    }
}

/// Ray asks for minutes where nobody listens.
fn reach(address: &str) -> Result<()> {
    if address.is_empty() {
        return Ok(());
    }
    let place = address.trim_start_matches("ray://");
    let tried = place.to_socket_addrs().and_then(|found| {
        let none = std::io::Error::other("it has no address");
        found.map(|one| TcpStream::connect_timeout(&one, REACH)).reduce(Result::or).unwrap_or(Err(none))
    });
    tried.map(drop).map_err(|why| WrongInput(format!("there is no Ray cluster at {place}: {why}")).into())
}

/// An interpreter with the package and Ray: the one beside this program, or the one on the PATH.
fn interpreter() -> Result<PathBuf> {
    // The package's command is a script: the program is then Python itself, which a virtual environment links to from elsewhere.
    let called = std::env::args_os().next().map(PathBuf::from).filter(|own| own.components().count() > 1);
    let own = [called, std::env::current_exe().ok()].into_iter().flatten();
    let mut beside: Vec<PathBuf> = own.filter_map(|own| Some(own.parent()?.join("python"))).collect();
    beside.dedup();
    let mut tried = Vec::new();
    for python in beside.into_iter().filter(|path| path.exists()).chain([PathBuf::from("python3")]) {
        let name = python.display();
        match Command::new(&python).args(["-c", LACKS]).output() {
            Err(why) => tried.push(format!("{name}: {why}")),
            Ok(said) if !said.status.success() => tried.push(format!("{name} ended with {}", said.status)),
            Ok(said) => match String::from_utf8_lossy(&said.stdout).trim() {
                "" => return Ok(python),
                lacks => tried.push(format!("{name} has no {lacks}")),
            },
        }
    }
    Err(WrongInput(format!(
        "`--on ray` goes through the Python package: {}; install merit-rl and ray there (docs/python.md), or run the `merit` that \
         came with the package",
        tried.join("; ")
    ))
    .into())
}
