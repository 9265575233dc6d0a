//! Which rewards are refused, and with what words; every registered example compiles and conforms.

use crate::episodes::{Did, broken, episode};
use merit_core::CallEnd;
use merit_core::registry::Components;
use merit_reward::{RewardConfig, Scorer, conformance, register};

fn refused(toml: &str) -> String {
    let config: RewardConfig = RewardConfig::from_toml(toml).unwrap();
    match Scorer::compile(&config) {
        Ok(_) => panic!("{toml} compiles"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_cannot_work_is_refused_with_its_place() {
    let cases = [
        ("type = 'sum'\nof = []", "reward, at `reward`: `sum` has no parts; list at least one in `of`"),
        (
            "type = 'sum'\nof = [{ type = 'format' }, { type = 'product', of = [{ type = 'format' }] }]",
            "reward, at `reward.of[1].of[0]`: there are two terms called `format`; give one of them another `name`",
        ),
        (
            "type = 'clip'\nof = { type = 'format' }\nlow = 1\nhigh = 0",
            "reward, at `reward`: `low` is 1, above `high`, 0; swap them",
        ),
        (
            "type = 'gate'\nwhen = 'fromat'\nat_least = 1\nthen = { type = 'format' }",
            "reward, at `reward`: there is no term `fromat` in this reward (did you mean `format`?)",
        ),
        (
            "type = 'veto'\nwhen = 'format'\nbelow = 1\nabove = 2\nvalue = 0\nthen = { type = 'format' }",
            "reward, at `reward`: a veto needs exactly one of `below`, `at_most`, `above`, `at_least`; 2 are given",
        ),
        (
            "type = 'schedule'\nof = { type = 'format' }\nfrom = 0\nto = 1\nstart_step = 9\nend_step = 3",
            "reward, at `reward`: `start_step` is 9, after `end_step`, 3; swap them and `from` and `to`",
        ),
        ("type = 'format'\nweight = inf", "reward, at `reward`: `weight` is inf; it must be finite"),
        (
            "type = 'format'\nname = ' '",
            "reward, at `reward`: `name` is empty; leave it out to use the term's type",
        ),
        (
            "type = 'exact-answer'\non_parse_failure = { value = nan }",
            "reward, at `reward`: `on_parse_failure.value` is NaN; it must be finite",
        ),
        (
            "type = 'sum'\nof = [{ type = 'solved-by', term = 'format', of = { type = 'format' } }]",
            "reward, at `reward.of[0]`: `solved-by` speaks for the whole reward; put it outermost",
        ),
    ];
    for (toml, want) in cases {
        assert_eq!(refused(toml), want);
    }
}

#[test]
fn unknown_keys_and_types_are_refused() {
    let cases = [
        ("type = 'format'\nwieght = 2", "unknown field `wieght`"),
        ("type = 'fromat'", "unknown reward term or combinator `fromat` (did you mean `format`?)"),
        (
            "type = 'gate'\nwhen = { type = 'format', wieght = 1 }\nat_least = 1\nthen = { type = 'format' }",
            "wieght",
        ),
        (
            "type = 'cost'\nper_token = -0.1",
            "`cost`: `per_token` is -0.1; it must be a finite number of at least 0",
        ),
        (
            "type = 'tool-success'\nmax_calls = 0",
            "`tool-success`: `max_calls` is 0, so that no call could ever count",
        ),
        ("type = 'gate'\nwhen = 3\nat_least = 1\nthen = { type = 'format' }", "the name of a term"),
    ];
    for (toml, want) in cases {
        let error = RewardConfig::from_toml(toml).unwrap_err().to_string();
        assert!(error.contains(want), "{toml}: {error}");
    }
}

#[test]
fn every_registered_example_compiles_conforms_and_survives_saving() {
    let episodes = [
        episode(
            Some("7"),
            4,
            &[Did::Calls(&[CallEnd::Ok, CallEnd::Refused]), Did::Babbles, Did::Answers("7")],
        ),
        episode(Some("7"), 4, &[Did::Answers("seven")]),
        episode(Some("7"), 4, &[Did::Babbles]),
        episode(None, 4, &[Did::Answers("x")]),
        episode(None, 0, &[]),
        broken(episode(Some("7"), 4, &[Did::Answers("7")])),
    ];
    let components = register(Components::default());
    assert_eq!(conformance::check_examples(&components, &episodes), Vec::<String>::new());
}

#[test]
fn an_error_in_an_inner_table_names_the_components_around_it() {
    let cases = [
        (
            "type = 'sum'\nof = [{ type = 'gate', at_least = 1, then = { type = 'format' } }]",
            "`sum`: `gate`: missing field `when`",
        ),
        (
            "type = 'clip'\nof = { type = 'cost', per_tokn = 1.0 }\nlow = 0\nhigh = 1",
            "`clip`: `cost`: unknown field `per_tokn`",
        ),
        (
            "type = 'sum'\nof = [{ weight = 2 }]",
            "`sum`: missing field `type`: the name of a term or a combinator",
        ),
    ];
    for (toml, want) in cases {
        let error = RewardConfig::from_toml(toml).unwrap_err().to_string();
        assert!(error.contains(want), "{toml}: {error}");
    }
}
