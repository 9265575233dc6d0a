//! A server that is a process of ours: started in a process group of its own, so that all it starts ends with it.
//!
//! Dropping the [`Leash`] kills the group at once, on the dropping thread: nothing is left even if our process ends right after.

use crate::config::Endpoint;
use crate::tail::Tail;
use rustix::process::{Pid, Signal, kill_process_group};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

/// How long the end of a dead server's words is waited for, before it is reported without them.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a process ended; absent while it runs.
type Ending = Option<String>;

/// A running server and its standard error.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    group: Pid,
    running: Arc<AtomicBool>,
    ended: watch::Receiver<Ending>,
    silent: watch::Receiver<bool>,
    stderr: Arc<Tail>,
}

/// Ends the process when dropped.
#[derive(Debug)]
pub(crate) struct Leash(pub(crate) Arc<ServerProcess>);

impl Drop for Leash {
    fn drop(&mut self) {
        kill(self.0.group, &self.0.running);
    }
}

/// Starts a command. Must be called on the runtime.
pub(crate) fn start(endpoint: &Endpoint) -> Result<(Leash, ChildStdout, ChildStdin), String> {
    let Endpoint::Command { program, arguments, env, cwd } = endpoint else {
        return Err("not a command".to_owned());
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(env).process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = cwd {
        command.current_dir(folder);
    }
    let mut child = command.spawn().map_err(|error| match cwd {
        Some(folder) => format!("cannot run it in {}: {error}", folder.display()),
        None => format!("cannot run it: {error}"),
    })?;
    let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take(), group);
    let (Some(stdin), Some(stdout), Some(errors), Some(group)) = streams else {
        return Err("it ended before its streams could be taken".to_owned());
    };
    let stderr = Arc::new(Tail::default());
    let silent = listen(errors, Arc::clone(&stderr));
    let running = Arc::new(AtomicBool::new(true));
    let ended = reap(child, group, Arc::clone(&running));
    Ok((Leash(Arc::new(ServerProcess { group, running, ended, silent, stderr })), stdout, stdin))
}

/// Keeps the end of standard error until it closes.
fn listen(mut errors: impl AsyncRead + Send + Unpin + 'static, tail: Arc<Tail>) -> watch::Receiver<bool> {
    let (done, silent) = watch::channel(false);
    tokio::spawn(async move {
        let mut chunk = [0; 8192];
        while let Ok(length @ 1..) = errors.read(&mut chunk).await {
            tail.push(chunk.get(..length).unwrap_or_default());
        }
        done.send_replace(true);
    });
    silent
}

/// Waits for the process, then ends what it left behind in its group.
fn reap(mut child: Child, group: Pid, running: Arc<AtomicBool>) -> watch::Receiver<Ending> {
    let (done, ended) = watch::channel(None);
    tokio::spawn(async move {
        let status = child.wait().await;
        kill(group, &running);
        done.send_replace(Some(status.map_or_else(|error| error.to_string(), in_words)));
    });
    ended
}

/// Kills the group, once: after its leader has been waited for, the number may come to belong to others.
fn kill(group: Pid, running: &AtomicBool) {
    if running.swap(false, Ordering::SeqCst) {
        // It fails only where the receiver is gone.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn in_words(status: ExitStatus) -> String {
    format!("it ended with {status}")
}

impl ServerProcess {
    /// How it ended, waiting a moment for it and for its last words.
    pub(crate) async fn ending(&self) -> String {
        let (mut ended, mut silent) = (self.ended.clone(), self.silent.clone());
        let both = async {
            let ending = ended.wait_for(Option::is_some).await.ok().and_then(|ending| ending.clone());
            let _ = silent.wait_for(|silent| *silent).await;
            ending
        };
        let ending = tokio::time::timeout(LAST_WORDS, both).await.ok().flatten();
        ending.unwrap_or_else(|| "it closed its output".to_owned())
    }

    /// The end of its standard error, introduced in words; empty when it wrote none.
    pub(crate) fn last_words(&self) -> String {
        self.stderr.in_words()
    }

    /// Waits for it to end by itself (its input is closed), at most `grace`.
    pub(crate) async fn wait(&self, grace: Duration) {
        let mut ended = self.ended.clone();
        let _ = tokio::time::timeout(grace, ended.wait_for(Option::is_some)).await;
    }

    /// Waits until it is ended for good, after a kill.
    pub(crate) async fn end(&self) {
        kill(self.group, &self.running);
        let _ = self.ended.clone().wait_for(Option::is_some).await;
    }
}
