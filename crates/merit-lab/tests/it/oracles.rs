//! The oracle of a reading: in the world of a system, judged by the system's own reward, the world's expert solves every held-out
//! task within the system's turns, so that there is room above whatever a small policy ends with.

use merit_core::Split;
use merit_run::{Backend, Play, Recipe, overrides, play_role, shipped};
use merit_tools::Toolbox;
use toml::{Table, Value};

/// The recipe of an arm, as far as its world, its reward and its turns: who learns, and how, does not matter here.
fn recipe(part: &Table, arm: &Table) -> Recipe {
    let mut experiment = part["experiment"].as_table().unwrap().clone();
    if let Some(set) = arm.get("set").and_then(Value::as_table) {
        overrides::merge(&mut experiment, set);
    }
    let name = experiment["recipe"].as_str().unwrap().to_owned();
    let base = shipped::load(&name).unwrap();
    let mut whole: Table = base.to_toml().parse().unwrap();
    whole.remove("controls");
    experiment.retain(|key, _| ["world", "reward", "rollout"].contains(&key));
    if let Some(rollout) = experiment.get_mut("rollout").and_then(Value::as_table_mut) {
        rollout.retain(|key, _| key == "max_turns");
    }
    overrides::merge(&mut whole, &experiment);
    Recipe::read(&name, &toml::to_string(&whole).unwrap(), &base.components).unwrap()
}

/// The share of held-out tasks that the expert solves.
fn solved(recipe: &Recipe) -> f64 {
    let play = Play {
        split: Split::HeldOut,
        tasks: 24,
        group_size: 1,
        temperature: 0.0,
        seed: 1,
        fork_at: None,
        toolbox: Toolbox::default(),
    };
    let played = play_role(recipe, &Backend::default(), &play, 1, &mut |_| {}).unwrap();
    let solved = played.iter().filter_map(|one| one.score.as_ref()?.solved).filter(|solved| *solved);
    solved.count() as f64 / played.len() as f64
}

#[test]
fn the_expert_solves_every_held_out_task_of_every_system() {
    let mut missed = Vec::new();
    for (name, text) in merit_lab::systems() {
        let system: Table = text.parse().unwrap();
        let parts = system.get("parts").and_then(Value::as_array);
        let parts: Vec<&Table> =
            parts.map_or(vec![&system], |parts| parts.iter().filter_map(Value::as_table).collect());
        for part in parts.iter().filter(|part| part["experiment"]["type"].as_str() == Some("recipe")) {
            let arms = part["arms"].as_array().unwrap().iter().filter_map(Value::as_table);
            for arm in arms.filter(|arm| arm["role"].as_str() == Some("method")) {
                let share = solved(&recipe(part, arm));
                if share < 1.0 {
                    missed.push(format!("{name}, arm {}: {share:.2}", arm["name"]));
                }
            }
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}
