//! The hostile programs as data: one Python file each, whose first comment lines say what it tries, which verdicts count as
//! contained and what must never be heard of it. A header that says something unknown is an error, not a comment.
//!
//! ```text
//! # tries: to read the host's users
//! # contained: Ok Refused
//! # never: root:x:0            (besides the marks and canaries that are forbidden to all)
//! # never-value: forged-value  (forbidden in the value only)
//! # at-least: seconds=0.25     (what the report must have measured)
//! # limits: seconds=0.5 memory_mb=64
//! # bare: canary-file          (run without a sandbox, it does get this text: the bait is real)
//! ```

use merit_sandbox::{Limits, Report, Verdict};
use std::path::{Path, PathBuf};

/// The verdicts by the names used in headers.
const VERDICTS: &[&str] = &["Ok", "Exception", "Time", "Memory", "Output", "Processes", "Killed", "Refused"];

/// One hostile program.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The folder it lies in.
    pub(crate) family: String,
    /// Its file's name without the ending.
    pub(crate) name: String,
    /// Names of the verdicts that count as contained.
    pub(crate) contained: Vec<String>,
    /// Texts that must appear nowhere in its report.
    pub(crate) never: Vec<String>,
    /// Texts that must not be its value.
    pub(crate) never_value: Vec<String>,
    /// Wall-clock seconds its report must show at least.
    pub(crate) least_seconds: f64,
    /// What it runs under.
    pub(crate) limits: Limits,
    /// Whether its header set limits of its own: then it means to run into them, which takes a while.
    pub(crate) runs_into_limits: bool,
    /// What it gets hold of without a sandbox; absent: it is not run bare.
    pub(crate) bare: Option<String>,
    /// The prelude and the program, with the bait's names still to be filled in.
    pub(crate) code: String,
}

/// Where the programs lie.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/escape")
}

/// All programs, by family and name.
pub(crate) fn load() -> Vec<Program> {
    let prelude = std::fs::read_to_string(folder().join("prelude.py")).unwrap();
    let mut programs = Vec::new();
    for family in sorted(&folder()).into_iter().filter(|path| path.is_dir()) {
        for path in sorted(&family).into_iter().filter(|path| path.extension().is_some_and(|end| end == "py"))
        {
            programs.push(parse(&path, &prelude));
        }
    }
    programs
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn parse(path: &Path, prelude: &str) -> Program {
    let text = std::fs::read_to_string(path).unwrap();
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap().to_string_lossy().into_owned();
    let mut program = Program {
        family: part(path.parent().unwrap().file_name()),
        name: part(path.file_stem()),
        contained: Vec::new(),
        never: Vec::new(),
        never_value: Vec::new(),
        least_seconds: 0.0,
        limits: Limits { seconds: 20.0, memory_mb: 256, ..Limits::default() },
        runs_into_limits: false,
        bare: None,
        code: format!("{prelude}\n{text}"),
    };
    let mut tries = false;
    for line in text.lines().map_while(|line| line.strip_prefix("# ")) {
        let (key, value) =
            line.split_once(": ").unwrap_or_else(|| panic!("{}: header line {line:?}", path.display()));
        tries |= key == "tries";
        program.read_header(key, value, path);
    }
    assert!(tries && !program.contained.is_empty(), "{}: `tries` and `contained` are needed", path.display());
    program
}

impl Program {
    fn read_header(&mut self, key: &str, value: &str, path: &Path) {
        match key {
            "tries" => {}
            "contained" => self.contained = value.split_whitespace().map(str::to_owned).collect(),
            "never" => self.never.push(value.to_owned()),
            "never-value" => self.never_value.push(value.to_owned()),
            "bare" => self.bare = Some(value.to_owned()),
            "at-least" => self.least_seconds = value.strip_prefix("seconds=").unwrap().parse().unwrap(),
            "limits" => self.read_limits(value, path),
            other => panic!("{}: unknown header `{other}`", path.display()),
        }
        if let Some(odd) = self.contained.iter().find(|name| !VERDICTS.contains(&name.as_str())) {
            panic!("{}: no verdict `{odd}`", path.display());
        }
    }

    fn read_limits(&mut self, value: &str, path: &Path) {
        self.runs_into_limits = true;
        for part in value.split_whitespace() {
            match part.split_once('=').unwrap() {
                ("seconds", number) => self.limits.seconds = number.parse().unwrap(),
                ("memory_mb", number) => self.limits.memory_mb = number.parse().unwrap(),
                (other, _) => panic!("{}: unknown limit `{other}`", path.display()),
            }
        }
    }

    /// Family and name.
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.family, self.name)
    }

    /// What is wrong with its report; nothing when it was contained.
    pub(crate) fn complaint(&self, report: &Report, forbidden: &[String]) -> Option<String> {
        let verdict = name_of(&report.verdict);
        if !self.contained.iter().any(|name| name == verdict) {
            return Some(format!("verdict {verdict}, but contained is {}", self.contained.join(" or ")));
        }
        let heard = everything(report);
        if let Some(text) = self.never.iter().chain(forbidden).find(|text| heard.contains(text.as_str())) {
            return Some(format!("{text:?} was heard"));
        }
        let value = report.value.as_deref().unwrap_or_default();
        if let Some(text) = self.never_value.iter().find(|text| value.contains(text.as_str())) {
            return Some(format!("its value is {text:?}"));
        }
        (report.seconds < self.least_seconds)
            .then(|| format!("{} s measured, at least {} s went by", report.seconds, self.least_seconds))
    }
}

/// A verdict's name as headers use it.
pub(crate) fn name_of(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "Ok",
        Verdict::Exception { .. } => "Exception",
        Verdict::Time => "Time",
        Verdict::Memory => "Memory",
        Verdict::Output => "Output",
        Verdict::Processes => "Processes",
        Verdict::Killed { .. } => "Killed",
        Verdict::Refused { .. } => "Refused",
    }
}

/// Every text of a report.
pub(crate) fn everything(report: &Report) -> String {
    let said = match &report.verdict {
        Verdict::Exception { kind, message, traceback } => format!("{kind}\n{message}\n{traceback}"),
        Verdict::Killed { how } => how.clone(),
        Verdict::Refused { call } => call.clone(),
        _ => String::new(),
    };
    format!("{said}\n{}\n{}\n{}", report.stdout, report.stderr, report.value.as_deref().unwrap_or_default())
}
