//! The ledger asks what its tools can answer, reads what agents say, and demonstrates as well as it is told to.

use merit_api::conformance::check_world;
use merit_api::{ToolAnswer, call_blocking, puzzle_of};
use merit_core::registry::Component as _;
use merit_core::{Action, CallEnd, CallRecord, Message, Role, Seed, Split, Task, ToolCall};
use merit_env::ledger::{INSTRUCTIONS, Ledger, MANNER_WEIGHTS, Manner, Purchase, Sign, parse};
use merit_env::{Env, EnvError, ExpertTurn, LiveTools, Termination, World, WorldSettings as _};
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

fn ledger(settings: Ledger) -> Box<dyn World> {
    settings.build(&LiveTools).unwrap()
}

fn purchase(task: &Task) -> Purchase {
    puzzle_of(&Ledger::default(), task).unwrap()
}

/// `buy 3 mug, buy 4 pen, return 2 cup` at 47, 12 and 15: 141, 189, 159.
fn shopping() -> Arc<Task> {
    let task = Task::new("ledger", "ledger/train/00000-shopping").with_size(3).with_answer("159");
    Arc::new(task.with_payload(json!({
        "entries": [
            { "sign": "buy", "count": 3, "item": "mug" },
            { "sign": "buy", "count": 4, "item": "pen" },
            { "sign": "return", "count": 2, "item": "cup" },
        ],
        "table": { "mug": 47, "pen": 12, "cup": 15, "hat": 80 },
    })))
}

fn open(settings: Ledger) -> Box<dyn Env> {
    ledger(settings).open(&shopping(), &Seed::root(1), None).unwrap()
}

/// Lets a demonstrator play against tools that answer rightly; gives all its lines.
fn play(ledger: &dyn World, task: &Task, p_correct: f64, seed: &Seed) -> Vec<String> {
    let table = purchase(task).table;
    let mut turns: Vec<ExpertTurn> = Vec::new();
    loop {
        let said = ledger.expert().unwrap().say(task, &turns, p_correct, seed).unwrap();
        let answer = match said.split_once(' ').unwrap() {
            ("lookup", item) => table[item].to_string(),
            ("calc", sum) => merit_tools::evaluate(sum).unwrap().to_string(),
            _ => {
                turns.push(ExpertTurn { said, observed: vec![] });
                return turns.into_iter().map(|turn| turn.said).collect();
            }
        };
        turns.push(ExpertTurn { said, observed: vec![Message::new(Role::Tool, answer)] });
        assert!(turns.len() < 20, "{turns:?}");
    }
}

/// The seed of an episode that is played in this manner.
fn seed_of(manner: Manner) -> Seed {
    let seeds = (0..1000).map(|run| Seed::root(run).child("episode", 0));
    seeds.into_iter().find(|seed| Manner::drawn(0.0, seed) == manner).unwrap()
}

