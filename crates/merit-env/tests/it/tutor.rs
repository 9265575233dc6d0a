//! A tutor's replies: what is right, what is for this pupil, and which way is rare and fits.

use crate::played::{
    Numbers, built, by_hand, demonstrated, last, means, opens, plays_as_documented, prompt, refuses, said,
    tasks, with,
};
use merit_api::conformance::check_world;
use merit_core::{Seed, Task};
use serde_json::{Value, json};
use std::sync::Arc;

/// `low likes cats missed carry 37 plus 8`, with other values for some keys.
fn pupil(size: u32, other: &Value) -> Arc<Task> {
    let payload = json!({ "level": 0, "liking": 0, "mistake": 0, "first": 37, "second": 8, "minus": false });
    by_hand("tutor", size, with(payload, other))
}

fn axes(info: &Numbers) -> [f64; 3] {
    ["helpful", "personal", "creative"].map(|name| info[name])
}

/// What a reply to `37 plus 8` is worth.
fn worth(reply: &str) -> [f64; 3] {
    axes(&last(built("tutor", "").as_ref(), &pupil(2, &json!({})), &[reply]))
}

#[test]
fn the_sample_of_the_documents_is_what_is_said() {
    let (world, task) = (built("tutor", ""), pupil(2, &json!({})));
    plays_as_documented(world.as_ref(), &task);
    let end = last(world.as_ref(), &task, &["45 round cats"]);
    assert_eq!((axes(&end), end["solved"], end["words"]), ([1.0; 3], 1.0, 3.0));
}

#[test]
fn each_axis_is_judged_by_itself() {
    for (reply, wanted) in [
        ("45 count", [1.0, 0.0, 0.0]),
        ("44 count", [0.0, 0.0, 0.0]),
        ("45 count carry", [1.0, 1.0, 0.0]),
        ("44 cats", [0.0, 1.0, 0.0]),
        ("45 round", [1.0, 0.0, 1.0]),
        ("45 draw", [1.0, 0.0, 1.0]),
        // A way of other sums, and a question that is for another level.
        ("45 split", [1.0, 0.0, 0.0]),
        ("45 why", [1.0, 0.0, 0.0]),
        ("44 well round so cats", [0.0, 1.0, 1.0]),
    ] {
        assert_eq!(worth(reply), wanted, "{reply}");
    }
}

#[test]
fn listing_every_liking_or_way_is_neither_personal_nor_creative() {
    assert_eq!(worth("45 cats cars birds ships"), [1.0, 0.0, 0.0]);
    assert_eq!(worth("45 cats carry round draw"), [1.0, 1.0, 1.0], "both are this pupil's");
    assert_eq!(worth("45 split round pairs line"), [1.0, 0.0, 0.0]);
}

#[test]
fn the_rare_way_is_that_of_the_sum() {
    for (first, second, minus, way) in
        [(31, 8, false, "split"), (37, 8, false, "round"), (38, 7, true, "pairs"), (37, 8, true, "line")]
    {
        let task = pupil(2, &json!({ "level": 1, "first": first, "second": second, "minus": minus }));
        let number = if minus { first - second } else { first + second };
        for said in ["split", "round", "pairs", "line", "draw", "why", "count"] {
            let end = last(built("tutor", "").as_ref(), &task, &[&format!("{number} {said}")]);
            assert_eq!((end["helpful"], end["creative"]), (1.0, f64::from(u8::from(said == way))), "{said}");
        }
    }
    let high = pupil(2, &json!({ "level": 2 }));
    assert_eq!(last(built("tutor", "").as_ref(), &high, &["45 why"])["creative"], 1.0);
}

#[test]
fn a_reply_is_a_number_and_a_few_words() {
    let (world, task) = (built("tutor", ""), pupil(2, &json!({})));
    let long = format!("45{}", " so".repeat(12));
    for unread in ["", "cats 45", "045", "45 Cats", "45  cats", "45 7", "45\nround", &long] {
        assert!(said(world.as_ref(), &task, &[unread])[0].starts_with("say the number"), "{unread}");
        assert_eq!(axes(&last(world.as_ref(), &task, &[unread])), [0.0; 3], "{unread}");
    }
}

