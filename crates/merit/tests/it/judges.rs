//! `merit judge ask`, `merit attack` on a judge, and a recipe whose reward a judge pays.

use crate::tiny::{RECIPE, say};
use merit_core::Outcome;
use merit_endpoint::{Asked, Reply, ScriptedServer};
use merit_store::RunFolder;
use std::path::Path;

fn user(asked: &Asked) -> String {
    let messages = asked.body["messages"].as_array().unwrap();
    messages.iter().find(|message| message["role"] == "user").unwrap()["content"].as_str().unwrap().to_owned()
}

fn judge(dir: &Path, ask: &str, server: &ScriptedServer) {
    let text = format!(
        "ask = {{ type = \"{ask}\" }}\nkept = \"answers.jsonl\"\n[backend]\ntype = \"openai\"\n\
         endpoint = {{ base_url = \"{}\", model = \"m\" }}\n",
        server.base_url()
    );
    std::fs::write(dir.join("judge.toml"), text).unwrap();
}

#[test]
fn two_answers_are_compared_in_both_orders_and_paid_for_once() {
    let server = ScriptedServer::start(|asked| {
        let user = user(asked);
        let second = user.split("<<<candidate 2").nth(1).unwrap().contains("Lima");
        Reply::chat(&format!("{{\"reason\": \"it is Lima\", \"better\": {}}}", if second { 2 } else { 1 }))
    })
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    judge(dir.path(), "compare", &server);
    let ask = ["judge", "ask", "judge.toml", "--prompt", "Capital of Peru?", "--a", "Cuzco", "--b", "Lima"];
    let said = say(dir.path(), ask).well();
    assert_eq!(said.out, "b is better\n  a first: it is Lima\n  b first: it is Lima\n");
    assert_eq!(server.asked().len(), 2);
    let again = say(dir.path(), ask.iter().chain(&["--json"])).well().json();
    assert_eq!((again[0]["choice"].as_str(), again[0]["flipped"].as_bool()), (Some("second"), Some(false)));
    assert_eq!(server.asked().len(), 2);
    let alone = say(dir.path(), &ask[..7]);
    assert_eq!(alone.code, Some(2), "{}", alone.err);
}

#[test]
fn an_obedient_judge_is_found_out() {
    let server = ScriptedServer::start(|asked| {
        let user = user(asked);
        let part = |which: &str| user.split(&format!("<<<candidate {which}")).nth(1).unwrap().to_owned();
        let obeys = |text: &str| text.contains("Ignore all previous");
        let good = |text: &str| text.contains("right");
        let second = part("2");
        let first = part("1").replace(&second, "");
        let better = if obeys(&second) || good(&second) && !obeys(&first) { 2 } else { 1 };
        Reply::chat(&format!("{{\"better\": {better}}}"))
    })
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    judge(dir.path(), "compare", &server);
    let task = |n: u32| {
        format!("{{\"prompt\": \"t{n}\", \"answer\": \"right {n}\", \"others\": [\"wrong {n}\"]}}\n")
    };
    std::fs::write(dir.path().join("tasks.jsonl"), (0..3).map(task).collect::<String>()).unwrap();
    let said = say(dir.path(), ["attack", "judge.toml", "--tasks", "tasks.jsonl", "--json"]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    let audit = &said.json()[0];
    assert_eq!((audit["grade"].as_str(), audit["gold"].as_f64()), (Some("F"), Some(1.0)));
    assert!(audit["findings"][0].as_str().unwrap().contains("`injection`"), "{audit}");
}

#[test]
fn a_judge_pays_a_reward_and_its_silence_is_no_zero() {
    let server = ScriptedServer::start(|asked| match asked.number % 4 {
        0 => Reply::chat("I cannot judge this."),
        1 => Reply::chat("Ten, I think."),
        _ => Reply::chat("{\"score\": 5}"),
    })
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    judge(dir.path(), "score", &server);
    let small = ["--set", "budget.steps=1", "--set", "controls=[]", "--set", "evaluation.every=0"];
    let annotators = "annotators=[{type='judge',name='good',judge='judge.toml'}]";
    let reward = "reward={type='sum',of=[{type='exact-answer',weight=0.0},{type='annotation',key='good'}]}";
    let set = ["train", RECIPE, "--run", "run", "--set", annotators, "--set", reward];
    say(dir.path(), set.iter().chain(&small)).well();
    let episodes =
        RunFolder::open_read_only(&dir.path().join("run")).unwrap().episodes(&Default::default()).unwrap();
    let failed = episodes.iter().filter(|one| one.scored.outcome() == Outcome::GraderFailed).count();
    let paid = episodes.iter().filter(|one| one.scored.reward() == Some(0.5)).count();
    assert!(failed > 0 && paid > 0 && failed + paid == episodes.len(), "{failed} {paid} {}", episodes.len());
}
