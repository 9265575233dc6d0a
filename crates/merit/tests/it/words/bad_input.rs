//! Input that cannot be used: every message says what is wrong, where, and what would work; the exit code is 2 and nothing
//! is left behind.

use crate::tiny::{self, RECIPE};
use crate::words::golden::{block, check};
use std::path::Path;
use tempfile::TempDir;

/// Runs every line of arguments, which must all be refused, and compares the whole conversation.
fn check_refused(golden: &str, dir: &Path, cases: &[&[&str]]) {
    let before = everything(dir);
    let mut text = String::new();
    for arguments in cases {
        let (said, conversation) = block(dir, arguments);
        assert_eq!(said.code, Some(2), "{conversation}");
        assert_eq!(said.out, "", "{conversation}");
        text.push_str(&conversation);
    }
    check(golden, &text);
    assert_eq!(everything(dir), before, "something was left behind");
}

fn everything(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A folder with a good recipe and many that were spoilt in one place each.
fn kitchen() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let good = std::fs::read_to_string(RECIPE).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    let spoil = |name: &str, from: &str, to: &str| {
        assert!(good.contains(from), "the tiny recipe no longer says `{from}`");
        write(name, good.replacen(from, to, 1).as_bytes());
    };
    write("good.toml", good.as_bytes());
    write("empty.toml", b"");
    write("binary.toml", &[0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, 0x80]);
    write("garbage.toml", b"name = \"x\nabout ]]] = {{{\n");
    write("truncated.toml", &good.as_bytes()[..good.find("type = \"exact-answer\"").unwrap() + 12]);
    spoil("unknown-section.toml", "[budget]", "[bugdet]");
    spoil("unknown-key.toml", "group_size", "groupsize");
    spoil("unknown-tagged-key.toml", "scale_by_std", "scale_by_sdt");
    spoil("unknown-world.toml", "\"ledger\"", "\"leger\"");
    spoil("unknown-term.toml", "\"exact-answer\"", "\"exact-answr\"");
    spoil("unknown-rule.toml", "\"grpo\"", "\"grop\"");
    spoil("wrong-type.toml", "steps = 40", "steps = \"forty\"");
    spoil("negative.toml", "group_size = 4", "group_size = -4");
    spoil("twice.toml", "[budget]", "[budget]\nsteps = 3");
    spoil("missing.toml", "groups = 4\n", "");
    spoil("shared-control.toml", "world = { tools = false }", "model = { width = 64 }");
    spoil("odd-control.toml", "\"no-tool\"", "\"No Tool\"");
    spoil("reserved-control.toml", "\"no-tool\"", "\"main\"");
    spoil("control-key.toml", "tools = false", "tool = false");
    let several =
        [("group_size", "groupsize"), ("\"ledger\"", "\"leger\""), ("steps = 40", "steps = \"forty\"")];
    let several = several.iter().fold(good.clone(), |text, (from, to)| text.replacen(from, to, 1));
    write("several.toml", several.as_bytes());
    dir
}

#[test]
fn recipes_that_do_not_parse_are_refused_with_their_place() {
    let dir = kitchen();
    let cases = [
        "nope",
        "ledger-tool",
        "absent.toml",
        "./",
        "empty.toml",
        "binary.toml",
        "garbage.toml",
        "truncated.toml",
        "unknown-section.toml",
        "unknown-key.toml",
        "unknown-tagged-key.toml",
        "unknown-world.toml",
        "unknown-term.toml",
        "unknown-rule.toml",
        "wrong-type.toml",
        "negative.toml",
        "twice.toml",
        "missing.toml",
        "shared-control.toml",
        "odd-control.toml",
        "reserved-control.toml",
        "control-key.toml",
        "several.toml",
    ];
    let checked: Vec<[&str; 3]> = cases.iter().map(|name| ["recipe", "check", *name]).collect();
    let checked: Vec<&[&str]> = checked.iter().map(|c| c.as_slice()).collect();
    check_refused("recipes.txt", dir.path(), &checked);
    // What cannot be checked cannot be trained, shown or played either.
    for name in cases {
        for command in [&["train"][..], &["recipe", "show"], &["rollout"]] {
            let (said, text) = block(dir.path(), &[command, &[name]].concat());
            assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{text}");
        }
    }
    assert!(!dir.path().join("runs").exists());
}

#[test]
fn combinations_that_cannot_work_are_refused_with_the_reason() {
    let dir = kitchen();
    let one = |setting: &'static str| vec!["train", "good.toml", "--set", setting];
    let mut cases: Vec<Vec<&str>> = [
        "budget.group_size=1",
        "budget.groups=0",
        "budget.checkpoint_every=0",
        "budget.groups=4000000000",
        "credit={type='gae'}",
        "rollout.temperature=0",
        "rollout.temperature=-1",
        "rollout.temperature=nan",
        "rollout.top_p=0.9",
        "rollout.max_turns=0",
        "learn.objective={type='sft'}",
        "learn.objective.value.coefficient=0.5",
        "learn.objective.clip_low=2.0",
        "learn.minibatches=0",
        "evaluation.tasks=0",
        "evaluation.tasks_between=0",
        "warm_start.skill=1.5",
        "warm_start.keep=finished",
        "roles.teacher={type='embedded'}",
        "roles.teacher={type='embedded', file=''}",
        "roles.teacher={type='openay'}",
        "roles.teacher={type='oracle', skill=1.0}",
        "roles.teacher={type='openai', endpoint={base_url='http://192.0.2.1/v1', model='m'}}",
        "roles.judge={type='oracle'}",
        "warm_start.learning_rate=0",
        "warm_start.demonstrations=9223372036854775807",
        "warm_start.world.sizes=[9]",
        "warm_start.world.nonsense=1",
        "model.vocabulary=10",
        "model.heads=3",
        "model.width=0",
        "model.layers=9223372036854775807",
        "world.sizes=[]",
        "world.sizes=[99]",
        "world.faults.broken=3",
        "reward.of=[]",
        "name=../escape",
    ]
    .into_iter()
    .map(one)
    .collect();
    cases.push(vec!["train", "good.toml", "--set", "credit={type='gae'}", "--set", "model.value_head=true"]);
    let embedded = "roles.teacher={type='embedded', file='m.gguf'}";
    cases.push(vec!["train", "good.toml", "--set", embedded, "--set", "warm_start.skill=0.5"]);
    let cases: Vec<&[&str]> = cases.iter().map(Vec::as_slice).collect();
    check_refused("combinations.txt", dir.path(), &cases);
}

