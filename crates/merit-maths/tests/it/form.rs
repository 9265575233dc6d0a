//! Equal is not an answer yet: the wanted form, from the reference, from the task's words, and by setting.

use merit_maths::{Asked, Form, MathsConfig, Verdict, verify, verify_asked};

fn asked(question: &str, gold: &str, response: &str) -> Verdict {
    let asked = Asked { question, may_restate: false };
    verify_asked(gold, response, Some(asked), &MathsConfig::default())
}

#[track_caller]
fn refused(question: &str, gold: &str, response: &str, why: &str) {
    let verdict = asked(question, gold, response);
    assert_eq!(verdict.conclusion.word(), "fail", "{question} {response}: {verdict:?}");
    assert_eq!(
        (verdict.rule.as_str(), verdict.why.as_str()),
        ("form", format!("equal, but {why}").as_str()),
        "{response}"
    );
}

#[track_caller]
fn paid(question: &str, gold: &str, response: &str) {
    let verdict = asked(question, gold, response);
    assert_eq!(verdict.conclusion.word(), "pass", "{question} {response}: {verdict:?}");
}

#[test]
fn a_number_must_be_worked_out_where_the_reference_is_one() {
    for response in [
        r"\boxed{42*87}",
        "42*87",
        r"\boxed{87 \cdot 42}",
        r"\boxed{42\cdot 87\cdot 1}",
        r"\boxed{3654+0}",
        r"\boxed{7308/2}",
    ] {
        let verdict = verify("3654", response, &MathsConfig::default());
        assert_eq!(
            (verdict.conclusion.word(), verdict.rule.as_str()),
            ("fail", "form"),
            "{response}: {verdict:?}"
        );
    }
    for (gold, response) in [
        (r"\frac12", "0.5"),
        ("0.5", r"\frac{3}{6}"),
        ("3", "x = 3"),
        ("1000000", "10^6"),
        (r"2^{10}", "1024"),
        ("2^{10}", r"\boxed{4^5}"),
        ("3.5", r"3\frac12"),
        ("50\\%", "0.5"),
        ("5 km", "5000 m"),
        (r"\{1, 2\}", "x=1 or x=2"),
        ("(-2, 2)", "-2 < x < 2"),
        (r"\sqrt{2}", r"\frac{2}{\sqrt{2}}"),
    ] {
        let verdict = verify(gold, response, &MathsConfig::default());
        assert_eq!(verdict.conclusion.word(), "pass", "{gold} against {response}: {verdict:?}");
    }
}

#[test]
fn a_solution_is_not_the_relation_that_was_to_be_solved() {
    let solve = "Solve 2x+1>7";
    for response in [r"\boxed{7<2x+1}", r"\boxed{2x+1>7}", r"\boxed{2x > 6}", r"\boxed{x-3>0}", "$6 < 2x$"] {
        refused(solve, "x>3", response, "not worked out");
        refused(solve, r"(3, \infty)", response, "not worked out");
    }
    paid(solve, "x>3", r"\boxed{3<x}");
    paid(solve, "x>3", r"\boxed{(3,\infty)}");
    paid(solve, "x>3", r"x \in (3, \infty)");
    refused("Solve $x^2 = 2$.", r"\{-\sqrt2, \sqrt2\}", r"\boxed{x^2=2}", "not solved");
    paid("Solve $x^2 = 2$.", r"\{-\sqrt2, \sqrt2\}", r"\boxed{x = \pm\sqrt{2}}");
    refused("Find all x with $x^2=9$.", r"\{-3,3\}", r"\boxed{x^2 - 9 = 0}", "not worked out");
    paid("Find the line through (0,1) and (1,3).", "y=2x+1", "2x-y+1=0");
}

#[test]
fn what_is_asked_to_be_simplified_is_simplified() {
    for response in [
        r"\boxed{1\cdot\sqrt{50}}",
        r"\boxed{\sqrt{50}+0}",
        r"\boxed{\sqrt{50}}",
        r"\boxed{\sqrt{2}\cdot\sqrt{25}}",
        r"\boxed{\sqrt{5\cdot 10}}",
    ] {
        refused(r"Simplify √50", r"5\sqrt{2}", response, "not simplified");
    }
    paid("Simplify √50", r"5\sqrt{2}", r"\boxed{\sqrt{2}\cdot 5}");
    paid("What is √50?", r"5\sqrt{2}", r"\boxed{5\sqrt2}");
    refused("Simplify 2x+3x", "5x", r"\boxed{3x+2x}", "not simplified");
    refused("Simplify $(x^2-1)/(x-1)$", "x+1", r"\boxed{\frac{(x-1)(x+1)}{x-1}}", "not simplified");
    refused("Write 18/24 in simplest form", r"\frac34", r"\boxed{9/12}", "not simplified");
    refused("Express it as a common fraction.", r"\frac34", r"\boxed{\frac{6}{8}}", "not in lowest terms");
    paid("Simplify $x^2+x$", "x^2+x", "x(x+1)");
    // Nothing asked for more.
    let verdict = verify(r"5\sqrt2", r"\sqrt{50}", &MathsConfig::default());
    assert_eq!(verdict.conclusion.word(), "pass", "{verdict:?}");
}

