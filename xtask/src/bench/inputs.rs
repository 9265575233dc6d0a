//! Pairs that both sides read from one file, so that they cannot have done different work.

use crate::root;
use anyhow::{Context as _, Result};
use serde_json::Value;

const FOLDER: &str = "target/bench-inputs";

/// Writes the pairs as a JSON list and gives the file's path from the repository's root.
pub(super) fn write(name: &str, pairs: &[Value]) -> Result<String> {
    let path = format!("{FOLDER}/{name}.json");
    let full = root().join(&path);
    let text = serde_json::to_string(pairs).context("pairs that are not JSON")?;
    std::fs::create_dir_all(root().join(FOLDER))
        .and_then(|()| std::fs::write(&full, text))
        .with_context(|| format!("cannot write {}", full.display()))?;
    Ok(path)
}
