//! Where answers are found, and what never counts as one.

use merit_maths::{CandidateKind, Conclusion, Extraction, MathsConfig, verify};
use merit_testing::data;

/// The chosen candidate of a response: how it was found and what it parsed to.
fn chosen(response: &str) -> Option<(CandidateKind, String)> {
    chosen_by(response, &MathsConfig::default())
}

fn chosen_by(response: &str, config: &MathsConfig) -> Option<(CandidateKind, String)> {
    let verdict = verify("1", response, config);
    let candidate = &verdict.response.candidates[verdict.response.chosen?];
    Some((candidate.kind, candidate.parsed.clone().unwrap()))
}

fn check(response: &str, kind: CandidateKind, parsed: &str) {
    assert_eq!(chosen(response), Some((kind, parsed.to_owned())), "{response}");
}

#[test]
fn the_last_box_wins() {
    check(r"First \boxed{3}, but no: \boxed{4}.", CandidateKind::Boxed, "4");
    check(
        r"\boxed{3} is what I thought, then I found that the answer is \boxed{5} after all, 7",
        CandidateKind::Boxed,
        "5",
    );
}

#[test]
fn boxes_side_by_side_are_one_list() {
    check(r"\boxed{4} and \boxed{5}", CandidateKind::Boxed, "4, 5");
    check(r"$\boxed{4}$, $\boxed{5}$ or $\boxed{6}$", CandidateKind::Boxed, "4, 5, 6");
    check(r"\(\boxed{4}\) and \(\boxed{4}\)", CandidateKind::Boxed, "4");
}

#[test]
fn listing_every_answer_does_not_win() {
    for response in [
        r"\boxed{1} \boxed{2} \boxed{3} \boxed{4}",
        r"\boxed{1}, \boxed{2}, \boxed{3}",
        r"The answer is 1 or 2 or 3.",
        r"$1$, $2$, $3$, $4$",
        r"\boxed{1, 2, 3, 4}",
    ] {
        let verdict = verify("2", response, &MathsConfig::default());
        assert_ne!(verdict.conclusion, Conclusion::Pass, "{response}: {verdict:?}");
    }
}

#[test]
fn an_unreadable_box_is_not_passed_over_for_a_better_reading() {
    let verdict = verify("42", r"It is 42. \boxed{\frac{}{}^_}", &MathsConfig::default());
    assert_eq!(verdict.conclusion, Conclusion::Fail, "{verdict:?}");
    assert!(verdict.why.contains("cannot be read"), "{}", verdict.why);
}

#[test]
fn announced_answers_are_found_in_words() {
    check("So the answer is 42.", CandidateKind::Plain, "42");
    check("**Final Answer:** 3/4", CandidateKind::Plain, "3/4");
    check(r"The final answer is $\frac{1}{2}$. I hope it is correct.", CandidateKind::Latex, "1/2");
    check("Final Answer: The volume of the box is 120. Done.", CandidateKind::Plain, "120");
    check("The answer is 12 apples and no pears", CandidateKind::LastNumber, "12");
}

#[test]
fn formulas_and_numbers_are_found_without_an_announcement() {
    check(r"We get $x+1$ and so \[ x = 7 \]", CandidateKind::Latex, "x = 7");
    check("There are 12 of $n$ such and in all 19 ways", CandidateKind::LastNumber, "19");
    check("2*x + 1", CandidateKind::Plain, "2*x + 1");
    assert_eq!(
        chosen("nothing to see, H2O aside, and so on and so forth in many words of no account at all"),
        None
    );
}

#[test]
fn or_so_at_the_end_is_no_second_answer() {
    check("$x>3$ or so", CandidateKind::Plain, "x > 3");
    check("The answer is 42 or so.", CandidateKind::Plain, "42");
    // Words that go on are two answers, as before.
    check("x = 3 or x = 5", CandidateKind::Plain, "x = 3 or x = 5");
}

#[test]
fn a_percent_sign_after_the_box_belongs_to_the_answer() {
    check(r"It grows by $\boxed{20}$ percent.", CandidateKind::Boxed, "20%");
}

#[test]
fn letters_are_choices_only_where_the_policy_says_so() {
    let choices = MathsConfig {
        extract: Extraction { choices_to: Some('E'), ..Extraction::default() },
        ..MathsConfig::default()
    };
    for response in
        ["The answer is (B).", "**B**", "B", r"\boxed{B}", r"\boxed{\text{(B)}}", "B. Paris", "Answer: B"]
    {
        let verdict = verify("B", response, &choices);
        assert_eq!(
            (verdict.passed(), verdict.rule.as_str()),
            (Some(true), "choice"),
            "{response}: {verdict:?}"
        );
    }
    for response in
        ["(A), (B), (C) or (D)?  (D)", r"\boxed{A}", "I choose C", r"\boxed{A} \boxed{B}", "A B C D"]
    {
        let verdict = verify("B", response, &choices);
        assert_ne!(verdict.conclusion, Conclusion::Pass, "{response}: {verdict:?}");
    }
}

#[test]
fn places_the_policy_forbids_are_not_searched() {
    let boxed_only = MathsConfig {
        extract: Extraction { boxed: true, latex: false, plain: false, choices_to: None },
        ..MathsConfig::default()
    };
    assert_eq!(chosen_by("The answer is 1", &boxed_only), None);
    assert_eq!(chosen_by(r"\boxed{1}", &boxed_only).unwrap().1, "1");
}

#[test]
fn every_candidate_is_reported() {
    let verdict = verify("4", r"\boxed{3} then $x$ then \boxed{4} and 17", &MathsConfig::default());
    let kinds: Vec<CandidateKind> = verdict.response.candidates.iter().map(|c| c.kind).collect();
    assert_eq!(
        kinds,
        [CandidateKind::Boxed, CandidateKind::Boxed, CandidateKind::LastNumber, CandidateKind::Latex]
    );
}

#[test]
fn every_gsm8k_reference_is_read_right() {
    let (Some(test), Some(train)) = (data("gsm8k-test.jsonl"), data("gsm8k-train.jsonl")) else { return };
    let config = MathsConfig::default();
    let mut count = 0;
    for path in [test, train] {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let solution = record["answer"].as_str().unwrap();
            let after = solution.rsplit_once("####").unwrap().1.trim();
            let expected: f64 = after.replace([',', '$'], "").parse().unwrap();
            let verdict = verify(solution, &format!("\\boxed{{{after}}}"), &config);
            assert_eq!(verdict.conclusion, Conclusion::Pass, "{after}: {verdict:?}");
            let parsed = verdict.gold.candidates[verdict.gold.chosen.unwrap()].parsed.clone().unwrap();
            let value: f64 = parsed.parse().unwrap_or_else(|_| panic!("{after} was read as {parsed}"));
            assert!((value - expected).abs() < 1e-9, "{after} was read as {parsed}");
            let wrong = verify(solution, &format!("#### {}", expected + 1.0), &config);
            assert_eq!(wrong.conclusion, Conclusion::Fail, "{wrong:?}");
            count += 1;
        }
    }
    assert_eq!(count, 8_792);
}
