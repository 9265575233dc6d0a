//! `merit evolve`, `merit judge test` and `merit library` as a person uses them.

use crate::tiny::say;
use merit_endpoint::{Asked, Reply, ScriptedServer};
use std::path::Path;

/// Orders of which the one with more stars is better; every number occurs once, so that no word tells.
fn pairs(dir: &Path, name: &str, from: u32, to: u32) {
    let line = |n: u32| {
        let order = |stars: u32, colour: &str| format!("{{\"stars\": {stars}, \"colour\": \"{colour}\"}}");
        let colours = ["red", "green", "blue"];
        let (better, worse) =
            (order(10_000 + n, colours[n as usize % 3]), order(100 + n, colours[(n as usize / 3) % 3]));
        format!("{{\"prompt\": \"order {n}\", \"chosen\": {better}, \"rejected\": {worse}}}\n")
    };
    std::fs::write(dir.join(name), (from..to).map(line).collect::<String>()).unwrap();
}

#[test]
fn pairs_become_a_judge_and_the_judge_a_reward_that_needs_none() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    pairs(dir, "pairs.jsonl", 0, 80);
    pairs(dir, "more.jsonl", 80, 120);
    let evolved = say(dir, ["evolve", "stars", "--from", "pairs.jsonl", "--set", "evolve.rounds=3"]).well();
    assert!(evolved.out.contains("`stars` is at least"), "{}", evolved.out);
    let tested = say(dir, ["judge", "test", "stars", "more.jsonl", "--json"]).well().json();
    assert_eq!(tested[0]["tested"]["judge"]["accuracy"].as_f64(), Some(1.0), "{tested:?}");
    let log = say(dir, ["library", "log", "stars"]).well();
    assert!(log.out.contains("start") && log.out.contains("(in use, best)"), "{}", log.out);
    say(dir, ["library", "export", "stars", "--as", "reward.toml"]).well();
    let again = say(dir, ["library", "export", "stars", "--as", "reward.toml"]);
    assert!(again.code == Some(2) && again.err.contains("is there already"), "{}", again.err);
    let by_file = say(dir, ["judge", "test", "reward.toml", "more.jsonl", "--json"]).well().json();
    assert_eq!(by_file[0]["tested"]["judge"]["right"], tested[0]["tested"]["judge"]["right"]);
    let version = say(dir, ["library", "diff", "stars", "0"]).well();
    assert!(version.out.starts_with("+ "), "{}", version.out);
}

#[test]
fn what_cannot_work_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    pairs(dir, "pairs.jsonl", 0, 40);
    say(dir, ["evolve", "stars", "--from", "pairs.jsonl"]).well();
    for (arguments, named) in [
        (&["judge", "test", "stars@999", "pairs.jsonl"][..], "there is no version 999"),
        (&["judge", "test", "stars@x", "pairs.jsonl"], "is no version"),
        (&["evolve", "stars", "--from", "nothing.jsonl"], "cannot read nothing.jsonl"),
        (&["evolve", "new", "--from", "pairs.jsonl", "--set", "evolve.ruonds=3"], "ruonds"),
        (
            &[
                "evolve",
                "new",
                "--from",
                "pairs.jsonl",
                "--set",
                "evolve.gate={ type = \"margin\", margin = 3.0 }",
            ],
            "gate.margin",
        ),
        (&["evolve", "stars", "--from", "pairs.jsonl", "--set", "evolve.rounds=3"], "library.toml"),
        (&["library", "commit", "stars"], "nothing to commit"),
        (&["library", "log", "nowhere"], "is no judge"),
        (&["judge", "test", "stars", "pairs.jsonl", "--threshold", "--observed", "2"], "from 0 to 1"),
    ] {
        let said = say(dir, arguments);
        assert!(
            said.code == Some(2) && said.err.contains(named),
            "{arguments:?}: {:?} {}",
            said.code,
            said.err
        );
    }
    assert!(!dir.join("new").exists(), "a refused judge leaves nothing behind");
}

#[test]
fn a_model_judges_and_writes_its_own_notes() {
    let server = ScriptedServer::start(|asked: &Asked| {
        let messages = asked.body["messages"].as_array().unwrap();
        let user = messages.iter().find(|message| message["role"] == "user").unwrap()["content"].as_str().unwrap();
        if user.contains("Propose at most three changes") {
            let note = "{\"edits\": [{\"op\": \"add\", \"id\": \"stars\", \"title\": \"Stars\", \"body\": \"Count the stars.\"}]}";
            return Reply::chat(note);
        }
        let stars = |which: &str| {
            let part = user.split(&format!("<<<candidate {which}")).nth(1).unwrap();
            let digits: String = part.split("stars\":").nth(1).unwrap().chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>().unwrap()
        };
        let better = if user.contains("Count the stars.") && stars("2") > stars("1") { 2 } else { 1 };
        Reply::chat(&format!("{{\"reason\": \"so\", \"better\": {better}}}"))
    })
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    pairs(dir, "pairs.jsonl", 0, 24);
    std::fs::create_dir(dir.join("mine")).unwrap();
    let judge = format!(
        "ask = {{ type = \"compare\" }}\nkept = \"answers.jsonl\"\n[backend]\ntype = \"openai\"\nendpoint = {{ base_url = \"{}\", \
         model = \"m\" }}\n",
        server.base_url()
    );
    std::fs::write(dir.join("mine/judge.toml"), judge).unwrap();
    let evolved = say(dir, ["evolve", "mine", "--from", "pairs.jsonl", "--set", "evolve.rounds=2"]).well();
    assert!(evolved.out.contains("Stars"), "{}", evolved.out);
    let paid = server.asked().len();
    let tested = say(dir, ["judge", "test", "mine", "pairs.jsonl", "--json"]).well().json();
    assert_eq!(tested[0]["tested"]["judge"]["accuracy"].as_f64(), Some(1.0));
    // What evolving asked of the same pairs with the same notes is not paid again.
    assert!(server.asked().len() < paid + 2 * 24, "{} then {}", paid, server.asked().len());
    let export = say(dir, ["library", "export", "mine", "--as", "reward.toml", "--force"]);
    assert!(export.code == Some(2) && export.err.contains("no check"), "{}", export.err);
}
