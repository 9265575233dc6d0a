//! A shop to search in: what is listed and shown, what a recommendation is worth, and what the manners get wrong.

use crate::played::{
    built, by_hand, demonstrated, last, longest, mean, of, opens, play, plays_as_documented, refuses,
    restores, said, tells_the_same_names, with,
};
use merit_api::conformance::check_world;
use merit_core::{Seed, Task};
use serde_json::{Value, json};
use std::sync::Arc;

/// Red oak for less than 4: item 12 is it, 20 is too dear, 31 is of tin, 45 is blue.
fn wish(more: Value) -> Arc<Task> {
    let item = |number: u32, values: [u8; 7], price: u8| json!({ "number": number, "values": values, "price": price });
    let payload = json!({
        "items": [
            item(12, [0, 0, 3, 2, 0, 0, 0], 3), item(20, [0, 0, 0, 0, 1, 1, 1], 6),
            item(31, [0, 1, 0, 0, 1, 1, 1], 1), item(45, [1, 0, 0, 0, 1, 1, 1], 1),
        ],
        "wanted": [[0, 0], [1, 0]], "under": 4, "tell": [5, 4],
    });
    by_hand("shop", 3, with(payload, &more))
}

#[test]
fn a_search_lists_numbers_and_a_look_tells_all() {
    let (world, task) = (built("shop", ""), wish(json!({})));
    plays_as_documented(world.as_ref(), &task);
    let lines = [
        "find red",
        "find oak red",
        "find pink",
        "show 12",
        "show 20",
        "show 13",
        "hm it is red",
        "find elm",
    ];
    assert_eq!(
        said(world.as_ref(), &task, &lines),
        [
            "got 12 20 31",
            "got 12 20",
            "none",
            "red oak big flat lux soft home 3",
            "red oak slim round nord firm work 6",
            "none",
            "ok",
            "say find WORDS, show N, hm WORDS, pick N WORDS or none",
        ]
    );
    let turns = play(world.as_ref(), &task, &lines);
    let of = |name: &str| of(&turns, name);
    assert_eq!(of("calls"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0, 6.0]);
    assert_eq!(of("thoughts"), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 3.0]);
    assert_eq!(of("read"), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
    assert_eq!((of("spared")[0], of("spared")[7]), (0.875, 0.25));
    // The same names on every turn, and no verdict before the end.
    tells_the_same_names(&turns);
    assert!(of("solved").iter().chain(&of("hard_share")).all(|value| *value == 0.0));
}

