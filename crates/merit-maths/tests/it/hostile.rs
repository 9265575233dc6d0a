//! Hostile texts end within their limit, on either side, under either set of rules.

use crate::mutator::Mutator;
use merit_maths::{Compat, Conclusion, Limits, MathsConfig, Verdict};
use merit_maths_compat::verify;

fn compat() -> MathsConfig {
    MathsConfig { compat: Compat::MathVerify, ..MathsConfig::default() }
}

/// Verifies on both sides and under both rules; the steps stay within the limit.
fn all_ways(text: &str) -> [Verdict; 4] {
    let limit = Limits::default().steps;
    let strict = MathsConfig::default();
    let verdicts = [
        verify("42", text, &strict),
        verify(text, "42", &strict),
        verify("42", text, &compat()),
        verify(text, "42", &compat()),
    ];
    for verdict in &verdicts {
        assert!(verdict.steps <= limit, "{} steps: {}", verdict.steps, verdict.why);
    }
    verdicts
}

/// Never equal to 42, whichever side it stands on.
fn check(text: &str) {
    for verdict in all_ways(text) {
        assert_ne!(verdict.conclusion, Conclusion::Pass, "{verdict:?}");
    }
}

#[test]
fn exponent_towers_end() {
    check(r"\boxed{9^{9^{9^{9^{9}}}}}");
    check(r"\boxed{2^{2^{2^{2^{2^{2^{2}}}}}}}");
    check(&format!(r"\boxed{{{}1{}}}", "9^{".repeat(150), "}".repeat(150)));
    check(&format!(r"$2{}$", "^2".repeat(50_000)));
    check(r"$(x+1)^{100000}$");
    check(r"$\sqrt[10000000]{2^{10000000}+1}$");
}

#[test]
fn huge_factorials_end() {
    check(r"\boxed{100000!}");
    check(r"\boxed{((((9!)!)!)!)!}");
    check(&format!(r"\boxed{{9{}}}", "!".repeat(100_000)));
    check(r"\boxed{\binom{10^{9}}{5 \cdot 10^{8}}}");
}

#[test]
fn a_hundred_kilobytes_of_braces_end() {
    for (open, close) in
        [("{", "}"), ("(", ")"), ("[", "]"), (r"\{", r"\}"), ("|", "|"), (r"\left(", r"\right)")]
    {
        check(&format!(r"\boxed{{{}7{}}}", open.repeat(50_000), close.repeat(50_000)));
        check(&format!(r"\boxed{{{}", open.repeat(100_000)));
        check(&format!("${}$", open.repeat(100_000)));
        check(&close.repeat(100_000));
    }
    check(&r"\boxed{".repeat(20_000));
    check(&r"\frac{".repeat(20_000));
    check(&format!("${}x{}$", r"\frac{1}{".repeat(10_000), "}".repeat(10_000)));
    check(&format!("${}x{}$", r"\sqrt{".repeat(10_000), "}".repeat(10_000)));
}

#[test]
fn deep_nesting_of_every_kind_ends() {
    check(&format!("${}x$", "-".repeat(100_000)));
    check(&format!("$x{}$", "+x".repeat(50_000)));
    check(&format!("$x{}$", "/x".repeat(50_000)));
    check(&format!("$x{}$", r"\cdot x".repeat(20_000)));
    check(&format!("$x{}$", "=x".repeat(50_000)));
    check(&format!("$x{}$", "<x".repeat(50_000)));
    check(&format!("$x{}$", "_x".repeat(50_000)));
    check(&format!("${}$", r"(0,1)\cup".repeat(10_000)));
    check(&format!("${}x$", r"\sin".repeat(20_000)));
    check(&format!("${}1{}$", "f(".repeat(20_000), ")".repeat(20_000)));
    check(&format!("${}$", "1,".repeat(50_000)));
    check(&format!(r"$\begin{{pmatrix}}{}\end{{pmatrix}}$", r"1&2\\".repeat(5_000)));
}

#[test]
fn nothing_that_is_no_number_equals_a_number() {
    for text in [
        "nan",
        "NaN",
        r"\boxed{\text{nan}}",
        r"\boxed{0/0}",
        r"\boxed{\frac{0}{0}}",
        r"\boxed{\infty-\infty}",
        r"\boxed{\frac{42 \cdot 0}{0}}",
        r"\boxed{42 + 0/0}",
        r"\boxed{42 \cdot \infty/\infty}",
        r"\boxed{\log 0}",
    ] {
        check(text);
    }
    let nothing = r"\boxed{\frac{0}{0}}";
    assert_eq!(verify(nothing, nothing, &MathsConfig::default()).conclusion.word(), "bad reference");
}

