//! `cargo xtask bench [WHAT…] [--rounds N] [--quick]`: merit beside its peers, round by round.
//!
//! Each subject runs its jobs, keeps every line in `benchmarks/raw/WHAT.jsonl` and replaces its own part of `docs/benchmarks.md`.
//! With `--quick` the sizes are tiny, the lines go to `target/bench-quick` and the page stays as it is: that checks this driver,
//! it measures nothing. A new subject is one file and one line in `SUBJECTS`.

mod advantages;
mod algebra;
mod build;
mod busy;
mod decoder;
mod graders;
mod inputs;
mod job;
mod judges;
mod lines;
mod machine;
mod maths;
mod memory;
mod orchestration;
mod page;
mod peers;
mod python;
mod quantised;
mod recall;
mod record;
mod sampling;
mod sandbox;
mod search;
mod spread;
mod start;
mod table;
mod warm;
mod word_index;
mod worlds;

use crate::{root, run};
use anyhow::{Context as _, Result, bail};
use machine::Machine;
use record::Record;

/// One thing that is measured.
struct Subject {
    name: &'static str,
    /// Run when no subject is named.
    by_default: bool,
    /// Packages of the other side, for the versions in the header; empty where merit is measured alone.
    peers: &'static [&'static str],
    /// Packages and examples of this workspace that it runs, built before anything is timed.
    examples: &'static [(&'static str, &'static str)],
    /// Runs everything into the record and gives the tables for the page.
    measure: fn(&Asked, &mut Record) -> Result<String>,
}

const SUBJECTS: &[Subject] = &[
    orchestration::SUBJECT,
    maths::SUBJECT,
    graders::SUBJECT,
    judges::SUBJECT,
    algebra::SUBJECT,
    sandbox::SUBJECT,
    search::SUBJECT,
    word_index::SUBJECT,
    recall::SUBJECT,
    advantages::SUBJECT,
    decoder::SUBJECT,
    sampling::SUBJECT,
    quantised::SUBJECT,
    worlds::SUBJECT,
    warm::SUBJECT,
    python::SUBJECT,
    start::SUBJECT,
    build::SUBJECT,
];

/// How the measurement was asked for.
struct Asked {
    rounds: usize,
    quick: bool,
}

/// Measures the named subjects, or all that are measured by default.
pub(crate) fn run_benches(arguments: &[&str]) -> Result<()> {
    let (asked, subjects) = parse(arguments)?;
    for subject in subjects {
        measure(subject, &asked)?;
    }
    Ok(())
}

fn parse(arguments: &[&str]) -> Result<(Asked, Vec<&'static Subject>)> {
    let mut asked = Asked { rounds: 0, quick: false };
    let mut named = Vec::new();
    let mut rest = arguments.iter();
    while let Some(&word) = rest.next() {
        match word {
            "--quick" => asked.quick = true,
            "--rounds" => {
                let count = rest.next().context("`--rounds` wants a number")?;
                asked.rounds =
                    count.parse().with_context(|| format!("`--rounds {count}` is not a number"))?;
                if asked.rounds == 0 {
                    bail!("`--rounds` must be at least 1");
                }
            }
            name => named.push(SUBJECTS.iter().find(|s| s.name == name).with_context(|| unknown(name))?),
        }
    }
    if asked.rounds == 0 {
        asked.rounds = if asked.quick { 1 } else { 5 };
    }
    if named.is_empty() {
        named = SUBJECTS.iter().filter(|subject| subject.by_default).collect();
    }
    Ok((asked, named))
}

fn unknown(name: &str) -> String {
    let known: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
    format!("nothing to measure is called `{name}`; known: {}, --rounds N, --quick", known.join(", "))
}

fn measure(subject: &Subject, asked: &Asked) -> Result<()> {
    peers::set_up(subject.peers)?;
    let folder = root().join(if asked.quick { "target/bench-quick" } else { "benchmarks/raw" });
    let page = root().join("docs/benchmarks.md");
    if !asked.quick {
        page::check(&page, subject.name)?;
    }
    for (package, example) in subject.examples {
        run("cargo", &["build", "--release", "--locked", "--package", package, "--example", example])?;
    }
    let mut record = Record::open(&folder, subject.name)?;
    let mut machine = Machine::look(subject.peers)?;
    machine.warn_if_busy();
    let tables = (subject.measure)(asked, &mut record)?;
    machine.look_again();
    record.close(&machine.header(subject.name, asked))?;
    let text = format!("{tables}\n{}\n", machine.describe(subject.name, asked));
    println!("\n{text}");
    if asked.quick {
        println!(
            "a quick run measures nothing: the page was left alone, the lines are in {}",
            folder.display()
        );
        return Ok(());
    }
    page::replace(&page, subject.name, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(arguments: &[&str]) -> Vec<&'static str> {
        parse(arguments).expect("these arguments are fine").1.iter().map(|s| s.name).collect()
    }

    #[test]
    fn a_clean_build_is_timed_only_when_named() {
        let all = [
            "orchestration",
            "maths",
            "graders",
            "algebra",
            "sandbox",
            "search",
            "advantages",
            "decoder",
            "sampling",
            "quantised",
            "worlds",
            "start",
        ];
        assert_eq!(names(&[]), all);
        assert_eq!(names(&["build", "--rounds", "3"]), ["build"]);
    }

    #[test]
    fn every_example_that_is_run_exists() {
        for (package, example) in SUBJECTS.iter().flat_map(|subject| subject.examples) {
            let folder = root().join("crates").join(package).join("examples");
            let found = folder.join(format!("{example}.rs")).is_file() || folder.join(example).is_dir();
            assert!(found, "{package} has no example `{example}`");
        }
    }

    #[test]
    fn rounds_are_five_unless_asked_otherwise() {
        let rounds = |arguments: &[&str]| parse(arguments).map(|(asked, _)| asked.rounds).ok();
        assert_eq!(rounds(&[]), Some(5));
        assert_eq!(rounds(&["--quick"]), Some(1));
        assert_eq!(rounds(&["--quick", "--rounds", "2"]), Some(2));
        assert_eq!(rounds(&["--rounds", "0"]), None);
    }

    #[test]
    fn an_unknown_subject_is_refused_with_the_known_ones() {
        let error = parse(&["decodr"]).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("`decodr`") && error.contains("decoder"), "{error}");
    }
}
