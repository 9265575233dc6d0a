//! Search by vectors and by both: what they add, and how a bad embedder or config is told.

use merit_core::embedder::{Embedder, HashedNgrams};
use merit_search::{Corpus, DenseConfig, Index, IndexConfig, Mode, QueryRefusal, SearchError};
use std::sync::Arc;

const LINES: &str = r#"{"id": "owl", "text": "owls hunt silently"}
{"id": "mantis", "text": "the praying mantis waits"}
{"id": "bread", "text": "sourdough bread"}
{"id": "elk", "text": "elk graze in meadows"}"#;

fn config(role: &str, dimensions: usize) -> IndexConfig {
    let dense = DenseConfig { role: role.to_owned(), dimensions, weight: 1.0 };
    IndexConfig { dense: Some(dense), ..IndexConfig::default() }
}

fn corpus() -> Corpus {
    Corpus::from_reader(LINES.as_bytes(), "c").unwrap()
}

fn ids(index: &Index, mode: Mode, query: &str) -> Vec<String> {
    index.search_by(mode, query, 3).unwrap().into_iter().map(|hit| hit.id).collect()
}

#[test]
fn vectors_find_a_misspelled_word_that_words_miss() {
    let index = Index::build(corpus(), &config("hashed-ngrams", 2048)).unwrap();
    assert!(ids(&index, Mode::Words, "sourdoguh").is_empty());
    assert_eq!(ids(&index, Mode::Dense, "sourdoguh")[0], "bread");
    assert_eq!(ids(&index, Mode::Hybrid, "sourdoguh")[0], "bread");
}

#[test]
fn hybrid_has_what_either_finds() {
    let index = Index::build(corpus(), &config("hashed-ngrams", 2048)).unwrap();
    let query = "owl or sourdoguh";
    assert_eq!(ids(&index, Mode::Words, query), ["owl"]);
    let both = ids(&index, Mode::Hybrid, query);
    assert_eq!(both[0], "owl", "first in words, and found by vectors too");
    assert!(both.contains(&"bread".to_owned()));
    let first = index.search(query, 1).unwrap().remove(0);
    assert!(first.score > 1.0 / 61.0 && first.score <= 2.0 / 61.0, "{}", first.score);
}

#[test]
fn a_cosine_is_the_cosine() {
    let index = Index::build(corpus(), &config("hashed-ngrams", 300)).unwrap();
    let hit = index.search_by(Mode::Dense, "sourdough  BREAD!", 1).unwrap().remove(0);
    assert!(hit.id == "bread" && (hit.score - 1.0).abs() < 1e-5, "{hit:?}");
    let vectors = HashedNgrams::new(300, |text, each| text.split(' ').for_each(each))
        .embed(&["owl elk", "elk graze in meadows"])
        .unwrap();
    let want: f32 = vectors[0].iter().zip(&vectors[1]).map(|(a, b)| a * b).sum();
    let hits = index.search_by(Mode::Dense, "owl elk", 4).unwrap();
    let elk = hits.iter().find(|hit| hit.id == "elk").unwrap();
    assert!((elk.score - want).abs() < 1e-5, "{} {want}", elk.score);
}

/// Counts letters; broken in the way its `fault` says.
struct Letters {
    fault: &'static str,
}

impl Embedder for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn dimensions(&self) -> usize {
        26
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let count = |text: &&str| {
            let mut counts = vec![0.0; if self.fault == "length" { 25 } else { 26 }];
            for letter in text.bytes().filter(u8::is_ascii_lowercase) {
                if let Some(count) = counts.get_mut(usize::from(letter - b'a')) {
                    *count += if self.fault == "nan" { f32::NAN } else { 1.0 };
                }
            }
            counts
        };
        match self.fault {
            "down" => Err("no connection".to_owned()),
            "few" => Ok(Vec::new()),
            _ => Ok(texts.iter().map(count).collect()),
        }
    }
}

#[test]
fn an_embedder_made_elsewhere_is_used_whatever_its_norms() {
    let index = Index::build_with_embedder(corpus(), &config("letters", 26), Arc::new(Letters { fault: "" }))
        .unwrap();
    let hits = index.search_by(Mode::Dense, "silently hunt owls", 1).unwrap();
    assert!(hits[0].id == "owl" && (hits[0].score - 1.0).abs() < 1e-5, "{hits:?}");
}

#[test]
fn an_embedder_that_breaks_its_word_is_named() {
    let told = |fault| {
        let built = Index::build_with_embedder(corpus(), &config("letters", 26), Arc::new(Letters { fault }));
        built.unwrap_err().to_string()
    };
    assert_eq!(told("down"), "embedder `letters` could not answer: no connection");
    assert_eq!(told("few"), "embedder `letters` could not answer: it gave 0 vectors for 4 texts");
    assert_eq!(
        told("length"),
        "embedder `letters` could not answer: it gave a vector of 25 dimensions instead of 26"
    );
    assert_eq!(
        told("nan"),
        "embedder `letters` could not answer: it gave a vector with a value that is no number"
    );
}

#[test]
fn configs_that_cannot_work_are_refused() {
    let told = |config: &IndexConfig| Index::build(corpus(), config).unwrap_err().to_string();
    assert_eq!(
        told(&config("hashed-ngram", 64)),
        "unknown embedder `hashed-ngram` (did you mean `hashed-ngrams`?); `merit list` shows what there is"
    );
    assert_eq!(told(&config("hashed-ngrams", 0)), "`dense.dimensions` is 0, but it must be from 1 to 16384");
    let mode = IndexConfig { mode: Some(Mode::Hybrid), ..IndexConfig::default() };
    let want = "`mode` is `hybrid`, but it must be `words` in an index without vectors; add a table `dense` or remove `mode`";
    assert_eq!(told(&mode), want);
    let boost = IndexConfig { title_boost: f32::NAN, ..IndexConfig::default() };
    assert_eq!(told(&boost), "`title_boost` is NaN, but it must be from 0 to 100");
    let other = Index::build_with_embedder(corpus(), &config("letters", 27), Arc::new(Letters { fault: "" }));
    assert_eq!(
        other.unwrap_err().to_string(),
        "`dense.dimensions` is 27, but it must be 26, as `letters` gives"
    );
}

#[test]
fn an_index_without_vectors_says_so() {
    let index = Index::build(corpus(), &IndexConfig::default()).unwrap();
    let refusal = SearchError::Query(QueryRefusal::NoVectors { mode: "dense" });
    assert_eq!(index.search_by(Mode::Dense, "owl", 1), Err(refusal));
    assert_eq!(index.search("owl", 1).unwrap()[0].id, "owl");
}
