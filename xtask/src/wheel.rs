//! `cargo xtask wheel [--dev]`: the Python package, with the command in it.
//!
//! maturin builds the extension module and packs it; it is fetched once into `.cache/maturin`. The command is in the module, and a
//! script calls it (`crates/merit-python/wheel-data`). With `--dev` it is built as the tests build everything, for the tests.

use crate::{root, run};
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

const MATURIN: &str = "maturin==1.16.0";
/// What a released wheel may weigh.
const MOST_BYTES: u64 = 30_000_000;

/// Builds the wheel; with `dev`, for the tests.
pub(crate) fn build(dev: bool) -> Result<PathBuf> {
    let maturin = maturin()?;
    let profile = if dev { "dev" } else { "release" };
    let out = root().join("target/wheels").join(profile);
    if out.exists() {
        std::fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    let manifest = root().join("crates/merit-python/Cargo.toml");
    let maturin = maturin.display().to_string();
    let (manifest, folder) = (manifest.display().to_string(), out.display().to_string());
    run(
        &maturin,
        &["build", "--locked", "--manifest-path", &manifest, "--profile", profile, "--out", &folder],
    )?;
    let wheel = only_file(&out)?;
    let bytes = wheel.metadata().with_context(|| format!("cannot read {}", wheel.display()))?.len();
    println!("{}: {:.1} MB", wheel.display(), bytes as f64 / 1e6);
    if !dev && bytes > MOST_BYTES {
        let most = MOST_BYTES as f64 / 1e6;
        bail!("{} is more than the {most:.0} MB that a wheel may weigh; make it smaller", wheel.display());
    }
    Ok(wheel)
}

/// maturin, fetched where it is missing.
fn maturin() -> Result<PathBuf> {
    let folder = root().join(".cache/maturin");
    let program = folder.join("bin/maturin");
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == MATURIN) {
        return Ok(program);
    }
    let place = folder.display().to_string();
    run("python3", &["-m", "venv", "--clear", &place])?;
    let pip = folder.join("bin/pip").display().to_string();
    run(&pip, &["install", "--quiet", "--disable-pip-version-check", MATURIN])?;
    std::fs::write(&stamp, MATURIN).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(program)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let listed = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut found: Vec<PathBuf> = listed.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    match (found.pop(), found.is_empty()) {
        (Some(wheel), true) => Ok(wheel),
        _ => bail!("{} should hold one wheel", folder.display()),
    }
}

#[cfg(test)]
mod tests {
    use crate::root;
    use std::collections::{BTreeMap, BTreeSet};
    use std::process::Command;

    /// Every package with the features that it is compiled with.
    fn packages(arguments: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
        let tree = ["tree", "--locked", "--prefix", "none", "--format", "{p}\t{f}"];
        let told = Command::new("cargo").args(tree).args(arguments).current_dir(root()).output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        let mut packages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        // Trees of several packages have empty lines between them.
        for line in String::from_utf8_lossy(&told.stdout).lines().filter(|line| !line.is_empty()) {
            let (name, features) = line.trim_end_matches(" (*)").split_once('\t').unwrap();
            packages.entry(name.to_owned()).or_default().insert(features.to_owned());
        }
        packages
    }

    #[test]
    fn what_the_wheel_and_the_tests_share_is_compiled_once() {
        let tests = packages(&["--workspace", "--edges", "normal,build,dev"]);
        let wheel = packages(&["--package", "merit-python", "--edges", "normal,build"]);
        assert!(wheel.len() > 100, "{}", wheel.len());
        for (name, features) in wheel {
            assert!(
                features.is_subset(&tests[&name]),
                "the wheel needs {name} with {features:?} and the tests with {:?}, so it is compiled twice, with all that stands on it; \
                 name the features in [workspace.dependencies]",
                tests[&name]
            );
        }
    }
}
