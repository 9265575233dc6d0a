//! The programs of others that the tests use, set up once in `.cache`.

use merit_testing::{MCP_NPM, MCP_PYTHON, Need, root, skip};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the environment. Absent: its index cannot be reached, and the test is skipped.
fn environment(need: Need, kind: &str, folder: &str) -> Option<PathBuf> {
    let script = root().join("benchmarks/peers/mcp_environment.py");
    let output = Command::new("python3").arg(script).arg(kind).output();
    let output = output.expect("the tests against other programs need `python3`");
    match output.status.code() {
        Some(0) => Some(root().join(".cache").join(folder)),
        Some(3) => {
            skip(need, &format!("the {kind} index cannot be reached to set up .cache/{folder}"));
            None
        }
        Some(4) => {
            skip(need, &format!("there is no `npm` to set up .cache/{folder}"));
            None
        }
        _ => panic!("cannot set up .cache/{folder}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// The folder with the programs of the Python environment.
pub(crate) fn python() -> Option<PathBuf> {
    environment(MCP_PYTHON, "python", "mcp").map(|folder| folder.join("bin"))
}

/// The start script of the npm index's reference server.
pub(crate) fn everything() -> Option<PathBuf> {
    let folder = environment(MCP_NPM, "npm", "mcp-npm")?;
    Some(folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js"))
}

/// A script of `tests/python_sdk`.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python_sdk").join(name)
}
