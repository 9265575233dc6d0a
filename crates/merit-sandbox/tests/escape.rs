//! A program of its own, because the battery measures time limits and wants no other test beside it.
//!
//! The escape battery: hostile programs, one file each under `escape/<family>/`, run several at once over one sandbox, twice
//! in different orders, with real bait laid out. One test per family; what the battery left behind and how the sandbox
//! answers afterwards are tests of their own.
//!
//! The battery runs once, in a child process of this one: there the secret is in the environment from the start, and no
//! other test opens descriptors or starts processes meanwhile.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "escape/bait.rs"]
mod bait;
#[path = "escape/battery.rs"]
mod battery;
#[path = "escape/dice.rs"]
mod dice;
#[path = "escape/program.rs"]
mod program;
#[path = "escape/sessions.rs"]
mod sessions;
#[path = "escape/traces.rs"]
mod traces;
#[path = "escape/wellness.rs"]
mod wellness;

use battery::Outcome;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Where the child writes what came of the battery, and which folder it lays its bait in.
const OUTCOME_VARIABLE: &str = "MERIT_ESCAPE_OUTCOME";

#[test]
fn no_process_is_born_and_no_thread_outlives_its_call() {
    check("processes");
}

#[test]
fn no_program_takes_more_memory_than_it_may() {
    check("memory");
}

#[test]
fn no_program_outstays_its_time() {
    check("time");
}

#[test]
fn no_program_fills_the_disk_or_reaches_out_by_paths() {
    check("disk");
}

#[test]
fn no_program_reads_or_writes_the_hosts_files() {
    check("files");
}

#[test]
fn no_program_learns_secrets_or_sees_other_calls() {
    check("environment");
}

#[test]
fn no_program_lies_about_anything_but_itself() {
    check("report");
}

#[test]
fn no_signal_gets_out() {
    check("signals");
}

#[test]
fn no_program_reaches_a_network() {
    check("network");
}

#[test]
fn no_program_gets_anything_forbidden_from_the_kernel() {
    check("kernel");
}

#[test]
fn no_flood_of_output_gets_through() {
    check("output");
}

#[test]
fn no_trick_with_the_interpreter_deceives_or_breaks_us() {
    check("interpreter");
}

#[test]
fn every_family_is_checked_and_the_battery_is_large() {
    let mut families: BTreeMap<String, usize> = BTreeMap::new();
    program::load().into_iter().for_each(|program| *families.entry(program.family).or_default() += 1);
    let checked = include_str!("escape.rs").matches("    check(\"").count();
    assert_eq!(families.len(), checked, "families: {families:?}");
    assert!(families.values().sum::<usize>() >= 90, "{families:?}");
}

#[test]
fn no_session_reaches_beyond_itself() {
    let wrong = &outcome().sessions;
    assert!(wrong.is_empty(), "sessions:\n{}", wrong.join("\n"));
}

#[test]
fn afterwards_the_same_sandbox_answers_rightly() {
    let wrong = &outcome().unwell;
    assert!(wrong.is_empty(), "after the battery:\n{}", wrong.join("\n"));
}

#[test]
fn nothing_is_left_behind() {
    let left = &outcome().left;
    assert!(left.is_empty(), "left behind:\n{}", left.join("\n"));
}

#[test]
fn the_bait_is_real_and_programs_without_a_sandbox_take_it() {
    let missed = &outcome().missed_bait;
    assert!(missed.is_empty(), "run bare, these should have got hold of the bait:\n{}", missed.join("\n"));
}

#[test]
#[ignore = "the other tests of this file run it, in a process of its own"]
fn battery_in_a_process_of_its_own() {
    let Ok(path) = std::env::var(OUTCOME_VARIABLE) else { panic!("only the other tests run this") };
    let outcome = battery::run(std::path::Path::new(&path));
    std::fs::write(std::path::Path::new(&path).join("outcome"), serde_json::to_vec(&outcome).unwrap())
        .unwrap();
}

/// Fails with a table of the family's programs that were not contained.
fn check(family: &str) {
    let rows: Vec<_> = outcome().rows.iter().filter(|row| row.family == family).collect();
    assert!(!rows.is_empty(), "no programs in {family}");
    let bad: Vec<String> = rows.iter().filter(|row| row.complaint.is_some()).map(|row| row.line()).collect();
    assert!(bad.is_empty(), "{} of {} runs not contained:\n{}", bad.len(), rows.len(), bad.join("\n"));
}

fn outcome() -> &'static Outcome {
    static OUTCOME: OnceLock<Result<Outcome, String>> = OnceLock::new();
    match OUTCOME.get_or_init(run_battery) {
        Ok(outcome) => outcome,
        Err(why) => panic!("the battery did not finish: {why}"),
    }
}

fn run_battery() -> Result<Outcome, String> {
    let folder = tempfile::Builder::new().prefix("merit-escape-").tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let temp = folder.path().join("temp");
    std::fs::create_dir(&temp).unwrap();
    let nonce = battery::fresh_nonce();
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["battery_in_a_process_of_its_own", "--exact", "--ignored", "--nocapture"])
        .env(OUTCOME_VARIABLE, folder.path())
        .env(bait::SECRET_VARIABLE, format!("canary-environment-{nonce}"))
        .env("TMPDIR", &temp)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .status()
        .map_err(|error| error.to_string())?;
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    if !status.success() {
        return Err(format!("{status}\n{log}"));
    }
    let text = std::fs::read(folder.path().join("outcome")).map_err(|error| format!("{error}\n{log}"))?;
    if let Some(kept) = std::env::var_os("MERIT_ESCAPE_KEEP") {
        std::fs::write(kept, &text).unwrap();
    }
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}
