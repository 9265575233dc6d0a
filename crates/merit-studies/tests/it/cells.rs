//! Cells of the system files: every arm reads, and its smoke run ends with numbers.

use merit_core::Seed;
use merit_studies::{CellRecord, Desk, STUDIES};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use toml::{Table, Value};

fn system(name: &str) -> Table {
    let path = format!("{}/../../systems/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn merge(base: &mut Table, over: &Table) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Table(base)), Value::Table(over)) => merge(base, over),
            _ => drop(base.insert(key.clone(), value.clone())),
        }
    }
}

fn table<'a>(part: &'a Table, key: &str) -> Option<&'a Table> {
    part.get(key).and_then(Value::as_table)
}

/// The arms of a system with this seed: `part/arm` and what its cell found. Without the method's arms a world may be calibrated.
fn cells(name: &str, seed: u64, smoke: bool, with_methods: bool) -> Vec<(String, CellRecord)> {
    let whole = system(name);
    let parts = match whole.get("parts").and_then(Value::as_array) {
        Some(parts) => parts.iter().map(|part| part.as_table().unwrap().clone()).collect(),
        None => vec![whole],
    };
    let mut found = Vec::new();
    for part in &parts {
        let label = part["name"].as_str().unwrap();
        for arm in part["arms"].as_array().unwrap().iter().map(|arm| arm.as_table().unwrap()) {
            if arm["role"].as_str() == Some("method") && !with_methods {
                continue;
            }
            let mut settings = table(part, "experiment").unwrap().clone();
            merge(&mut settings, table(arm, "set").unwrap_or(&Table::new()));
            let mut budget = table(part, "budget").cloned().unwrap_or_default();
            if smoke {
                merge(&mut settings, table(part, "smoke").unwrap_or(&Table::new()));
                merge(&mut budget, table(part, "smoke_budget").unwrap_or(&Table::new()));
            }
            let label = format!("{label}/{}", arm["name"].as_str().unwrap());
            found.push((
                label.clone(),
                cell(settings, &budget, seed).unwrap_or_else(|e| panic!("{label}: {e}")),
            ));
        }
    }
    found
}

fn cell(mut settings: Table, budget: &Table, seed: u64) -> Result<CellRecord, String> {
    let kind = settings.remove("type").unwrap();
    let entry = STUDIES.iter().find(|entry| Some(entry.about.name) == kind.as_str()).unwrap();
    let (study, _) = (entry.read)(settings)?;
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|n| n as f64)).unwrap();
    let budget: BTreeMap<String, f64> =
        budget.iter().map(|(axis, most)| (axis.clone(), number(most))).collect();
    let stop = AtomicBool::new(false);
    let mut desk = Desk::new(budget, &stop);
    study.run(&Seed::root(seed), &mut desk).map_err(|e| e.to_string())?;
    desk.finish().map_err(|e| e.to_string())
}

/// Names of measures and curves that the premises and claims read, which every arm they name must have.
fn read_by_claims(name: &str) -> Vec<(String, String)> {
    let whole = system(name);
    let parts = match whole.get("parts").and_then(Value::as_array) {
        Some(parts) => parts.iter().map(|part| part.as_table().unwrap().clone()).collect(),
        None => vec![whole],
    };
    let mut found = Vec::new();
    for part in &parts {
        let claims = ["premises", "claims"].iter().filter_map(|key| part.get(*key).and_then(Value::as_array));
        for claim in claims.flatten().map(|claim| claim.as_table().unwrap()) {
            let Some(measure) = claim["measure"].as_str() else { continue };
            for arm in ["arm", "against"].iter().filter_map(|key| claim.get(*key).and_then(Value::as_str)) {
                found.push((format!("{}/{arm}", part["name"].as_str().unwrap()), measure.to_owned()));
            }
        }
    }
    found
}

pub(crate) fn check_smoke(name: &str) {
    let found: BTreeMap<String, CellRecord> = cells(name, 101, true, true).into_iter().collect();
    assert_eq!(found, cells(name, 101, true, true).into_iter().collect(), "equal seeds give equal cells");
    for (arm, measure) in read_by_claims(name) {
        let cell = found.get(&arm).unwrap_or_else(|| panic!("{name}: no arm {arm}"));
        assert!(cell.measures.contains_key(&measure), "{name}: {arm} has no measure `{measure}`");
    }
    assert!(found.values().all(|cell| !cell.curves.is_empty()), "{name}: an arm without a curve");
}

/// Prints every arm, without the method's where `MERIT_PREMISE` is set:
/// `MERIT_SYSTEM=NAME MERIT_SEED=101 cargo test --release --test it -- --ignored --nocapture show_a_system`.
#[test]
#[ignore = "takes as long as a full cell of every arm"]
fn show_a_system() {
    let name = std::env::var("MERIT_SYSTEM").expect("MERIT_SYSTEM names a system");
    let seed = std::env::var("MERIT_SEED").map_or(101, |seed| seed.parse().unwrap());
    assert!(seed > 100, "seeds up to 100 are for the result");
    let started = std::time::Instant::now();
    let with_methods = std::env::var_os("MERIT_PREMISE").is_none();
    for (label, cell) in cells(&name, seed, false, with_methods) {
        eprintln!("{label}  costs {:?}", cell.costs);
        cell.measures.iter().for_each(|(name, value)| eprintln!("    {name:32} {value:.4}"));
        cell.notes.iter().for_each(|note| eprintln!("    {note}"));
    }
    eprintln!("{:.1} s", started.elapsed().as_secs_f64());
}
