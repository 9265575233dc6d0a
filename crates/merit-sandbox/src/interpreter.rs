//! Which Python runs programs: a path is resolved through shims, links and virtual environments to the real binary.

use crate::{SandboxError, channel};
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ASK: &str = "import sys, os, json; print(json.dumps({\
'path': os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable), \
'version': list(sys.version_info[:2]), 'kind': sys.implementation.name}))";
/// A shim may start several programs of its own.
const PATIENCE: Duration = Duration::from_secs(20);
const OLDEST: (u32, u32) = (3, 9);

#[derive(Deserialize)]
struct Answer {
    path: PathBuf,
    version: (u32, u32),
    kind: String,
}

/// The real interpreter behind `python`, or behind `python3` of the PATH.
pub(crate) fn resolve(python: Option<&Path>) -> Result<PathBuf, SandboxError> {
    let asked = python.unwrap_or(Path::new("python3"));
    let wrong = |why: String| SandboxError::Python { python: asked.to_owned(), why };
    let answer = ask(asked).map_err(&wrong)?;
    if answer.kind != "cpython" {
        return Err(wrong(format!("it is {}, not CPython", answer.kind)));
    }
    if answer.version < OLDEST {
        let (major, minor) = answer.version;
        return Err(wrong(format!("version {major}.{minor} is too old")));
    }
    Ok(answer.path)
}

fn ask(python: &Path) -> Result<Answer, String> {
    let mut child = Command::new(python)
        .args(["-I", "-S", "-B", "-c", ASK])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let text = child.stdout.take().ok_or("it has no output").map_err(str::to_owned).and_then(read_answer);
    if text.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let text = text?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    serde_json::from_slice(&text).map_err(|_| "it does not answer like Python 3".to_owned())
}

fn read_answer(mut output: std::process::ChildStdout) -> Result<Vec<u8>, String> {
    let until = Instant::now() + PATIENCE;
    let mut text = Vec::new();
    let mut part = [0u8; 4096];
    while text.len() < 64 * 1024 {
        if !channel::wait_readable(&output, until).map_err(|error| error.to_string())? {
            return Err(format!("it did not answer within {} s", PATIENCE.as_secs()));
        }
        match output.read(&mut part) {
            Ok(0) => return Ok(text),
            Ok(count) => text.extend_from_slice(part.get(..count).unwrap_or_default()),
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("its answer is too long".to_owned())
}
