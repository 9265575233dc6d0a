//! The form: what is told, what is asked, and what each turn was worth.

use merit_api::{LiveTools, World};
use merit_core::{Action, Info, Seed, Split, Task};
use merit_env::read_world;
use serde_json::json;
use std::sync::Arc;

fn world(settings: &str) -> Box<dyn World> {
    read_world(&format!("type = 'inquiry'\n{settings}")).unwrap().build(&LiveTools).unwrap()
}

/// A red, big, flat form of elm, of which hue and wood are not told.
fn task(world: &dyn World) -> Arc<Task> {
    let wanted = json!({ "values": [0, 3, 2, 2], "missing": [true, false, false, true] });
    let seed = Seed::root(1);
    let mut tasks = (0..20_000)
        .flat_map(|at| [Split::Train, Split::HeldOut].map(|split| world.task(split, at, &seed).unwrap()));
    Arc::new(tasks.find(|task| task.payload == wanted).expect("it is drawn some time"))
}

/// What is said to each line, and the infos of each turn.
fn play(lines: &[&str]) -> Vec<(String, Info)> {
    let world = world("sizes = [3]");
    let task = task(world.as_ref());
    let mut env = world.open(&task, &Seed::root(2), None).unwrap();
    assert_eq!(env.reset().unwrap().last().unwrap().text, "order size big shape flat");
    lines
        .iter()
        .map(|said| {
            let action = env.parse(said);
            let result = env.step(&action, &[]).unwrap();
            let text = result.observations.first().map_or_else(String::new, |message| message.text.clone());
            (text, result.info)
        })
        .collect()
}

#[test]
fn the_person_answers_what_is_asked_and_volunteers_nothing() {
    let said: Vec<String> =
        play(&["ask hue", "ask name", "ask size", "ask nothing"]).into_iter().map(|(said, _)| said).collect();
    assert_eq!(said, ["hue red", "no matter", "size big", "say ask SLOT or fill HUE SIZE SHAPE WOOD"]);
}

#[test]
fn each_turn_is_worth_what_the_card_says() {
    // Two slots are missing: a needed question, an idle one, the other needed one, then a form with one wrong value.
    let turns = play(&["ask hue", "ask size", "ask wood", "fill red big round elm"]);
    let of = |name: &str| turns.iter().map(|(_, info)| info[name]).collect::<Vec<f64>>();
    assert_eq!(of("read"), [1.0; 4]);
    assert_eq!(of("kind_right"), [1.0; 4], "a question was due three times, then the act");
    assert_eq!(of("content_right"), [1.0, 0.0, 1.0, 0.75]);
    assert_eq!(of("idle_question"), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(of("premature"), [0.0; 4]);
    assert_eq!(of("idle_questions"), [0.0, 1.0, 1.0, 1.0]);
    // Four turns for two missing slots.
    assert_eq!(of("extra_turns").last(), Some(&2.0));
}

#[test]
fn good_content_of_the_wrong_kind_is_worth_nothing() {
    // Right by luck, but hue and wood were not known.
    let turns = play(&["fill red big flat elm"]);
    let info = &turns[0].1;
    assert_eq!((info["kind_right"], info["content_right"], info["premature"]), (0.0, 0.0, 1.0));
    // What cannot be read is worth nothing at all.
    let turns = play(&["buy an elm"]);
    assert!(["read", "kind_right", "content_right", "asked"].iter().all(|name| turns[0].1[*name] == 0.0));
}

#[test]
fn manners_are_what_they_say() {
    let world = world("sizes = [3]");
    let task = task(world.as_ref());
    let expert = world.expert().unwrap();
    let mut said = Vec::new();
    for manner in ["exact", "hasty", "curious"] {
        let mut env = world.open(&task, &Seed::root(2), None).unwrap();
        env.reset().unwrap();
        let mut turns = Vec::new();
        loop {
            let line = expert.say_in(manner, &task, &turns, &Seed::root(3)).unwrap();
            let action = env.parse(&line);
            let result = env.step(&action, &[]).unwrap();
            turns.push(merit_env::ExpertTurn { said: line, observed: result.observations });
            if matches!(action, Action::Answer { .. }) {
                break;
            }
        }
        said.push(turns.iter().map(|turn| turn.said.clone()).collect::<Vec<_>>());
    }
    assert_eq!(said[0], ["ask hue", "ask wood", "fill red big flat elm"]);
    assert_eq!(said[1].len(), 1);
    assert_eq!(said[2].len(), 5);
    assert_eq!(said[2].last(), said[0].last());
}
