//! `merit judge ask`, `merit bench judge`, `merit attack` on a judge, and a recipe whose reward a judge pays.

use crate::models::made::{TEMPLATE, config, gguf_of};
use crate::tiny::{RECIPE, say};
use merit_core::Outcome;
use merit_endpoint::{Asked, Reply, ScriptedServer};
use merit_formats::DecoderConfig;
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
fn an_oracle_is_the_control_of_a_test_and_grades_are_correlated() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
    let pair = |n: u32| {
        format!(
            "{{\"prompt\": \"t{n}\", \"chosen\": \"{n}\", \"rejected\": \"{}\", \"answer\": \"{n}\"}}\n",
            n + 100
        )
    };
    write("pairs.jsonl", &(0..20).map(pair).collect::<String>());
    write("oracle.toml", "ask = { type = \"compare\" }\nbackend = { type = \"oracle\" }\n");
    let tested =
        &say(dir, ["judge", "test", "oracle.toml", "pairs.jsonl", "--json"]).well().json()[0]["tested"];
    assert_eq!((tested["judge"]["accuracy"].as_f64(), tested["kappa"].as_f64()), (Some(1.0), Some(1.0)));
    write("wrong.toml", "ask = { type = \"compare\" }\nbackend = { type = \"oracle\", errors = 1.0 }\n");
    let bench =
        say(dir, ["bench", "judge", "oracle.toml", "wrong.toml", "--on", "pairs.jsonl", "--json"]).well();
    let rows = &bench.json()[0]["judges"];
    assert_eq!((rows[0]["accuracy"].as_f64(), rows[1]["accuracy"].as_f64()), (Some(1.0), Some(0.0)));
    // Without right answers there is nothing to know.
    write("bare.jsonl", "{\"prompt\": \"p\", \"chosen\": \"a\", \"rejected\": \"b\"}\n");
    let bare = say(dir, ["judge", "test", "oracle.toml", "bare.jsonl"]);
    assert!(bare.code == Some(1) && bare.err.contains("give tasks an `answer`"), "{}", bare.err);
    // Grades 1, 1, 5, 3 of answers of 1, 2, 3 and 4 words.
    let rated = |(text, grade): (&str, u32)| {
        format!("{{\"prompt\": \"p\", \"response\": \"{text}\", \"rating\": {grade}}}\n")
    };
    let lines = [("a", 1), ("a b", 1), ("a b c", 5), ("a b c d", 3)].map(rated);
    write("rated.jsonl", &lines.concat());
    write("long.toml", "type = \"length\"\nunit = \"words\"\nmin = 4\nmax = 9\ndecay = 4\n");
    let graded = say(dir, ["judge", "test", "long.toml", "rated.jsonl"]).well().out;
    assert!(graded.contains("with 4 graded answers, 4 of which have a score: Spearman 0.738, Kendall's tau-b 0.548, weighted kappa 0.500"), "{graded}");
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

#[test]
fn a_model_file_judges_and_what_it_says_is_typed_kept_and_an_episode() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    // Made-up weights say nothing that can be read; the question needs a longer context than other tests.
    gguf_of(dir, Some(TEMPLATE), &DecoderConfig { max_context: 4096, ..config() });
    let judge = "ask = { type = \"compare\" }\nkept = \"answers.jsonl\"\ntokens = 12\n\
                 backend = { type = \"embedded\", file = \"tiny.gguf\" }\n";
    std::fs::write(dir.join("judge.toml"), judge).unwrap();
    let ask = ["judge", "ask", "judge.toml", "--prompt", "2 + 2?", "--a", "4", "--b", "5", "--json"];
    let said = say(dir, ask.iter().chain(&["--record", "judged"])).well().json();
    for order in ["a_first", "b_first"] {
        assert_eq!(said[0][order]["verdict"]["type"].as_str(), Some("unreadable"), "{said:?}");
        let cost = &said[0][order]["cost"];
        assert!(cost["judge_calls"] == 1 && cost["judge_tokens"].as_u64() > Some(500), "{cost}");
    }
    assert!(said[0]["choice"].is_null());
    let kept = std::fs::read_to_string(dir.join("answers.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2);
    // Asked again it says the same, and nobody is paid.
    let again = say(dir, ask).well().json();
    assert_eq!(again[0]["a_first"]["verdict"], said[0]["a_first"]["verdict"]);
    assert_eq!(again[0]["a_first"]["cost"]["judge_calls"], 0);
    assert_eq!(std::fs::read_to_string(dir.join("answers.jsonl")).unwrap(), kept);
    // Both judgements are episodes that can be shown and scored; nothing was asked the second time, so there is no third.
    let shown = say(dir, ["show", "judged"]).well();
    assert!(shown.out.starts_with("2 episodes imported from judge.toml (judgement"), "{}", shown.out);
    let one = say(dir, ["show", "judged", "--episode", "import/0/1/0"]).well();
    assert!(one.out.contains("Say which candidate is better."), "{}", one.out);
    std::fs::write(dir.join("short.toml"), "type = \"length\"\nunit = \"words\"\nmin = 1\nmax = 50\n")
        .unwrap();
    let scored = say(dir, ["score", "short.toml", "judged", "--json"]).well();
    assert_eq!(
        scored.json().iter().filter(|line| line.get("episode").is_some()).count(),
        2,
        "{}",
        scored.out
    );
    let twice = say(dir, ask.iter().chain(&["--record", "judged"]));
    assert!(twice.code == Some(2) && twice.err.contains("judged"), "{}", twice.err);
}

#[test]
fn a_judge_that_cannot_start_leaves_the_place_of_its_record_free() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
    write("oracle.toml", "ask = { type = \"compare\" }\nbackend = { type = \"oracle\" }\n");
    let absent = "ask = { type = \"compare\" }\nbackend = { type = \"embedded\", file = \"absent.gguf\" }\n";
    write("absent.toml", absent);
    write("pairs.jsonl", "\u{feff}{\"prompt\": \"p\", \"chosen\": \"a\", \"rejected\": \"b\"}\n");
    for judge in ["oracle.toml", "absent.toml"] {
        let ask = ["judge", "ask", judge, "--prompt", "2 + 2?", "--a", "4", "--b", "5"];
        for command in [&ask[..], &["judge", "test", judge, "pairs.jsonl"]] {
            let said = say(dir, command.iter().chain(&["--record", "judged"]));
            assert!(said.code != Some(0) && !dir.join("judged").exists(), "{command:?}: {}", said.err);
        }
    }
    for at in ["nan", "-inf"] {
        let said = say(dir, ["judge", "test", "oracle.toml", "pairs.jsonl", &format!("--threshold={at}")]);
        assert!(said.code == Some(2) && said.err.contains("give a finite number"), "{at}: {}", said.err);
    }
}

