//! The files in `systems/`: every arm is read by its study, and the smoke of every arm runs. By hand, all arms on one seed:
//! `SYSTEM=NAME SEED=101 cargo test --release -p merit-studies --test it arms_of_a_system -- --ignored --nocapture`

use merit_core::Seed;
use merit_studies::{CellRecord, Desk, STUDIES, Study};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, atomic::AtomicBool};

struct Arm {
    name: String,
    study: Arc<dyn Study>,
    budget: BTreeMap<String, f64>,
}

/// Every arm of a system's file that belongs to a study of this crate; `smoke` lays the smoke settings over them.
fn arms(file: &toml::Table, smoke: bool) -> Vec<Arm> {
    let whole = [toml::Value::Table(file.clone())];
    let parts = file.get("parts").and_then(toml::Value::as_array).map_or(&whole[..], Vec::as_slice);
    parts.iter().flat_map(|part| arms_of_part(part.as_table().unwrap(), smoke)).collect()
}

fn arms_of_part(part: &toml::Table, smoke: bool) -> Vec<Arm> {
    let table = |key: &str| part.get(key).and_then(toml::Value::as_table).cloned().unwrap_or_default();
    let title = part.get("name").and_then(toml::Value::as_str).unwrap();
    let mut budget = table("budget");
    if smoke {
        budget.extend(table("smoke_budget"));
    }
    let number = |v: &toml::Value| v.as_float().or(v.as_integer().map(|i| i as f64)).unwrap();
    let budget: BTreeMap<String, f64> = budget.iter().map(|(axis, v)| (axis.clone(), number(v))).collect();
    let mut found = Vec::new();
    for arm in part["arms"].as_array().unwrap() {
        let mut settings = table("experiment");
        settings.extend(arm.get("set").and_then(toml::Value::as_table).cloned().unwrap_or_default());
        if smoke {
            settings.extend(table("smoke"));
        }
        let kind = settings.remove("type").unwrap();
        let Some(entry) = STUDIES.iter().find(|e| Some(e.about.name) == kind.as_str()) else { continue };
        let name = format!("{title}/{}", arm["name"].as_str().unwrap());
        let (study, _) = (entry.read)(settings).unwrap_or_else(|why| panic!("{name}: {why}"));
        found.push(Arm { name, study, budget: budget.clone() });
    }
    found
}

fn run(arm: &Arm, seed: u64) -> CellRecord {
    let stop = AtomicBool::new(false);
    let mut desk = Desk::new(arm.budget.clone(), &stop);
    arm.study.run(&Seed::root(seed), &mut desk).unwrap_or_else(|why| panic!("{}: {why}", arm.name));
    desk.finish().unwrap_or_else(|why| panic!("{}: {why}", arm.name))
}

fn files() -> BTreeMap<String, toml::Table> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../systems");
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let table = text.parse().unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        (path.file_stem().unwrap().to_string_lossy().into_owned(), table)
    };
    entries.filter(|path| path.extension().is_some_and(|e| e == "toml")).map(read).collect()
}

#[test]
fn every_arm_is_read_and_its_smoke_measures_what_claims_read() {
    for (name, file) in files() {
        arms(&file, false);
        let whole = [toml::Value::Table(file.clone())];
        let parts = file.get("parts").and_then(toml::Value::as_array).map_or(&whole[..], Vec::as_slice);
        for part in parts.iter().map(|part| part.as_table().unwrap()) {
            let mut records = BTreeMap::new();
            for arm in arms_of_part(part, true) {
                let record = run(&arm, 101);
                assert!(!record.measures.is_empty(), "{name}: {} measures nothing", arm.name);
                // The first arm of each part stands for all: cells are pure in settings and seed.
                if records.is_empty() {
                    assert_eq!(record, run(&arm, 101), "{name}: {} is not determined by its seed", arm.name);
                }
                records.insert(arm.name.clone(), record);
            }
            if !records.is_empty() {
                check_part(&name, part, &records);
            }
        }
    }
}

fn check_part(name: &str, part: &toml::Table, records: &BTreeMap<String, CellRecord>) {
    let title = part["name"].as_str().unwrap();
    for kind in ["claims", "premises"] {
        for claim in part.get(kind).and_then(toml::Value::as_array).into_iter().flatten() {
            for key in ["arm", "against"] {
                let Some(arm) = claim.get(key).and_then(toml::Value::as_str) else { continue };
                let record = records
                    .get(&format!("{title}/{arm}"))
                    .unwrap_or_else(|| panic!("{name}: {kind} name an arm `{arm}` that is not there"));
                let known = match &claim["measure"] {
                    toml::Value::String(measure) => record.measures.contains_key(measure),
                    curve => ["last", "area", "reach"]
                        .iter()
                        .filter_map(|how| curve.get(how).and_then(toml::Value::as_str))
                        .any(|curve| record.curves.contains_key(curve)),
                };
                assert!(known, "{name}: {title}/{arm} has no {}", claim["measure"]);
            }
        }
    }
}

#[test]
#[ignore = "by hand: runs every arm of one system and prints what it measures"]
fn arms_of_a_system() {
    let (wanted, seed) = (std::env::var("SYSTEM").unwrap(), std::env::var("SEED"));
    let only = std::env::var("ARM").unwrap_or_default();
    let seed: u64 = seed.map_or(101, |s| s.parse().unwrap());
    let begun = std::time::Instant::now();
    for arm in arms(&files()[&wanted], false).iter().filter(|arm| arm.name.contains(&only)) {
        let begun = std::time::Instant::now();
        let record = run(arm, seed);
        let costs: Vec<String> = record.costs.iter().map(|(k, v)| format!("{k} {v}")).collect();
        println!("{} ({:.2} s; {})", arm.name, begun.elapsed().as_secs_f64(), costs.join(", "));
        let values: Vec<String> = record.measures.iter().map(|(k, v)| format!("{k} {v:.4}")).collect();
        println!("    {}", values.join("  "));
        record.notes.iter().for_each(|note| println!("    {note}"));
    }
    println!("{:.1} s in all", begun.elapsed().as_secs_f64());
}
