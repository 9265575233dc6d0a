//! `roles.teacher`: a model shows the warm start how it is done.

use crate::models::made::{TEMPLATE, gguf};
use crate::models::process::{Said, merit};
use crate::models::rollout::careful;
use merit_endpoint::{Reply, ScriptedServer};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const RECIPE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tiny/tiny.toml");
const DEMONSTRATIONS: usize = 60;
/// Tasks of one entry take a lookup, a calculation and an answer.
const TURNS: usize = 3;
const SHORT: [&str; 4] =
    ["world.sizes=[1]", "world.held_out_sizes=[1]", "budget.steps=1", "evaluation.every=0"];

fn teacher(server: &ScriptedServer) -> String {
    let address = server.base_url();
    format!("roles.teacher={{type='openai', endpoint={{base_url='{address}', model='m', retries=0}}}}")
}

fn train(run: &Path, set: &[&str]) -> Said {
    let run = run.display().to_string();
    let set: Vec<&str> = SHORT.iter().chain(set).flat_map(|word| ["--set", word]).collect();
    merit(&[&["train", RECIPE, "--json", "--run", &run], &set[..]].concat(), "")
}

fn lessons(run: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("lessons.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn policy(run: &Path) -> Vec<u8> {
    std::fs::read(run.join("policy.safetensors")).unwrap()
}

fn conversation(body: &Value) -> &[Value] {
    body["messages"].as_array().unwrap()
}

/// Whether an odd number of things is bought.
fn is_odd(messages: &[Value]) -> bool {
    let count: u32 = messages[0]["content"].as_str().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    count % 2 == 1
}

#[test]
fn a_teacher_behind_an_endpoint_teaches_the_bits_that_the_world_would() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|asked| Reply::chat(&careful(conversation(&asked.body)))).unwrap();
    let (taught, shown) = (folder.path().join("taught"), folder.path().join("shown"));
    let said = train(&taught, &[&teacher(&server)]).well();
    let summary = format!("the teacher showed {DEMONSTRATIONS} demonstrations ({DEMONSTRATIONS} solved)");
    assert!(said.out.contains(&summary), "{}", said.out);
    assert_eq!(lessons(&taught).len(), DEMONSTRATIONS);
    train(&shown, &["warm_start.skill=1.0"]).well();
    assert!(policy(&taught) == policy(&shown), "the same words give another policy");
    assert!(!shown.join("lessons.jsonl").exists());
}

#[test]
fn a_run_whose_teacher_breaks_goes_on_with_what_it_gave_and_asks_for_the_rest_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (broken, answers) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (breaks, counts) = (Arc::clone(&broken), Arc::clone(&answers));
    let server = ScriptedServer::start(move |asked| {
        let messages = conversation(&asked.body);
        if is_odd(messages) && breaks.load(Ordering::SeqCst) {
            return Reply::json(400, &json!({ "error": { "message": "the weights fell out" } }));
        }
        counts.fetch_add(1, Ordering::SeqCst);
        Reply::chat(&careful(messages))
    })
    .unwrap();
    let run = folder.path().join("run");
    let said = train(&run, &[&teacher(&server)]);
    assert_ne!(said.code, Some(0));
    for word in ["demonstrations were lost", "the weights fell out", "--resume"] {
        assert!(said.err.contains(word), "{word}: {}", said.err);
    }
    let lost = lessons(&run).iter().filter(|lesson| lesson["outcome"] == "infrastructure-failed").count();
    assert!(lost > 0 && lost < DEMONSTRATIONS, "{lost}");
    assert_eq!(answers.load(Ordering::SeqCst), TURNS * (DEMONSTRATIONS - lost));

    broken.store(false, Ordering::SeqCst);
    let name = run.display().to_string();
    merit(&["train", "--json", "--resume", &name], "").well();
    assert_eq!(
        answers.load(Ordering::SeqCst),
        TURNS * DEMONSTRATIONS,
        "what was given is not asked for again"
    );
    let whole = folder.path().join("whole");
    train(&whole, &[&teacher(&server)]).well();
    assert!(policy(&run) == policy(&whole));
}

#[test]
fn what_a_teacher_did_wrong_is_imitated_only_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|asked| {
        let messages = conversation(&asked.body);
        Reply::chat(&if is_odd(messages) { "answer 0".to_owned() } else { careful(messages) })
    })
    .unwrap();
    let (strict, lenient) = (folder.path().join("strict"), folder.path().join("lenient"));
    let said = train(&strict, &[&teacher(&server)]).well();
    let right = lessons(&strict).iter().filter(|lesson| lesson["outcome"] == "solved").count();
    assert!(right > 0 && right < DEMONSTRATIONS, "{right}");
    let wrong = DEMONSTRATIONS - right;
    let words = format!("({right} solved, {wrong} policy wrong); {right} of them are imitated");
    assert!(said.out.contains(&words), "{}", said.out);
    let said = train(&lenient, &[&teacher(&server), "warm_start.keep=finished"]).well();
    assert!(said.out.contains(&format!("; {DEMONSTRATIONS} of them are imitated")), "{}", said.out);
}

#[test]
fn a_model_from_a_file_that_can_do_nothing_teaches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = gguf(folder.path(), Some(TEMPLATE)).display().to_string();
    let teacher = format!("roles.teacher={{type='embedded', file='{file}'}}");
    let said =
        train(&folder.path().join("run"), &[&teacher, "warm_start.demonstrations=4", "warm_start.batch=4"]);
    assert!(said.err.contains("none of 4 demonstrations can be imitated (4 "), "{}", said.err);
    let role = ["rollout", RECIPE, "--role", "teacher", "--split", "train", "--tasks", "2", "--json"];
    let said = merit(&[&role[..], &["--set", &teacher]].concat(), "").well();
    for line in said.json() {
        assert_eq!(line["episode"]["transcript"][1]["provenance"], "sampled", "{line}");
    }
}

#[test]
fn lessons_that_were_damaged_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        ScriptedServer::start(|_| Reply::json(400, &json!({ "error": { "message": "no" } }))).unwrap();
    let run = folder.path().join("run");
    assert_ne!(train(&run, &[&teacher(&server)]).code, Some(0));
    std::fs::write(run.join("lessons.jsonl"), "{\"task\": 3}\n").unwrap();
    let said = merit(&["train", "--json", "--resume", &run.display().to_string()], "");
    for word in ["lessons.jsonl", "line 1", "remove it"] {
        assert!(said.err.contains(word), "{word}: {}", said.err);
    }
}
