//! Tables to ask: what lines say and why they fail, which of them are of use, and what the manners get wrong.

use crate::played::{
    built, by_hand, demonstrated, last, longest, mean, of, opens, play, plays_as_documented, prompt, refuses,
    restores, said, tells_the_same_names, with,
};
use merit_api::conformance::check_world;
use merit_core::{Action, Seed, Task};
use serde_json::{Value, json};
use std::sync::Arc;

/// Four rows of hue, feel, cost and mass; the top feel by the sum of costs among what is red.
fn sheet(size: u32, more: Value) -> Arc<Task> {
    let row =
        |hue: u8, feel: u8, cost: u32, mass: u32| json!({ "values": [hue, feel], "numbers": [cost, mass] });
    let payload = json!({
        "words": [0, 5], "numbers": [0, 1],
        "rows": [row(0, 0, 10, 1), row(0, 1, 20, 2), row(1, 0, 5, 3), row(0, 0, 30, 4)],
        "question": { "keep": [[0, 0]], "group": 5, "aggregate": "sum", "column": 0, "low": false },
    });
    by_hand("tables", size, with(payload, &more))
}

const RIGHT: [&str; 4] = ["keep hue red", "group feel", "sum cost", "top"];

#[test]
fn lines_say_what_becomes_of_the_table() {
    let (world, task) = (built("tables", ""), sheet(4, json!({})));
    assert_eq!(prompt(world.as_ref(), &task), "hue feel cost mass ask top feel by sum cost for red");
    let said = |lines: &[&str]| said(world.as_ref(), &task, lines);
    assert_eq!(said(&RIGHT), ["3 rows", "soft firm", "soft 40 firm 20", "soft 40"]);
    assert_eq!(said(&["sum cost", "most mass", "least cost"]), ["65", "4", "5"]);
    assert_eq!(
        said(&["group hue", "most mass", "low", "keep feel firm", "most mass"]),
        ["red blue", "red 4 blue 3", "blue 3", "1 rows", "red 2"]
    );
    assert_eq!(said(&["keep hue red", "fresh", "sum mass"]), ["3 rows", "4 rows", "10"]);
    assert_eq!(
        said(&["group make", "keep hue soft", "keep cost red", "sum hue", "group cost", "top", "sum stock"]),
        [
            "no column make",
            "no soft in hue",
            "no words in cost",
            "no numbers in hue",
            "no words in cost",
            "nothing to rank",
            "no column stock"
        ]
    );
    assert_eq!(
        said(&["keep hue red", "keep hue blue", "sum cost", "group feel"]),
        ["3 rows", "0 rows", "no rows", "no rows"]
    );
}

#[test]
fn the_sample_in_the_documents_is_what_is_said() {
    // Of the seven rows that are red, soft costs 50 + 40 + 30 and firm 48 + 20 + 11 + 9.
    let row = |hue: u8, feel: u8, cost: u32| json!({ "values": [hue, 0, 1, feel], "numbers": [cost, 5] });
    let red =
        [(0, 50), (1, 48), (0, 40), (1, 20), (1, 11), (0, 30), (1, 9)].map(|(feel, cost)| row(0, feel, cost));
    let rows = [red.as_slice(), &[row(1, 1, 99), row(2, 0, 99)]].concat();
    let task = sheet(4, json!({ "words": [0, 1, 4, 5], "numbers": [0, 1], "rows": rows }));
    plays_as_documented(built("tables", "").as_ref(), &task);
}

