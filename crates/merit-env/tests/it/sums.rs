//! `sums` asks what can be computed, tells apart what its policy does, and demonstrates in manners that have names.

use merit_api::conformance::{check_tool, check_world};
use merit_api::puzzle_of;
use merit_core::registry::Component as _;
use merit_core::{Action, CallEnd, CallRecord, Info, Message, Role, Seed, Split, Task};
use merit_env::sums::{Fault, Kind, Op, Problem, StrictCalc, Sums, Template, ToolChoice, evaluate, parse};
use merit_env::{Env, LiveTools, StepResult, Termination, World, WorldSettings as _};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

fn world(settings: &Sums) -> Box<dyn World> {
    settings.build(&LiveTools).unwrap()
}

fn only(kind: Kind) -> Sums {
    match kind {
        Kind::Trivial => Sums { trivial: 1.0, ..Sums::default() },
        kind => Sums { kinds: BTreeMap::from([(kind, 1.0)]), ..Sums::default() },
    }
}

fn task(payload: Value, answer: Option<&str>) -> Arc<Task> {
    let task = Task::new("sums", "sums/train/00000-given").with_size(1).with_payload(payload);
    Arc::new(Task { answer: answer.map(str::to_owned), ..task })
}

fn product() -> Arc<Task> {
    task(json!({ "kind": "product", "start": 347, "links": [{ "op": "*", "by": 582 }] }), Some("201954"))
}

/// 3+5 = 8 = 1 and 1*4 = 4 by 7.
fn modular() -> Arc<Task> {
    let links = json!([{ "op": "+", "by": 5 }, { "op": "*", "by": 4 }]);
    task(json!({ "kind": "mod", "modulus": 7, "start": 3, "links": links }), Some("4"))
}

fn countdown() -> Arc<Task> {
    let links = json!([{ "op": "*", "by": 5 }, { "op": "+", "by": 8 }]);
    task(json!({ "kind": "countdown", "start": 3, "links": links }), None)
}

fn say(env: &mut dyn Env, line: &str) -> StepResult {
    let action = env.parse(line);
    let calls = match &action {
        Action::Calls { calls } => calls.clone(),
        _ => Vec::new(),
    };
    let run = |call: merit_core::ToolCall| {
        let (end, output) = match evaluate(&call.input) {
            _ if call.tool != "calc" => (CallEnd::Refused, "no such tool".to_owned()),
            Ok(value) => (CallEnd::Ok, value.to_string()),
            Err(fault) => (CallEnd::Refused, fault.words().to_owned()),
        };
        CallRecord { call, end, output, seconds: None }
    };
    env.step(&action, &calls.into_iter().map(run).collect::<Vec<_>>()).unwrap()
}

/// Says the lines one after the other; gives the info of each turn.
fn infos(settings: &Sums, task: &Arc<Task>, lines: &[&str]) -> Vec<Info> {
    let mut env = world(settings).open(task, &Seed::root(1), None).unwrap();
    env.reset().unwrap();
    lines.iter().map(|line| say(env.as_mut(), line).info).collect()
}

/// All lines of a demonstration in a manner, and the info of its last turn.
fn played(settings: &Sums, task: &Arc<Task>, manner: &str, seed: &Seed) -> (Vec<String>, Info) {
    let world = world(settings);
    let mut env = world.open(task, seed, None).unwrap();
    env.reset().unwrap();
    let mut turns = Vec::new();
    loop {
        let said = world.expert().unwrap().say_in(manner, task, &turns, seed).unwrap();
        let result = say(env.as_mut(), &said);
        turns.push(merit_env::ExpertTurn { said, observed: result.observations.clone() });
        if result.is_last() {
            return (turns.into_iter().map(|turn| turn.said).collect(), result.info);
        }
        assert!(turns.len() < 60, "{turns:?}");
    }
}

fn lines(task: &Arc<Task>, manner: &str) -> Vec<String> {
    played(&Sums::default(), task, manner, &Seed::root(1)).0
}

#[test]
fn an_exact_agent_calls_once_for_every_operation_and_answers_trivial_tasks_at_once() {
    assert_eq!(lines(&product(), "exact"), ["calc 347*582", "answer 201954"]);
    assert_eq!(lines(&modular(), "exact"), ["calc mod(3+5,7)", "calc mod(1*4,7)", "answer 4"]);
    let payload = json!({ "kind": "trivial", "start": 42, "links": [{ "op": "+", "by": 5 }] });
    assert_eq!(lines(&task(payload, Some("47")), "exact"), ["answer 47"]);
}

