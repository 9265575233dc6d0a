//! The other sides' Python environment: set up once, pinned.

use crate::{root, run};
use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

/// Creates `.cache/peers` if it is missing.
pub(super) fn set_up() -> Result<()> {
    if root().join(".cache/peers/bin/python").exists() {
        return Ok(());
    }
    println!("setting up the peers in .cache/peers (once; about 6 GB)");
    run("sh", &["benchmarks/peers/setup.sh"]).context("cannot set up the peers")
}

/// The pinned versions of these packages.
pub(super) fn versions(packages: &[&str]) -> Result<Map<String, Value>> {
    let folder = root().join("benchmarks/peers");
    let mut text = String::new();
    for file in ["requirements.txt", "setup.sh"] {
        let path = folder.join(file);
        text += &std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    }
    packages
        .iter()
        .map(|package| {
            let version =
                pinned(&text, package).with_context(|| format!("no pinned version of {package}"))?;
            Ok(((*package).to_owned(), json!(version)))
        })
        .collect()
}

fn pinned<'a>(text: &'a str, package: &str) -> Option<&'a str> {
    text.split_whitespace()
        .filter_map(|word| word.split_once("=="))
        .find_map(|(name, version)| (name == package).then_some(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_peer_is_pinned() {
        for subject in super::super::SUBJECTS {
            versions(subject.peers).unwrap_or_else(|e| panic!("{}: {e:#}", subject.name));
        }
    }

    #[test]
    fn a_version_is_found_by_the_whole_name() {
        assert_eq!(pinned("torchx==1\ntorch==2.15.0\n", "torch"), Some("2.15.0"));
        assert_eq!(pinned("grep '^(torch|verl)=='", "torch"), None);
    }
}
