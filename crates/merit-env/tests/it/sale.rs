//! The sale: what the customer says, how the chance of a deal moves, and how sellers of different manners do.

use merit_api::{LiveTools, World};
use merit_core::{Info, Seed, Split, Task};
use merit_env::{ExpertTurn, read_world};
use serde_json::{Value, json};
use std::sync::Arc;

fn world(settings: &str) -> Box<dyn World> {
    read_world(&format!("type = 'sale'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

/// Somebody who tells that they need room and not that they have 4, and doubts that it is true and that it is the time.
fn customer(more: &Value) -> Arc<Task> {
    let mut payload =
        json!({ "need": 1, "cash": 4, "doubts": [0, 1], "told": [true, false], "patience": 8, "luck": 500 });
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    Arc::new(Task::new("sale", "by hand").with_size(2).with_payload(payload))
}

/// What is said to each line, and the infos of each turn.
fn play(task: &Arc<Task>, lines: &[&str]) -> Vec<(String, Info)> {
    let mut env = world("").open(task, &Seed::root(2), None).unwrap();
    assert_eq!(env.reset().unwrap().last().unwrap().text, "hello need room");
    let step = |said: &&str| {
        let action = env.parse(said);
        let result = env.step(&action, &[]).unwrap();
        (result.observations.first().unwrap().text.clone(), result.info)
    };
    lines.iter().map(step).collect()
}

fn said(task: &Arc<Task>, lines: &[&str]) -> Vec<String> {
    play(task, lines).into_iter().map(|(said, _)| said).collect()
}

/// The logistic function.
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn the_customer_says_what_is_on_their_mind() {
    let task = customer(&json!({}));
    let talk = ["ask cash", "show room", "bid 4", "prove", "wait", "close"];
    assert_eq!(said(&task, &talk), ["cash 4", "nice who says", "fine who says", "ok not now", "ok", "deal"]);
    // Doubts are settled in their order, once something was shown; the eighth act is the last.
    let clumsy = ["prove", "show heat", "bid 5", "bid 2", "show room", "wait", "buy it", "prove"];
    let hint = "say ask, show, bid, prove, wait, swap, cut or close";
    assert_eq!(
        said(&task, &clumsy),
        ["so what", "so what", "too much", "odd", "nice who says", "so what who says", hint, "bye"]
    );
}

#[test]
fn the_chance_of_a_deal_follows_the_formula() {
    // By hand: -1.5 + 2 shown + 3.5 fair - 2.5 for each of two doubts - 0.4 for each slip.
    let talk = ["ask cash", "ask need", "show room", "bid 4", "prove", "wait", "close"];
    let turns = play(&customer(&json!({})), &talk);
    let of = |name: &str| turns.iter().map(|(_, info)| info[name]).collect::<Vec<f64>>();
    let wanted = [-6.5, -6.9, -4.9, -1.4, 1.1, 3.6, 3.6].map(logistic);
    for (turn, (found, wanted)) in of("chance").iter().zip(wanted).enumerate() {
        assert!((found - wanted).abs() < 1e-12, "turn {turn}: {found}, not {wanted}");
    }
    assert!((of("rise").iter().sum::<f64>() - (logistic(3.6) - logistic(-6.5))).abs() < 1e-12);
    // The need had been told.
    assert_eq!(of("slip"), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("doubts"), [2.0, 2.0, 2.0, 2.0, 1.0, 0.0, 0.0]);
    assert_eq!(of("converted").last(), Some(&1.0));
    assert_eq!(of("value").last(), Some(&1.0));
    // A chance of 0.973 is not enough for whoever buys above 0.98.
    let unlucky = play(&customer(&json!({ "luck": 980 })), &talk);
    assert_eq!((unlucky[6].0.as_str(), unlucky[6].1["converted"]), ("no", 0.0));
    // One less than they have is taken, and worth three quarters.
    let modest = play(&customer(&json!({})), &["show room", "bid 3", "prove", "wait", "close"]);
    assert_eq!((modest[4].1["converted"], modest[4].1["value"]), (1.0, 0.75));
    let gone = play(&customer(&json!({ "patience": 6 })), &["hm"; 6]);
    assert_eq!((gone[5].1["left"], gone[5].1["chance"], gone[5].1["slips"]), (1.0, 0.0, 6.0));
    assert_eq!(gone[5].1.keys().collect::<Vec<_>>(), turns[6].1.keys().collect::<Vec<_>>());
}

/// How a manner plays a task: its turns, and the infos at the end.
fn demonstrated(world: &dyn World, task: &Arc<Task>, manner: &str, at: u64) -> Info {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let mut turns: Vec<ExpertTurn> = Vec::new();
    loop {
        let line = world.expert().unwrap().say_in(manner, task, &turns, &Seed::root(at)).unwrap();
        let result = env.step(&env.parse(&line), &[]).unwrap();
        let over = result.is_last();
        turns.push(ExpertTurn { said: line, observed: result.observations });
        if over {
            return result.info;
        }
        assert!(turns.len() < 20, "{manner} comes to no end");
    }
}

/// The mean over tasks of infos at the end.
fn means<const N: usize>(settings: &str, manner: &str, tasks: u64, names: [&str; N]) -> [f64; N] {
    let world = world(settings);
    let played: Vec<Info> = (0..tasks)
        .map(|at| {
            let task = Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap());
            demonstrated(world.as_ref(), &task, manner, at)
        })
        .collect();
    names.map(|name| played.iter().map(|info| info[name]).sum::<f64>() / tasks as f64)
}

#[test]
fn manners_are_what_they_say() {
    let of = |manner: &str| means("", manner, 300, ["converted", "value", "slips"]);
    let [exact, value, slips] = of("exact");
    assert!(exact > 0.95 && (value - exact).abs() < 1e-9 && slips == 0.0);
    let [modest, less, _] = of("modest");
    assert!(modest > 0.95 && less < 0.85);
    let [pushy, ..] = of("pushy");
    assert!(pushy > 0.2 && pushy < 0.5);
    let [script, _, slips] = of("script");
    assert!(script < 0.2 && slips > 1.0);
    assert!(of("hasty")[0] < 0.12 && of("any")[0] < 0.03);
}

#[test]
fn deals_come_as_often_as_their_chance_says() {
    // `pushy` closes at chances from 0.03 to 0.82; over 2000 customers the standard error is about 0.01.
    let [converted, chance] = means("", "pushy", 2000, ["converted", "chance"]);
    assert!((converted - chance).abs() < 0.03, "{converted} deals where {chance} were likely");
}

#[test]
fn whoever_settles_no_doubt_sells_less_with_more_doubts() {
    let sold = |size: u32| means(&format!("sizes = [{size}]"), "pushy", 200, ["converted"])[0];
    let found = [1, 2, 3].map(sold);
    assert!(found.is_sorted_by(|a, b| a > b), "{found:?}");
}

#[test]
fn nonsense_is_refused() {
    for settings in ["sizes = []", "sizes = [0]", "sizes = [6]", "told = 1.5", "slack = 9"] {
        let read = read_world(&format!("type = 'sale'\n{settings}"));
        assert!(read.is_err() || read.unwrap().build(&LiveTools).is_err(), "{settings}");
    }
    let opens = |more: Value| world("").open(&customer(&more), &Seed::root(2), None).is_ok();
    assert!(opens(json!({})));
    for damage in [
        json!({ "need": 5 }),
        json!({ "cash": 1 }),
        json!({ "cash": 7 }),
        json!({ "doubts": [0] }),
        json!({ "doubts": [0, 4] }),
        json!({ "patience": 5 }),
        json!({ "patience": 99 }),
        json!({ "luck": 1000 }),
    ] {
        assert!(!opens(damage.clone()), "{damage}");
    }
    let task = customer(&json!({}));
    let state = |more: Value| {
        let mut state =
            json!({ "asked": [false, false], "shown": true, "bid": 0, "settled": 1, "slips": 0, "acts": 2 });
        for (key, value) in more.as_object().unwrap() {
            state[key] = value.clone();
        }
        let play = json!({ "task": "by hand", "steps": 2, "over": false, "state": state });
        world("").open(&task, &Seed::root(2), Some(&play)).is_ok()
    };
    assert!(state(json!({})));
    assert!(
        !state(json!({ "settled": 3 })) && !state(json!({ "shown": false })) && !state(json!({ "acts": 99 }))
    );
}