#[test]
fn a_recommendation_is_solved_where_it_is_right_and_was_looked_at_and_claims_count_apart() {
    let (world, task) = (built("shop", ""), wish(json!({})));
    let end = |lines: &[&str]| last(world.as_ref(), &task, lines);
    let right = end(&["find red oak", "show 12", "pick 12 soft lux"]);
    assert_eq!((right["solved"], right["persuasive"], right["hard_share"]), (1.0, 1.0, 1.0));
    assert_eq!((right["claims_true"], right["claims_relevant"], right["claims_false"]), (2.0, 2.0, 0.0));
    // True but not asked for: red and flat. One asked and true, one false: they cancel.
    let beside = end(&["show 12", "pick 12 red flat"]);
    assert_eq!((beside["solved"], beside["claims_true"], beside["persuasive"]), (1.0, 2.0, 0.0));
    let lie = end(&["show 12", "pick 12 soft nord"]);
    assert_eq!((lie["solved"], lie["claims_false"], lie["persuasive"]), (1.0, 1.0, 0.0));
    assert_eq!(end(&["show 12", "pick 12 soft"])["persuasive"], 0.5);
    let unseen = end(&["find red oak", "pick 12 soft lux"]);
    assert_eq!((unseen["solved"], unseen["hard_ok"], unseen["grounded"]), (0.0, 1.0, 0.0));
    // Two of three constraints, and true words about it.
    let wrong = end(&["show 20", "pick 20 firm nord"]);
    assert!((wrong["hard_share"] - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!((wrong["solved"], wrong["persuasive"], wrong["wrong_but_persuasive"]), (0.0, 1.0, 1.0));
    let absent = end(&["pick 77 soft"]);
    assert_eq!((absent["exists"], absent["hard_share"], absent["claims_false"]), (0.0, 0.0, 1.0));
    let none = end(&["find red oak", "show 12", "show 20", "none"]);
    assert_eq!((none["solved"], none["hard_ok"], none["wrong_but_persuasive"]), (0.0, 0.0, 0.0));
}

#[test]
fn that_there_is_nothing_must_be_found_out() {
    let world = built("shop", "");
    // Under 2, all red oak is too dear; pink glass there is none.
    let dear = wish(json!({ "under": 2 }));
    let solved = |task: &Arc<Task>, lines: &[&str]| last(world.as_ref(), task, lines)["solved"];
    assert_eq!(solved(&dear, &["none"]), 0.0);
    assert_eq!(solved(&dear, &["find red oak", "show 12", "none"]), 0.0);
    assert_eq!(solved(&dear, &["find oak red", "show 12", "show 20", "none"]), 1.0);
    let absent = wish(json!({ "wanted": [[0, 3], [1, 4]] }));
    assert_eq!(last(world.as_ref(), &absent, &["none"])["feasible"], 0.0);
    assert_eq!(solved(&absent, &["find pink", "none"]), 0.0);
    assert_eq!(solved(&absent, &["find pink glass", "none"]), 1.0);
}

#[test]
fn manners_are_what_they_say_and_more_constraints_are_harder() {
    let all = built("shop", "");
    let all = all.as_ref();
    for right in ["exact", "wordy", "silent"] {
        assert_eq!(mean(all, right, "solved"), 1.0, "{right}");
    }
    assert_eq!((mean(all, "exact", "persuasive"), mean(all, "exact", "thoughts")), (1.0, 0.0));
    assert!(mean(all, "wordy", "thoughts") > 10.0 && mean(all, "silent", "persuasive") < 0.3);
    assert!(mean(all, "pushy", "solved") < 0.12 && mean(all, "pushy", "persuasive") < 0.3);
    assert!(mean(all, "first", "wrong_but_persuasive") > 0.5);
    let solved = |size: u32| mean(built("shop", &format!("sizes = [{size}]")).as_ref(), "first", "solved");
    let by_size: Vec<f64> = (2..=4).map(solved).collect();
    assert!(by_size.is_sorted_by(|a, b| *a > b + 0.02) && by_size[0] < 0.5, "{by_size:?}");
    let feasible = 1.0 - mean(all, "exact", "feasible");
    assert!((feasible - 0.15).abs() < 0.08, "{feasible}");
    assert!(longest(all, "wordy") < 150, "{}", longest(all, "wordy"));
    let lines = demonstrated(all, &wish(json!({})), "exact", 3).0;
    assert_eq!(lines, ["find red oak", "show 12", "pick 12 soft lux"]);
}

#[test]
fn damage_and_nonsense_are_refused() {
    let world = built("shop", "");
    for damage in [
        json!({ "under": 1 }),
        json!({ "items": [] }),
        json!({ "wanted": [[0, 0], [0, 1]] }),
        json!({ "tell": [0] }),
        json!({ "wanted": [[0, 0], [9, 1]] }),
        json!({ "wanted": [[0, 0]] }),
        json!({ "under": 7 }),
        json!({ "tell": [] }),
        json!({ "tell": [2, 3, 4] }),
    ] {
        assert!(!opens(world.as_ref(), &wish(damage.clone())), "{damage}");
    }
    // Five constraints are more words than can be searched for.
    let five = with(wish(json!({})).payload.clone(), &json!({ "wanted": [[0, 0], [1, 0], [2, 0], [3, 0]] }));
    assert!(!opens(world.as_ref(), &by_hand("shop", 5, five)));
    let restores = |state: Value| restores(world.as_ref(), &wish(json!({})), &state);
    assert!(restores(json!({ "calls": 2, "shown": [12], "searched": true })));
    assert!(
        !restores(json!({ "calls": 1, "shown": [13] }))
            && !restores(json!({ "calls": 1, "shown": [12, 20] }))
    );
    let cases = [
        ("sizes = []", "`sizes` is empty"),
        ("sizes = [5]", "2 to 4 constraints"),
        ("items = 7", "8 to 60"),
        ("infeasible = 1.5", "between 0 and 1"),
        ("stars = 1", "unknown field"),
    ];
    refuses("shop", &cases);
    for settings in ["items = 8\nsizes = [4]\ninfeasible = 1.0", "items = 60\ninstructions = true"] {
        let found = check_world(built("shop", settings).as_ref(), &Seed::root(7), 8);
        assert_eq!(found, Vec::<String>::new(), "{settings}");
    }
}
