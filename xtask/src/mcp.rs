//! Programs that speak the Model Context Protocol, for the tests that talk to real ones.

use crate::root;
use anyhow::{Context as _, Result, bail};
use std::process::Command;

/// Exit codes of the script: no package index, no npm.
const NOT_HERE: [i32; 2] = [3, 4];

/// Fetches them where they are missing. Without a package index the tests that need them say that they skip.
pub(crate) fn fetch_peers() -> Result<()> {
    for kind in ["python", "npm"] {
        println!("$ python3 benchmarks/peers/mcp_environment.py {kind}");
        let status = Command::new("python3")
            .args(["benchmarks/peers/mcp_environment.py", kind])
            .current_dir(root())
            .status()
            .context("cannot start `python3`; is it installed?")?;
        match status.code() {
            Some(0) => {}
            Some(code) if NOT_HERE.contains(&code) => println!("the tests that need it are skipped"),
            _ => bail!("`mcp_environment.py {kind}` ended with {status}"),
        }
    }
    Ok(())
}