#[test]
fn written_steps_solve_chains_by_a_modulus() {
    assert_eq!(lines(&modular(), "text"), ["step 3+5=8=1", "step 1*4=4", "answer 4"]);
}

#[test]
fn written_products_are_guesses_of_the_right_shape() {
    let mut right = 0;
    for run in 0..200 {
        let (lines, info) = played(&Sums::default(), &product(), "text", &Seed::root(run));
        let guess = lines[1].strip_prefix("answer ").unwrap();
        assert_eq!(lines[0], format!("step 347*582={guess}"));
        assert!(guess.len() == 6 && guess.starts_with('2') && guess.ends_with('4'), "{guess}");
        right += u32::from(info["right"] == 1.0);
    }
    assert!(right < 10, "{right}");
}

#[test]
fn a_hasty_agent_answers_at_once_and_mostly_wrong() {
    let right = (0..200).filter(|&run| {
        let (lines, info) = played(&Sums::default(), &product(), "hasty", &Seed::root(run));
        assert_eq!(lines.len(), 1);
        info["right"] == 1.0
    });
    assert!(right.count() < 10);
}

#[test]
fn a_clumsy_agent_makes_every_mistake_and_repairs_it() {
    let mut seen = HashMap::new();
    for run in 0..200 {
        let (lines, _) = played(&Sums::default(), &product(), "clumsy", &Seed::root(run));
        assert_eq!(lines[1..], ["calc 347*582", "answer 201954"]);
        let said: Vec<&str> = lines.iter().map(String::as_str).collect();
        let infos = infos(&Sums::default(), &product(), &said);
        assert_eq!([infos[0]["repaired"], infos[1]["repaired"], infos[2]["repaired"]], [0.0, 1.0, 0.0]);
        *seen.entry(infos[0]["error_class"] as u8).or_insert(0) += 1;
    }
    let classes: Vec<u8> =
        [Fault::Syntax, Fault::UnknownName, Fault::Arity, Fault::DivisionByZero].map(|f| f as u8).into();
    assert!(seen.len() == 4 && classes.iter().all(|class| seen.contains_key(class)), "{seen:?}");
}

#[test]
fn a_verbose_teacher_multiplies_digit_by_digit_and_repeats_itself_as_told() {
    // 347*582 = 694 + 27760 + 173500.
    let long = [
        "step 347*2=694",
        "step 347*80=27760",
        "step 694+27760=28454",
        "step 347*500=173500",
        "step 28454+173500=201954",
        "answer 201954",
    ];
    assert_eq!(lines(&product(), "verbose"), long);
    let (lines, info) =
        played(&Sums { verbosity: 1, ..Sums::default() }, &product(), "verbose", &Seed::root(1));
    assert_eq!((lines.len(), info["steps"], info["right"]), (11, 10.0, 1.0));
}

#[test]
fn a_scratchpad_gives_demonstrations_a_tail_of_lengths() {
    let settings = Sums { scratchpad: 1.0, ..Sums::default() };
    let lengths: Vec<usize> =
        (0..400).map(|run| played(&settings, &product(), "exact", &Seed::root(run)).0.len() - 2).collect();
    let share = |holds: fn(&&usize) -> bool| lengths.iter().filter(holds).count() as f64 / 400.0;
    // P(n > k) = 1 / (1 + k) at the median 1: half have none, and one in eight has 7 or more.
    assert!((share(|&&n| n == 0) - 0.5).abs() < 0.08, "{lengths:?}");
    assert!((share(|&&n| n >= 7) - 0.125).abs() < 0.06, "{lengths:?}");
    assert_eq!(lengths.iter().max(), Some(&8));
}

#[test]
fn skill_draws_exact_hasty_and_text() {
    let world = world(&Sums::default());
    let first =
        |skill: f64, run: u64| world.expert().unwrap().say(&product(), &[], skill, &Seed::root(run)).unwrap();
    assert!((0..50).all(|run| first(1.0, run).starts_with("calc ")));
    let wrong: Vec<String> = (0..200).map(|run| first(0.0, run)).collect();
    assert!(wrong.iter().all(|line| !line.starts_with("calc ")));
    let steps = wrong.iter().filter(|line| line.starts_with("step ")).count();
    assert!((30..90).contains(&steps), "{steps}");
}

