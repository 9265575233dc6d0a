//! `merit eval`: models, runs and servers on the tasks of a recipe.

use crate::tiny::{RECIPE, Said, reference, say};
use merit_endpoint::{Reply, ScriptedServer};
use merit_store::{EpisodeFilter, RunFolder};
use serde_json::{Value, json};
use std::path::Path;

fn eval(dir: &Path, models: &[&str], more: &[&str]) -> Said {
    say(dir, [&["eval"], models, more].concat())
}

/// The results of `--json`, in the order of the models.
fn results(said: &Said) -> Vec<Value> {
    said.json().into_iter().filter_map(|line| line.get("result").cloned()).collect()
}

fn episodes(result: &Value) -> usize {
    let folder = RunFolder::open_read_only(Path::new(result["folder"].as_str().unwrap())).unwrap();
    folder.episodes(&EpisodeFilter::default()).unwrap().len()
}

#[test]
fn a_run_and_the_oracle_stand_side_by_side_with_intervals_and_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let run = reference().path.display().to_string();
    let said = eval(dir.path(), &[&run, "oracle"], &["--tasks", "8", "--samples", "4"]).well().out;
    for words in ["tiny: 8 tasks, seed 1", "95 % interval", "pass@4", "pass^4", "size 1", "size 2"] {
        assert!(said.contains(words), "no {words} in\n{said}");
    }
    let oracle = said.lines().find(|line| line.starts_with("oracle ")).unwrap();
    assert!(oracle.contains("100.0 %") && oracle.contains("67.6 to 100.0"), "{oracle}");
    assert!(said.contains("is better than") && said.contains("points"), "{said}");
}

#[test]
fn what_was_played_is_not_played_again_and_more_tasks_are_added() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("kept").display().to_string();
    let run = reference().path.display().to_string();
    let once = |tasks: &str, samples: &str| {
        let more = ["--json", "--out", &out, "--tasks", tasks, "--samples", samples];
        results(&eval(dir.path(), &[&run], &more).well()).remove(0)
    };
    let first = once("4", "2");
    assert_eq!(episodes(&first), 4 + 8);
    // The seconds of playing do not grow, so nothing was played.
    assert_eq!(once("4", "2"), first);
    let larger = once("6", "2");
    assert_eq!((&larger["folder"], episodes(&larger)), (&first["folder"], 6 + 12));
    assert_eq!(larger["success"]["count"], 6);
    // It is what training measured at its end, on the same tasks.
    let whole = once("8", "0");
    let lines = reference().said.json();
    let after = lines.iter().find_map(|line| line.get("held_out_after")).unwrap();
    assert_eq!(&whole["success"]["value"], after, "{whole}");
}

#[test]
fn folders_of_evaluations_can_be_compared() {
    let dir = tempfile::tempdir().unwrap();
    let run = reference().path.display().to_string();
    let said = eval(dir.path(), &[&run, "oracle"], &["--json", "--tasks", "6"]).well();
    let folders: Vec<String> =
        results(&said).iter().map(|one| one["folder"].as_str().unwrap().to_owned()).collect();
    let compared = say(dir.path(), [&["compare".to_owned()], &folders[..]].concat()).well().out;
    let sentence = said.json().pop().unwrap()["says"].as_str().unwrap().to_owned();
    assert!(compared.contains(&sentence), "{compared}\n{sentence}");
}

#[test]
fn a_server_that_breaks_is_no_wrong_answer_and_is_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let well = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = std::sync::Arc::clone(&well);
    let server = ScriptedServer::start(move |_| {
        if flag.load(std::sync::atomic::Ordering::SeqCst) {
            Reply::chat("answer 0")
        } else {
            Reply::json(400, &json!({ "error": { "message": "no such model" } }))
        }
    })
    .unwrap();
    let model = format!("{}#m", server.base_url());
    let more = ["--on", RECIPE, "--tasks", "3", "--json"];
    let broken = eval(dir.path(), &[&model], &more);
    assert_eq!(broken.code, Some(1), "{}", broken.err);
    assert!(
        broken.err.contains("3 infrastructure failed") && broken.err.contains("no such model"),
        "{}",
        broken.err
    );
    let result = &results(&broken)[0];
    assert_eq!((&result["success"], &result["reward"]), (&Value::Null, &Value::Null));
    well.store(true, std::sync::atomic::Ordering::SeqCst);
    let result = results(&eval(dir.path(), &[&model], &more).well()).remove(0);
    assert_eq!((&result["success"]["value"], &result["success"]["count"]), (&json!(0.0), &json!(3)));
    assert_eq!(result["not_judged"], json!({}));
}

#[test]
fn a_file_of_questions_is_enough_to_measure_on() {
    let dir = tempfile::tempdir().unwrap();
    let lines = (1..=6).map(|n| format!("{{\"prompt\": \"What is {n} + 1?\", \"answer\": \"{}\"}}\n", n + 1));
    std::fs::write(dir.path().join("sums.jsonl"), lines.collect::<String>()).unwrap();
    let server = ScriptedServer::start(|asked| {
        let asked = asked.body["messages"].as_array().unwrap().last().unwrap()["content"]
            .as_str()
            .unwrap()
            .to_owned();
        let n: u32 = asked.split(' ').nth(2).and_then(|word| word.parse().ok()).unwrap_or(0);
        // Right below four.
        Reply::chat(&format!("Answer: {}", if n < 4 { n + 1 } else { 0 }))
    })
    .unwrap();
    let model = format!("{}#counts", server.base_url());
    let result = results(&eval(dir.path(), &[&model], &["--on", "sums.jsonl", "--json"]).well()).remove(0);
    assert_eq!((&result["tasks"], &result["success"]["value"]), (&json!(6), &json!(0.5)), "{result}");
    // Another file of that name is another evaluation.
    std::fs::write(dir.path().join("sums.jsonl"), "{\"prompt\": \"What is 8 + 1?\", \"answer\": \"9\"}\n")
        .unwrap();
    let said = eval(dir.path(), &[&model], &["--on", "sums.jsonl"]);
    assert!(said.err.contains("is not what it was") && said.err.contains("--out"), "{}", said.err);
}

#[test]
fn what_cannot_be_measured_is_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, why) in [
        (&["oracle"][..], "nothing says what to measure on"),
        (&["oracle", "oracle", "--on", RECIPE], "oracle is named twice"),
        (&["no-such.gguf", "--on", RECIPE], "there is no no-such.gguf"),
        (&["oracle", "--on", "ledger-tols"], "ledger-tools"),
        (&["http://127.0.0.1:9/v1", "--on", RECIPE], "names no model"),
        (
            &["oracle", "--on", RECIPE, "--set", "learn.epochs=2"],
            "--set learn.epochs says how a policy learns",
        ),
        (&["oracle", "--on", "none.jsonl"], "cannot read `file` none.jsonl"),
    ] {
        let said = eval(dir.path(), arguments, &[]);
        assert!(said.code != Some(0) && said.err.contains(why), "{arguments:?}: {}", said.err);
    }
}
