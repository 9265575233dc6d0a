//! The sale: what the customer says, how the chance of a deal moves, and how sellers of different manners do.

use crate::played::{
    Numbers, built, by_hand, means, of, opens, play, plays_as_documented, refuses, restores, said,
    tells_the_same_names, with,
};
use merit_core::Task;
use serde_json::{Value, json};
use std::sync::Arc;

/// Somebody who tells that they need room and not that they have 4, and doubts that it is true and that it is the time.
fn customer(more: &Value) -> Arc<Task> {
    let somebody =
        json!({ "need": 1, "cash": 4, "doubts": [0, 1], "told": [true, false], "patience": 8, "luck": 500 });
    by_hand("sale", 2, with(somebody, more))
}

fn talk(more: &Value, lines: &[&str]) -> Vec<(String, Numbers)> {
    play(built("sale", "").as_ref(), &customer(more), lines)
}

/// The logistic function.
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn the_customer_says_what_is_on_their_mind() {
    let (world, task) = (built("sale", ""), customer(&json!({})));
    plays_as_documented(world.as_ref(), &task);
    let said = |lines: &[&str]| said(world.as_ref(), &task, lines);
    let talk = ["ask cash", "show room", "bid 4", "prove", "wait", "close"];
    assert_eq!(said(&talk), ["cash 4", "nice who says", "fine who says", "ok not now", "ok", "deal"]);
    // Doubts are settled in their order, once something was shown; the eighth act is the last.
    let clumsy = ["prove", "show heat", "bid 5", "bid 2", "show room", "wait", "buy it", "prove"];
    let hint = "say ask, show, bid, prove, wait, swap, cut or close";
    assert_eq!(
        said(&clumsy),
        ["so what", "so what", "too much", "odd", "nice who says", "so what who says", hint, "bye"]
    );
}

#[test]
fn the_chance_of_a_deal_follows_the_formula() {
    // By hand: -1.5 + 2 shown + 3.5 fair - 2.5 for each of two doubts - 0.4 for each slip.
    let lines = ["ask cash", "ask need", "show room", "bid 4", "prove", "wait", "close"];
    let turns = talk(&json!({}), &lines);
    let of = |name: &str| of(&turns, name);
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
    let unlucky = talk(&json!({ "luck": 980 }), &lines);
    assert_eq!((unlucky[6].0.as_str(), unlucky[6].1["converted"]), ("no", 0.0));
    // One less than they have is taken, and worth three quarters.
    let modest = talk(&json!({}), &["show room", "bid 3", "prove", "wait", "close"]);
    assert_eq!((modest[4].1["converted"], modest[4].1["value"]), (1.0, 0.75));
    let gone = talk(&json!({ "patience": 6 }), &["hm"; 6]);
    assert_eq!((gone[5].1["left"], gone[5].1["chance"], gone[5].1["slips"]), (1.0, 0.0, 6.0));
    tells_the_same_names(&[turns, gone].concat());
}

#[test]
fn manners_are_what_they_say() {
    let world = built("sale", "");
    let of = |manner: &str| means(world.as_ref(), manner, 300, ["converted", "value", "slips"]).1;
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
    let world = built("sale", "");
    let [converted, chance] = means(world.as_ref(), "pushy", 2000, ["converted", "chance"]).1;
    assert!((converted - chance).abs() < 0.03, "{converted} deals where {chance} were likely");
}

#[test]
fn whoever_settles_no_doubt_sells_less_with_more_doubts() {
    let sold = |size: u32| {
        let world = built("sale", &format!("sizes = [{size}]"));
        means(world.as_ref(), "pushy", 200, ["converted"]).1[0]
    };
    let found = [1, 2, 3].map(sold);
    assert!(found.is_sorted_by(|a, b| a > b), "{found:?}");
}

#[test]
fn nonsense_is_refused() {
    refuses(
        "sale",
        &[
            ("sizes = []", "`sizes` is empty"),
            ("sizes = [0]", "1 to 5 doubts"),
            ("held_out_sizes = [6]", "1 to 5 doubts"),
            ("told = 1.5", "0 to 1"),
            ("slack = 9", "0 to 8"),
        ],
    );
    let world = built("sale", "");
    let opens = |more: &Value| opens(world.as_ref(), &customer(more));
    assert!(opens(&json!({})));
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
        assert!(!opens(&damage), "{damage}");
    }
    let talk = |more: Value| {
        let talk = json!({ "shown": true, "settled": 1, "acts": 2 });
        restores(world.as_ref(), &customer(&json!({})), &with(talk, &more))
    };
    assert!(talk(json!({})));
    for damage in [
        json!({ "settled": 3 }),
        json!({ "shown": false }),
        json!({ "acts": 99 }),
        json!({ "bid": 7 }),
        json!({ "slips": 3 }),
    ] {
        assert!(!talk(damage.clone()), "{damage}");
    }
}
