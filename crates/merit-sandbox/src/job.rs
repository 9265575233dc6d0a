//! A program to run, and how it travels: a length, a JSON header, then code, files and standard input as they are.

use crate::limits::check_seconds;
use crate::{Limits, SandboxError};
use serde::Serialize;
use std::collections::BTreeSet;

/// A socket end handed to a program.
#[cfg(unix)]
pub type Peer = std::os::fd::OwnedFd;
/// A socket end handed to a program; there is none on this system.
#[cfg(not(unix))]
pub type Peer = std::convert::Infallible;

/// The descriptor number under which a program finds its [`Job::peer`].
pub const PEER_FD: i32 = 3;

/// Files and folders a job may bring.
pub const MAX_FILES: usize = 1000;
/// A file takes whole pages of the private folder.
const PAGE: u64 = 4096;
/// Longest code, in bytes.
pub const MAX_CODE: usize = 4 << 20;

#[derive(Debug)]
pub struct Job {
    /// The Python program to run.
    pub code: String,
    /// What it reads from standard input.
    pub stdin: Vec<u8>,
    /// Files put into its working folder first: relative path, content. The folder comes first in `sys.path`.
    pub files: Vec<(String, Vec<u8>)>,
    /// The file name its tracebacks show.
    pub name: String,
    /// Limits on time, memory and output.
    pub limits: Limits,
    /// Seed of Python's `random`.
    pub seed: u64,
    /// A stream socket's end, which the program finds as descriptor [`PEER_FD`].
    pub peer: Option<Peer>,
    /// A text the program finds as `__argument__`; absent: `None`.
    pub argument: Option<String>,
}

impl Job {
    /// A job with nothing but code, under `limits`.
    pub fn new(code: impl Into<String>, limits: Limits) -> Self {
        Self {
            code: code.into(),
            stdin: Vec::new(),
            files: Vec::new(),
            name: "<snippet>".to_owned(),
            limits,
            seed: 0,
            peer: None,
            argument: None,
        }
    }

    /// Refuses what cannot be sent or could not be stored.
    pub fn validate(&self) -> Result<(), SandboxError> {
        self.limits.validate()?;
        let refuse = |text: String| Err(SandboxError::Job(text));
        check_code(&self.code)?;
        if let Some((name, _)) = self.files.iter().find(|(name, _)| !is_inside(name)) {
            return refuse(format!("file name {name:?} does not stay inside the working folder"));
        }
        self.check_tree()?;
        if self.name.is_empty() || self.name.len() > 200 || self.name.contains(['\n', '\0']) {
            return refuse(format!("name {:?} is empty, too long or has odd characters", self.name));
        }
        let sizes = self.files.iter().map(|(_, data)| data.len()).chain([self.stdin.len()]);
        let stored: u64 = sizes.map(|size| (size as u64).next_multiple_of(PAGE)).sum();
        let room = self.limits.disk_mb << 20;
        if stored > room {
            return refuse(format!(
                "its files and input take {stored} bytes on disk, but `disk_mb` gives {room}"
            ));
        }
        Ok(())
    }

    /// Every name once, none of them both a file and a folder, and not too many of either.
    fn check_tree(&self) -> Result<(), SandboxError> {
        let mut files = BTreeSet::new();
        if let Some((twice, _)) = self.files.iter().find(|(name, _)| !files.insert(name.as_str())) {
            return Err(SandboxError::Job(format!("file name {twice:?} comes twice")));
        }
        let above = |name: &'_ str| name.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
        let folders: BTreeSet<&str> =
            files.iter().flat_map(|name| above(name).into_iter().filter_map(|at| name.get(..at))).collect();
        if let Some(both) = folders.intersection(&files).next() {
            return Err(SandboxError::Job(format!("{both:?} is named both as a file and as a folder")));
        }
        match folders.len() + files.len() > MAX_FILES {
            true => Err(SandboxError::Job(format!("more than {MAX_FILES} files and folders"))),
            false => Ok(()),
        }
    }
}

