//! `kill -9` at seeded random moments, dozens of times, in every stage of a run.

use crate::survival::process::{Training, Waited, done};
use crate::tiny::{self, Reference};
use merit_core::{Seed, Stream};
use merit_store::{EpisodeFilter, RunFolder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const KILLS: u32 = 40;

#[test]
fn a_run_killed_at_any_moment_and_resumed_ends_as_if_nothing_had_happened() {
    let reference = tiny::reference();
    let dir = tempfile::tempdir().unwrap();
    let mut dice = Seed::root(9).child("kills", 0).stream();
    let (mut kills, mut during) = (0, BTreeMap::new());
    for round in 0.. {
        let path = dir.path().join(format!("run-{round}"));
        kills += run_under_fire(&path, reference, &mut dice, &mut during);
        tiny::essence(&path).must_be(&reference.essence);
        if kills >= KILLS {
            break;
        }
    }
    println!("{kills} kills, by the last thing that was said: {during:#?}");
}

/// Kills and resumes until the run gets through; how often it was killed.
fn run_under_fire(
    path: &Path,
    reference: &Reference,
    dice: &mut Stream,
    during: &mut BTreeMap<String, u32>,
) -> u32 {
    let mut recorded = BTreeMap::new();
    let mut share = 0.0;
    for kills in 0.. {
        let mut training = Training::start(path);
        if wait_for_the_moment(&mut training, share, dice) == Waited::Ended {
            assert_eq!(training.end().code, Some(0));
            return kills;
        }
        let events = training.kill();
        let last = events.last().map_or("nothing".to_owned(), |e| e["event"].to_string());
        *during.entry(last).or_default() += 1;
        share = done(&events).unwrap_or(share);
        recorded = survivors(path, &recorded, reference);
        must_hold_what_was_announced(&events, &recorded);
    }
    unreachable!("a range without end")
}

/// One time in four by the clock, so that starting up is hit too; else at a share of what is left to do, and a little later,
/// so that the kill lands inside a step, a checkpoint or an evaluation.
fn wait_for_the_moment(training: &mut Training, share: f64, dice: &mut Stream) -> Waited {
    let milliseconds = |dice: &mut Stream, most: f64| Duration::from_secs_f64(dice.unit() * most / 1e3);
    if dice.chance(0.25) {
        return training.listen(milliseconds(dice, 400.0));
    }
    let target = share + (0.05 + 0.9 * dice.unit()) * (1.0 - share);
    match training.wait_for(|event| event["done"].as_f64().is_some_and(|done| done >= target)) {
        Waited::Came => training.listen(milliseconds(dice, 120.0)),
        Waited::Ended => Waited::Ended,
    }
}

/// The episodes on disk after a kill. All that were there are there, unchanged, and none is other than the reference's.
fn survivors(
    path: &Path,
    before: &BTreeMap<String, String>,
    reference: &Reference,
) -> BTreeMap<String, String> {
    let folder = match RunFolder::open_read_only(path) {
        Err(merit_store::StoreError::NotARun { .. }) => {
            // Killed before the run was made: nothing was promised yet.
            assert!(before.is_empty(), "the record is gone");
            let _ = std::fs::remove_dir_all(path);
            return BTreeMap::new();
        }
        opened => opened.unwrap(),
    };
    let stored = folder.episodes(&EpisodeFilter::default()).unwrap();
    let now: BTreeMap<String, String> =
        stored.iter().map(|e| (e.scored.episode.id.to_string(), e.scored.episode.content_hash())).collect();
    for (name, hash) in before {
        assert_eq!(now.get(name), Some(hash), "{name} was recorded before the kill");
    }
    for (name, hash) in &now {
        assert_eq!(reference.essence.episodes.get(name), Some(hash), "{name} is not what it should be");
    }
    now
}

/// What was said to be done had been recorded by then, so no kill may take it back.
fn must_hold_what_was_announced(events: &[Value], recorded: &BTreeMap<String, String>) {
    for event in events {
        let (prefix, want) = match event["event"].as_str() {
            Some("step") => {
                let phase = if event["arm"] == "main" { "train" } else { "train@no-tool" };
                (format!("{phase}/{}/", event["step"].as_u64().unwrap() - 1), tiny::PER_STEP)
            }
            Some("evaluated") => {
                let tasks = event["tasks"].as_u64().unwrap() as usize;
                (format!("{}/{}/", event["phase"].as_str().unwrap(), event["step"]), tasks)
            }
            _ => continue,
        };
        let found = recorded.keys().filter(|name| name.starts_with(&prefix)).count();
        assert_eq!(found, want, "episodes of {prefix} after it was announced");
    }
}