#[test]
fn products_are_expanded_and_sums_factored_where_that_is_the_task() {
    let expand = "Expand (x-1)(x+1)";
    for response in [
        r"\boxed{(x+1)(x-1)}",
        r"\boxed{(x-1)(x+1)+0}",
        r"\boxed{x(x+1)-(x+1)}",
        r"\boxed{x^2+x-x-1}",
        r"\boxed{1\cdot(x-1)(x+1)}",
    ] {
        refused(expand, "x^2-1", response, "not expanded");
    }
    paid(expand, "x^2-1", r"\boxed{-1+x^2}");
    let factor = "Factor $x^2-5x+6$ completely.";
    for response in [r"\boxed{x^2-5x+6}", r"\boxed{6-5x+x^2}", r"\boxed{1\cdot(x^2-5x+6)}"] {
        refused(factor, "(x-2)(x-3)", response, "not factored");
    }
    paid(factor, "(x-2)(x-3)", r"\boxed{(x-3)(x-2)}");
    paid(factor, "(x-2)(x-3)", r"\boxed{(2-x)(3-x)}");
    refused("Write the prime factorization of 12.", r"2^2\cdot 3", r"\boxed{12}", "not factored");
    refused("Write the prime factorization of 12.", r"2^2\cdot 3", r"\boxed{4\cdot 3}", "not factored");
    paid("Write the prime factorization of 12.", r"2^2\cdot 3", r"\boxed{2\cdot2\cdot3}");
    let verdict = verify("2x+2", "2(x+1)", &MathsConfig::default());
    assert_eq!(verdict.conclusion.word(), "pass", "{verdict:?}");
    paid("What is twice the sum of x and 1?", "2x+2", "2(x+1)");
}

#[test]
fn decimals_fractions_percentages_and_bases_are_what_was_asked_for() {
    refused("What is 3/8 as a decimal?", "0.375", r"\boxed{\frac{6}{16}}", "not a decimal");
    refused("Write 0.375 as a fraction.", r"\frac38", r"\boxed{0.375}", "not a fraction");
    refused("Write 0.375 as a percentage.", r"37.5\%", r"\boxed{0.375}", "not a percentage");
    paid("Write 0.375 as a percentage.", r"37.5\%", r"\boxed{37.5}");
    refused(
        "Write 120000 in scientific notation.",
        r"1.2\times 10^5",
        "120000",
        "not in scientific notation",
    );
    paid("Write 120000 in scientific notation.", r"1.2\times 10^5", "1.2e5");
    paid("Write 13 in base 2.", "1101", r"\boxed{1101_2}");
    paid("Write 13 in base 2.", "1101", r"\boxed{1101}");
    assert_eq!(asked("Write 13 in base 2.", "1101", r"\boxed{13}").conclusion.word(), "fail");
    assert_eq!(asked("Write 13 in base 2.", "1101_2", r"\boxed{13}").conclusion.word(), "fail");
    assert_eq!(asked("What is 1101_2 in base 10?", "13", r"\boxed{1101_2}").conclusion.word(), "fail");
}

#[test]
fn what_is_asked_for_is_not_the_answer_however_it_is_turned() {
    let own = "it is the question's own formula given back";
    refused(
        "What is the derivative of the area $2\\pi r \\cdot r$?",
        "2\\pi r^2",
        r"\boxed{r\cdot 2\pi r}",
        own,
    );
    refused("Let y = (x+2)(x+3). What is y in terms of x?", "x^2+5x+6", r"\boxed{(3+x)(x+2)}", own);
    paid("Let y = (x+2)(x+3). What is y in terms of x?", "x^2+5x+6", r"\boxed{x(x+5)+6}");
    paid("Which is larger, 1/2 or 1/3?", "1/2", "1/2");
}

#[test]
fn a_form_can_be_set_or_waived() {
    let with = |form: Form, gold: &str, response: &str| {
        let verdict = verify(gold, response, &MathsConfig { form, ..MathsConfig::default() });
        (verdict.conclusion.word().to_owned(), verdict.why.clone())
    };
    assert_eq!(with(Form::Any, "42", r"\boxed{6\cdot 7}").0, "pass");
    assert_eq!(
        with(Form::Expanded, "x^2-1", "(x-1)(x+1)"),
        ("fail".into(), "equal, but not expanded".into())
    );
    assert_eq!(
        with(Form::LowestTerms, "1/2", "3/6"),
        ("fail".into(), "equal, but not in lowest terms".into())
    );
    assert_eq!(with(Form::Base(2), "1101", "1101").0, "pass");
    let config: MathsConfig = toml::from_str("form = { base = 2 }").unwrap();
    assert_eq!(config.form, Form::Base(2));
    let refused = toml::from_str::<MathsConfig>("form = { base = 99 }").unwrap().check().unwrap_err();
    assert_eq!(refused.to_string(), "`form` asks for base 99; give a base from 2 to 36");
    assert_eq!(toml::from_str::<MathsConfig>("form = \"lowest-terms\"").unwrap().form, Form::LowestTerms);
}
