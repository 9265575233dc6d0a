//! The other sides' Python environments: each set up once, pinned.
//!
//! Peers whose dependencies do not go together live in environments of their own. A new peer is a line in a requirements file and
//! its name in `ENVIRONMENTS`.

use crate::{root, run};
use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

/// A folder of `.cache`, by the name that `setup.sh` knows it by, and the peers in it.
struct Environment {
    name: &'static str,
    /// How much is installed, in words.
    size: &'static str,
    packages: &'static [&'static str],
}

const ENVIRONMENTS: &[Environment] = &[
    Environment { name: "peers", size: "6 GB", packages: &["torch", "transformers", "verifiers", "verl"] },
    Environment { name: "maths", size: "120 MB", packages: &["math-verify"] },
    Environment { name: "graders", size: "450 MB", packages: &["py-openjudge"] },
    Environment { name: "judges", size: "860 MB", packages: &["autorubric", "rubrify"] },
    Environment { name: "search", size: "220 MB", packages: &["bm25s", "tantivy"] },
    Environment { name: "worlds", size: "100 MB", packages: &["textarena"] },
    Environment {
        name: "llama",
        size: "150 MB, and half an hour of building",
        packages: &["llama-cpp-python"],
    },
];

/// Creates the environments of these packages where they are missing.
pub(super) fn set_up(packages: &[&str]) -> Result<()> {
    for Environment { name, size, packages: inside } in ENVIRONMENTS {
        let wanted = packages.iter().any(|package| inside.contains(package));
        if !wanted || root().join(format!(".cache/{name}/bin/python")).exists() {
            continue;
        }
        println!("setting up {} in .cache/{name} (once; about {size})", inside.join(", "));
        run("sh", &["benchmarks/peers/setup.sh", name])
            .with_context(|| format!("cannot set up .cache/{name}; remove it before the next attempt"))?;
    }
    Ok(())
}

/// The pinned versions of these packages.
pub(super) fn versions(packages: &[&str]) -> Result<Map<String, Value>> {
    let folder = root().join("benchmarks/peers");
    let mut text = String::new();
    for file in [
        "requirements.txt",
        "requirements-maths.txt",
        "requirements-graders.txt",
        "requirements-judges.txt",
        "requirements-search.txt",
        "requirements-worlds.txt",
        "requirements-llama.txt",
        "setup.sh",
    ] {
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
    fn every_named_peer_has_an_environment() {
        for peer in super::super::SUBJECTS.iter().flat_map(|subject| subject.peers) {
            assert!(ENVIRONMENTS.iter().any(|e| e.packages.contains(peer)), "{peer} is in no environment");
        }
    }

    #[test]
    fn a_version_is_found_by_the_whole_name() {
        assert_eq!(pinned("torchx==1\ntorch==2.15.0\n", "torch"), Some("2.15.0"));
        assert_eq!(pinned("grep '^(torch|verl)=='", "torch"), None);
    }
}
