//! The clinic: what the patient answers, what each turn was worth, and how doctors of different manners do.

use crate::played::{
    Numbers, built, by_hand, means, of, opens, play, plays_as_documented, refuses, restores, said,
    tells_the_same_names, with,
};
use merit_api::conformance::check_world;
use merit_core::{Seed, Task};
use serde_json::{Value, json};
use std::sync::Arc;

/// Somebody with flu (signs cough, sneeze, heat, sweat, wheeze, weak), who tells heat and sweat and does not know about swell.
fn patient(more: &Value) -> Arc<Task> {
    let flu = json!({ "disease": 2, "has": [0, 1, 2, 8, 14, 19], "unsure": [7], "told": [2, 8] });
    by_hand("clinic", 3, with(flu, more))
}

fn visit(lines: &[&str]) -> Vec<(String, Numbers)> {
    play(built("clinic", "patience = 6").as_ref(), &patient(&json!({})), lines)
}

#[test]
fn the_patient_answers_what_is_asked_and_leaves_when_asked_too_much() {
    let lines = ["ask cough", "ask rash", "ask swell", "ask heat", "calm", "ask fever", "ask cough", "calm"];
    let world = built("clinic", "patience = 6");
    plays_as_documented(world.as_ref(), &patient(&json!({})));
    let said = said(world.as_ref(), &patient(&json!({})), &lines);
    let hint = "say ask SIGN, calm or treat ILL CURE";
    // What cannot be read costs no patience; the seventh line is one too many.
    assert_eq!(said, ["yes", "no", "unsure", "yes", "thanks", hint, "yes", "bye"]);
}

#[test]
fn belief_follows_the_table() {
    // Heat and sweat are both signs of flu, mumps and stroke; heat alone of burn. Weights 0.81 three times, 0.045 once (0.9 x 0.05),
    // 0.0025 for the eight others: 0.81 / 2.495 for flu. A first malformed line shows the belief at the start.
    let turns = visit(&["hm", "ask cough", "ask wheeze"]);
    let belief = of(&turns, "belief");
    assert!((belief[0] - 0.81 / 2.495).abs() < 1e-9, "{belief:?}");
    // Cough: a sign of flu and mumps, not of stroke and burn; of the others three have it (stone, cold, stye).
    let sum = 2.0 * 0.81 * 0.9 + 0.81 * 0.05 + 0.045 * 0.05 + 0.0025 * (3.0 * 0.9 + 5.0 * 0.05);
    assert!((belief[1] - 0.81 * 0.9 / sum).abs() < 1e-9, "{belief:?}");
    assert!(belief[2] > 0.9, "{belief:?}");
    // What `ask cough` is expected to bring: the entropy before it, less that after `yes` and after `no`, each as often as it is said.
    let weights = |cough: f64, none: f64| {
        let one = |weight: f64, often: f64| weight * often;
        [
            vec![one(0.81, cough); 2],
            vec![one(0.81, none), one(0.045, none)],
            vec![one(0.0025, cough); 3],
            vec![one(0.0025, none); 5],
        ]
        .concat()
    };
    let entropy = |weights: &[f64]| {
        let all: f64 = weights.iter().sum();
        weights.iter().map(|weight| -weight / all * (weight / all).log2()).sum::<f64>()
    };
    let (yes, no) = (weights(0.9, 0.05), weights(0.1, 0.95));
    let often = yes.iter().sum::<f64>() / 2.495;
    let bits = entropy(&weights(1.0, 1.0)) - often * entropy(&yes) - (1.0 - often) * entropy(&no);
    assert!((turns[1].1["bits"] - bits).abs() < 1e-9, "{} and {bits}", turns[1].1["bits"]);
}

#[test]
fn a_treatment_is_as_risky_as_the_diseases_that_it_harms_are_likely() {
    // Balm cures mumps and croup. It harms their likes, flu and shock, and cold and stye: 0.81 and three times 0.0025 of 2.495.
    let risk = |lines: &[&str]| visit(lines).pop().unwrap().1["risk"];
    assert!((risk(&["treat mumps balm"]) - 0.8175 / 2.495).abs() < 1e-9);
    // Rest cures gout and stye; it harms cramp and cold, and stone and hives: four times 0.0025.
    assert!((risk(&["treat flu rest"]) - 0.01 / 2.495).abs() < 1e-9);
}

#[test]
fn each_turn_is_worth_what_the_table_says() {
    let turns = visit(&["calm", "ask cough", "ask cough", "ask swell", "calm", "treat mumps balm"]);
    let of = |name: &str| of(&turns, name);
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
    assert_eq!((of("unsafe")[5], of("diagnosed")[5], of("cured")[5], of("solved")[5]), (1.0, 0.0, 0.0, 0.0));
    let right = &visit(&["treat flu pill"])[0].1;
    assert_eq!((right["diagnosed"], right["cured"], right["unsafe"], right["solved"]), (1.0, 1.0, 0.0, 1.0));
    let idle = &visit(&["treat flu rest"])[0].1;
    assert_eq!((idle["diagnosed"], idle["cured"], idle["unsafe"], idle["solved"]), (1.0, 0.0, 0.0, 0.0));
    tells_the_same_names(&visit(&["treat the flu", "calm", "ask cough", "treat flu rest"]));
}

#[test]
fn manners_are_what_they_say() {
    let world = built("clinic", "");
    let of = |manner: &str| means(world.as_ref(), manner, 200, ["solved", "unsafe", "diagnosed"]);
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
        let solved = |size: u32| {
            let world = built("clinic", &format!("sizes = [{size}]"));
            means(world.as_ref(), manner, 200, ["solved"]).1[0]
        };
        let found = [1, 3, 6].map(solved);
        assert!(found.is_sorted_by(|a, b| a > b), "{manner}: {found:?}");
    }
}

#[test]
fn nonsense_is_refused() {
    refuses(
        "clinic",
        &[
            ("sizes = []", "`sizes` is empty"),
            ("sizes = [0]", "1 to 6 questions"),
            ("held_out_sizes = [7]", "1 to 6 questions"),
            ("sizes = [6]\npatience = 6", "7 to 20, more than the largest size"),
            ("unsure = 0.5", "0 to 0.3"),
            ("unsure = nan", "0 to 0.3"),
        ],
    );
    let world = built("clinic", "");
    let opens = |more: &Value| opens(world.as_ref(), &patient(more));
    assert!(opens(&json!({})));
    for damage in [
        json!({ "disease": 12 }),
        json!({ "disease": 3 }),
        json!({ "told": [2, 9] }),
        json!({ "told": [8, 2] }),
        json!({ "has": [2, 8, 20] }),
        json!({ "unsure": [7, 7] }),
    ] {
        assert!(!opens(&damage), "{damage}");
    }
    let restores = |more: &Value| restores(world.as_ref(), &patient(&json!({})), more);
    assert!(restores(&json!({ "asked": [3, 1], "lines": 3, "calmed": true })));
    for damage in [
        json!({ "asked": [20], "lines": 1 }),
        json!({ "asked": [1, 1], "lines": 2 }),
        json!({ "asked": [1], "calmed": true, "lines": 1 }),
    ] {
        assert!(!restores(&damage), "{damage}");
    }
}

#[test]
fn every_size_can_be_drawn_however_unsure_patients_are() {
    for unsure in ["0.0", "0.3"] {
        let world =
            built("clinic", &format!("sizes = [1, 2, 3, 4, 5, 6]\nunsure = {unsure}\ninstructions = true"));
        assert_eq!(check_world(world.as_ref(), &Seed::root(5), 24), Vec::<String>::new(), "{unsure}");
    }
}
