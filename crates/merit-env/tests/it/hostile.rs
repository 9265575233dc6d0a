//! What comes from outside: damaged payloads and snapshots, and lines that nobody would say. Nothing may panic or come to no end.

use crate::played::{built, say, tasks};
use merit_api::World;
use merit_core::{Action, Seed, Task};
use merit_env::{Env, ExpertTurn};
use serde_json::{Value, json};
use std::sync::Arc;

/// Worlds, each with lines that begin as its own do.
const WORLDS: [(&str, &str, [&str; 4]); 13] = [
    ("clinic", "", ["ask", "treat flu", "calm", "ask cough"]),
    ("sale", "", ["bid", "show", "ask", "close"]),
    ("pairs", "", ["eval", "change", "eval x at", "same"]),
    ("shop", "", ["find", "show", "hm", "pick 12"]),
    ("tables", "", ["keep hue", "sum", "answer", "answer red"]),
    ("travel", "", ["trips rome", "go bus 11", "see zoo", "done"]),
    ("travel", "api = 'live'", ["rooms", "stay inn", "home jet 11", "done"]),
    ("tutor", "", ["12", "12 count", "12 why draw", "cats"]),
    ("toolshelf", "", ["use", "give", "answer", "give 3"]),
    (
        "toolshelf",
        "mode = 'retrieve'\nnames = 'numbers'",
        ["use 3 then", "use 3 then 10 then", "give", "answer"],
    ),
    ("synth", "", ["run", "give add", "run do", "run sort"]),
    (
        "synth",
        "kind = 'faster'\nexploits = true\nnotes = true",
        ["run ref", "run note", "run do 9", "run case"],
    ),
    ("repair", "bugs = 2", ["read ant", "edit ant 1", "edit test 1 ant", "cut test"]),
];

/// How every leaf and every list of a value can be damaged, one at a time.
fn damages(value: &Value) -> Vec<Value> {
    let numbers =
        [json!(0), json!(-1), json!(255), json!(u32::MAX), json!(i64::MIN), json!(u64::MAX), json!(0.5)];
    let others: Vec<Value> = match value {
        Value::Number(_) => numbers.to_vec(),
        Value::String(_) => {
            ["", "none", "-1", "\u{1f60a}", &"x".repeat(70), &"sort ".repeat(30)].map(|s| json!(s)).to_vec()
        }
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Null => vec![json!(0), json!(u32::MAX)],
        Value::Array(list) => {
            let twice = [list.as_slice(), list].concat();
            vec![json!([]), json!(twice), json!(list.get(1..).unwrap_or_default())]
        }
        Value::Object(_) => vec![json!({})],
    };
    let mut found = others;
    match value {
        Value::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                for damage in damages(inner) {
                    let mut list = list.clone();
                    list[at] = damage;
                    found.push(Value::Array(list));
                }
            }
        }
        Value::Object(fields) => {
            for (key, inner) in fields {
                for damage in damages(inner) {
                    let mut fields = fields.clone();
                    fields.insert(key.clone(), damage);
                    found.push(Value::Object(fields));
                }
            }
        }
        _ => {}
    }
    found
}

/// Plays in a manner to the end, or for twenty turns.
fn played(world: &dyn World, env: &mut dyn Env, task: &Arc<Task>, manner: &str) {
    env.reset().unwrap();
    let mut turns: Vec<ExpertTurn> = Vec::new();
    for _ in 0..20 {
        let Ok(line) = world.expert().unwrap().say_in(manner, task, &turns, &Seed::root(5)) else { return };
        let result = say(env, task, &line);
        let over = result.is_last();
        assert!(result.wild_number().is_none(), "{manner}: {result:?}");
        turns.push(ExpertTurn { said: line, observed: result.observations });
        if over {
            return;
        }
    }
}

#[test]
fn whatever_payload_a_world_takes_it_can_play() {
    for (name, settings, _) in WORLDS {
        let world = built(name, settings);
        let (mut tried, mut taken) = (0, 0);
        for task in tasks(world.as_ref(), 2) {
            for payload in damages(&task.payload) {
                let damaged = Arc::new(Task { payload, answer: None, ..Task::clone(&task) });
                tried += 1;
                let Ok(mut env) = world.open(&damaged, &Seed::root(2), None) else { continue };
                taken += 1;
                for manner in world.manners() {
                    played(world.as_ref(), env.as_mut(), &damaged, manner.name);
                }
            }
        }
        assert!(taken * 2 < tried, "{name} takes {taken} of {tried} damaged payloads");
    }
}

#[test]
fn whatever_snapshot_a_world_takes_it_goes_on() {
    for (name, settings, _) in WORLDS {
        let world = built(name, settings);
        let task = tasks(world.as_ref(), 2).remove(1);
        let mut env = world.open(&task, &Seed::root(2), None).unwrap();
        env.reset().unwrap();
        let mut turns: Vec<ExpertTurn> = Vec::new();
        for _ in 0..3 {
            let line = world.expert().unwrap().say(&task, &turns, 1.0, &Seed::root(5)).unwrap();
            let result = say(env.as_mut(), &task, &line);
            if result.is_last() {
                break;
            }
            turns.push(ExpertTurn { said: line, observed: result.observations });
        }
        let lines: Vec<String> = turns.into_iter().map(|turn| turn.said).collect();
        for state in damages(&env.snapshot()) {
            let Ok(mut env) = world.open(&task, &Seed::root(2), Some(&state)) else { continue };
            for line in &lines {
                let action = env.parse(line);
                // Past its end a world says so.
                if matches!(action, Action::Calls { .. }) || env.step(&action, &[]).is_err() {
                    break;
                }
            }
        }
    }
}

#[test]
fn hostile_lines_are_answered_in_few_words_and_solve_nothing() {
    let long = ["9".repeat(1 << 20), "sort ".repeat(1 << 18), "\u{1f60a}".repeat(1 << 18)];
    let odd = [
        "",
        " ",
        "-1",
        "+1",
        "01",
        "4294967296",
        "18446744073709551616",
        "NaN",
        "é",
        "a\u{0}b",
        "1 2 3 4 5 6 7",
    ];
    let odd = odd.into_iter().chain(long.iter().map(String::as_str));
    for (name, settings, begins) in WORLDS {
        let world = built(name, settings);
        let task = tasks(world.as_ref(), 1).remove(0);
        let mut env = world.open(&task, &Seed::root(2), None).unwrap();
        env.reset().unwrap();
        for line in begins.iter().flat_map(|begin| odd.clone().map(move |odd| format!("{begin} {odd}"))) {
            let result = say(env.as_mut(), &task, &line);
            let shown: String = line.chars().take(30).collect();
            assert!(result.wild_number().is_none(), "{name}: {shown}: {result:?}");
            assert_ne!(result.info.get("solved"), Some(&1.0), "{name}: {shown}");
            let said: usize = result.observations.iter().map(|message| message.text.len()).sum();
            assert!(said < 300, "{name}: {shown}: {said} bytes");
            if result.is_last() {
                env = world.open(&task, &Seed::root(2), None).unwrap();
                env.reset().unwrap();
            }
        }
    }
}
