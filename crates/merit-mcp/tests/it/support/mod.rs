//! What the tests share.

pub(crate) mod peers;
pub(crate) mod tools;

use merit_mcp::ServerConfig;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Only to tell "stopped" from "hung".
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// An example of this crate, which `cargo test` builds beside the tests.
pub(crate) fn example(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let folder: PathBuf = test.ancestors().nth(2).unwrap().join("examples");
    folder.join(name).to_str().unwrap().to_owned()
}

pub(crate) fn served() -> ServerConfig {
    ServerConfig::command([example("served")])
}

pub(crate) fn hostile(mode: &str) -> ServerConfig {
    ServerConfig { start_s: 30.0, ..ServerConfig::command([example("hostile"), mode.to_owned()]) }
}

pub(crate) fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub(crate) fn none() -> Map<String, Value> {
    Map::new()
}

/// Whether the condition comes true within [`LONG`].
pub(crate) fn soon(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < LONG {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Whether a process of this number runs (a zombie does not).
pub(crate) fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