#[test]
fn a_megabyte_of_junk_ends() {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let alphabet: Vec<char> = r"$\{}()[]^_=+-*/<>|&,.;:!%#~ abxyd0123456789".chars().collect();
    let junk: String = (0..1 << 20).map(|_| alphabet[next() as usize % alphabet.len()]).collect();
    all_ways(&junk);
    for unit in [
        " ",
        "$",
        "\\",
        "\n",
        "answer ",
        "final answer is ",
        "1 ",
        "1 + ",
        "x=",
        r"\(",
        r"\[",
        "\\boxed{1} ",
        "#### ",
        "$$",
    ] {
        all_ways(&unit.repeat((1 << 20) / unit.len()));
    }
}

/// Steps of a verification whose response is `unit` again and again, and nothing else.
fn looked(unit: &str, bytes: usize) -> u64 {
    let text = unit.repeat(bytes / unit.len());
    verify("42", &text, &MathsConfig::default()).steps
}

#[test]
fn looking_for_an_answer_is_paid_for_and_linear_in_the_text() {
    let units = [
        r"\boxed{",
        r"\boxed ",
        r"\fbox{",
        r"\boxed{}",
        r"\text{",
        r"\textbf{ab ",
        r"\mbox{",
        r"$\\",
        r"$\$",
        "$$ ",
        r"\(",
        r"\[ ",
        r"\begin{pmatrix}",
        r"\begin{cases} ",
        "answer",
        "the answer is x ",
        "####",
        "A ",
        "1 ",
        "H2",
        "1,",
        "5 miles ",
        "2 hours and ",
    ];
    for unit in units {
        let (half, whole) = (looked(unit, 200_000), looked(unit, 400_000));
        // Every search is a pass over the text, and a pass costs a step for 64 bytes.
        assert!(whole >= 3 * 400_000 / 64, "{unit}: {whole} steps for 400 kB");
        assert!(whole <= 3 * half, "{unit}: {half} steps for half of it, {whole} for all");
    }
}

#[test]
fn a_search_beyond_the_steps_is_not_begun() {
    let limits = Limits { steps: 4_000, ..Limits::default() };
    let config = MathsConfig { limits, ..MathsConfig::default() };
    let verdict = verify("42", &r"\boxed{42} ".repeat(80_000), &config);
    assert_eq!(verdict.conclusion.word(), "unreadable", "{verdict:?}");
    assert!(verdict.why.contains("steps") && verdict.response.candidates.is_empty(), "{}", verdict.why);
}

#[test]
fn unicode_ends() {
    for text in [
        "４２",
        "④②",
        "𝟒𝟐",
        "٤٢",
        "4\u{200b}2",
        "\u{202e}24",
        "４２．０",
        "🎉42🎉0",
        "π²",
        "\u{1}\u{2}\u{1}",
        "½",
        "∞",
        "\\boxed{４３}",
        "\\boxed{\u{0}}",
        "\\text{é}",
        "数は43です",
    ] {
        all_ways(text);
    }
    check(&"é".repeat(100_000));
    check(&format!("\\boxed{{{}}}", "∪".repeat(100_000)));
}

#[test]
fn a_response_beyond_the_limit_is_the_responses_doing_and_a_reference_is_not() {
    let tower = r"\boxed{7^{7^{7^{7}}}}";
    let verdict = verify("42", tower, &MathsConfig::default());
    assert_eq!(verdict.conclusion, Conclusion::Fail, "{verdict:?}");
    let verdict = verify(tower, "42", &MathsConfig::default());
    assert!(matches!(verdict.conclusion, Conclusion::GraderFailed { .. } | Conclusion::Fail), "{verdict:?}");
    let nested = format!(r"\boxed{{{}7{}}}", "(".repeat(5_000), ")".repeat(5_000));
    let verdict = verify("42", &nested, &MathsConfig::default());
    assert_eq!(verdict.conclusion, Conclusion::Fail, "{verdict:?}");
    let verdict = verify(&nested, "42", &MathsConfig::default());
    assert_eq!(verdict.conclusion.word(), "bad reference", "{verdict:?}");
}

#[test]
fn twenty_thousand_mutated_answers_end_without_a_panic() {
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let strict = MathsConfig { limits, ..MathsConfig::default() };
    let compat = MathsConfig { limits, ..compat() };
    let mut mutator = Mutator::new(3);
    for i in 0..20_000 {
        let (gold, response) = mutator.pair();
        let verdict = verify(&gold, &response, if i % 2 == 0 { &strict } else { &compat });
        assert!(verdict.steps <= limits.steps, "{} steps: {gold:?} against {response:?}", verdict.steps);
    }
}