/// Stages that fit a model to pairs of which the shorter one is better.
const FITTED: &str = r#"
[models.reward]
like = "bag"
force = true

[[stages]]
type = "imitate"
from = "demonstrations"
[[stages]]
type = "collect"
into = "tries"
tasks = 24
samples = 4
set = { reward = { type = "sum", of = [{ type = "exact-answer" }, { type = "cost", per_token = 0.02 }] } }
[[stages]]
type = "make"
from = "tries"
into = "pairs"
keep = "pairs"
[[stages]]
type = "fit"
model = "reward"
from = "pairs"
loss = "bradley-terry"
steps = 40
batch = 8
learning_rate = 0.1
[[stages]]
type = "learn"
set = { reward = { type = "sum", of = [{ type = "annotation", key = "reward" }, { type = "exact-answer", weight = 0.0 }] } }
"#;

#[test]
fn judges_rewards_and_fitted_models_stand_side_by_side_and_their_rows_are_kept() {
    let server = ScriptedServer::start(|_| Reply::chat("{\"better\": 1}")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    judge(dir, "compare", &server);
    let tiny = std::fs::read_to_string(RECIPE).unwrap();
    let head = tiny.split("[[controls]]").next().unwrap();
    std::fs::write(dir.join("fitted.toml"), format!("{head}\n{FITTED}")).unwrap();
    std::fs::write(dir.join("reward.toml"), "type = \"exact-answer\"\n").unwrap();
    say(dir, ["train", "fitted.toml", "--run", "run"]).well();
    let bench = ["bench", "judge", "run:reward", "reward.toml", "judge.toml", "--on", "run"];
    let table = say(dir, bench).well();
    for part in ["run:reward", "reward.toml", "judge.toml", "length only", "bag of words", "last message"] {
        assert!(table.out.lines().any(|line| line.starts_with(part)), "{}", table.out);
    }
    assert!(table.out.contains("run:reward − reward.toml:"), "{}", table.out);
    let told = say(dir, bench.iter().chain(&["--by", "/entries/0/count", "--json"])).well().json();
    // What the model itself paid for is no label.
    assert!(told[0]["left_out"].as_u64() > Some(0), "{}", told[0]["left_out"]);
    let rows = told[0]["judges"].as_array().unwrap();
    // Whoever always takes the first is half right, and the order decided every time.
    assert_eq!((rows[2]["accuracy"].as_f64(), rows[2]["flips"].as_f64()), (Some(0.5), Some(1.0)));
    assert!(rows[0]["auc"].is_f64() && rows[0]["cost"]["judge_tokens"].as_u64() > Some(0), "{}", rows[0]);
    assert!(rows[2]["auc"].is_null() && !rows[1]["kinds"].as_object().unwrap().is_empty());
    assert_eq!(told[0]["leaks"].as_array().unwrap().len(), 3);
    // Every two judges, and each against the best row that knows nothing of quality.
    assert_eq!(told[0]["versus"].as_array().unwrap().len(), 3 + 3);
    for kept in ["run/bench.jsonl", "reward.bench.jsonl", "judge.bench.jsonl"] {
        let text = std::fs::read_to_string(dir.join(kept)).unwrap();
        assert_eq!(text.lines().count(), 2, "{kept}: {text}");
    }
    for (arguments, named) in [
        (&["bench", "judge", "run:rewrad", "--on", "run"][..], "did you mean `reward`?"),
        (&["bench", "judge", "reward.toml", "reward.toml", "--on", "run"], "named twice"),
        (&["bench", "judge", "reward.toml", "--on", "run", "--by", "/colour"], "no pair has `/colour`"),
        (&["judge", "test", "reward.toml", "run", "--record", "x"], "no model is asked"),
    ] {
        let said = say(dir, arguments);
        assert!(
            said.code == Some(2) && said.err.contains(named),
            "{arguments:?}: {:?} {}",
            said.code,
            said.err
        );
    }
}
