//! The format of every file, also of those that `cargo fmt` does not see because a list of components names them.

use crate::{root, run};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Fails where a file is not formatted.
pub(super) fn check() -> Result<()> {
    run("cargo", &["fmt", "--all", "--check"])?;
    let mut files = Vec::new();
    listed(&root().join("crates"), &mut files)?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let mut arguments = vec!["--edition", "2024", "--check"];
    arguments.extend(names.iter().map(String::as_str));
    run("rustfmt", &arguments)
}

/// The files beside and below every file that names modules in a `registry!`.
fn listed(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let paths = entries(folder)?;
    let is_source = |path: &PathBuf| path.extension().is_some_and(|end| end == "rs");
    for path in paths.iter().filter(|path| is_source(path)) {
        if std::fs::read_to_string(path)?.contains("\nmerit_core::registry! {") {
            return all(folder, files);
        }
    }
    paths.iter().filter(|path| path.is_dir()).try_for_each(|inner| listed(inner, files))
}

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
