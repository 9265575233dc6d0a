//! What the text metrics say of right, wrong and gamed answers.

use merit_verify::Conclusion;
use merit_verify::text::{LookAlikeKind, Metric, Refusal, TextConfig, TextVerdict, TextVerifier, explain};

fn verify(config: &str, response: &str, references: &[&str]) -> TextVerdict {
    let config: TextConfig = toml::from_str(config).unwrap();
    TextVerifier::compile(config).unwrap().verify(response, references)
}

fn check(config: &str, response: &str, references: &[&str], want: f64) {
    let verdict = verify(config, response, references);
    let score = verdict.score.unwrap();
    assert!(
        (score - want).abs() < 1e-12,
        "{response:?} {references:?}: {score}, not {want}: {}",
        explain(&verdict)
    );
}

const EXACT: &str = "metric.type = 'exact'";
const CONTAINS: &str = "metric.type = 'contains'";
const F1: &str = "metric.type = 'f1'";

#[test]
fn exact_match_ignores_what_does_not_count() {
    check(EXACT, "the  EIFFEL tower.", &["London", "Eiffel Tower"], 1.0);
    check(EXACT, "Eiffel", &["Eiffel Tower"], 0.0);
    check(EXACT, "1.5", &["15"], 0.0);
    check(EXACT, "-5", &["5"], 0.0);
    check(EXACT, "A", &["the"], 0.0);
    let strict = "metric.type = 'exact'\nnormalise = { fold_case = false, drop_articles = false }";
    check(strict, "paris", &["Paris"], 0.0);
    check(strict, "Paris!", &["Paris"], 1.0);
}

#[test]
fn f1_counts_words_of_the_best_reference() {
    // {cat, sat} against {cat, sat, down}: precision 1, recall 2/3, F1 0.8.
    check(F1, "the cat sat", &["a dog", "the cat sat down"], 0.8);
    check(F1, "cat cat cat", &["cat"], 0.5); // precision 1/3, recall 1
    check(F1, "dog", &["cat"], 0.0);
    let by_character = "metric = { type = 'f1', tokens = 'words-and-ideographs' }";
    check(by_character, "北京", &["北京市"], 0.8); // two of two, two of three
    check(F1, "北京", &["北京市"], 0.0);
    assert_eq!(verify(F1, "the cat", &["dog", "cat"]).reference, Some(1));
}

#[test]
fn rouge_reports_the_number_asked_for() {
    let rouge = |variant: &str, report: &str| {
        format!("metric = {{ type = 'rouge', variant = '{variant}', report = '{report}' }}")
    };
    let (response, reference) = ("the cat sat", ["the cat is on the mat"]);
    // Words: the, cat in common of 3 and 6. Pairs: "the cat" of 2 and 5. Subsequence: the cat.
    check(&rouge("1", "precision"), response, &reference, 2.0 / 3.0);
    check(&rouge("1", "recall"), response, &reference, 2.0 / 6.0);
    check(&rouge("1", "f"), response, &reference, 4.0 / 9.0);
    check(&rouge("2", "precision"), response, &reference, 0.5);
    check(&rouge("2", "recall"), response, &reference, 0.2);
    check(&rouge("l", "f"), response, &reference, 4.0 / 9.0);
}

#[test]
fn bleu_follows_the_length_of_the_answer_and_takes_the_best_reference() {
    let bleu = "metric.type = 'bleu'";
    check(bleu, "Paris", &["London", "Paris"], 1.0);
    check(bleu, "York", &["New York"], (-1.0_f64).exp());
    check(bleu, "York", &["New York", "York"], 1.0);
    check(bleu, "in New York city", &["New York"], (1.0_f64 / 6.0).sqrt());
}

#[test]
fn contains_wants_whole_words() {
    check(CONTAINS, "The capital of France is Paris.", &["Paris"], 1.0);
    check(CONTAINS, "A comparison", &["Paris"], 0.0);
    check(CONTAINS, "Paris, France", &["Paris"], 1.0);
    check(CONTAINS, "He was born in New York City in 1950", &["New York"], 1.0);
    check(CONTAINS, "York New", &["New York"], 0.0);
}

fn check_refused(config: &str, response: &str, references: &[&str], want: Refusal) {
    let verdict = verify(config, response, references);
    assert_eq!(verdict.conclusion, Conclusion::refused(want), "{response:.80}: {}", explain(&verdict));
    assert_eq!(verdict.score, Some(0.0));
}

#[test]
fn listing_answers_does_not_win() {
    for guess in [
        "Paris, London, Berlin",
        "Paris or London",
        "Paris / London",
        "Paris London Berlin Rome Madrid Oslo Vienna",
        "- Paris\n- London\n- Rome\n- Oslo",
        "Paris; London; Rome and Oslo",
    ] {
        check_refused(CONTAINS, guess, &["Paris"], Refusal::SeveralAnswers);
    }
    let closed = "metric = { type = 'contains', options = ['yes', 'no'] }";
    check_refused(closed, "Yes and no", &["yes"], Refusal::SeveralAnswers);
    check_refused(closed, "yes no", &["yes"], Refusal::SeveralAnswers);
    check(closed, "Yes, it does", &["yes"], 1.0);
    let needle = format!("{} Paris", "it is said that one may find there what was once lost ".repeat(5));
    check_refused(CONTAINS, &needle, &["Paris"], Refusal::SmallShare);
    check_refused(CONTAINS, "It is not Paris", &["Paris"], Refusal::Negated);
}

