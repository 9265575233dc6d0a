//! `merit reproduce` and `merit compare` as real processes: what is said, what is kept, what a kill costs.

use crate::survival::process::{Training, Waited};
use crate::tiny::{RECIPE, merit, say};
use serde_json::Value;

/// A system whose arms train the tiny recipe.
fn tiny_system() -> String {
    format!(
        "name = \"tiny\"\nabout = \"two rewards\"\npaper = \"none\"\nscope = \"nothing was replaced\"\nconfidence = \"full text\"\nseeds = 2\n\n\
         [experiment]\ntype = \"recipe\"\nrecipe = {RECIPE:?}\n\n[budget]\nupdates = 100\n\n\
         [[arms]]\nname = \"as-it-is\"\nrole = \"method\"\nabout = \"as it is\"\n\n\
         [[arms]]\nname = \"format\"\nrole = \"baseline\"\nabout = \"paid for the answer alone\"\nset = {{ reward = {{ type = \"exact-answer\" }} }}\n\n\
         [[claims]]\nsays = \"they are alike\"\nmeasure = {{ area = \"success\", axis = \"policy_tokens\" }}\narm = \"as-it-is\"\nagainst = \"format\"\nwithin = 1.0\n"
    )
}

fn records(lines: &[Value]) -> Vec<Value> {
    let cells =
        lines.iter().find_map(|line| line.get("result")).unwrap()["cells"].as_array().unwrap().clone();
    cells.into_iter().map(|cell| cell["record"].clone()).collect()
}

#[test]
fn a_smoke_says_what_it_does_and_leaves_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let said = say(dir.path(), ["reproduce", "knapsack-composer", "--smoke"]).well();
    assert!(said.out.contains("knapsack-composer 1/") && said.out.contains("left"), "{}", said.out);
    let page = std::fs::read_to_string(dir.path().join("runs/lab/pages/knapsack-composer.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("Every seed"), "{page}");
    // A smoke is no result.
    assert!(!dir.path().join("results").exists());
    assert!(said.out.contains("first look: ") && !said.out.contains("systems in"), "{}", said.out);
    let both = say(dir.path(), ["reproduce", "knapsack-composer", "robo-dopamine", "--smoke"]).well();
    assert!(both.out.lines().last().is_some_and(|line| line.starts_with("2 systems in ")), "{}", both.out);
}

#[test]
fn what_there_is_not_is_named_with_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    let said = say(dir.path(), ["reproduce", "knapsack-compser"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("did you mean `knapsack-composer`?"), "{}", said.err);
    let said = say(dir.path(), ["reproduce", "knapsack-composer", "--seeds", "5-1"]);
    assert!(said.code == Some(2) && said.err.contains("expected seeds such as 1-5 or 1,3,7"), "{}", said.err);
}

#[test]
fn a_kill_costs_the_cells_under_way_and_changes_no_number() {
    let (disturbed, calm) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for dir in [&disturbed, &calm] {
        std::fs::write(dir.path().join("tiny.toml"), tiny_system()).unwrap();
    }
    let arguments = ["reproduce", "./tiny.toml", "--json"];
    let mut command = merit(disturbed.path());
    command.args(arguments);
    let mut first = Training::spawn(command);
    assert_eq!(first.wait_for(|line| line["done"] == 1), Waited::Came);
    first.kill();
    let again = say(disturbed.path(), arguments).well().json();
    // The cell that was finished is not run again.
    assert!(again.iter().filter(|line| line.get("cell").is_some()).count() <= 3, "{again:#?}");
    let undisturbed = say(calm.path(), arguments).well().json();
    assert_eq!(records(&again), records(&undisturbed));
    let result = again.iter().find_map(|line| line.get("result")).unwrap();
    assert_eq!(result["ruling"]["verdict"], "holds", "{result:#}");
    assert!(disturbed.path().join("results/tiny.json").is_file());
}

#[test]
fn two_recipes_are_compared_task_by_task_and_seeds_make_one_table() {
    let dir = tempfile::tempdir().unwrap();
    let table = say(dir.path(), ["train", RECIPE, "--seeds", "1-2"]).well().out;
    assert!(table.contains("seed") && dir.path().join("runs/tiny-2").is_dir(), "{table}");
    let page = std::fs::read_to_string(dir.path().join("runs/tiny-seeds.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("2 seeds") && page.contains("Every seed"), "{page}");
    let other = ["train", RECIPE, "--run", "runs/other", "--set", "reward={ type = \"exact-answer\" }"];
    say(dir.path(), other).well();
    let said = say(dir.path(), ["compare", "runs/tiny-1", "runs/tiny-2", "runs/other"]).well().out;
    assert!(said.contains("(runs/tiny-1, runs/tiny-2)") && said.contains("(runs/other)"), "{said}");
    assert!(said.contains("tiny#1") && said.contains("tiny#2") && said.contains("95 % interval"), "{said}");
    let alone = say(dir.path(), ["compare", "runs/tiny-1", "runs/tiny-2"]);
    assert!(alone.code == Some(2) && alone.err.contains("of one recipe"), "{}", alone.err);
}

#[test]
fn results_are_compared_arm_by_arm_and_only_with_their_own_kind() {
    let dir = tempfile::tempdir().unwrap();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/");
    let text = std::fs::read_to_string(format!("{shipped}retool.json")).unwrap();
    std::fs::write(dir.path().join("before.json"), &text).unwrap();
    // A later version in which one arm did ten points better at every seed.
    let mut later: Value = serde_json::from_str(&text).unwrap();
    for cell in later["cells"].as_array_mut().unwrap().iter_mut().filter(|cell| cell["arm"] == "text") {
        let success = cell["record"]["measures"]["success"].as_f64().unwrap();
        cell["record"]["measures"]["success"] = (success + 0.1).into();
    }
    std::fs::write(dir.path().join("after.json"), later.to_string()).unwrap();
    let said = say(dir.path(), ["compare", "before.json", "after.json"]).well().out;
    let line = |arm: &str| said.lines().find(|line| line.contains(&format!("  {arm}: success "))).unwrap();
    assert!(line("text").contains("+0.1000") && !line("text").contains("chance"), "{said}");
    assert!(line("tool").contains("the same at every seed; 5 seeds"), "{said}");
    let other = format!("{shipped}artist.json");
    let refused = say(dir.path(), ["compare", "before.json", other.as_str()]);
    assert!(
        refused.code == Some(2) && refused.err.contains("compare results of the same system"),
        "{}",
        refused.err
    );
    let refused = say(dir.path(), ["compare", "before.json", "runs"]);
    assert!(refused.code == Some(2) && refused.err.contains("compare runs, or results"), "{}", refused.err);
}
