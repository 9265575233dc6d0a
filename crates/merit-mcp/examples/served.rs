//! Serves the tools of the tests over the standard streams; a clean end leaves the file that GOODBYE names.
#![allow(missing_docs, clippy::unwrap_used, dead_code)]

#[path = "../tests/it/support/tools.rs"]
mod tools;

fn main() {
    let (tools, info) = tools::served(&std::sync::Arc::default());
    if let Err(error) = merit_mcp::wait(merit_mcp::serve_stdio(tools, info)) {
        eprintln!("{error}");
        std::process::exit(1);
    }
    if let Ok(path) = std::env::var("GOODBYE") {
        std::fs::write(path, "goodbye").unwrap();
    }
}
