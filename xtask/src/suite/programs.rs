//! Every test program of the workspace: built by cargo, run here, several at a time.
//!
//! `cargo test` runs one program after the other, and most of them wait: for a deadline, a child process, a disk. Here as
//! many programs run at once as there are processors, each with as many threads. A program that measures needs a quiet
//! machine and runs alone, before the others. A process for each test, as other runners have it, is no choice: many tests
//! of one program share a trained run or one battery of hostile programs.

use super::Tally;
use crate::root;
use anyhow::{Context as _, Result, bail};
use merit_testing::{REQUIRE, SKIPPED};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Programs that run with no other beside them, by package and target.
const ALONE: [(&str, &str); 2] = [("merit-sandbox", "escape"), ("merit-sandbox", "storm")];
/// How long a program may run. One that hangs is ended and named while there is time to say so; the longest takes a third.
const LIMIT: Duration = Duration::from_secs(40 * 60);
/// The longest ones, longest first, so that none of them is left for the end.
const LONG: [(&str, &str); 7] = [
    ("merit", "it"),
    ("merit-python", "it"),
    ("merit-attack", "it"),
    ("merit-lab", "it"),
    ("merit-env", "it"),
    ("merit-run", "it"),
    ("merit-verify", "it"),
];

/// A test program.
pub(super) struct Program {
    package: String,
    target: String,
    executable: PathBuf,
    /// Where its package is, which is where it runs.
    folder: PathBuf,
}

impl Program {
    fn name(&self) -> String {
        format!("{} {}", self.package, self.target)
    }

    /// The place of this program in a list, or the end.
    fn place_in(&self, list: &[(&str, &str)]) -> usize {
        list.iter().position(|(p, t)| *p == self.package && *t == self.target).unwrap_or(list.len())
    }
}

/// What a program did.
struct Ran {
    program: Program,
    said: String,
    succeeded: bool,
    skipped: PathBuf,
    took: Duration,
}

/// Runs all of them; `required` is what tests may not skip for.
pub(super) fn run_all(mut programs: Vec<Program>, required: &str) -> Result<Tally> {
    programs.sort_by_key(|program| program.place_in(&LONG));
    let (alone, others): (Vec<_>, Vec<_>) =
        programs.into_iter().partition(|program| program.place_in(&ALONE) < ALONE.len());
    let notes = tempfile::tempdir().context("cannot make a folder for the lists of skipped tests")?;
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    // With a single thread, libtest runs tests on the main one, whose name is not the test's.
    let threads = at_once.max(2);
    let mut tally = Tally::default();
    for (programs, at_once) in [(alone, 1), (others, at_once)] {
        let job = Job { required, threads, notes: notes.path(), tally: Mutex::new(&mut tally) };
        job.run(programs, at_once)?;
    }
    Ok(tally)
}

struct Job<'a> {
    required: &'a str,
    /// Tests that a program runs at once.
    threads: usize,
    /// A folder for one file of skipped tests by program.
    notes: &'a Path,
    tally: Mutex<&'a mut Tally>,
}

