//! Hostile text: every metric ends quickly, never panics, and says the same on any thread.

use merit_verify::similarity::{LikenessConfig, LikenessVerifier};
use merit_verify::text::{CitationConfig, CitationVerifier, Source, TextConfig, TextVerifier};
use proptest::prelude::*;

const METRICS: &[&str] = &[
    "type = 'exact'",
    "type = 'string', rule = 'exact', ignore_case = true",
    "type = 'string', rule = 'prefix', ignore_case = true",
    "type = 'string', rule = 'suffix', ignore_case = true",
    "type = 'string', rule = 'contains', ignore_case = true",
    "type = 'contains', max_candidates = 1000000, min_share = 0.0",
    "type = 'f1'",
    "type = 'f1', tokens = 'words-and-ideographs'",
    "type = 'rouge', variant = '1'",
    "type = 'rouge', variant = '2'",
    "type = 'rouge', variant = 'l'",
    "type = 'bleu'",
    "type = 'length', unit = 'words', min = 1, max = 5, decay = 5",
    "type = 'repetition', n = 4",
    "type = 'balance', pairs = [{ open = '<a>', close = '</a>' }, { open = '*', close = '*' }]",
];

fn verifiers() -> Vec<TextVerifier> {
    let make = |metric: &&str| {
        let config: TextConfig =
            toml::from_str(&format!("max_chars = 4194304\nmetric = {{ {metric} }}")).unwrap();
        TextVerifier::compile(config).unwrap()
    };
    METRICS.iter().map(make).collect()
}

#[test]
fn a_megabyte_of_anything_ends_with_a_verdict() {
    let (mega, less) = (1 << 20, 1 << 18);
    let hostile = [
        "a".repeat(mega),
        "a ".repeat(mega / 2),
        "1,".repeat(mega / 2),
        "ab ".repeat(less / 3),
        "<a>".repeat(less / 3),
        "the ".repeat(less / 4),
        "\u{1D160}".repeat(less / 4), // grows under compatibility decomposition
        "\u{FDFA}".repeat(less / 3),  // one character that becomes eighteen
        "a\u{301}\u{302}".repeat(less / 5),
        "é, ".repeat(less / 4),
        "\u{0301}".repeat(less / 2), // marks on nothing
    ];
    let references = [hostile[1].clone(), "a a b".to_owned(), hostile[0].clone()];
    for (i, verifier) in verifiers().into_iter().enumerate() {
        for (j, response) in hostile.iter().enumerate() {
            let verdict = verifier.verify(response, &references[(i + j) % 3..=(i + j) % 3]);
            assert!(verdict.score.is_none_or(|score| (0.0..=1.0).contains(&score)));
        }
    }
}

#[test]
fn citations_of_a_megabyte_end_with_a_score() {
    let config = CitationConfig { max_chars: 4 << 20, ..CitationConfig::default() };
    let verifier = CitationVerifier::compile(config).unwrap();
    let sources: Vec<Source> =
        (0..100).map(|i| Source { id: i.to_string(), text: "word ".repeat(2000) }).collect();
    for response in [
        "[1]".repeat(300_000),
        "[".repeat(1 << 20),
        "A b c [1]. ".repeat(90_000),
        "“a b c ".repeat(100_000),
        "x.\n".repeat(300_000),
    ] {
        let verdict = verifier.verify(&response, &sources);
        assert!(verdict.score.is_some(), "{response:.20}");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,60}",
        "[ab ,/.\\-\"“”\\[\\]0-9\\n]{0,80}",
        prop::collection::vec(any::<char>(), 0..60).prop_map(|chars| chars.into_iter().collect()),
    ]
}

proptest! {
    #[test]
    fn no_text_panics_and_scores_stay_within_bounds(response in any_text(), references in prop::collection::vec(any_text(), 0..3)) {
        for verifier in verifiers() {
            let verdict = verifier.verify(&response, &references);
            prop_assert!(verdict.score.is_none_or(|score| (0.0..=1.0).contains(&score)));
            prop_assert_eq!(&verdict, &verifier.verify(&response, &references));
            let _ = merit_verify::text::explain(&verdict);
        }
        let citations = CitationVerifier::compile(CitationConfig::default()).unwrap();
        let sources: Vec<Source> =
            references.iter().enumerate().map(|(i, text)| Source { id: i.to_string(), text: text.clone() }).collect();
        let verdict = citations.verify(&response, &sources);
        prop_assert!(verdict.score.is_none_or(|score| (0.0..=1.0).contains(&score)));
        let likeness = LikenessConfig { embedder: "hashed-ngrams".to_owned(), pass_at: 0.5, max_chars: 1000 };
        let verdict = LikenessVerifier::compile(likeness).unwrap().verify(&response, &references);
        prop_assert!(verdict.score.is_none_or(|score| (0.0..=1.0).contains(&score)));
    }

    #[test]
    fn a_reference_matches_itself_and_the_best_reference_counts(words in prop::collection::vec("[b-z]{2,6}", 1..8), other in "[b-z]{1,9}") {
        let reference = words.join(" ");
        for metric in ["type = 'exact'", "type = 'string', rule = 'exact'", "type = 'f1'", "type = 'bleu'",
            "type = 'rouge', variant = '1'", "type = 'rouge', variant = 'l'"] {
            let config: TextConfig = toml::from_str(&format!("metric = {{ {metric} }}")).unwrap();
            let verifier = TextVerifier::compile(config).unwrap();
            let score = verifier.verify(&reference, &[&reference]).score.unwrap();
            prop_assert!((score - 1.0).abs() < 1e-12, "{}: {}", metric, score);
            let alone = verifier.verify(&other, &[&reference]).score.unwrap();
            let among = verifier.verify(&other, &[reference.as_str(), "a b c"]).score.unwrap();
            prop_assert!(among >= alone);
        }
    }
}

#[test]
fn verdicts_are_the_same_on_any_number_of_threads() {
    use rayon::prelude::*;
    let texts: Vec<String> =
        (0..200).map(|i| format!("The answer {} is Pаris, {}", i % 7, "x ".repeat(i))).collect();
    let verifiers = verifiers();
    let judge = |text: &String| -> Vec<_> {
        verifiers.iter().map(|v| v.verify(text, &["the answer 3 is Paris"])).collect()
    };
    let alone: Vec<Vec<_>> = texts.iter().map(judge).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    let together: Vec<Vec<_>> = pool.install(|| texts.par_iter().map(judge).collect());
    assert_eq!(alone, together);
}
