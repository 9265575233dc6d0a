//! Terms about form: length, repetition, ends and tags. None of them says that an answer is right.

use crate::support::*;
use merit_core::End;
use serde_json::Value;

fn says(texts: &[&str]) -> merit_core::Episode {
    let did: Vec<Did<'_>> = texts.iter().map(|text| Did::Says(text)).collect();
    play(None, Value::Null, &did)
}

#[test]
fn a_window_of_lengths_falls_off_linearly() {
    let toml = "type = 'length'\nunit = 'words'\nmin = 2\nmax = 3\ndecay = 4";
    for (text, want) in [("a b", 1.0), ("a b c", 1.0), ("a", 0.75), ("a b c d e", 0.5), ("", 0.0)] {
        check(toml, &says(&[text]), want);
    }
    check("type = 'length'\nunit = 'chars'\nmin = 1\nmax = 2", &says(&["äö"]), 1.0);
    check("type = 'length'\nunit = 'chars'\nmin = 1\nmax = 2", &says(&["äöü"]), 0.0);
}

#[test]
fn tokens_are_those_the_policy_sampled_and_unknown_ones_are_not_0() {
    let window = |max: usize, reading: &str| {
        format!("type = 'length'\nunit = 'tokens'\nmin = 1\nmax = {max}\nreading = '{reading}'")
    };
    let episode = says(&["a", "b", "c"]);
    check(&window(TOKENS, "last-turn"), &episode, 1.0);
    check(&window(TOKENS, "all-turns"), &episode, 0.0);
    check(&window(3 * TOKENS, "all-turns"), &episode, 1.0);
    check_silent(&window(TOKENS, "last-turn"), &imported(episode));
    assert!(
        refusal("type = 'length'\nunit = 'tokens'\nmin = 1\nmax = 2\nreading = 'answer'").contains("by turn")
    );
}

#[test]
fn repeats_are_counted_over_everything_and_by_turn() {
    let toml = "type = 'repetition'\nn = 1";
    // Of six words three repeat an earlier one; the first turn repeats none, the second one of two, the third one of two.
    let episode = says(&["a b", "c c", "a a"]);
    check(toml, &episode, 0.5);
    assert_eq!(term(toml, &episode).turns, [Some(1.0), Some(0.5), Some(0.5)]);
    check(toml, &says(&[]), 0.0);
}

#[test]
fn ended_tells_ends_apart_and_does_not_know_the_unknown() {
    let with = |end: End| merit_core::Episode { end, ..says(&["x"]) };
    check("type = 'ended'", &with(End::Answered), 1.0);
    check("type = 'ended'", &with(End::EnvironmentDone), 1.0);
    check("type = 'ended'\nby = 'answer'", &with(End::EnvironmentDone), 0.0);
    check("type = 'ended'", &says(&["x"]), 0.0);
    check_silent("type = 'ended'", &imported(with(End::Unknown)));
}

const TAGS: &str = "type = 'tag-format'\ntags = ['think', 'call|answer']";

#[test]
fn required_tags_stand_once_closed_in_order_with_something_in_them() {
    let good = ["<think>hm</think><answer>7</answer>", "so <think>hm</think> and <call>f()</call>."];
    for text in good {
        check(TAGS, &says(&[text]), 1.0);
    }
    let bad = [
        ("", "<think> is not there"),
        ("<think>hm</think>", "<call> or <answer> is not there"),
        ("<answer>7</answer><think>hm</think>", "<answer> stands where <think> should"),
        ("<think>hm<answer>7</answer></think>", "another tag stands inside"),
        ("<think>hm</think><answer>7", "<answer> is never closed"),
        ("<think></think><answer></answer>", "there is nothing in <think>"),
        ("<think>a</think><answer>7</answer><answer>8</answer>", "once more"),
        ("</think><think>a</think><answer>7</answer>", "closed that is not open"),
        ("<think>a</think><answer>7</answer></answer>", "closed that is not open"),
    ];
    for (text, why) in bad {
        check(TAGS, &says(&[text]), 0.0);
        let shown = evidence(TAGS, &says(&[text]));
        assert!(shown.contains(why), "{text}: {shown}");
    }
}

#[test]
fn tags_can_be_paid_in_part_by_turn_and_alone() {
    let half = "<think>hm</think> 7";
    check(&format!("{TAGS}\npartial = true"), &says(&[half]), 0.5);
    let each = format!("{TAGS}\neach_turn = true");
    let episode = says(&["<think>a</think><call>f</call>", half]);
    check(&each, &episode, 0.5);
    assert_eq!(term(&each, &episode).turns, [Some(1.0), Some(0.0)]);
    let alone = format!("{TAGS}\nnothing_outside = true");
    check(&alone, &says(&["\n<think>a</think>\n<call>f</call>\n"]), 1.0);
    check(&alone, &says(&["<think>a</think> well <call>f</call>"]), 0.0);
}