#[test]
fn over_long_and_empty_answers_are_refused() {
    check_refused(EXACT, &"a".repeat(1000), &["a"], Refusal::TooLong);
    check_refused(CONTAINS, &"Paris ".repeat(200), &["Paris"], Refusal::TooLong);
    check_refused("metric.type = 'f1'\nmax_chars = 4", "Paris", &["Paris"], Refusal::TooLong);
    check("metric.type = 'f1'\nmax_chars = 5", "París", &["París"], 1.0); // characters, not bytes
    check_refused(F1, " \n\t ", &["a"], Refusal::Empty);
    check_refused("metric = { type = 'repetition', n = 2 }", "", &[], Refusal::Empty);
}

#[test]
fn a_bad_reference_is_the_tasks_fault() {
    for (references, want) in [(&[][..], "there is no reference"), (&["a", " "][..], "a reference is blank")]
    {
        let verdict = verify(CONTAINS, "anything", references);
        assert_eq!(verdict.conclusion, Conclusion::bad_reference(want));
        assert_eq!((verdict.score, verdict.passed()), (None, None));
    }
}

#[test]
fn format_metrics_need_no_reference() {
    check("metric = { type = 'length', unit = 'words', min = 2, max = 3, decay = 4 }", "one", &[], 0.75);
    check("metric = { type = 'repetition', n = 2 }", "a b a b a b", &[], 0.4); // ab and ba are new, three repeat
    let tags =
        "metric = { type = 'balance', required = true, pairs = [{ open = '<think>', close = '</think>' }] }";
    check(tags, "<think>x</think> y", &[], 1.0);
    check(tags, "<think>x y", &[], 0.0);
    check(tags, "x y", &[], 0.0);
}

#[test]
fn look_alikes_are_reported_and_never_equal() {
    for metric in ["exact", "contains", "f1", "bleu"] {
        let verdict = verify(&format!("metric.type = '{metric}'"), "Pаris", &["Paris"]); // Cyrillic а
        assert_eq!(verdict.score, Some(0.0), "{metric}");
        assert_eq!(verdict.suspicious[0].kind, LookAlikeKind::LooksLike { word: "Paris".to_owned() });
    }
    check(EXACT, "Ｐａｒｉｓ", &["Paris"], 1.0); // the same letters in full width
    check(EXACT, "Pa\u{200B}ris", &["Paris"], 0.0);
    assert!(verify(EXACT, "Париж", &["Paris"]).suspicious.is_empty());
}

#[test]
fn configs_that_cannot_work_are_refused() {
    for (text, key) in
        [("metric.type = 'exact'\nmaxchars = 3", "maxchars"), ("metric = { type = 'exact', n = 3 }", "n")]
    {
        let said = toml::from_str::<TextConfig>(text).unwrap_err().to_string();
        assert!(said.contains(&format!("unknown field `{key}`")), "{said}");
    }
    for (config, why) in [
        ("metric.type = 'f1'\npass_at = 1.5", "`pass_at` is 1.5, but it must be from 0 to 1"),
        ("metric.type = 'f1'\nmax_chars = 0", "`max_chars` is 0, but it must be from 1 to 4194304"),
        (
            "metric = { type = 'string', rule = 'exact' }\nnormalise = {}",
            "`normalise` does nothing with `string`; leave it out",
        ),
        (
            "metric.type = 'f1'\nnormalise = { collapse_white_space = false }",
            "`drop_articles` works on words and needs `collapse_white_space = true`",
        ),
        (
            "metric = { type = 'length', unit = 'chars', min = 3, max = 2 }",
            "`max` is 2, but it must be at least `min`",
        ),
        ("metric = { type = 'repetition', n = 0 }", "`n` is 0, but it must be from 1 to 16"),
        ("metric = { type = 'balance', pairs = [] }", "`pairs`"),
        (
            "metric = { type = 'contains', max_candidates = 0 }",
            "`max_candidates` is 0, but it must be at least 1",
        ),
    ] {
        let said = TextVerifier::compile(toml::from_str(config).unwrap()).err().unwrap().to_string();
        assert!(said.contains(why), "{config}: {said}");
    }
}

#[test]
fn configs_and_verdicts_survive_writing_and_reading() {
    let config: TextConfig =
        toml::from_str("metric = { type = 'rouge', variant = 'l' }\npass_at = 0.5").unwrap();
    assert!(matches!(config.metric, Metric::Rouge(_)));
    assert_eq!(toml::from_str::<TextConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
    let verdict = verify(
        "metric = { type = 'rouge', variant = 'l' }\npass_at = 0.5",
        "Pаris is big",
        &["Paris is big"],
    );
    let text = serde_json::to_string(&verdict).unwrap();
    assert_eq!(serde_json::from_str::<TextVerdict>(&text).unwrap(), verdict);
}