#[test]
fn the_record_tells_what_happened_in_every_turn() {
    let lines = [
        "calc 347*",
        "calc pow(2,3)",
        "calc 1/0",
        "calc 7/2",
        "calc 347*582",
        "fly 3",
        "huh?",
        "step 1",
        "answer 201954",
    ];
    let infos = infos(&Sums::default(), &product(), &lines);
    let of = |key: &str| infos.iter().map(|info| info[key]).collect::<Vec<f64>>();
    assert_eq!(of("error_class"), [1.0, 2.0, 4.0, 5.0, 0.0, 6.0, 7.0, 0.0, 0.0]);
    assert_eq!(of("repaired"), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("calls"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0, 6.0, 6.0]);
    assert_eq!(of("steps"), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!((of("kind"), of("needs_tool")), (vec![1.0; 9], vec![1.0; 9]));
    assert!(!infos[7].contains_key("right"));
    assert_eq!(infos[8]["right"], 1.0);
}

#[test]
fn only_products_need_the_tool() {
    for kind in [Kind::Trivial, Kind::Product, Kind::Mod, Kind::Countdown] {
        let task = Arc::new(world(&only(kind)).task(Split::Train, 0, &Seed::root(1)).unwrap());
        assert_eq!(task.payload["kind"], json!(kind));
        let info = &infos(&only(kind), &task, &["step 1"])[0];
        assert_eq!(
            (info["kind"], info["needs_tool"]),
            (f64::from(kind as u8), f64::from(u8::from(kind == Kind::Product)))
        );
    }
}

#[test]
fn any_expression_over_the_numbers_that_makes_the_target_is_right() {
    let right =
        |answer: &str| infos(&Sums::default(), &countdown(), &[&format!("answer {answer}")])[0]["right"];
    for answer in ["3*5+8", "8+5*3", "(5*3)+8"] {
        assert_eq!(right(answer), 1.0, "{answer}");
    }
    for answer in ["23", "3*5+8+0", "3+5+8", "15+8", "5*8-3", "3*5+"] {
        assert_eq!(right(answer), 0.0, "{answer}");
    }
    assert_eq!(countdown().answer, None);
    assert_eq!(lines(&countdown(), "text").last().unwrap(), "answer 3*5+8");
}

#[test]
fn without_the_tool_every_call_is_answered_that_there_is_none() {
    let settings = Sums { tool: ToolChoice::None, ..Sums::default() };
    let mut env = world(&settings).open(&product(), &Seed::root(1), None).unwrap();
    assert!(env.tools().is_empty());
    let result = say(env.as_mut(), "calc 347*582");
    assert_eq!(result.observations, [Message::new(Role::Tool, "no tools here")]);
    assert_eq!(result.info["error_class"], 6.0);
    let unaided = |task, manner| played(&settings, &task, manner, &Seed::root(1)).0;
    assert_eq!(unaided(product(), "exact"), ["answer 201954"]);
    assert_eq!(unaided(modular(), "clumsy"), ["step 3+5=8=1", "step 1*4=4", "answer 4"]);
}

#[test]
fn settings_of_the_agent_do_not_change_the_tasks() {
    let shifted =
        Sums { tool: ToolChoice::None, template: Template::Shifted, scratchpad: 1.0, ..Sums::default() };
    let (plain, other) = (world(&Sums::default()), world(&shifted));
    for index in 0..20 {
        let seed = Seed::root(2);
        assert_eq!(plain.task(Split::Train, index, &seed), other.task(Split::Train, index, &seed));
    }
}

#[test]
fn the_shifted_wording_has_the_same_words_in_another_order() {
    let asked = |template, task: &Arc<Task>| {
        let mut env = world(&Sums { template, ..Sums::default() }).open(task, &Seed::root(1), None).unwrap();
        env.reset().unwrap()[0].text.clone()
    };
    let check = |task: &Arc<Task>, plain: &str, shifted: &str| {
        assert_eq!(
            (asked(Template::Plain, task).as_str(), asked(Template::Shifted, task).as_str()),
            (plain, shifted)
        );
    };
    check(&product(), "find: 347*582.", "347*582: find?");
    check(&modular(), "find mod 7: 3, +5, *4.", "3, +5, *4 mod 7: find?");
    check(&countdown(), "find with 3 5 8: make 23.", "make 23 with 3 5 8: find?");
}

#[test]
fn no_content_is_in_both_splits_in_any_order_of_what_may_be_swapped() {
    let settings = Sums { digits: 2, sizes: vec![1, 2], trivial: 0.2, ..Sums::default() };
    let settings = Sums { kinds: BTreeMap::from([(Kind::Product, 0.5), (Kind::Mod, 0.5)]), ..settings };
    let world = world(&settings);
    let mut splits: HashMap<String, Split> = HashMap::new();
    let mut repeats = 0;
    for index in 0..4000 {
        for split in [Split::Train, Split::HeldOut] {
            let task = world.task(split, index, &Seed::root(index)).unwrap();
            let problem = puzzle_of(&settings, &task).unwrap();
            // The first operation swaps its numbers where it adds or multiplies.
            let mut same = vec![problem.clone()];
            if problem.links[0].op != Op::Minus {
                let mut swapped = problem.clone();
                (swapped.start, swapped.links[0].by) = (problem.links[0].by, problem.start);
                same.push(swapped);
            }
            for Problem { start, links, modulus, .. } in same {
                let known = splits.insert(format!("{start} {links:?} {modulus:?}"), split);
                repeats += u32::from(known.is_some());
                assert!(known.is_none_or(|known| known == split), "{}", task.id);
            }
        }
    }
    assert!(repeats > 100, "the test must be able to fail: {repeats} repeats within splits");
}

#[test]
fn kinds_and_trivial_tasks_come_as_often_as_their_shares_say() {
    let kinds = BTreeMap::from([(Kind::Product, 0.5), (Kind::Mod, 0.25), (Kind::Countdown, 0.25)]);
    let world = world(&Sums { kinds, trivial: 0.2, ..Sums::default() });
    for split in [Split::Train, Split::HeldOut] {
        let mut counts: HashMap<String, f64> = HashMap::new();
        for index in 0..2000 {
            let task = world.task(split, index, &Seed::root(3)).unwrap();
            *counts.entry(task.payload["kind"].as_str().unwrap().to_owned()).or_default() += 1.0 / 2000.0;
        }
        for (kind, share) in [("trivial", 0.2), ("product", 0.4), ("mod", 0.2), ("countdown", 0.2)] {
            assert!((counts[kind] - share).abs() < 0.04, "{kind} in {counts:?}");
        }
    }
}

#[test]
fn sums_keeps_the_contract_in_all_its_settings() {
    for text in [
        "digits = 5\nsizes = [4]",
        "digits = 2\nsizes = [1]\ntemplate = \"shifted\"\ninstructions = true",
        "kinds = { product = 0.5, mod = 0.5 }\ntool = \"none\"\ntrivial = 0.3",
        "kinds = { countdown = 1.0 }\nsizes = [1, 2, 3]",
        "kinds = { mod = 1.0 }\nmoduli = [2, 99]\nscratchpad = 4.0\nverbosity = 3",
    ] {
        let settings: Sums = toml::from_str(text).unwrap();
        assert_eq!(
            check_world(world(&settings).as_ref(), &Seed::root(7), 12),
            Vec::<String>::new(),
            "{text}"
        );
    }
}

#[test]
fn the_strict_calculator_keeps_the_contract_of_tools() {
    assert_eq!(check_tool(&StrictCalc, &Task::new("sums", "sums/train/0")), Vec::<String>::new());
}

#[test]
fn the_language_is_strict_and_its_refusals_have_types() {
    let check = |text: &str, value: Result<i128, Fault>| assert_eq!(evaluate(text), value, "{text}");
    check("2+3*4", Ok(14));
    check("(2+3)*4", Ok(20));
    check("-7/7", Ok(-1));
    check("10-4-3", Ok(3));
    check("mod(2*3-9,7)", Ok(4));
    for text in ["", "3*", "(3", "3)", "3 4", "2**3", "3,4", "mod 3", "mod(3,)", "x7", "1.5", "٣"] {
        assert!(matches!(evaluate(text), Err(Fault::Syntax | Fault::UnknownName)), "{text}");
    }
    check("3*", Err(Fault::Syntax));
    check("pow(2,3)", Err(Fault::UnknownName));
    check("mod()", Err(Fault::Arity));
    check("mod(1,2,3)", Err(Fault::Arity));
    check("mod(1,0)", Err(Fault::DivisionByZero));
    check("1/(2-2)", Err(Fault::DivisionByZero));
    check("7/2", Err(Fault::Range));
    check("999999999999*999999999999", Err(Fault::Range));
    check(&"-".repeat(79), Err(Fault::Syntax));
    check(&format!("{}1", "(".repeat(40)), Err(Fault::Syntax));
}

#[test]
fn settings_that_cannot_be_are_refused_with_the_reason() {
    let check = |text: &str, why: &str| {
        let settings: Sums = toml::from_str(text).unwrap();
        assert_eq!(settings.check().unwrap_err().to_string(), why);
        let refused = settings.build(&LiveTools).err().unwrap().to_string();
        assert_eq!(refused, format!("world `sums`: {why}"));
    };
    check("sizes = []", "`sizes` is empty; list the depths to train on, as in [1, 2]");
    check("held_out_sizes = [5]", "`held_out_sizes` lists 5; depths are 1 to 4");
    check("digits = 6", "`digits` is 6; it must be 2 to 5");
    check("trivial = 1.5", "`trivial` is 1.5; it must be a share, 0 to 1");
    check(
        "kinds = { mod = 0.5 }",
        "the shares in `kinds` add up to 0.5; give shares of 0 to 1 that add up to 1",
    );
    check("kinds = { trivial = 1.0 }", "`kinds` lists trivial; give its share of all tasks in `trivial`");
    check("moduli = [1]", "`moduli` must list at least one, and each must be 2 to 99");
    check("scratchpad = -1.0", "`scratchpad` is -1; it must be 0 to 4");
    check("verbosity = 9", "`verbosity` is 9; it must be 0 to 3");
    assert!(toml::from_str::<Sums>("kinds = { modd = 1.0 }").unwrap_err().to_string().contains("modd"));
}

#[test]
fn a_problem_of_a_file_that_is_none_is_refused() {
    let refused = |payload: Value, answer: Option<&str>, why: &str| {
        let error = world(&Sums::default()).open(&task(payload, answer), &Seed::root(1), None).err().unwrap();
        assert!(error.to_string().ends_with(why), "{error}");
    };
    let links = || json!([{ "op": "*", "by": 582 }]);
    refused(
        json!({ "kind": "product", "start": 347, "links": links() }),
        Some("1"),
        "its answer is 1, but 201954 is right",
    );
    refused(
        json!({ "kind": "product", "start": 347, "links": [] }),
        None,
        "it has 0 links; 1 to 5 are possible",
    );
    refused(
        json!({ "kind": "product", "start": i64::MAX, "links": links() }),
        None,
        "its results are too large",
    );
    let why = "a modulus of 2 or more belongs to the kind `mod`, and to no other";
    refused(json!({ "kind": "mod", "start": 3, "links": links() }), None, why);
    refused(json!({ "kind": "product", "start": 3, "links": links(), "modulus": 7 }), None, why);
}

#[test]
fn an_answer_ends_the_world_and_a_step_is_noted() {
    let mut env = world(&Sums::default()).open(&product(), &Seed::root(1), None).unwrap();
    assert_eq!(say(env.as_mut(), "step 347*2=694").observations, [Message::new(Role::Environment, "ok")]);
    let result = say(env.as_mut(), "answer 3");
    assert_eq!((result.terminated, result.observations.len()), (Some(Termination::Answered), 0));
    assert_eq!(result.info["right"], 0.0);
}

proptest! {
    #[test]
    fn any_text_is_read_the_same_with_and_without_its_stop(text in "\\PC{0,60}") {
        prop_assert_eq!(parse(&text), parse(&format!("{text}\n")));
    }

    #[test]
    fn any_expression_has_a_value_or_a_fault(text in "[-0-9+*/()a-z, .é]{0,30}") {
        let _ = evaluate(&text);
    }

    #[test]
    fn the_calculator_agrees_with_the_chain(run in any::<u64>(), size in 1_u32..=4, digits in 2_u32..=5) {
        let settings = Sums { sizes: vec![size], digits, ..Sums::default() };
        let task = world(&settings).task(Split::Train, 0, &Seed::root(run)).unwrap();
        let problem = puzzle_of(&settings, &task).unwrap();
        prop_assert_eq!(evaluate(&problem.expression()), Ok(i128::from(problem.value())));
        prop_assert!(problem.links.iter().any(|link| link.op == Op::Times));
    }
}
