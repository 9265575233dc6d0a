//! What agents write: every text is searched for or refused in words.

use merit_search::{
    Corpus, DenseConfig, Index, IndexConfig, MAX_QUERY_BYTES, MAX_QUERY_TERMS, Mode, QueryRefusal,
    SearchError,
};
use proptest::prelude::*;
use std::sync::OnceLock;

const LINES: &str = r#"{"id": "owl", "title": "Owls", "text": "Owls hunt at night. Their wings make no sound (see: feathers)."}
{"id": "cafe", "title": "Le Café", "text": "Un café crème, s'il vous plaît. Ελλάδα Москва"}
{"id": "jp", "text": "東京は日本の首都です。"}
{"id": "nul", "text": "zero\u0000byte 🦉 and +(a:b)^2 \"quoted\" AND OR NOT"}
{"id": "bread", "title": "Baking", "text": "Sourdough bread needs patience, flour, water and salt."}"#;

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let dense = DenseConfig { role: "hashed-ngrams".to_owned(), dimensions: 512, weight: 1.0 };
        let config = IndexConfig { snippet_chars: 40, dense: Some(dense), ..IndexConfig::default() };
        Index::build(Corpus::from_reader(LINES.as_bytes(), "c").unwrap(), &config).unwrap()
    })
}

#[track_caller]
fn first(query: &str, want: &str) {
    let hits = index().search_by(Mode::Words, query, 3).unwrap();
    assert_eq!(hits.first().map(|hit| hit.id.as_str()), Some(want), "{hits:?}");
}

#[track_caller]
fn refused(query: &str, k: usize, want: QueryRefusal) {
    assert_eq!(index().search_by(Mode::Words, query, k), Err(SearchError::Query(want)));
}

#[test]
fn what_looks_like_a_query_language_is_plain_text() {
    first("title:owl AND (feathers OR \"", "owl");
    first("\"sourdough bread\"~2 -flour +water^4", "bread");
    first("*:* [a TO z] owls", "owl");
    first("zero\0byte", "nul");
    first("a:b", "nul");
}

#[test]
fn words_are_found_in_any_writing() {
    first("CAFE\u{301}", "cafe");
    first("cafe creme", "cafe");
    first("МОСКВА", "cafe");
    first("日本の首都", "jp");
    first("ＯＷＬ", "owl");
    first("hunting wing 🦉", "owl");
}

#[test]
fn a_query_without_a_word_is_refused() {
    refused("", 3, QueryRefusal::Empty);
    refused(" \n\t", 3, QueryRefusal::Empty);
    refused("?! ()", 3, QueryRefusal::NoWords);
    refused("the of AND", 3, QueryRefusal::NoWords);
    refused("🦉", 3, QueryRefusal::NoWords);
    refused(&"x".repeat(1000), 3, QueryRefusal::NoWords);
    refused("owl", 0, QueryRefusal::Hits { asked: 0, max: 1000 });
    refused("owl", usize::MAX, QueryRefusal::Hits { asked: usize::MAX, max: 1000 });
    refused(&"owl ".repeat(25_000), 3, QueryRefusal::TooLong { bytes: 100_000, max: MAX_QUERY_BYTES });
    let hybrid = index().search("?!", 3);
    assert_eq!(hybrid, Err(SearchError::Query(QueryRefusal::NoWords)));
}

#[test]
fn of_too_many_words_the_rarest_are_looked_up() {
    let lines: String = (0..200)
        .map(|at| {
            let common: String = (0..MAX_QUERY_TERMS).map(|word| format!("common{word} ")).collect();
            format!("{{\"text\": \"{common} {}\"}}\n", if at == 150 { "needle" } else { "" })
        })
        .collect();
    let index =
        Index::build(Corpus::from_reader(lines.as_bytes(), "c").unwrap(), &IndexConfig::default()).unwrap();
    let query: String = (0..MAX_QUERY_TERMS).map(|word| format!("common{word} ")).collect();
    assert_eq!(index.search(&(query + "needle"), 1).unwrap()[0].id, "151");
}

#[test]
fn opening_a_hit_gives_the_whole_document() {
    let hit = index().search_by(Mode::Words, "feathers", 1).unwrap().remove(0);
    assert_eq!((hit.title.as_str(), hit.snippet.as_str()), ("Owls", "…wings make no sound (see: feathers)."));
    assert!(index().get(&hit.id).unwrap().text.ends_with("(see: feathers)."));
    assert!(index().get("owls").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_query_breaks_the_index(
        query in prop_oneof![
            any::<String>(),
            "[ -~]{0,60}",
            prop::collection::vec(prop_oneof![Just("owl"), Just("\""), Just("café"), Just("("), Just("\0"),
                Just("\u{301}"), Just("日本"), Just("a:b"), Just("🦉"), Just(" "), Just("\u{202e}")], 0..40)
                .prop_map(|parts| parts.concat()),
        ],
        k in 1_usize..8,
    ) {
        for mode in [Mode::Words, Mode::Dense, Mode::Hybrid] {
            match index().search_by(mode, &query, k) {
                Ok(hits) => {
                    prop_assert!(hits.len() <= k);
                    for hit in &hits {
                        prop_assert!(hit.snippet.chars().count() <= 40);
                        prop_assert!(hit.score > 0.0 && hit.score.is_finite());
                        prop_assert!(index().get(&hit.id).is_some());
                    }
                    prop_assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
                }
                Err(SearchError::Query(refusal)) => prop_assert!(!refusal.to_string().is_empty()),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}
