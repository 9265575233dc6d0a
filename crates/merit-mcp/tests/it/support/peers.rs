//! The programs of others that the tests use, set up once in `.cache`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The folder of the environment, or absent (and said so) when its index cannot be reached.
fn environment(kind: &str, folder: &str) -> Option<PathBuf> {
    let script = root().join("benchmarks/peers/mcp_environment.py");
    let output = Command::new("python3").arg(script).arg(kind).output();
    let output = output.expect("the tests against other programs need `python3`");
    match output.status.code() {
        Some(0) => Some(root().join(".cache").join(folder)),
        Some(3) => {
            eprintln!("SKIPPED: the {kind} index cannot be reached to set up .cache/{folder}");
            None
        }
        Some(4) => {
            eprintln!("SKIPPED: there is no `npm` to set up .cache/{folder}");
            None
        }
        _ => panic!("cannot set up .cache/{folder}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// The folder with the programs of the Python environment.
pub(crate) fn python() -> Option<PathBuf> {
    environment("python", "mcp").map(|folder| folder.join("bin"))
}

/// The start script of the npm index's reference server.
pub(crate) fn everything() -> Option<PathBuf> {
    let folder = environment("npm", "mcp-npm")?;
    Some(folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js"))
}

/// A script of `tests/python_sdk`.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python_sdk").join(name)
}