pub(crate) fn check_code(code: &str) -> Result<(), SandboxError> {
    if code.len() > MAX_CODE {
        return Err(SandboxError::Job(format!("{} bytes of code; at most {MAX_CODE}", code.len())));
    }
    Ok(())
}

/// A relative path of plain names, none of which leads out.
fn is_inside(name: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..") && part.len() <= 255 && !part.contains('\0');
    name.len() <= 1000 && name.split('/').count() <= 32 && name.split('/').all(plain) && name != ".stdin"
}

/// The limits as the worker sets them on itself, in bytes and counts.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct WireLimits {
    memory: u64,
    disk: u64,
    processes: u32,
    threads: u32,
    open_files: u32,
    /// Processor seconds after which the kernel kills, a backstop; 0: none, for a session has no end known ahead.
    cpu: u64,
}

impl WireLimits {
    pub(crate) fn new(limits: &Limits, session: bool) -> Self {
        let tasks = u64::from(limits.threads) + u64::from(limits.processes) + 1;
        let cpu = if session { 0 } else { (limits.seconds.ceil() as u64 + 5).saturating_mul(tasks) };
        Self {
            memory: limits.memory_mb << 20,
            disk: limits.disk_mb << 20,
            processes: limits.processes,
            threads: limits.threads,
            open_files: limits.open_files,
            cpu,
        }
    }
}

#[derive(Serialize)]
struct Header<'a> {
    session: bool,
    cell: u64,
    name: &'a str,
    seconds: f64,
    most: usize,
    seed: u64,
    argument: Option<&'a str>,
    peer: bool,
    limits: WireLimits,
    code: usize,
    files: Vec<(&'a str, usize)>,
    stdin: usize,
}

/// The bytes of a job's start: what comes before the peer's descriptor, and what comes after.
pub(crate) fn encode(job: &Job, session: bool) -> Result<(Vec<u8>, Vec<u8>), SandboxError> {
    let header = Header {
        session,
        cell: 1,
        name: &job.name,
        seconds: job.limits.seconds,
        most: job.limits.output_bytes,
        seed: job.seed,
        argument: job.argument.as_deref(),
        peer: job.peer.is_some(),
        limits: WireLimits::new(&job.limits, session),
        code: job.code.len(),
        files: job.files.iter().map(|(name, data)| (name.as_str(), data.len())).collect(),
        stdin: job.stdin.len(),
    };
    let before = framed(&header, &job.code)?;
    let rest = job.files.iter().map(|(_, data)| data.len()).sum::<usize>() + job.stdin.len();
    let mut after = Vec::with_capacity(rest);
    job.files.iter().for_each(|(_, data)| after.extend_from_slice(data));
    after.extend_from_slice(&job.stdin);
    Ok((before, after))
}

#[derive(Serialize)]
struct CellHeader<'a> {
    session: bool,
    /// Comes back with the report, so that no cell's report passes for another's.
    cell: u64,
    name: &'a str,
    seconds: f64,
    most: usize,
    code: usize,
}

/// The bytes of one more cell of a session.
pub(crate) fn encode_cell(
    code: &str,
    cell: u64,
    name: &str,
    seconds: f64,
    most: usize,
) -> Result<Vec<u8>, SandboxError> {
    check_seconds(seconds)?;
    check_code(code)?;
    framed(&CellHeader { session: true, cell, name, seconds, most, code: code.len() }, code)
}

fn framed(header: &impl Serialize, code: &str) -> Result<Vec<u8>, SandboxError> {
    let header = serde_json::to_vec(header).map_err(|error| SandboxError::Job(error.to_string()))?;
    let length =
        u32::try_from(header.len()).map_err(|_| SandboxError::Job("its header is too long".to_owned()))?;
    let mut bytes = Vec::with_capacity(4 + header.len() + code.len());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(code.as_bytes());
    Ok(bytes)
}
