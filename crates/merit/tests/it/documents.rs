//! The commands of the documents, run as they stand in a folder that has what they name.

use crate::models::made::{TEMPLATE, gguf};
use crate::tiny::{merit, say};
use merit_testing::root;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

/// What cannot be run here, by how it begins, and why not.
const ELSEWHERE: &[(&str, &str)] = &[
    ("merit init quiz", "the tutorial has a test of its own"),
    ("merit eval ../model.gguf runs/quiz-1", "the tutorial has a test of its own"),
    ("merit export runs/quiz-1", "the tutorial has a test of its own"),
    ("merit train smollm2-tools", "minutes; its result is recorded"),
    ("merit train RECIPE --seeds", "minutes; `starts` and `lab` test it"),
    ("merit train ledger-tools --on", "needs Ray; the tests of the Python package run it with another"),
    ("merit reproduce NAME --on", "needs Ray; the tests of the Python package run it with another"),
    ("merit reproduce active-inference", "a full reproduction; its result is recorded"),
    ("merit reproduce --all --smoke", "the laboratory's own tests run every smoke"),
    ("merit reproduce NAME --seeds", "an arm and a setting of somebody's own system"),
    ("merit model info .cache", "needs weights that are fetched; `models` tests it with others"),
    ("merit chat .cache", "needs weights that are fetched; `models` tests it with others"),
    ("merit chat http", "a server of somebody's own; `models` tests it with another"),
    ("merit rollout ledger-tools --model http", "a server of somebody's own; `models` tests it with another"),
    ("merit judge ask judge.toml", "a server of somebody's own; `judges` tests it with another"),
    ("merit bench judge runs/a-1:reward", "a run that fitted a model; `judges` tests it with another"),
    ("merit attack judge.toml", "a server of somebody's own; `judges` tests it with another"),
    ("merit eval http", "a server of somebody's own; `eval` tests it with another"),
];

/// What stands for something in a command, and what stands for it here.
const STANDS_FOR: &[(&str, &str)] = &[
    ("docs/python/", concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/python/")),
    ("runs/a-1", "runs/my-tasks-1"),
    ("runs/b-1", "runs/other-1"),
    ("results/NAME.json", "after.json"),
    ("imports/FILE", "imports/results"),
    ("RUN", "runs/my-tasks-1"),
    ("RECIPE", "recipe.toml"),
    ("REWARD", "my-reward.toml"),
    ("EPISODES", "imports/results"),
    ("MODEL", "model.gguf"),
    ("NAME", "robo-dopamine"),
];

/// The commands in the fenced blocks of a document, without their remarks.
fn commands(text: &str) -> Vec<String> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let command = line.split("  ").next().unwrap_or(line).trim();
        found.extend(
            command.split(" && ").filter(|part| fenced && part.starts_with("merit ")).map(str::to_owned),
        );
    }
    found
}

/// A folder with everything that the commands name.
fn furnish(folder: &Path) {
    say(folder, ["init"]).well();
    gguf(folder, Some(TEMPLATE));
    let made = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let model = made.into_iter().find(|path| path.extension().is_some_and(|end| end == "gguf")).unwrap();
    if !folder.join("model.gguf").exists() {
        std::fs::rename(model, folder.join("model.gguf")).unwrap();
    }
    let file = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    file("my-reward.toml", "type = \"exact-answer\"\n");
    file("prompts.jsonl", "{\"prompt\": \"Once\", \"max_tokens\": 4}\n");
    file(
        "notes.jsonl",
        "Owls hunt at night.\nBats sleep by day.\n{\"text\": \"Ada keeps the keys\", \"about\": [\"Ada\"]}\n",
    );
    // The one with more stars is better; no word tells, since every number occurs once.
    let order = |n: u32, stars: u32| {
        format!("{{\"stars\": {stars}, \"note\": \"{}\"}}", "n".repeat(1 + n as usize % 17))
    };
    let pair = |n: u32| {
        let (better, worse) = (order(n * 5, 10_000 + n), order(n * 3, 100 + n));
        format!("{{\"prompt\": \"order {n}\", \"chosen\": {better}, \"rejected\": {worse}}}\n")
    };
    file("preferences.jsonl", &(0..60).map(pair).collect::<String>());
    file("more-preferences.jsonl", &(60..90).map(pair).collect::<String>());
    let tutorial = std::fs::read_to_string(root().join("docs/evolving-rewards.md")).unwrap();
    let checks = tutorial.split("# checks.toml\n").nth(1).unwrap().split("```").next().unwrap();
    file("checks.toml", checks);
    file("airline-gpt-4o.json", &desk());
    let said = |from: &str, value: String| format!("{{\"from\": \"{from}\", \"value\": \"{value}\"}}");
    let liked = |n: u32| {
        let (asked, better) = (said("human", format!("question {n}")), said("gpt", format!("yes {n}")));
        format!(
            "{{\"conversations\": [{asked}], \"chosen\": {better}, \"rejected\": {}}}",
            said("gpt", format!("no {n}"))
        )
    };
    file("dpo_en_demo.json", &format!("[{}]", (0..60).map(liked).collect::<Vec<_>>().join(", ")));
    file("corpus.jsonl", "{\"id\": \"1\", \"text\": \"a blue mug for tea\"}\n");
    file(
        "scorer.py",
        "import json, sys\n\
         print(json.dumps({'name': 'mine', 'tasks': [{'id': '0', 'prompt': '6 * 7?', 'answer': '42', 'others': ['41']}]}), flush=True)\n\
         for line in sys.stdin:\n    asked = json.loads(line)\n    \
         print(json.dumps({'id': asked['id'], 'score': float(asked['answer'] == '42')}), flush=True)\n",
    );
    let recorded = root().join("crates/merit-import/tests/fixtures/tau-bench.json");
    std::fs::copy(recorded, folder.join("results.json")).unwrap();
    let result = root().join("results/robo-dopamine.json");
    std::fs::copy(&result, folder.join("before.json")).unwrap();
    std::fs::copy(&result, folder.join("after.json")).unwrap();
    say(folder, ["train", "recipe.toml", "--run", "runs/other-1", "--set", "budget.steps=2"]).well();
}