#[test]
fn the_oracle_keeps_a_running_total() {
    let lines = play(ledger(Ledger::default()).as_ref(), &shopping(), 1.0, &Seed::root(1));
    let expected = [
        "lookup mug",
        "calc 3*47",
        "lookup pen",
        "calc 141+4*12",
        "lookup cup",
        "calc 189-2*15",
        "answer 159",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_hasty_agent_stops_after_the_first_entry() {
    let ledger = ledger(Ledger::default());
    let lines = play(ledger.as_ref(), &shopping(), 0.0, &seed_of(Manner::Hasty));
    assert_eq!(lines, ["lookup mug", "calc 3*47", "answer 141"]);
}

#[test]
fn a_hasty_agent_with_a_single_entry_has_nothing_to_skip() {
    let ledger = ledger(Ledger { sizes: vec![1], ..Ledger::default() });
    let task = ledger.task(Split::Train, 0, &Seed::root(3)).unwrap();
    let lines = play(ledger.as_ref(), &task, 0.0, &seed_of(Manner::Hasty));
    assert_eq!(lines, play(ledger.as_ref(), &task, 1.0, &seed_of(Manner::Hasty)));
}

#[test]
fn a_guesser_never_looks_up() {
    let lines = play(ledger(Ledger::default()).as_ref(), &shopping(), 0.0, &seed_of(Manner::Guesser));
    assert_eq!(lines.len(), 4);
    assert!(lines[..3].iter().all(|line| line.starts_with("calc ")), "{lines:?}");
}

#[test]
fn a_careless_agent_errs_in_exactly_one_sum() {
    let right = ["calc 3*47", "calc 141+4*12", "calc 189-2*15"];
    let wrong = [&["calc 47"][..], &["calc 141+12", "calc 141-4*12"], &["calc 189-15", "calc 189+2*15"]];
    let mut seen = HashMap::new();
    for run in 0..400 {
        let seed = Seed::root(run);
        if Manner::drawn(0.0, &seed) != Manner::Careless {
            continue;
        }
        let lines = play(ledger(Ledger::default()).as_ref(), &shopping(), 0.0, &seed);
        let sums: Vec<&String> = lines.iter().filter(|line| line.starts_with("calc ")).collect();
        let slip = (0..3).find(|&at| sums[at] != right[at]).unwrap();
        assert!(wrong[slip].contains(&sums[slip].as_str()), "{lines:?}");
        assert_ne!(lines.last().unwrap(), "answer 159");
        *seen.entry(sums[slip].clone()).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 5, "every slip happens: {seen:?}");
}

#[test]
fn skill_and_manners_come_as_often_as_their_weights_say() {
    let count = |skill: f64| {
        let mut counts: HashMap<Manner, f64> = HashMap::new();
        (0..4000).for_each(|run| *counts.entry(Manner::drawn(skill, &Seed::root(run))).or_default() += 1.0);
        counts
    };
    let counts = count(0.3);
    assert!((counts[&Manner::Exact] / 4000.0 - 0.3).abs() < 0.03, "{counts:?}");
    for (manner, weight) in MANNER_WEIGHTS {
        assert!((counts[&manner] / 4000.0 - 0.7 * weight).abs() < 0.03, "{manner:?} in {counts:?}");
    }
    assert_eq!(MANNER_WEIGHTS.iter().map(|(_, weight)| weight).sum::<f64>(), 1.0);
    assert_eq!(count(1.0).keys().collect::<Vec<_>>(), [&Manner::Exact]);
    assert!(!count(0.0).contains_key(&Manner::Exact));
}

#[test]
fn every_manner_can_be_asked_for_by_its_name() {
    let (ledger, seed) = (ledger(Ledger::default()), Seed::root(1));
    let first = |manner: &str| ledger.expert().unwrap().say_in(manner, &shopping(), &[], &seed);
    assert_eq!(first("exact").unwrap(), "lookup mug");
    assert!(first("guesser").unwrap().starts_with("calc 3*"));
    let known: Vec<&str> = ledger.manners().iter().map(|manner| manner.name).collect();
    assert_eq!(known, ["exact", "hasty", "guesser", "careless", "sloppy"]);
    let named = [Manner::Exact, Manner::Hasty, Manner::Guesser, Manner::Careless, Manner::Sloppy];
    assert_eq!(known.iter().map(|name| Manner::named(name).unwrap()).collect::<Vec<_>>(), named);
    let error = first("gueser").unwrap_err().to_string();
    assert!(error.contains("unknown manner `gueser` (did you mean `guesser`?)"), "{error}");
}

#[test]
fn the_oracle_repeats_a_line_that_was_refused() {
    let ledger = ledger(Ledger::default());
    let busy = |said: &str| ExpertTurn {
        said: said.to_owned(),
        observed: vec![Message::new(Role::Tool, "busy: ask again")],
    };
    let next =
        |turns: &[ExpertTurn]| ledger.expert().unwrap().say(&shopping(), turns, 1.0, &Seed::root(1)).unwrap();
    assert_eq!(next(&[busy("lookup mug")]), "lookup mug");
    let priced = ExpertTurn { said: "lookup mug".to_owned(), observed: vec![Message::new(Role::Tool, "47")] };
    assert_eq!(next(&[busy("lookup mug"), priced, busy("calc 3*47")]), "calc 3*47");
}

#[test]
fn without_tools_every_call_is_answered_that_there_are_none() {
    let mut env = open(Ledger { tools: false, ..Ledger::default() });
    assert!(env.tools().is_empty());
    let action = env.parse("lookup mug");
    let Action::Calls { calls } = &action else { panic!("{action:?}") };
    let record = CallRecord {
        call: calls[0].clone(),
        end: CallEnd::Refused,
        output: "47".to_owned(),
        seconds: Some(0.0),
    };
    let result = env.step(&action, &[record]).unwrap();
    assert_eq!(result.observations, [Message::new(Role::Tool, "no tools here")]);
    let control = ledger(Ledger { tools: false, ..Ledger::default() });
    assert_eq!(control.expert().unwrap().say(&shopping(), &[], 1.0, &Seed::root(1)).unwrap(), "answer 159");
    assert_eq!(
        control.expert().unwrap().say(&shopping(), &[], 0.0, &seed_of(Manner::Hasty)).unwrap(),
        "answer 141"
    );
}

#[test]
fn the_control_without_tools_has_the_same_tasks() {
    let (with, without) = (ledger(Ledger::default()), ledger(Ledger { tools: false, ..Ledger::default() }));
    for index in 0..20 {
        let seed = Seed::root(2);
        assert_eq!(with.task(Split::Train, index, &seed), without.task(Split::Train, index, &seed));
    }
}

#[test]
fn an_answer_ends_the_world_and_nothing_may_follow() {
    let mut env = open(Ledger::default());
    let answer = env.parse("answer 3\n");
    let result = env.step(&answer, &[]).unwrap();
    assert_eq!((result.terminated, result.observations.len()), (Some(Termination::Answered), 0));
    assert!(matches!(env.step(&answer, &[]), Err(EnvError::Broken { .. })));
}

#[test]
fn a_malformed_line_gets_a_hint_and_the_world_stays_open() {
    let mut env = open(Ledger::default());
    let result = env.step(&env.parse("hello"), &[]).unwrap();
    let hint = Message::new(Role::Environment, "say lookup NAME, calc SUM or answer NUMBER");
    assert_eq!((result.terminated, result.observations), (None, vec![hint]));
}

#[test]
fn calls_without_their_results_are_an_error_of_the_caller() {
    let mut env = open(Ledger::default());
    let error = env.step(&env.parse("calc 1"), &[]).unwrap_err();
    assert_eq!(error.to_string(), "world `ledger` broke: 1 calls came with 0 results");
}

#[test]
fn the_opening_is_the_question_and_hides_the_prices() {
    let question = Message::new(Role::User, "buy 3 mug, buy 4 pen, return 2 cup. total?");
    assert_eq!(open(Ledger::default()).reset().unwrap(), std::slice::from_ref(&question));
    let mut instructed = open(Ledger { instructions: true, ..Ledger::default() });
    assert_eq!(instructed.reset().unwrap(), [Message::new(Role::System, INSTRUCTIONS), question]);
}

#[test]
fn no_total_is_ever_negative_and_sizes_are_dealt_in_turn() {
    let ledger = ledger(Ledger { held_out_sizes: vec![4, 5], ..Ledger::default() });
    let mut returns = 0;
    for index in 0..600 {
        let split = if index % 2 == 0 { Split::Train } else { Split::HeldOut };
        let task = ledger.task(split, index, &Seed::root(4)).unwrap();
        let expected =
            if split == Split::Train { [1, 2, 3][index as usize % 3] } else { [4, 5][index as usize % 2] };
        assert_eq!(task.size, expected);
        let asked = purchase(&task);
        assert_eq!(asked.entries[0].sign, Sign::Buy);
        assert_eq!(asked.table.len(), task.size as usize + 3);
        let mut total = 0;
        for entry in &asked.entries {
            total += entry.amount(asked.table[&entry.item]);
            returns += u32::from(entry.sign == Sign::Return);
            assert!(total >= 0, "{}", task.id);
        }
        assert_eq!(task.answer, Some(total.to_string()));
    }
    assert!(returns > 100, "{returns}");
}

#[test]
fn no_question_is_in_both_splits_in_any_order_of_its_entries() {
    // Size 1 has 17 088 contents, so 4000 draws of each split from unrelated seeds would meet many times by chance.
    let ledger = ledger(Ledger { sizes: vec![1, 2], ..Ledger::default() });
    let mut splits: HashMap<String, Split> = HashMap::new();
    let mut repeats = 0;
    for index in 0..4000 {
        for split in [Split::Train, Split::HeldOut] {
            let task = ledger.task(split, index, &Seed::root(index)).unwrap();
            let asked = purchase(&task);
            let mut parts: Vec<String> =
                asked.entries.iter().map(|e| format!("{e} {}", asked.table[&e.item])).collect();
            parts.sort();
            let known = splits.insert(parts.join(","), split);
            repeats += u32::from(known.is_some());
            assert!(known.is_none_or(|known| known == split), "{}", task.id);
        }
    }
    assert!(repeats > 100, "the test must be able to fail: {repeats} repeats within splits");
}

#[test]
fn settings_that_cannot_be_are_refused_with_the_reason() {
    let check = |text: &str, why: &str| {
        let settings: Ledger = toml::from_str(text).unwrap();
        assert_eq!(settings.check().unwrap_err().to_string(), why);
        let refused = settings.build(&LiveTools).err().unwrap().to_string();
        assert_eq!(refused, format!("world `ledger`: {why}"));
    };
    check("sizes = []", "`sizes` is empty; list the sizes to train on, as in [1, 2, 3]");
    check("sizes = [0]", "`sizes` lists 0; a task has 1 to 5 entries");
    check("held_out_sizes = [6]", "`held_out_sizes` lists 6; a task has 1 to 5 entries");
    check("distractors = 99", "`distractors` is 99; at most 12");
    check("tools = false\nfaults = {}", "`faults` needs `tools = true`: there is nothing to disturb");
    check(
        "kinds = { lookup = 0.5 }",
        "the shares in `kinds` add up to 0.5; give shares of 0 to 1 that add up to 1",
    );
    check("unparsed = 0.5", "`unparsed` needs `call = \"json\"`: any line with a tool's name can be read");
    check("call = \"json\"\nunparsed = 2.0", "`unparsed` is 2; it must be a share, 0 to 1");
    check(
        "kinds = { sql = 1.0 }\nsizes = [5]",
        "a size of 5: an answer of the kinds lookup and sql has a word for each entry, at most 4; give smaller sizes",
    );
    check("faults = { broken = 2.0 }", "`faults`: `broken` is 2; it must be a probability, 0 to 1");
    assert!(toml::from_str::<Ledger>("size = [1]").unwrap_err().to_string().contains("unknown field `size`"));
}

#[test]
fn a_task_whose_answer_is_not_its_total_is_refused() {
    let forged = Arc::new(Task { answer: Some("160".to_owned()), ..Task::clone(&shopping()) });
    let error = ledger(Ledger::default()).open(&forged, &Seed::root(1), None).err().unwrap();
    assert!(error.to_string().ends_with("its answer is 160, but 159 is right"), "{error}");
}

/// All that the other settings bring, with tasks of `size` entries.
fn more(size: u32, rest: &str) -> Box<dyn World> {
    let text = format!(
        "type = \"ledger\"\nsizes = [{size}]\nkinds = {{ total = 0.25, lookup = 0.25, calc = 0.25, sql = 0.25 }}\n{rest}"
    );
    merit_env::read_world(&text).unwrap().build(&LiveTools).unwrap()
}

/// What is under 40: the cup and the pen.
fn names() -> Arc<Task> {
    let task = Task::new("ledger", "ledger/train/00000-names").with_size(2).with_answer("cup pen");
    Arc::new(task.with_payload(json!({
        "kind": "sql",
        "under": 40,
        "entries": [{ "sign": "buy", "count": 2, "item": "cup" }, { "sign": "buy", "count": 2, "item": "pen" }],
        "table": { "mug": 47, "pen": 12, "cup": 15, "hat": 80 },
    })))
}

/// What a tool of the task says to a call.
fn run(env: &dyn Env, task: &Task, call: &ToolCall) -> CallRecord {
    let tools = env.tools();
    let session =
        tools.iter().find(|tool| tool.spec().name == call.tool).map(|tool| tool.open(task, None).unwrap());
    let answer = session.map(|session| call_blocking(&session, &call.input, Duration::from_secs(5)).unwrap());
    let (end, output) = match answer {
        Some(ToolAnswer::Ok(text)) => (CallEnd::Ok, text),
        Some(ToolAnswer::Refused(text)) => (CallEnd::Refused, text),
        None => (CallEnd::Refused, "no such tool".to_owned()),
        other => panic!("{other:?}"),
    };
    CallRecord { call: call.clone(), end, output, seconds: None }
}

#[test]
fn every_kind_and_form_keeps_the_contract() {
    for rest in [
        "",
        "call = \"json\"",
        "tools = false",
        "call = \"json\"\ninstructions = true\nfaults = { seed = 1, refused = 0.2 }",
    ] {
        assert_eq!(check_world(more(3, rest).as_ref(), &Seed::root(7), 12), Vec::<String>::new(), "{rest}");
    }
}

#[test]
fn the_defaults_record_what_they_always_did() {
    let task = ledger(Ledger::default()).task(Split::Train, 1, &Seed::root(4)).unwrap();
    let keys: Vec<&String> = task.payload.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["entries", "table"]);
    assert!(!toml::to_string(&Ledger::default()).unwrap().contains("kinds"));
    let mut env = open(Ledger::default());
    let result = env.step(&env.parse("answer 159"), &[]).unwrap();
    assert!(result.info.is_empty(), "{:?}", result.info);
}

#[test]
fn four_kinds_ask_four_questions_and_words_answer_two_of_them() {
    let world = more(2, "distractors = 2");
    let mut seen = HashMap::new();
    for index in 0..40 {
        let task = Arc::new(world.task(Split::Train, index, &Seed::root(1)).unwrap());
        let first = world.open(&task, &Seed::root(1), None).unwrap().reset().unwrap().remove(0).text;
        let verb = first.split(' ').next().unwrap().to_owned();
        let told = first.contains(" at ");
        let words = task.answer.as_deref().unwrap().split(' ').count();
        let kind = match (verb.as_str(), told) {
            ("buy", false) => ("total", 1),
            ("buy", true) => ("calc", 1),
            ("price", _) => ("lookup", 2),
            ("what", _) => ("sql", 2),
            _ => panic!("{first}"),
        };
        assert_eq!(words, kind.1, "{first}");
        *seen.entry(kind.0).or_insert(0) += 1;
    }
    assert!(seen.len() == 4 && seen.values().all(|count| *count > 3), "{seen:?}");
}

#[test]
fn a_call_that_helps_is_worth_more_than_one_that_works_and_what_cannot_be_read_is_worth_nothing() {
    let world = more(1, "call = \"json\"");
    let task = names();
    let worth = |line: &str, end: CallEnd, output: &str| {
        let mut env = world.open(&task, &Seed::root(1), None).unwrap();
        let action = env.parse(line);
        let record = |call: &ToolCall| CallRecord {
            call: call.clone(),
            end,
            output: output.to_owned(),
            seconds: None,
        };
        let calls: Vec<CallRecord> = match &action {
            Action::Calls { calls } => calls.iter().map(record).collect(),
            _ => Vec::new(),
        };
        let result = env.step(&action, &calls).unwrap();
        (result.info["parsed"], result.info["quality"], result.info.get("right").copied())
    };
    assert_eq!(worth("{\"sql\":\"price<40\"}", CallEnd::Ok, "cup pen"), (1.0, 1.0, None));
    assert_eq!(worth("{\"sql\":\"price<90\"}", CallEnd::Ok, "cup hat mug pen"), (1.0, 0.5, None));
    assert_eq!(worth("{\"lookup\":\"mug\"}", CallEnd::Ok, "47"), (1.0, 0.5, None));
    assert_eq!(worth("{\"lookup\":\"moon\"}", CallEnd::Refused, "no moon"), (1.0, 0.0, None));
    assert_eq!(worth("{\"sql\":\"price<40\"", CallEnd::Refused, "no tool"), (0.0, 0.0, None));
    assert_eq!(worth("sql price<40", CallEnd::Ok, ""), (0.0, 0.0, None));
    assert_eq!(worth("answer cup pen", CallEnd::Ok, ""), (1.0, 1.0, Some(1.0)));
    assert_eq!(worth("answer cup", CallEnd::Ok, ""), (1.0, 0.5, Some(0.0)));
    assert_eq!(worth("answer a b c d e", CallEnd::Ok, ""), (0.0, 0.0, None));
}

#[test]
fn the_documented_sample_is_played_as_it_stands_there() {
    let section =
        include_str!("../../../../docs/worlds.md").split("\n## ").find(|part| part.starts_with("`ledger`\n"));
    let sample = section.unwrap().split("```").nth(3).unwrap();
    let mut lines = sample.trim_matches('\n').lines();
    let world = more(1, "call = \"json\"");
    let task = names();
    let mut env = world.open(&task, &Seed::root(1), None).unwrap();
    assert_eq!(env.reset().unwrap()[0].text, lines.next().unwrap());
    for turn in lines {
        let (said, answer) = turn
            .trim_start_matches([' ', '>'])
            .split_once("  ")
            .unwrap_or((turn.trim_start_matches([' ', '>']), ""));
        let action = env.parse(said);
        let calls: Vec<CallRecord> = match &action {
            Action::Calls { calls } => calls.iter().map(|call| run(env.as_ref(), &task, call)).collect(),
            _ => Vec::new(),
        };
        let seen = env.step(&action, &calls).unwrap().observations;
        assert_eq!(
            seen.iter().map(|message| message.text.as_str()).collect::<String>(),
            answer.trim(),
            "{turn}"
        );
    }
}

#[test]
fn an_unreadable_call_is_answered_and_made_again() {
    let (world, seed) = (more(3, "call = \"json\"\nunparsed = 0.5"), Seed::root(3));
    let (mut spoiled, mut calls) = (0, 0);
    for index in 0..40 {
        let task = Arc::new(world.task(Split::Train, index, &seed).unwrap());
        let (steps, _) = played(world.as_ref(), &task, "exact", index);
        let mut last = None;
        for (said, info) in &steps {
            if said.starts_with('{') {
                calls += u32::from(info["parsed"] > 0.0);
                spoiled += u32::from(info["parsed"] == 0.0);
                assert!(last != Some(0.0) || info["parsed"] > 0.0, "twice in a row: {steps:?}");
            }
            last = Some(info["parsed"]);
        }
        assert_eq!(steps.last().unwrap().1["right"], 1.0, "{steps:?}");
    }
    let share = f64::from(spoiled) / f64::from(calls);
    assert!((0.4..0.6).contains(&share), "{spoiled} of {calls}");
}

#[test]
fn more_entries_are_harder_in_a_manner_that_errs_in_each() {
    let rate = |size: u32| {
        let world = ledger(Ledger { sizes: vec![size], ..Ledger::default() });
        let right = |index: &u64| {
            let task = Arc::new(world.task(Split::Train, *index, &Seed::root(9)).unwrap());
            let (steps, answer) = played(world.as_ref(), &task, "sloppy", *index);
            assert!(!steps.is_empty());
            answer == task.answer
        };
        (0..300).filter(right).count() as f64 / 300.0
    };
    let rates: Vec<f64> = (1..=5).map(rate).collect();
    assert!(rates.is_sorted_by(|a, b| a > b), "{rates:?}");
    // Each entry is right four times in five.
    for (entries, rate) in (1..).zip(&rates) {
        assert!((rate - 0.8_f64.powi(entries)).abs() < 0.08, "{rates:?}");
    }
}

#[test]
fn every_kind_is_harder_with_more_entries() {
    let rate = |size: u32| {
        let world = more(size, "call = \"json\"\nunparsed = 0.2");
        let right = |index: &u64| {
            let task = Arc::new(world.task(Split::Train, *index, &Seed::root(9)).unwrap());
            played(world.as_ref(), &task, "sloppy", *index).1 == task.answer
        };
        (0..300).filter(right).count() as f64 / 300.0
    };
    let rates: Vec<f64> = (1..=4).map(rate).collect();
    assert!(rates.is_sorted_by(|a, b| a > b), "{rates:?}");
}

/// Every line of a demonstration with the info of its turn, and the answer.
type Demonstrated = (Vec<(String, merit_core::Info)>, Option<String>);

fn played(world: &dyn World, task: &Arc<Task>, manner: &str, episode: u64) -> Demonstrated {
    let seed = Seed::root(2).child("episode", episode);
    let mut env = world.open(task, &seed, None).unwrap();
    env.reset().unwrap();
    let (mut turns, mut steps) = (Vec::new(), Vec::new());
    while turns.len() < 40 {
        let said = world.expert().unwrap().say_in(manner, task, &turns, &seed).unwrap();
        let action = env.parse(&said);
        let calls: Vec<CallRecord> = match &action {
            Action::Calls { calls } => calls.iter().map(|call| run(env.as_ref(), task, call)).collect(),
            _ => Vec::new(),
        };
        let result = env.step(&action, &calls).unwrap();
        steps.push((said.clone(), result.info.clone()));
        if let Action::Answer { text } = action {
            return (steps, Some(text));
        }
        turns.push(ExpertTurn { said, observed: result.observations });
    }
    (steps, None)
}

fn call(tool: &str, input: &str) -> Action {
    Action::Calls { calls: vec![ToolCall { tool: tool.to_owned(), input: input.to_owned() }] }
}

#[test]
fn lines_mean_what_they_say() {
    assert_eq!(parse("lookup mug"), call("lookup", "mug"));
    assert_eq!(parse("calc 141 + 4*12\n"), call("calc", "141 + 4*12"));
    assert_eq!(parse("  calc   3*47  "), call("calc", "3*47"));
    assert_eq!(parse("fly away"), call("fly", "away"));
    assert_eq!(parse("answer -5"), Action::Answer { text: "-5".to_owned() });
}

#[test]
fn what_is_not_a_line_of_the_dialect_is_malformed() {
    for text in [
        "",
        "\n",
        "lookup",
        "answer",
        "answer ",
        "answer x",
        "answer 1 2",
        "answer 3.5",
        "answer --1",
        "Answer 3",
        "answer\t3",
        "answer 3\n\n",
        "answer 3\nlookup mug",
        "answer 3\r\n",
        "averyveryverylongverb x",
        "3*47 calc",
        "answer 123456789012345678901",
    ] {
        assert!(matches!(parse(text), Action::Malformed { .. }), "{text:?} is {:?}", parse(text));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_the_same_with_and_without_its_stop(text in "\\PC{0,60}") {
        prop_assert_eq!(parse(&text), parse(&format!("{text}\n")));
    }

    #[test]
    fn only_an_answer_of_a_whole_number_is_an_answer(text in "(answer|lookup|calc|[a-z ]{1,9})[ \\t\\n]?[-0-9. x]{0,6}\\PC{0,3}") {
        if let Action::Answer { text: answer } = parse(&text) {
            prop_assert!(answer.parse::<i128>().is_ok());
            prop_assert_eq!(text.split_whitespace().collect::<Vec<_>>(), vec!["answer", answer.as_str()]);
        }
    }

    #[test]
    fn any_number_can_be_answered(number in any::<i64>()) {
        prop_assert_eq!(parse(&format!("answer {number}\n")), Action::Answer { text: number.to_string() });
    }

    #[test]
    fn every_demonstrated_line_can_be_read(run in any::<u64>(), index in 0_u64..1000, skill in 0.0..=1.0_f64) {
        let ledger = ledger(Ledger { sizes: vec![1, 2, 3, 4, 5], ..Ledger::default() });
        let task = ledger.task(Split::Train, index, &Seed::root(run)).unwrap();
        for line in play(ledger.as_ref(), &task, skill, &Seed::root(run)) {
            prop_assert!(!matches!(parse(&line), Action::Malformed { .. }), "{}", line);
        }
    }
}
