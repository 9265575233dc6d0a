//! Every shipped system can run, every recorded result is of its file, and the document is of both.

use merit_lab::{
    Cells, Grid, GridOptions, Judged, Ruling, System, Verdict, judge, judge_again, load, markdown,
    reading_of, readings, results, systems,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[test]
fn every_file_is_named_as_its_system_and_can_be_used() {
    for (name, text) in systems() {
        let system = System::parse(&format!("systems/{name}.toml"), text).unwrap();
        assert_eq!(system.name, *name);
    }
}

#[test]
fn every_result_is_of_its_file() {
    for result in results() {
        let system = load(&result.system, &[]).unwrap();
        assert_eq!(
            result.hash,
            system.hash(),
            "results/{name}.json is of another systems/{name}.toml; `merit reproduce {name}` makes a new one",
            name = result.system
        );
    }
}

/// A recorded result keeps fewer points of its curves, so that what is said of a seed without a number ("at least 1.2") may differ a
/// little; whatever follows from the recorded seeds is the same.
#[test]
fn every_recorded_verdict_is_what_the_rule_says_of_its_cells() {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../results"));
    for mut result in results() {
        let system = load(&result.system, &[]).unwrap();
        let now = judge_again(&system, &Cells(result.cells.clone()), Some(&result.ruling));
        let of = |ruling: &Ruling| ruling.premises.iter().chain(&ruling.claims).cloned().collect::<Vec<_>>();
        let pairs = of(&result.ruling).into_iter().zip(of(&now));
        let other = pairs.into_iter().find(|(recorded, now)| !alike(recorded, now));
        if other.is_none() && (result.ruling.verdict, &result.ruling.why) == (now.verdict, &now.why) {
            continue;
        }
        assert!(
            std::env::var_os("MERIT_UPDATE").is_some(),
            "results/{}.json was judged by another rule ({other:?}); `MERIT_UPDATE=1 cargo test -p merit-lab` judges its cells anew",
            result.system
        );
        result.ruling = now;
        let text = serde_json::to_string(&result).unwrap() + "\n";
        std::fs::write(folder.join(format!("{}.json", result.system)), text).unwrap();
    }
}

/// Whether the same is said of the same seeds: to rounding, and but for the bounds on seeds without a number.
fn alike(recorded: &Judged, now: &Judged) -> bool {
    let close = |one: f64, other: f64| (one - other).abs() <= 1e-6 * one.abs().max(other.abs()).max(1.0);
    let ends = |judged: &Judged| -> Vec<f64> {
        let interval = judged.interval.into_iter().flat_map(|(low, high)| [low, high]);
        judged.estimate.into_iter().chain(interval).collect()
    };
    let (before, after) = (ends(recorded), ends(now));
    let whole = recorded.seeds.iter().all(|(_, value)| value.is_some());
    let same = before.len() == after.len() && before.iter().zip(&after).all(|(x, y)| close(*x, *y));
    let reason = |judged: &Judged| judged.why.split(';').next().unwrap_or_default().to_owned();
    recorded.verdict == now.verdict
        && recorded.seeds == now.seeds
        && reason(recorded) == reason(now)
        && (same || !whole)
}

/// Measures are recorded whole, to rounding; curves are not, and are judged by the test above.
#[test]
fn every_recorded_number_of_a_measure_is_that_of_its_cells() {
    let mut compared = 0;
    for result in results() {
        let now = judge(&load(&result.system, &[]).unwrap(), &Cells(result.cells.clone()));
        let of = |ruling: &Ruling| ruling.premises.iter().chain(&ruling.claims).cloned().collect::<Vec<_>>();
        for (recorded, now) in of(&result.ruling).into_iter().zip(of(&now)) {
            if recorded.measure.contains(' ') {
                continue;
            }
            for ((seed, before), (_, after)) in recorded.seeds.iter().zip(&now.seeds) {
                let apart =
                    before.zip(*after).map(|(before, after)| (before - after).abs() / before.abs().max(1.0));
                assert!(
                    before.is_none() == after.is_none() && apart.unwrap_or(0.0) < 1e-3,
                    "results/{}.json: {} at seed {seed}: {before:?}, and by its cells {after:?}",
                    result.system,
                    recorded.says
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn every_recorded_file_can_be_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results");
    let files =
        std::fs::read_dir(folder).unwrap().filter_map(|file| file.unwrap().file_name().into_string().ok());
    let mut files: Vec<String> =
        files.filter_map(|file| file.strip_suffix(".json").map(str::to_owned)).collect();
    files.sort_unstable();
    let mut read: Vec<String> = results().into_iter().map(|result| result.system).collect();
    read.sort_unstable();
    assert_eq!(files, read);
}

#[test]
fn every_result_that_does_not_hold_or_decides_nothing_has_a_reading() {
    for result in results().iter().filter(|result| result.ruling.verdict != Verdict::Holds) {
        let words = reading_of(&result.system).unwrap_or_default().split_whitespace().count();
        assert!(
            words >= 60,
            "results/{name}.json {verdict}: results/{name}.md is to say what a reader should make of it (premise, oracle, what was \
             varied, what to conclude); it has {words} words",
            name = result.system,
            verdict = result.ruling.verdict.words()
        );
    }
}

#[test]
fn words_about_a_result_are_about_one_that_is_recorded() {
    let recorded: Vec<String> = results().into_iter().map(|result| result.system).collect();
    for name in readings() {
        assert!(recorded.iter().any(|system| system == name), "results/{name}.md has no results/{name}.json");
    }
}

#[test]
fn the_document_is_of_these_systems_and_results() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/systems.md");
    let text = markdown().unwrap();
    if std::env::var_os("MERIT_UPDATE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == text,
        "docs/systems.md is old; `MERIT_UPDATE=1 cargo test -p merit-lab` writes it anew"
    );
}

#[test]
fn every_smoke_ends_with_all_its_measures() {
    let folder = tempfile::tempdir().unwrap();
    let options = GridOptions {
        folder: folder.path().to_owned(),
        workers: 2,
        smoke: true,
        premise: false,
        extended: false,
        seeds: None,
        arms: Vec::new(),
        keep: false,
        only: None,
        replay_lost: false,
        runner: None,
        stop: Arc::new(AtomicBool::new(false)),
    };
    for (name, _) in systems() {
        let system = load(name, &[]).unwrap();
        let cells = Grid::new(&system, &options, 1).unwrap().run(&|_| {}).unwrap();
        if let Some(cell) = cells.0.iter().find(|cell| cell.broken.is_some()) {
            panic!("{name}: arm {}: {:?}", cell.arm, cell.broken);
        }
        let ruling = merit_lab::judge(&system, &cells);
        for judged in ruling.premises.iter().chain(&ruling.claims) {
            assert!(!judged.why.contains("there is no"), "{name}: \"{}\": {}", judged.says, judged.why);
        }
    }
}
