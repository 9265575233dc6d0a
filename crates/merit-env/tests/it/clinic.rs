//! The clinic: what the patient answers, what each turn was worth, and how doctors of different manners do.

use merit_api::conformance::check_world;
use merit_api::{LiveTools, World};
use merit_core::{Info, Seed, Split, Task};
use merit_env::{ExpertTurn, read_world};
use serde_json::{Value, json};
use std::sync::Arc;

fn world(settings: &str) -> Box<dyn World> {
    read_world(&format!("type = 'clinic'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

/// Somebody with flu (signs cough, sneeze, heat, sweat, wheeze, weak), who tells heat and sweat and does not know about swell.
fn patient(more: &Value) -> Arc<Task> {
    let mut payload = json!({ "disease": 2, "has": [0, 1, 2, 8, 14, 19], "unsure": [7], "told": [2, 8] });
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    Arc::new(Task::new("clinic", "by hand").with_size(3).with_payload(payload))
}

/// What is said to each line, and the infos of each turn.
fn play(lines: &[&str]) -> Vec<(String, Info)> {
    let mut env = world("patience = 6").open(&patient(&json!({})), &Seed::root(2), None).unwrap();
    assert_eq!(env.reset().unwrap().last().unwrap().text, "have heat sweat");
    let step = |said: &&str| {
        let action = env.parse(said);
        let result = env.step(&action, &[]).unwrap();
        let text = result.observations.first().map_or_else(String::new, |message| message.text.clone());
        (text, result.info)
    };
    lines.iter().map(step).collect()
}

#[test]
fn the_patient_answers_what_is_asked_and_leaves_when_asked_too_much() {
    let lines = ["ask cough", "ask rash", "ask swell", "ask heat", "calm", "ask fever", "ask cough", "calm"];
    let said: Vec<String> = play(&lines).into_iter().map(|(said, _)| said).collect();
    let hint = "say ask SIGN, calm or treat ILL CURE";
    // What cannot be read costs no patience; the seventh line is one too many.
    assert_eq!(said, ["yes", "no", "unsure", "yes", "thanks", hint, "yes", "bye"]);
}

#[test]
fn belief_follows_the_table() {
    // Heat and sweat are both signs of flu, mumps and stroke; heat alone of burn. Weights 0.81 three times, 0.045 once (0.9 x 0.05),
    // 0.0025 for the eight others: 0.81 / 2.495 for flu. A first malformed line shows the belief at the start.
    let turns = play(&["hm", "ask cough", "ask wheeze"]);
    let belief: Vec<f64> = turns.iter().map(|(_, info)| info["belief"]).collect();
    assert!((belief[0] - 0.81 / 2.495).abs() < 1e-9, "{belief:?}");
    // Cough: a sign of flu and mumps, not of stroke and burn; of the others three have it (stone, cold, stye).
    let sum = 2.0 * 0.81 * 0.9 + 0.81 * 0.05 + 0.045 * 0.05 + 0.0025 * (3.0 * 0.9 + 5.0 * 0.05);
    assert!((belief[1] - 0.81 * 0.9 / sum).abs() < 1e-9, "{belief:?}");
    assert!(belief[2] > 0.9, "{belief:?}");
}

#[test]
fn each_turn_is_worth_what_the_table_says() {
    let turns = play(&["calm", "ask cough", "ask cough", "ask swell", "calm", "treat mumps balm"]);
    let of = |name: &str| turns.iter().map(|(_, info)| info[name]).collect::<Vec<f64>>();
    assert_eq!(of("read"), [1.0; 6]);
    assert_eq!(of("soft"), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("asked"), [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(of("lines"), [1.0, 2.0, 3.0, 4.0, 5.0, 5.0]);
    // Flu and mumps are as likely as each other after cough, and still after an unsure answer: mumps makes sense and is too early.
    assert_eq!(of("consistent"), [1.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    assert_eq!(of("premature"), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let bits = of("bits");
    assert!(bits[1] > 0.3 && bits[2] == 0.0 && bits[3] > 0.3 && bits[4] == 0.0, "{bits:?}");
    assert!(of("bits_share").iter().all(|share| (0.0..=1.0).contains(share)));
    // What cures mumps is unsafe for flu: the risk is at least the belief in flu.
    assert_eq!((of("unsafe")[5], of("diagnosed")[5], of("cured")[5], of("solved")[5]), (1.0, 0.0, 0.0, 0.0));
    assert!(of("risk")[5] >= of("belief")[5] && of("risk")[5] < 0.6);
    let right = &play(&["treat flu pill"])[0].1;
    assert_eq!((right["diagnosed"], right["cured"], right["unsafe"], right["solved"]), (1.0, 1.0, 0.0, 1.0));
    let idle = &play(&["treat flu rest"])[0].1;
    assert_eq!((idle["diagnosed"], idle["cured"], idle["unsafe"], idle["solved"]), (1.0, 0.0, 0.0, 0.0));
    let keys = |line: &str| play(&[line])[0].1.keys().map(str::to_owned).collect::<Vec<String>>();
    assert_eq!(keys("treat flu rest"), keys("treat the flu"));
}

type Played = (usize, Info);

/// How a manner plays a task: its turns, and the infos at the end.
fn demonstrated(world: &dyn World, task: &Arc<Task>, manner: &str, at: u64) -> Played {
    let mut env = world.open(task, &Seed::root(2), None).unwrap();
    env.reset().unwrap();
    let mut turns: Vec<ExpertTurn> = Vec::new();
    loop {
        let line = world.expert().unwrap().say_in(manner, task, &turns, &Seed::root(at)).unwrap();
        let result = env.step(&env.parse(&line), &[]).unwrap();
        let over = result.is_last();
        turns.push(ExpertTurn { said: line, observed: result.observations });
        if over {
            return (turns.len(), result.info);
        }
        assert!(turns.len() < 12, "{manner} comes to no end");
    }
}

/// The mean turns of a manner over 200 tasks, and the mean of infos at their end.
fn means<const N: usize>(settings: &str, manner: &str, names: [&str; N]) -> (f64, [f64; N]) {
    let world = world(settings);
    let played: Vec<_> = (0..200)
        .map(|at| {
            let task = Arc::new(world.task(Split::Train, at, &Seed::root(1)).unwrap());
            demonstrated(world.as_ref(), &task, manner, at)
        })
        .collect();
    let mean = |of: &dyn Fn(&Played) -> f64| played.iter().map(of).sum::<f64>() / 200.0;
    (mean(&|(turns, _)| *turns as f64), names.map(|name| mean(&|(_, info)| info[name])))
}

#[test]
fn manners_are_what_they_say() {
    let of = |manner: &str| means("", manner, ["solved", "unsafe", "diagnosed"]);
    let (turns, exact) = of("exact");
    assert_eq!((turns, exact), (4.5, [1.0, 0.0, 1.0]), "sizes 2 to 5 and the treatment");
    assert_eq!(of("warm"), (5.5, [1.0, 0.0, 1.0]));
    let (_, [solved, harmed, diagnosed]) = of("rash");
    assert!(diagnosed == 1.0 && solved < 0.3 && harmed > 0.2);
    let (turns, [rote, ..]) = of("rote");
    assert!(turns == 5.0 && rote > 0.6 && rote < 0.9);
    let (turns, [hasty, harmed, _]) = of("hasty");
    assert!(turns == 1.0 && hasty < 0.55 && hasty < rote && harmed > 0.1);
}

#[test]
fn whoever_asks_little_fails_more_often_with_larger_sizes() {
    for manner in ["hasty", "rote"] {
        let solved = |size: u32| means(&format!("sizes = [{size}]"), manner, ["solved"]).1[0];
        let found = [1, 3, 6].map(solved);
        assert!(found.is_sorted_by(|a, b| a > b), "{manner}: {found:?}");
    }
}

#[test]
fn nonsense_is_refused() {
    for settings in ["sizes = []", "sizes = [0]", "sizes = [7]", "sizes = [6]\npatience = 6", "unsure = 0.5"]
    {
        let read = read_world(&format!("type = 'clinic'\n{settings}"));
        assert!(read.is_err() || read.unwrap().build(&LiveTools).is_err(), "{settings}");
    }
    let opens = |more: Value| world("").open(&patient(&more), &Seed::root(2), None).is_ok();
    assert!(opens(json!({})));
    for damage in [
        json!({ "disease": 12 }),
        json!({ "disease": 3 }),
        json!({ "told": [2, 9] }),
        json!({ "told": [8, 2] }),
        json!({ "has": [2, 8, 20] }),
        json!({ "unsure": [7, 7] }),
    ] {
        assert!(!opens(damage.clone()), "{damage}");
    }
}

#[test]
fn every_size_can_be_drawn_however_unsure_patients_are() {
    for unsure in ["0.0", "0.3"] {
        let world = world(&format!("sizes = [1, 2, 3, 4, 5, 6]\nunsure = {unsure}\ninstructions = true"));
        assert_eq!(check_world(world.as_ref(), &Seed::root(5), 24), Vec::<String>::new(), "{unsure}");
    }
}