#[test]
fn infos_tell_which_lines_ran_and_which_were_of_use() {
    let (world, task) = (built("tables", ""), sheet(4, json!({})));
    let lines = [
        "sum hue",
        "keep hue red",
        "keep hue red",
        "group feel",
        "add it",
        "most cost",
        "sum cost",
        "top",
        "answer soft 40",
    ];
    let turns = play(world.as_ref(), &task, &lines);
    let of = |name: &str| of(&turns, name);
    assert_eq!(of("ran"), [0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
    assert_eq!(of("failed"), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("unread"), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("used"), [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    assert_eq!(of("progress"), [0.0, 0.25, 0.25, 0.5, 0.5, 0.5, 0.75, 1.0, 1.0]);
    assert_eq!(of("right"), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    // Six lines ran, of which four were of use.
    let end = &turns[8].1;
    assert_eq!((end["lines"], end["idle_lines"], end["failures"], end["unread_lines"]), (6.0, 2.0, 1.0, 1.0));
    tells_the_same_names(&turns);
    // A row that is not asked for undoes the progress, and the way back is of no new use.
    let astray = play(world.as_ref(), &task, &["keep hue red", "keep feel soft", "fresh", "keep hue red"]);
    assert_eq!(crate::played::of(&astray, "progress"), [0.25, 0.0, 0.0, 0.25]);
    assert_eq!(astray[3].1["used"], 0.0);
    assert_eq!(last(world.as_ref(), &task, &["answer firm 20"])["right"], 0.0);
    // A right answer that nothing led to is told apart by the progress.
    let guessed = last(world.as_ref(), &task, &["answer soft 40"]);
    assert_eq!((guessed["right"], guessed["progress"]), (1.0, 0.0));
}

#[test]
fn only_a_number_or_a_word_with_one_is_an_answer() {
    let (world, task) = (built("tables", ""), sheet(4, json!({})));
    let env = world.open(&task, &Seed::root(2), None).unwrap();
    assert_eq!(env.parse("answer soft 40\n"), Action::Answer { text: "soft 40".to_owned() });
    assert_eq!(env.parse("answer 40"), Action::Answer { text: "40".to_owned() });
    for line in
        ["answer soft", "answer oslo 4", "answer 040", "answer -4", "answer soft 40 20", "answer 4\nanswer 5"]
    {
        assert!(matches!(env.parse(line), Action::Malformed { .. }), "{line}");
    }
}

#[test]
fn manners_are_what_they_say_and_longer_questions_are_harder() {
    let all = built("tables", "sizes = [1, 2, 3, 4, 5]");
    let all = all.as_ref();
    for right in ["exact", "clumsy", "slow"] {
        assert_eq!(mean(all, right, "right"), 1.0, "{right}");
    }
    assert_eq!((mean(all, "exact", "idle_lines"), mean(all, "exact", "failures")), (0.0, 0.0));
    assert_eq!((mean(all, "clumsy", "failures"), mean(all, "slow", "failures")), (1.0, 0.0));
    assert!(mean(all, "slow", "idle_lines") > 3.0);
    let by_size = |manner: &str| {
        let of = |size: u32| mean(built("tables", &format!("sizes = [{size}]")).as_ref(), manner, "right");
        (1..=5).map(of).collect::<Vec<f64>>()
    };
    let careless = by_size("careless");
    assert!(careless[0] < 0.85 && careless[4] < 0.3, "{careless:?}");
    // Three lines are of two kinds. `difficulty` holds that each line more is harder for whoever gives up.
    assert!([(0, 1), (1, 3), (3, 4)].iter().all(|(a, b)| careless[*a] > careless[*b]), "{careless:?}");
    let hasty = by_size("hasty");
    assert!(hasty[0] == 1.0 && hasty[1] < 0.4 && hasty[4] < 0.2, "{hasty:?}");
    assert!(longest(all, "slow") < 110, "{}", longest(all, "slow"));
    let lines = demonstrated(all, &sheet(4, json!({})), "exact", 3).0;
    assert_eq!(lines, [RIGHT.as_slice(), &["answer soft 40"]].concat());
}

#[test]
fn damage_and_nonsense_are_refused() {
    let world = built("tables", "");
    let asked = |keep: Value, group: Value| json!({ "question": { "keep": keep, "group": group, "aggregate": "sum", "column": 0, "low": false } });
    for damage in [
        json!({ "rows": [] }),
        json!({ "words": [0, 0] }),
        json!({ "words": [0, 9] }),
        json!({ "numbers": [0] }),
        asked(json!([[0, 0], [5, 0]]), json!(5)),
        asked(json!([[2, 0]]), json!(5)),
        asked(json!([]), json!(5)),
        asked(json!([[0, 1]]), json!(5)),
        asked(json!([[0, 3]]), json!(5)),
    ] {
        assert!(!opens(world.as_ref(), &sheet(4, damage.clone())), "{damage}");
    }
    let restores = |state: &Value| restores(world.as_ref(), &sheet(4, json!({})), state);
    assert!(restores(&json!({ "keep": [[0, 0]], "group": 5, "computed": ["sum", 0], "best": 3 })));
    for damage in [
        json!({ "keep": [[3, 0]] }),
        json!({ "keep": [[0, 0], [0, 0]] }),
        json!({ "group": 3 }),
        json!({ "computed": ["sum", 3] }),
        json!({ "best": 9 }),
    ] {
        assert!(!restores(&damage), "{damage}");
    }
    let cases = [
        ("sizes = []", "`sizes` is empty"),
        ("sizes = [6]", "1 to 5 lines"),
        ("columns = 9", "4 to 8"),
        ("rows = 9", "10 to 40"),
    ];
    refuses("tables", &cases);
    for settings in ["columns = 4\nrows = 10\nsizes = [3, 5]", "columns = 8\nrows = 40\ninstructions = true"]
    {
        let found = check_world(built("tables", settings).as_ref(), &Seed::root(7), 8);
        assert_eq!(found, Vec::<String>::new(), "{settings}");
    }
}
