//! A run that is done goes on to more steps, as if it had been given them at once.

use crate::tiny::{RECIPE, essence, say};
use merit_store::{EpisodeFilter, RunFolder};

/// The tiny recipe without its control.
fn recipe(dir: &std::path::Path) {
    let text = std::fs::read_to_string(RECIPE).unwrap();
    std::fs::write(dir.join("tiny.toml"), text.split("[[controls]]").next().unwrap()).unwrap();
}

#[test]
fn more_steps_end_where_a_longer_run_ends() {
    let dir = tempfile::tempdir().unwrap();
    recipe(dir.path());
    let long = ["train", "tiny.toml", "--run", "long", "--json", "--set", "budget.steps=5"];
    let long = say(dir.path(), long).well();
    say(dir.path(), ["train", "tiny.toml", "--run", "short", "--json", "--set", "budget.steps=3"]).well();
    let more = say(dir.path(), ["train", "--resume", "short", "--set", "budget.steps=5", "--json"]).well();
    let last = |said: &crate::tiny::Said| said.json().pop().unwrap();
    assert_eq!(last(&more)["held_out_after"], last(&long)["held_out_after"]);
    assert_eq!(last(&more)["recipe_hash"], last(&long)["recipe_hash"]);
    let [long, short] = ["long", "short"].map(|name| essence(&dir.path().join(name)));
    assert_eq!(long.files["policy.safetensors"], short.files["policy.safetensors"]);
    // What the short run measured at its own end stays in the record.
    let folder = RunFolder::open_read_only(&dir.path().join("short")).unwrap();
    let rows = folder.episode_rows(&EpisodeFilter::phase("eval-after")).unwrap();
    let steps: std::collections::BTreeSet<u64> = rows.iter().map(|row| row.id.step).collect();
    assert_eq!(steps.into_iter().collect::<Vec<_>>(), [3, 5]);
    assert!(folder.events().unwrap().iter().any(|event| event.kind == "extended"));
    // It is shown and compared by what it measured last.
    let shown = say(dir.path(), ["show", "short"]).well().out;
    assert_eq!(shown.lines().filter(|line| line.starts_with("after")).count(), 1, "{shown}");
    let other = ["train", "tiny.toml", "--run", "other", "--set", "reward={type=\"exact-answer\"}"];
    say(dir.path(), other).well();
    let compared =
        |run: &str| say(dir.path(), ["compare", run, "other", "--json"]).well().json()[0]["success"].clone();
    assert_eq!(compared("short"), compared("long"));
    // Two folders of one recipe and seed are no two seeds.
    let twice = say(dir.path(), ["compare", "long", "short", "other"]);
    assert!(
        twice.code == Some(2) && twice.err.contains("long and short are of the same recipe"),
        "{}",
        twice.err
    );
    // Nothing is left to do, and nothing is done.
    let again = say(dir.path(), ["train", "--resume", "short", "--json"]).well();
    assert!(again.json().iter().all(|event| event["event"] != "step"));
}

#[test]
fn what_would_make_it_another_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    recipe(dir.path());
    say(dir.path(), ["train", "tiny.toml", "--run", "done", "--set", "budget.steps=2"]).well();
    let before = std::fs::read(dir.path().join("done/recipe.toml")).unwrap();
    for (change, why) in [
        ("learn.epochs=2", "`learn.epochs` cannot change in a run that goes on"),
        ("budget.steps=1", "it has 2 steps"),
        ("budget.stpes=9", "`budget.stpes` cannot change"),
    ] {
        let said = say(dir.path(), ["train", "--resume", "done", "--set", change]);
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains(why), "{}", said.err);
    }
    assert_eq!(std::fs::read(dir.path().join("done/recipe.toml")).unwrap(), before);
    say(dir.path(), ["train", RECIPE, "--run", "controlled", "--set", "budget.steps=1"]).well();
    let said = say(dir.path(), ["train", "--resume", "controlled", "--set", "budget.steps=2"]);
    assert!(said.code == Some(2) && said.err.contains("its controls were trained after it"), "{}", said.err);
}

#[test]
fn a_run_of_a_small_decoder_starts_another() {
    let dir = tempfile::tempdir().unwrap();
    let first = crate::tiny::reference();
    let text = std::fs::read_to_string(RECIPE).unwrap();
    let text = text.split("[[controls]]").next().unwrap();
    let (before, after) = text.split_once("[warm_start]").unwrap();
    let after = after.split_once("[rollout]").unwrap().1;
    let start = format!("start = {:?}\n", first.path.display().to_string());
    std::fs::write(dir.path().join("next.toml"), format!("{before}{start}\n[rollout]{after}")).unwrap();
    let said =
        say(dir.path(), ["train", "next.toml", "--run", "next", "--json", "--set", "budget.steps=1"]).well();
    let (first, next) = (first.said.json().pop().unwrap(), said.json().pop().unwrap());
    // It begins where the first ended, on the same held-out tasks.
    assert_eq!(next["held_out_before"], first["held_out_after"]);
    for (change, why) in [
        ("model.layers=2", "its policy has another shape"),
        ("model.start=\"gone\"", "cannot read gone/tokenizer.json"),
    ] {
        let said = say(dir.path(), ["train", "next.toml", "--set", change]);
        assert!(said.code == Some(2) && said.err.contains(why), "{}", said.err);
    }
}

#[test]
fn the_distance_to_the_start_is_measured_where_held_out_tasks_are() {
    let dir = tempfile::tempdir().unwrap();
    recipe(dir.path());
    let plain = "learn.objective={ type = \"policy-gradient\" }";
    say(dir.path(), ["train", "tiny.toml", "--run", "far", "--set", plain, "--set", "budget.steps=4"]).well();
    let folder = RunFolder::open_read_only(&dir.path().join("far")).unwrap();
    let kl = folder.metric("train", "kl_start").unwrap();
    assert_eq!(
        kl.iter().map(|(step, _)| *step).collect::<Vec<_>>(),
        [2, 3],
        "every third step, and the last"
    );
    assert!(kl.iter().all(|(_, kl)| *kl > 0.0), "{kl:?}");
    assert!(
        std::fs::read_to_string(dir.path().join("far/report.html"))
            .unwrap()
            .contains("KL to the policy before learning")
    );
}