/// A result file as tau-bench writes it: of each task one conversation that books what was agreed, and one that books something else.
fn desk() -> String {
    let played = |n: u32, trial: u32| {
        let right = (n + trial).is_multiple_of(2);
        let (agreed, booked) = (format!("{n}A"), format!("{n}{}", if right { "A" } else { "B" }));
        let call = json!({ "name": "book_reservation", "arguments": json!({ "seat": booked }).to_string() });
        let called = json!([{ "id": "c", "type": "function", "function": call }]);
        let actions = json!([{ "name": "book_reservation", "kwargs": { "seat": agreed } }]);
        let reward = f64::from(u8::from(right));
        // Words tell a little, four times in five.
        let ended = if n.is_multiple_of(5) == right { "All is set." } else { "It is done." };
        let task =
            json!({ "instruction": format!("Seat {agreed}, please."), "actions": actions, "outputs": [] });
        json!({ "task_id": n, "trial": trial, "reward": reward, "info": { "task": task, "reward_info": { "reward": reward } },
                "traj": [{ "role": "system", "content": "Help." }, { "role": "user", "content": "A seat, please." },
                         { "role": "assistant", "content": null, "tool_calls": called },
                         { "role": "tool", "tool_call_id": "c", "name": "book_reservation", "content": "done" },
                         { "role": "assistant", "content": ended }] })
    };
    let all: Vec<Value> = (0..60).flat_map(|n| [played(n, 0), played(n, 1)]).collect();
    Value::Array(all).to_string()
}

/// Runs a command as a shell does.
fn shell(folder: &Path, command: &str) -> Output {
    let binary = format!("{:?}", env!("CARGO_BIN_EXE_merit"));
    let command = command.replacen("merit", &binary, 1);
    let mut shell = std::process::Command::new("sh");
    let told = merit(folder);
    told.get_envs().for_each(|(key, value)| {
        value.map(|value| shell.env(key, value));
    });
    shell.args(["-c", &command]).current_dir(folder).stdin(std::process::Stdio::null()).output().unwrap()
}

#[test]
fn every_command_of_the_documents_does_what_it_is_there_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    furnish(folder);
    // First those that make what others name.
    let first = ["README.md", "docs/your-own-tasks.md", "docs/imported-episodes.md"];
    let mut files: Vec<_> = first.map(|name| root().join(name)).into();
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut docs: Vec<_> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    docs.sort();
    files.extend(docs);
    let (mut done, mut wrong) = (Vec::new(), Vec::new());
    let mut excused = vec![false; ELSEWHERE.len()];
    for command in files.iter().flat_map(|file| commands(&std::fs::read_to_string(file).unwrap())) {
        if let Some(at) = ELSEWHERE.iter().position(|(head, _)| command.starts_with(head)) {
            excused[at] = true;
            continue;
        }
        let mut here = command.clone();
        STANDS_FOR.iter().for_each(|(word, with)| here = here.replace(word, with));
        // A file that is read, not the word for a place.
        here = if here.contains("--tasks FILE") {
            here.replace("FILE", "tasks.jsonl")
        } else {
            here.replace("FILE", "results.json")
        };
        if done.contains(&here) {
            continue;
        }
        // What is written is written anew; nothing is overwritten.
        for name in ["sft.jsonl", "calls.tape"]
            .iter()
            .filter(|name| here.contains(**name) && !here.contains("--replay"))
        {
            let _ = std::fs::remove_file(folder.join(name));
        }
        let output = shell(folder, &here);
        // An audit says with its exit code that the grade is low.
        let fine =
            output.status.success() || (here.starts_with("merit attack") && output.status.code() == Some(1));
        if !fine {
            let said = String::from_utf8_lossy(&output.stderr);
            wrong.push(format!("{command}\n  as {here}\n  {}", said.lines().last().unwrap_or_default()));
        }
        done.push(here);
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), done.len(), wrong.join("\n"));
    assert!(done.len() > 35, "only {} commands were run", done.len());
    let idle = ELSEWHERE.iter().zip(&excused).find(|(_, seen)| !**seen);
    assert!(idle.is_none(), "no document has {idle:?} any more");
}
