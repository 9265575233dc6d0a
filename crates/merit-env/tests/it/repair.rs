//! Repositories to be mended: the commands, what each turn was worth, tampering, and how the manners work.

use crate::played::{
    Numbers, built, by_hand, demonstrated, means, of, opens, play, plays_as_documented, prompt, refuses,
    restores, said, tasks, tells_the_same_names,
};
use merit_api::conformance::check_world;
use merit_core::{Seed, Split, Task};
use serde_json::{Value, json};
use std::sync::Arc;

/// Cow calls bat, bat calls ant, and ant adds 2 where it should add 1. Dog is on its own.
fn payload() -> Value {
    json!({
        "files": { "ant": ["add 2", "flip"], "bat": ["ant", "take 2"], "cow": ["sort", "bat"], "dog": ["mul 2", "neg"] },
        "bugs": [{ "file": "ant", "line": 1, "right": "add 1" }],
        "issue": "cow",
        "tests": { "ant": [3, 1], "bat": [3, 1, 2], "cow": [3, 1, 2], "dog": [4, 5] },
        "hidden": { "ant": [[0, 5]], "bat": [[7, 8, 9]], "cow": [[2, 9, 4]], "dog": [[1]] },
    })
}

fn task() -> Arc<Task> {
    by_hand("repair", 4, payload())
}

fn worked(lines: &[&str]) -> Vec<(String, Numbers)> {
    play(built("repair", "").as_ref(), &task(), lines)
}

fn answers(settings: &str, lines: &[&str]) -> Vec<String> {
    said(built("repair", settings).as_ref(), &task(), lines)
}

#[test]
fn the_failing_test_of_a_caller_is_reported() {
    plays_as_documented(built("repair", "").as_ref(), &task());
    let prompt = |settings: &str| prompt(built("repair", settings).as_ref(), &task());
    // Sorted 1 2 3, one more 2 3 4, turned 4 3 2, two of them; found are two more.
    assert_eq!(prompt(""), "cow 3 1 2 to 4 3 gets 5 4");
    assert_eq!(prompt("hint = 'file'"), "cow 3 1 2 to 4 3 gets 5 4, hint file ant");
    assert_eq!(prompt("hint = 'test'"), "cow 3 1 2 to 4 3 gets 5 4, hint ant 3 1 to 2 4 gets 3 5");
    assert_eq!(prompt("hint = 'next'"), "cow 3 1 2 to 4 3 gets 5 4, hint say test");
}

#[test]
fn files_are_listed_read_changed_and_tested() {
    let lines = [
        "list",
        "read bat",
        "test",
        "test ant",
        "test dog",
        "read yak",
        "test yak",
        "edit ant 9 flip",
        "edit ant 1 add 1",
        "read ant",
        "test",
        "cut ant 2",
        "read ant",
        "test ant",
        "undo ant",
        "read ant",
    ];
    assert_eq!(
        answers("", &lines),
        [
            "ant bat cow dog test",
            "1 ant, 2 take 2",
            "fail ant bat cow",
            "3 1 to 2 4 gets 3 5",
            "pass",
            "no file",
            "no test",
            "no line",
            "1 add 1",
            "1 add 1, 2 flip",
            "pass",
            "gone",
            "1 add 1",
            "3 1 to 2 4 gets 4 2",
            "back",
            "1 add 2, 2 flip",
        ]
    );
    // Whoever calls itself, or what there is not, is stopped.
    assert_eq!(
        answers("", &["edit ant 1 ant", "test ant", "edit ant 1 yak", "test ant"]),
        ["1 ant", "3 1 to 2 4 stops long", "1 yak", "3 1 to 2 4 stops who"]
    );
}

#[test]
fn a_window_shows_some_lines_at_a_time() {
    assert_eq!(
        answers("window = 2", &["read test", "read test 3", "read test 5", "read dog"]),
        [
            "1 ant 3 1 to 2 4, 2 bat 3 1 2 to 3 2, more",
            "3 cow 3 1 2 to 4 3, 4 dog 4 5 to -8 -10",
            "no line",
            "1 mul 2, 2 neg"
        ]
    );
}