impl Job<'_> {
    fn run(&self, programs: Vec<Program>, at_once: usize) -> Result<()> {
        let queue = Mutex::new(VecDeque::from(programs));
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let work = || -> Result<()> {
            while let Some(program) = next() {
                self.report(self.run_one(program)?)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(done) => done,
                Err(_) => bail!("a thread that runs tests panicked"),
            })
        })
    }

    fn run_one(&self, program: Program) -> Result<Ran> {
        let skipped = self.notes.join(program.name());
        let begun = Instant::now();
        // A file instead of a pipe: what a test has left running may hold it, and nobody waits for that.
        let mut said = tempfile::tempfile().context("cannot make a file for what a program says")?;
        let both = || said.try_clone().context("cannot share the file of what a program says");
        // As cargo runs it.
        let mut child = Command::new(&program.executable)
            .current_dir(&program.folder)
            .env("CARGO_MANIFEST_DIR", &program.folder)
            .env("CARGO_PKG_NAME", &program.package)
            .env(SKIPPED, &skipped)
            .env(REQUIRE, self.required)
            .env("RUST_TEST_THREADS", self.threads.to_string())
            .stdin(Stdio::null())
            .stdout(both()?)
            .stderr(both()?)
            .spawn()
            .with_context(|| format!("cannot start {}", program.executable.display()))?;
        let ended = wait(&mut child, LIMIT).with_context(|| format!("cannot wait for {}", program.name()))?;
        let mut bytes = Vec::new();
        said.rewind()
            .and_then(|()| said.read_to_end(&mut bytes))
            .context("cannot read what a program said")?;
        let mut said = String::from_utf8_lossy(&bytes).into_owned();
        if ended.is_none() {
            said.push_str(&format!(
                "\nended after {} minutes, with tests still running",
                LIMIT.as_secs() / 60
            ));
        }
        let succeeded = ended.is_some_and(|status| status.success());
        Ok(Ran { program, said, succeeded, skipped, took: begun.elapsed() })
    }

    /// A line for a program that passed, all it said for one that failed.
    fn report(&self, ran: Ran) -> Result<()> {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let name = ran.program.name();
        let before = tally.passed;
        let spoke = tally.add(&ran.said);
        let skipped = tally.skipped.read(&name, &ran.skipped)?;
        // libtest counts a test that returned early as passed.
        tally.passed = tally.passed.saturating_sub(skipped);
        if ran.succeeded {
            let passed = tally.passed.saturating_sub(before);
            println!("{:6.1} s  {name}: {passed} passed, {skipped} skipped", ran.took.as_secs_f64());
            return Ok(());
        }
        println!("{}\n{:6.1} s  {name}: FAILED", ran.said, ran.took.as_secs_f64());
        // A program that was killed said no result: that is a failure too.
        tally.failed += u64::from(!spoke);
        tally.failures.push(name);
        Ok(())
    }
}

/// How the child ended; `None` for one that was ended here because it took longer than `limit`.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Builds every test program, and the examples that some of them start.
pub(super) fn build() -> Result<Vec<Program>> {
    let arguments =
        ["test", "--workspace", "--no-run", "--locked", "--message-format=json-render-diagnostics"];
    println!("$ cargo {}", arguments.join(" "));
    let output = Command::new("cargo")
        .args(arguments)
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the tests do not build: cargo ended with {}", output.status);
    }
    let text = String::from_utf8(output.stdout).context("cargo's messages are not UTF-8")?;
    let programs: Vec<Program> = text.lines().filter_map(artifact).collect();
    if programs.is_empty() {
        bail!("cargo named no test program");
    }
    Ok(programs)
}

/// The test program of one of cargo's messages, if it is about one.
fn artifact(line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    Some(Program {
        package: folder.file_name()?.to_str()?.to_owned(),
        target: message["target"]["name"].as_str()?.to_owned(),
        executable: message["executable"].as_str()?.into(),
        folder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/merit-sandbox/Cargo.toml",
        "target":{"kind":["test"],"name":"storm"},"profile":{"test":true},"executable":"/w/target/debug/deps/storm-1"}"#;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let mut hangs = Command::new("sleep").arg("600").spawn().unwrap();
        assert!(wait(&mut hangs, Duration::from_millis(50)).unwrap().is_none());
        let mut ends = Command::new("true").spawn().unwrap();
        assert!(wait(&mut ends, Duration::from_secs(60)).unwrap().unwrap().success());
    }

    #[test]
    fn a_message_about_a_test_program_names_it_and_its_folder() {
        let program = artifact(LINE).unwrap();
        assert_eq!(program.name(), "merit-sandbox storm");
        assert_eq!(program.folder, Path::new("/w/crates/merit-sandbox"));
        assert_eq!(program.place_in(&ALONE), 1);
        assert_eq!(program.place_in(&LONG), LONG.len());
    }

    #[test]
    fn other_messages_are_no_programs() {
        assert!(artifact(&LINE.replace("true", "false")).is_none());
        assert!(artifact(&LINE.replace("compiler-artifact", "build-finished")).is_none());
        assert!(artifact("no JSON").is_none());
    }
}
