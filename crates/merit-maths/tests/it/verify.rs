//! Whole verifications: conclusions and whose fault they are, explanations, policies as files.

use merit_maths::{Conclusion, MathsConfig, MathsConfigError, Verdict};
use merit_maths_compat::verify;

fn strict(gold: &str, response: &str) -> Verdict {
    verify(gold, response, &MathsConfig::default())
}

fn check(gold: &str, response: &str, conclusion: &str) {
    let verdict = strict(gold, response);
    assert_eq!(verdict.conclusion.word(), conclusion, "{gold} against {response}: {verdict:?}");
}

#[test]
fn the_same_answer_in_another_form_is_equal() {
    check(r"\frac{1}{2}", r"So it is \boxed{0.5}.", "pass");
    check("#### 1,234", r"The answer is 1234.", "pass");
    check(r"$x^2+2x+1$", r"\boxed{(x+1)^2}", "pass");
    check(r"$\{1,2\}$", r"\boxed{\{2, 1\}}", "pass");
}

#[test]
fn another_answer_is_different() {
    check("42", r"\boxed{43}", "fail");
    check("$(1,2)$", r"\boxed{(2,1)}", "fail");
    check(r"\frac13", r"\boxed{0.333}", "fail");
    check("$x<1$", r"\boxed{x\le 1}", "fail");
}

#[test]
fn a_response_without_an_answer_has_none() {
    check("42", "", "unreadable");
    check(
        "42",
        "I am sorry, but I cannot tell you what this comes to, however long I think about it.",
        "unreadable",
    );
}

#[test]
fn an_unreadable_reference_is_the_tasks_fault() {
    check("", r"\boxed{42}", "bad reference");
    check(r"\boxed{\frac{}{}^_}", r"\boxed{42}", "bad reference");
}

#[test]
fn a_verdict_says_what_was_read_and_which_rule_decided() {
    let verdict = strict(r"\frac{84}{2}", r"At first \boxed{41}, then \boxed{42}");
    assert_eq!(verdict.gold.candidates[verdict.gold.chosen.unwrap()].text, r"\frac{84}{2}");
    let chosen = &verdict.response.candidates[verdict.response.chosen.unwrap()];
    assert_eq!((chosen.text.as_str(), chosen.parsed.as_deref()), ("42", Some("42")));
    assert_eq!(chosen.at, 26);
    assert_eq!(verdict.rule, "exact-rational");
    assert!(!verdict.why.is_empty() && verdict.steps > 0, "{verdict:?}");
}

#[test]
fn a_policy_is_a_file() {
    let config: MathsConfig = toml::from_str(
        r#"
        several = "all-in-order"
        accept_rounded = 2
        [extract]
        choices_to = "E"
        [limits]
        steps = 100000
        "#,
    )
    .unwrap();
    config.check().unwrap();
    assert_eq!(config.extract.choices_to, Some('E'));
    assert_eq!(verify(r"$\frac13$", r"\boxed{0.33}", &config).conclusion, Conclusion::Pass);

    let config: MathsConfig = toml::from_str(
        r#"
        compat = "math-verify"
        [math_verify]
        float_rounding = 2
        targets = [{ kind = "latex", boxed_match_priority = 0 }, { kind = "expr" }]
        "#,
    )
    .unwrap();
    config.check().unwrap();
    assert_eq!(verify(r"$\frac13$", r"\boxed{0.33}", &config).conclusion, Conclusion::Pass);
}

#[test]
fn a_setting_that_nobody_reads_is_refused() {
    for (key, text) in [
        ("severl", "severl = \"any-one\""),
        ("rounding", "[math_verify]\nrounding = 2"),
        ("boxes", "[math_verify]\ntargets = [{ kind = \"latex\", boxes = 1 }]"),
    ] {
        let said = toml::from_str::<MathsConfig>(text).unwrap_err().to_string();
        assert!(said.contains(&format!("unknown field `{key}`")), "{said}");
    }
    let refused = |text: &str| toml::from_str::<MathsConfig>(text).unwrap().check().unwrap_err();
    assert_eq!(refused("[math_verify]\nstrict = false"), MathsConfigError::OptionsWithoutCompat);
    let unused = refused("compat = \"math-verify\"\nround_to = 3");
    assert_eq!(unused, MathsConfigError::UnusedUnderCompat { setting: "round_to" });
    let nowhere = refused("[extract]\nboxed = false\nlatex = false\nplain = false");
    assert_eq!(nowhere, MathsConfigError::NowhereToLook);
    assert_eq!(refused("[extract]\nchoices_to = \"e\""), MathsConfigError::NotALetter { last: 'e' });
}

#[test]
fn the_peers_string_targets_find_letters() {
    let config: MathsConfig =
        toml::from_str("compat = \"math-verify\"\n[math_verify]\ntargets = [{ kind = \"string\" }]").unwrap();
    for (response, conclusion) in [
        ("The answer is A.", "pass"),
        ("A. Because B is not valid", "pass"),
        ("Because B is valid", "fail"),
        ("No valid answer here", "unreadable"),
    ] {
        let verdict = verify("Final answer is A", response, &config);
        assert_eq!(verdict.conclusion.word(), conclusion, "{response}: {verdict:?}");
    }
}