#[test]
fn bad_arguments_are_refused_with_what_would_work() {
    let dir = kitchen();
    check_refused(
        "arguments.txt",
        dir.path(),
        &[
            &["foo"],
            &["train", "--set", "nonsense"],
            &["train", "--set", "=3"],
            &["train", "good.toml", "--set", "bugdet.steps=3"],
            &["train", "good.toml", "--set", "budget.step=3"],
            &["train", "good.toml", "--set", "budget.steps=many"],
            &["train", "good.toml", "--set", "budget=3"],
            &["train", "good.toml", "--set", "name.first=3"],
            &["train", "good.toml", "--set", "credit.type=grop"],
            &["train", "good.toml", "--set", "world.type=leger"],
            &["train", "--seed", "many"],
            &["train", "--threads", "0"],
            &["train", "--threads", "100000"],
            &["train", "--on", "spark"],
            &["train", "--on", "ray://somewhere"],
            &["train", "--actors", "2"],
            &["train", "--on", "ray", "--record", "tape"],
            &["reproduce", "retool", "--on", "rya"],
            &["reproduce", "retool", "--on", "ray", "--keep"],
            &["train", "--resume", "run", "--seed", "2"],
            &["train", "--resume", "run", "good.toml"],
            &["rollout", "--run", "run", "good.toml"],
            &["rollout", "--tasks", "0"],
            &["rollout", "--group-size", "1000000000"],
            &["rollout", "--temperature", "nan"],
            &["rollout", "--temperature=-1"],
            &["rollout", "--split", "test"],
            &["list", "nope"],
            &["recipe"],
            &["completions", "sh"],
        ],
    );
}

#[test]
fn what_is_not_a_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    std::fs::write(dir.path().join("file"), "x").unwrap();
    let mut cases: Vec<Vec<&str>> = Vec::new();
    for place in ["absent", "folder", "file"] {
        cases.push(vec!["show", place]);
        cases.push(vec!["train", "--resume", place]);
        cases.push(vec!["rollout", "--run", place]);
    }
    let cases: Vec<&[&str]> = cases.iter().map(Vec::as_slice).collect();
    check_refused("no-run.txt", dir.path(), &cases);
}

#[test]
fn episodes_that_are_not_there_are_refused() {
    let run = &tiny::reference().path;
    let cases = ["nonsense", "train/1/0", "train/-1/0/0", "train/99/0/0", "train/0/0/0+7", "trian/0/0/0", ""];
    let cases: Vec<[&str; 4]> =
        cases.iter().map(|name| ["show", "undisturbed", "--episode", *name]).collect();
    let cases: Vec<&[&str]> = cases.iter().map(|c| c.as_slice()).collect();
    check_refused("no-episode.txt", run.parent().unwrap(), &cases);
}

#[test]
fn a_damaged_run_is_an_error_in_words() {
    let dir = tempfile::tempdir().unwrap();
    for (folder, database) in
        [("empty", &b""[..]), ("garbage", &b"this is no database, but it is long enough".repeat(100))]
    {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
        std::fs::write(dir.path().join(folder).join("merit.db"), database).unwrap();
    }
    let mut text = String::new();
    for folder in ["empty", "garbage"] {
        for command in [&["show"][..], &["train", "--resume"], &["rollout", "--run"]] {
            let (said, conversation) = block(dir.path(), &[command, &[folder]].concat());
            assert!(matches!(said.code, Some(1 | 2)), "{conversation}");
            text.push_str(&conversation);
        }
    }
    check("damaged-run.txt", &text);
}

#[test]
fn a_run_whose_recipe_was_spoilt_is_refused_with_the_place_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    std::fs::create_dir(&run).unwrap();
    for name in ["merit.db", "recipe.toml"] {
        std::fs::copy(tiny::reference().path.join(name), run.join(name)).unwrap();
    }
    let recipe = std::fs::read_to_string(run.join("recipe.toml")).unwrap();
    std::fs::write(run.join("recipe.toml"), recipe.replace("group_size", "groupsize")).unwrap();
    let (said, text) = block(dir.path(), &["train", "--resume", "run"]);
    assert_eq!(said.code, Some(2), "{text}");
    assert!(said.err.starts_with("merit: run/recipe.toml:"), "{text}");
    assert!(said.err.ends_with("(did you mean `group_size`?)\n"), "{text}");
}
