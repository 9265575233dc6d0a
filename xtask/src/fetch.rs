//! What tests and benches need from package indexes, fetched by scripts into `.cache`.
//!
//! What was fetched is required of the tests afterwards. What could not be fetched is skipped by name, unless the
//! environment variable `MERIT_REQUIRE` names it: then the suite fails. CI requires everything.

use crate::root;
use anyhow::{Result, bail};
use merit_testing::{
    ADAPTERS, GYM, MATHS_SUITE, MCP_NPM, MCP_PYTHON, NEEDS, Need, REQUIRE, TENSORBOARD, TRAINERS, WEIGHTS,
};
use std::process::Command;

/// Each with its script, which fetches what is missing and checks what is there.
const SCRIPTS: [(Need, &[&str]); 8] = [
    (MATHS_SUITE, &["benchmarks/peers/math_verify_suite.py"]),
    (MCP_PYTHON, &["benchmarks/peers/mcp_environment.py", "python"]),
    (MCP_NPM, &["benchmarks/peers/mcp_environment.py", "npm"]),
    (GYM, &["benchmarks/peers/python_environment.py", "gym"]),
    (TRAINERS, &["benchmarks/peers/trainers_environment.py"]),
    (ADAPTERS, &["benchmarks/peers/python_environment.py", "adapters"]),
    (TENSORBOARD, &["benchmarks/peers/python_environment.py", "tensorboard"]),
    (WEIGHTS, &["benchmarks/agreement/weights.py"]),
];
/// What the scripts exit with when something cannot be had on this machine.
const OUT_OF_REACH: [(i32, &str); 3] = [
    (3, "no package index is in reach"),
    (4, "there is no `npm`"),
    (5, "it takes Linux on x86-64, Python 3.11 and `cc`"),
];

/// Fetches one of them, or says why not.
pub(crate) fn fetch(need: Need) -> Result<()> {
    for (_, script) in SCRIPTS.iter().filter(|(has, _)| *has == need) {
        if let Err(why) = attempt(script)? {
            bail!("`{}` cannot be fetched: {why}", need.name);
        }
    }
    Ok(())
}

/// Fetches everything; the names of all that the tests may count on, with commas between.
pub(crate) fn fetch_all() -> Result<String> {
    let asked = std::env::var(REQUIRE).unwrap_or_default();
    let mut required = asked_for(&asked)?;
    for (need, script) in SCRIPTS {
        let asked_for = required.contains(&need.name);
        match attempt(script)? {
            Ok(()) if asked_for => {}
            Ok(()) => required.push(need.name),
            Err(why) if asked_for => bail!("`{}` is required by {REQUIRE}, but {why}", need.name),
            Err(why) => println!("the tests that need `{}` are skipped: {why}", need.name),
        }
    }
    Ok(required.join(","))
}

/// Runs a script. The inner error says why something cannot be had here; the outer one is a failure.
fn attempt(script: &[&str]) -> Result<Result<(), &'static str>> {
    let words = script.join(" ");
    println!("$ python3 {words}");
    let Ok(status) = Command::new("python3").args(script).current_dir(root()).status() else {
        return Ok(Err("there is no `python3` to fetch it"));
    };
    if status.success() {
        return Ok(Ok(()));
    }
    match OUT_OF_REACH.iter().find(|(code, _)| Some(*code) == status.code()) {
        Some((_, why)) => Ok(Err(why)),
        None => bail!("`python3 {words}` ended with {status}"),
    }
}

/// The needs of a list with commas.
fn asked_for(list: &str) -> Result<Vec<&'static str>> {
    let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
    let known = |word: &str| NEEDS.iter().map(|need| need.name).find(|name| *name == word);
    words
        .map(|word| match known(word) {
            Some(name) => Ok(name),
            None => {
                let all = NEEDS.map(|need| need.name).join(", ");
                bail!("{REQUIRE} names `{word}`, which no test needs; there are {all}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_needs_that_exist_can_be_required() {
        assert_eq!(asked_for(" weights,mcp-npm,").unwrap(), ["weights", "mcp-npm"]);
        assert!(asked_for("").unwrap().is_empty());
        assert!(asked_for("wieghts").unwrap_err().to_string().contains("names `wieghts`"));
    }

    #[test]
    fn everything_that_is_fetched_has_a_script_that_is_there() {
        for (need, script) in SCRIPTS {
            assert!(root().join(script[0]).is_file(), "{}", need.name);
        }
    }
}