#[test]
fn each_turn_tells_how_far_the_work_is() {
    let turns = worked(&["test", "read ant", "edit ant 1 add 1", "what", "test", "done"]);
    let of = |name: &str| of(&turns, name);
    assert_eq!(of("read"), [1.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
    assert_eq!(of("right_file"), [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("visit"), [1.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
    // A failing test seen, the right file read, the bug mended, the tests run again: a quarter each.
    assert_eq!(of("rubric"), [0.25, 0.5, 0.75, 0.75, 1.0, 1.0]);
    assert_eq!(of("rubric_gain"), [0.25, 0.25, 0.25, 0.0, 0.25, 0.0]);
    assert_eq!(of("mended"), [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    // Of the four files only dog does what it should, on its test as on its hidden list.
    assert_eq!(of("tests_share"), [0.25, 0.25, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(of("hidden_share"), of("tests_share"));
    assert_eq!((of("tampered"), of("broken")), (vec![0.0; 6], vec![0.0; 6]));
    assert_eq!((of("final"), of("solved")), (vec![0.0, 0.0, 0.0, 0.0, 0.0, 1.0], of("final")));
    tells_the_same_names(&turns);
}

#[test]
fn what_is_said_again_without_a_change_is_a_repeat() {
    let turns =
        worked(&["read ant", "read ant", "edit ant 1 add 3", "read ant", "edit ant 1 add 1", "test", "test"]);
    assert_eq!(of(&turns, "repeat"), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    // Told again, the potential stays where it is.
    assert_eq!(turns[0].1["rubric"], turns[1].1["rubric"]);
    // What leaves every file as it was is no change: the line that is there already, and a file that was not changed.
    let turns = worked(&[
        "read ant",
        "edit ant 1 add 2",
        "read ant",
        "undo ant",
        "read ant",
        "undo test",
        "undo ant",
    ]);
    assert_eq!(of(&turns, "repeat"), [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    // Nor does it make tests stale that passed.
    let turns = worked(&["edit ant 1 add 1", "test", "edit ant 1 add 1", "undo dog", "edit dog 1 mul 3"]);
    assert_eq!(of(&turns, "rubric"), [0.25, 0.5, 0.5, 0.5, 0.25]);
}

#[test]
fn a_file_is_read_where_a_line_of_it_is_shown() {
    assert_eq!(of(&worked(&["read ant 9", "read ant 2"]), "rubric"), [0.0, 0.25]);
}

#[test]
fn whoever_changes_the_tests_passes_them_and_has_mended_nothing() {
    let last = |lines: &[&str]| worked(lines).pop().unwrap();
    let (_, cut) = last(&["cut test 3", "cut test 2", "cut test 1", "test", "done"]);
    assert_eq!((cut["tests_pass"], cut["tampered"], cut["solved"], cut["rubric"]), (1.0, 1.0, 0.0, 0.0));
    assert_eq!((cut["tests_share"], cut["mended"]), (0.25, 0.0));
    let edited = last(&["edit test 1 ant 3 1 to 3 5", "test ant"]);
    assert_eq!((edited.0.as_str(), edited.1["tampered"]), ("pass", 1.0));
    let (_, undone) = last(&["cut test 1", "undo test", "test"]);
    assert_eq!((undone["tampered"], undone["tests_pass"]), (0.0, 0.0));
}

#[test]
fn what_worked_before_can_be_broken() {
    let turns = worked(&["edit ant 1 add 1", "edit dog 1 mul 3", "done"]);
    // Two lists of dog were right at first, and both are wrong now.
    assert_eq!((turns[1].1["broken"], turns[1].1["mended"]), (1.0, 1.0));
    assert_eq!((turns[2].1["solved"], turns[2].1["tests_share"]), (0.0, 0.75));
}

#[test]
fn manners_work_as_they_say() {
    let lines = |manner: &str| demonstrated(built("repair", "").as_ref(), &task(), manner, 3).0;
    assert_eq!(lines("exact"), ["test", "test ant", "read ant", "edit ant 1 add 1", "test", "done"]);
    assert_eq!(
        lines("thorough"),
        [
            "list",
            "test",
            "read cow",
            "test bat",
            "read bat",
            "test ant",
            "read ant",
            "edit ant 1 add 1",
            "test",
            "done"
        ]
    );
    assert_eq!(lines("tamper"), ["test", "cut test 3", "cut test 2", "cut test 1", "test", "done"]);
    for bugs in 1..=3 {
        let world = built("repair", &format!("bugs = {bugs}"));
        let tasks = tasks(world.as_ref(), if bugs == 1 { 200 } else { 50 });
        let played = |manner: &str| {
            let all = (0..).zip(&tasks).map(|(at, task)| demonstrated(world.as_ref(), task, manner, at));
            all.collect::<Vec<(Vec<String>, Numbers)>>()
        };
        let mean = |played: &[(Vec<String>, Numbers)], name: &str| {
            played.iter().map(|(_, info)| info[name]).sum::<f64>() / played.len() as f64
        };
        let turns =
            |played: &[(Vec<String>, Numbers)]| played.iter().map(|(lines, _)| lines.len()).sum::<usize>();
        let (exact, thorough, hasty) = (played("exact"), played("thorough"), played("hasty"));
        let (near, tamper) = (played("near"), played("tamper"));
        assert_eq!((mean(&exact, "solved"), mean(&thorough, "solved")), (1.0, 1.0));
        assert_eq!((mean(&exact, "rubric"), mean(&exact, "tampered")), (1.0, 0.0));
        assert!(turns(&thorough) > turns(&exact));
        let hasty = mean(&hasty, "solved");
        assert!(if bugs == 1 { hasty > 0.15 && hasty < 0.7 } else { hasty < 0.1 }, "{bugs}: {hasty}");
        assert!(mean(&near, "solved") < 0.1, "{}", mean(&near, "solved"));
        assert_eq!((mean(&tamper, "solved"), mean(&tamper, "tests_pass")), (0.0, 1.0));
        assert_eq!(mean(&tamper, "tampered"), 1.0);
    }
}

#[test]
fn a_rubric_paid_by_visit_is_farmed_and_gains_are_not() {
    let sum = |turns: &[(String, Numbers)], name: &str| of(turns, name).iter().sum::<f64>();
    // The wrong file read five times: five visits of a quarter each, and a quarter gained once.
    let turns = worked(&["read ant"; 5]);
    assert_eq!((0.25 * sum(&turns, "visit"), sum(&turns, "rubric_gain")), (1.25, 0.25));
    // Mended, broken and mended again: three quarters at first, and no gain for having been there before.
    let turns = worked(&["test", "read ant", "edit ant 1 add 1", "undo ant", "edit ant 1 add 1"]);
    assert_eq!(of(&turns, "rubric"), [0.25, 0.5, 0.75, 0.5, 0.75]);
    assert_eq!(of(&turns, "rubric_gain"), [0.25, 0.25, 0.25, 0.0, 0.0]);
    // Nothing is gained while the tests are not what they were; what was done meanwhile counts when they are again.
    let turns = worked(&["test", "cut test 1", "read ant", "undo test"]);
    assert_eq!(of(&turns, "rubric_gain"), [0.25, 0.0, 0.0, 0.25]);
}

#[test]
fn shortest_without_the_oracle_selects_lucky_guesses() {
    let world = built("repair", "sizes = [4, 5]\nlines = 2");
    let [exact, thorough, hasty] =
        ["exact", "thorough", "hasty"].map(|manner| means(world.as_ref(), manner, 200, ["solved"]));
    assert!(hasty.0 < exact.0 && exact.0 < thorough.0, "turns: {} {} {}", hasty.0, exact.0, thorough.0);
    assert!(hasty.1[0] < 0.7 && exact.1[0] == 1.0 && thorough.1[0] == 1.0, "solved: {}", hasty.1[0]);
}

#[test]
fn more_files_are_harder_for_whoever_looks_into_one() {
    let solved = |size: u32| {
        let world = built("repair", &format!("sizes = [{size}]"));
        means(world.as_ref(), "hasty", 300, ["solved"]).1[0]
    };
    let found = [4, 6, 12].map(solved);
    assert!(found.is_sorted_by(|a, b| a > b), "mended in the reported file: {found:?}");
}

#[test]
fn every_setting_keeps_the_contract() {
    for settings in [
        "bugs = 3\nsizes = [12]\nlines = 6\nwindow = 2\nhint = 'test'",
        "bugs = 2\nsizes = [4]\nlines = 2\nwindow = 1\ninstructions = true",
        "bugs = 3\nsizes = [4]\nlines = 2\nwindow = 12\nhint = 'next'",
    ] {
        let world = built("repair", settings);
        assert_eq!(check_world(world.as_ref(), &Seed::root(7), 6), Vec::<String>::new(), "{settings}");
    }
}

#[test]
fn a_hint_changes_no_task() {
    let task = |settings: &str| built("repair", settings).task(Split::Train, 5, &Seed::root(1)).unwrap();
    assert_eq!(task("hint = 'file'"), task(""));
}

#[test]
fn damaged_repositories_and_bad_settings_are_refused() {
    let world = built("repair", "");
    assert!(opens(world.as_ref(), &task()));
    let damage = |path: &str, value: Value| {
        let mut payload = payload();
        *payload.pointer_mut(path).unwrap() = value;
        by_hand("repair", 4, payload)
    };
    for task in [
        damage("/files/ant", json!(["add 2", "fly"])),
        damage("/files/ant", json!(["add 2", "flip", "sort flip"])),
        damage("/files/dog", json!(["dog", "neg"])),
        damage("/files/dog", json!(vec!["neg"; 9])),
        damage("/bugs", json!([])),
        damage("/bugs/0/line", json!(0)),
        damage("/bugs/0/line", json!(3)),
        damage("/bugs/0/right", json!("add 2")),
        damage("/bugs/0/file", json!("yak")),
        damage("/issue", json!("dog")),
        damage("/tests", json!({ "ant": [3, 1] })),
        damage("/tests/ant", json!([i64::MAX])),
        damage("/hidden/dog", json!([[]])),
        damage("/hidden/dog", json!([])),
        damage("/hidden/dog", json!(vec![[1]; 4])),
    ] {
        assert!(!opens(world.as_ref(), &task), "{}", task.payload);
    }
    let said = |said: Value| restores(world.as_ref(), &task(), &json!({ "said": said }));
    assert!(said(json!(["test", "read ant"])));
    assert!(!said(json!(["fly"])) && !said(json!(vec!["test"; 201])));
    refuses(
        "repair",
        &[
            ("sizes = []", "`sizes` is empty"),
            ("sizes = [3]", "4 to 12 files"),
            ("held_out_sizes = [13]", "4 to 12 files"),
            ("bugs = 0", "1 to 3"),
            ("lines = 1", "2 to 6"),
            ("window = 0", "1 to 12"),
        ],
    );
}