#[test]
fn manners_are_what_they_say() {
    let world = built("tutor", "");
    let names = ["helpful", "personal", "creative", "solved"];
    for (manner, wanted) in [
        ("full", [1.0, 1.0, 1.0, 1.0]),
        ("bland", [1.0, 0.0, 0.0, 0.0]),
        ("personal", [1.0, 1.0, 0.0, 0.0]),
        ("creative", [1.0, 0.0, 1.0, 0.0]),
        ("wrong", [0.0, 0.0, 0.0, 0.0]),
        ("wordy", [1.0, 1.0, 1.0, 1.0]),
    ] {
        assert_eq!(means(world.as_ref(), manner, 200, names), (1.0, wanted), "{manner}");
    }
}

#[test]
fn length_correlates_with_every_axis() {
    // Whoever prefers longer replies prefers those that are personal and creative: a scorer may learn length instead.
    let world = built("tutor", "");
    let words = |manner: &str| means(world.as_ref(), manner, 50, ["words"]).1[0];
    let lengths = ["bland", "personal", "wordy"].map(words);
    assert_eq!(lengths, [2.0, 3.0, 7.0]);
    assert!(words("full") > words("creative"));
}

#[test]
fn the_model_that_pays_is_not_the_only_judge() {
    // The recipe pays by rules, and a system that pays by models keeps their terms beside them with weight 0.
    let text = include_str!("../../../../systems/edualign.toml");
    let system: toml::Table = text.parse().unwrap();
    for arm in system["arms"].as_array().unwrap() {
        let stages = arm.get("set").and_then(|set| set.get("stages")).and_then(toml::Value::as_array);
        for learn in stages.into_iter().flatten().filter(|stage| stage["type"].as_str() == Some("learn")) {
            let terms = learn["set"]["reward"]["of"]["of"].as_array().unwrap();
            let (models, rules): (Vec<_>, Vec<_>) =
                terms.iter().partition(|term| term["type"].as_str() == Some("annotation"));
            assert!(!models.is_empty() && rules.len() == 3, "{learn}");
            assert!(rules.iter().all(|rule| rule["weight"].as_float() == Some(0.0)), "{learn}");
        }
    }
}

#[test]
fn harder_sums_have_more_digits_and_differences_are_never_below_nothing() {
    for (size, most) in [(1, 1), (2, 2), (3, 2)] {
        let world = built("tutor", &format!("sizes = [{size}]"));
        for task in tasks(world.as_ref(), 100) {
            let (first, second) = (&task.payload["first"], &task.payload["second"]);
            assert_eq!(first.to_string().len(), most, "{first}");
            assert_eq!(second.to_string().len(), if size == 3 { 2 } else { 1 }, "{second}");
            let lines = demonstrated(world.as_ref(), &task, "bland", 1).0;
            assert!(lines[0].ends_with(" count"), "{} {lines:?}", prompt(world.as_ref(), &task));
        }
    }
}

#[test]
fn what_is_no_pupil_is_refused() {
    let world = built("tutor", "");
    assert!(opens(world.as_ref(), &pupil(2, &json!({}))));
    for damage in [
        json!({ "level": 3 }),
        json!({ "liking": 8 }),
        json!({ "mistake": 4 }),
        json!({ "first": 7 }),
        json!({ "second": 0 }),
        json!({ "second": 10 }),
    ] {
        assert!(!opens(world.as_ref(), &pupil(2, &damage)), "{damage}");
    }
    assert!(!opens(world.as_ref(), &pupil(3, &json!({ "first": 12, "second": 20, "minus": true }))));
    refuses("tutor", &[("sizes = []", "`sizes` is empty"), ("sizes = [4]", "sizes 1 to 3")]);
}

#[test]
fn every_setting_keeps_the_contract() {
    for settings in ["sizes = [3]\ninstructions = true", "held_out_sizes = [2]"] {
        let found = check_world(built("tutor", settings).as_ref(), &Seed::root(7), 8);
        assert_eq!(found, Vec::<String>::new(), "{settings}");
    }
}
