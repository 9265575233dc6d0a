//! The format of every file, also of those that `cargo fmt` does not see because a list of components names them.

use crate::{root, run};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Fails where a file is not formatted.
pub(super) fn check() -> Result<()> {
    run("cargo", &["fmt", "--all", "--check"])?;
    let mut files = Vec::new();
    all(&root().join("crates"), &mut files)?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let mut arguments = vec!["--edition", "2024", "--check"];
    arguments.extend(names.iter().map(String::as_str));
    run("rustfmt", &arguments)
}

/// The sources below a folder.
fn all(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            all(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths)
}
