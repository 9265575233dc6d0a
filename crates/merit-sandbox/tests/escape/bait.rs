//! Real bait for hostile programs: a file anybody may read, a secret in the environment, a descriptor that children
//! inherit, servers on loopback and on unix sockets, and a process whose survival is checked. Each carries a text of its own
//! that must never be heard from inside a sandbox.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The environment variable with the secret.
pub(crate) const SECRET_VARIABLE: &str = "MERIT_ESCAPE_SECRET";
/// What every program prints when it got out.
pub(crate) const ESCAPED: &str = "ESCAPED";

/// The bait, laid out for as long as this lives.
pub(crate) struct Bait {
    /// The folder with the bait's files.
    pub(crate) folder: PathBuf,
    /// Told apart from all other runs.
    pub(crate) nonce: String,
    /// A process of our own.
    pub(crate) victim: Child,
    victim_before: String,
    visits: Arc<AtomicUsize>,
    port: u16,
    _open_secret: OwnedFd,
}

impl Bait {
    /// Lays the bait out in `folder`, which exists.
    pub(crate) fn lay(folder: &Path, nonce: &str) -> Self {
        let canary = folder.join("canary");
        std::fs::write(&canary, format!("canary-file-{nonce}\n")).unwrap();
        std::fs::set_permissions(&canary, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        let visits = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        serve(listener.incoming_streams(), format!("canary-network-{nonce}"), &visits);
        let by_path = UnixListener::bind(folder.join("socket")).unwrap();
        serve(by_path.incoming_streams(), format!("canary-unix-{nonce}"), &visits);
        let name = SocketAddr::from_abstract_name(abstract_name(nonce)).unwrap();
        let by_name = UnixListener::bind_addr(&name).unwrap();
        serve(by_name.incoming_streams(), format!("canary-unix-{nonce}"), &visits);
        let victim = Command::new("sleep").arg("100000").stdin(Stdio::null()).spawn().unwrap();
        let victim_before = shape_of(victim.id());
        let open_secret = inheritable_secret(folder, nonce);
        Self {
            folder: folder.to_owned(),
            nonce: nonce.to_owned(),
            victim,
            victim_before,
            visits,
            port,
            _open_secret: open_secret,
        }
    }

    /// A program's text with the bait's names in their places.
    pub(crate) fn fill_in(&self, code: &str) -> String {
        let path = |name: &str| self.folder.join(name).to_string_lossy().into_owned();
        let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        code.replace("{{CANARY_FILE}}", &path("canary"))
            .replace("{{UNIX_PATH}}", &path("socket"))
            .replace("{{ABSTRACT}}", &abstract_name(&self.nonce))
            .replace("{{PORT}}", &self.port.to_string())
            .replace("{{VICTIM}}", &self.victim.id().to_string())
            .replace("{{TEST_PID}}", &std::process::id().to_string())
            .replace("{{ENV_NAME}}", SECRET_VARIABLE)
            .replace("{{HOME}}", &std::env::var("HOME").unwrap_or_else(|_| "/root".to_owned()))
            .replace("{{HOSTNAME}}", hostname.trim())
            .replace("{{TEMP}}", &self.folder.to_string_lossy())
    }

    /// Texts that no program may be heard to say.
    pub(crate) fn forbidden(&self) -> Vec<String> {
        let kinds = ["file", "environment", "descriptor", "network", "unix"];
        let canaries = kinds.iter().map(|kind| format!("canary-{kind}-{}", self.nonce));
        canaries.chain([ESCAPED.to_owned()]).collect()
    }

    /// How often one of the servers was reached.
    pub(crate) fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }

    /// What was done to the victim, if anything.
    pub(crate) fn harm(&mut self) -> Option<String> {
        if let Some(status) = self.victim.try_wait().unwrap() {
            return Some(format!("the victim process is dead: {status}"));
        }
        let now = shape_of(self.victim.id());
        (now != self.victim_before)
            .then(|| format!("the victim was changed from {} to {now}", self.victim_before))
    }
}

impl Drop for Bait {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn abstract_name(nonce: &str) -> String {
    format!("merit-escape-{nonce}")
}

/// An open file without a name, whose descriptor stays open across exec.
fn inheritable_secret(folder: &Path, nonce: &str) -> OwnedFd {
    let path = folder.join("open-secret");
    std::fs::write(&path, format!("canary-descriptor-{nonce}\n")).unwrap();
    let file: OwnedFd = std::fs::File::open(&path).unwrap().into();
    std::fs::remove_file(&path).unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    file
}

/// State, niceness, affinity and limits of a process: what others could change.
fn shape_of(pid: u32) -> String {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let status = read("status");
    let allowed =
        status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap_or_default().to_owned();
    let nice =
        read("stat").rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(16).map(str::to_owned));
    let limits =
        read("limits").lines().find(|line| line.starts_with("Max cpu time")).unwrap_or_default().to_owned();
    format!("{allowed} nice {nice:?} {limits}")
}

/// Greets everybody who comes with `greeting`, counting them, for the life of the process.
fn serve<S: std::io::Write + Send + 'static>(
    streams: impl Iterator<Item = S> + Send + 'static,
    greeting: String,
    visits: &Arc<AtomicUsize>,
) {
    let visits = Arc::clone(visits);
    std::thread::spawn(move || {
        for mut stream in streams {
            visits.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(greeting.as_bytes());
        }
    });
}

trait IncomingStreams {
    type Stream: std::io::Write + Send + 'static;
    fn incoming_streams(self) -> impl Iterator<Item = Self::Stream> + Send + 'static;
}

impl IncomingStreams for TcpListener {
    type Stream = std::net::TcpStream;
    fn incoming_streams(self) -> impl Iterator<Item = Self::Stream> + Send + 'static {
        std::iter::from_fn(move || self.accept().ok().map(|(stream, _)| stream))
    }
}

impl IncomingStreams for UnixListener {
    type Stream = std::os::unix::net::UnixStream;
    fn incoming_streams(self) -> impl Iterator<Item = Self::Stream> + Send + 'static {
        std::iter::from_fn(move || self.accept().ok().map(|(stream, _)| stream))
    }
}
