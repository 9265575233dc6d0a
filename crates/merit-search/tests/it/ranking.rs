//! The order of hits: BM25 by hand and against a naive count, ties, threads.

use merit_search::{Corpus, DenseConfig, Document, Index, IndexConfig, Mode, Stemming, StopWords};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

fn corpus(documents: &[(&str, &str, &str)]) -> Corpus {
    let made = documents.iter().map(|(id, title, text)| Document {
        id: (*id).to_owned(),
        title: (*title).to_owned(),
        text: (*text).to_owned(),
    });
    Corpus::new(made.collect()).unwrap()
}

fn plain() -> IndexConfig {
    IndexConfig { stemming: Stemming::None, stop_words: StopWords::None, ..IndexConfig::default() }
}

#[track_caller]
fn check(index: &Index, query: &str, want: &[(&str, f32)]) {
    let hits = index.search(query, 10).unwrap();
    let got: Vec<(&str, f32)> = hits.iter().map(|hit| (hit.id.as_str(), hit.score)).collect();
    assert_eq!(got.len(), want.len(), "{got:?}");
    for (got, want) in got.iter().zip(want) {
        assert!(got.0 == want.0 && (got.1 - want.1).abs() < 1e-4, "{got:?} is not {want:?}");
    }
}

#[test]
fn scores_are_those_computed_by_hand() {
    let index = Index::build(
        corpus(&[("a", "", "owl owl fox"), ("b", "", "owl elk elk elk elk"), ("c", "", "elk")]),
        &plain(),
    )
    .unwrap();
    // N = 3, lengths 3, 5, 1, average 3; norm = 1.2 * (0.25 + 0.75 * length / 3): a 1.2, b 1.8, c 0.6.
    // owl: n = 2, idf = ln(1 + 1.5 / 2.5) = 0.470004. a: 0.470004 * 2 * 2.2 / 3.2 = 0.646255; b: * 2.2 / 2.8 = 0.369289.
    check(&index, "owl", &[("a", 0.646_255), ("b", 0.369_289)]);
    // elk: n = 2, the same idf. b: 0.470004 * 4 * 2.2 / 5.8 = 0.713109; c: 0.470004 * 2.2 / 1.6 = 0.646255.
    check(&index, "elk", &[("b", 0.713_109), ("c", 0.646_255)]);
    // Both words, `elk` twice: b 0.369289 + 2 * 0.713109 = 1.795507; c 1.292510; a 0.646255.
    check(&index, "elk owl, ELK?", &[("b", 1.795_507), ("c", 1.292_51), ("a", 0.646_255)]);
    // fox: n = 1, idf = ln(1 + 2.5 / 1.5) = 0.980829; a: 0.980829 * 2.2 / 2.2.
    check(&index, "fox unicorn", &[("a", 0.980_829)]);
    check(&index, "unicorn", &[]);
}

#[test]
fn a_title_counts_as_much_as_its_boost() {
    let documents = [("a", "owl", "elk"), ("b", "", "elk"), ("c", "fox", "owl")];
    let search = |title_boost: f32| {
        let index = Index::build(corpus(&documents), &IndexConfig { title_boost, ..plain() }).unwrap();
        index.search("owl", 10).unwrap().into_iter().map(|hit| (hit.id, hit.score)).collect::<Vec<_>>()
    };
    // n = 1 of 3 in either field: idf = 0.980829. Text: length 1 of average 1: 0.980829. Title: length 1 of average 2/3:
    // norm = 1.2 * (0.25 + 0.75 * 1.5) = 1.65, 0.980829 * 2.2 / 2.65 = 0.814273.
    let near = |got: &[(String, f32)], want: &[(&str, f32)]| {
        got.len() == want.len() && got.iter().zip(want).all(|(g, w)| g.0 == w.0 && (g.1 - w.1).abs() < 1e-4)
    };
    assert!(near(&search(1.0), &[("c", 0.980_829), ("a", 0.814_273)]));
    assert!(near(&search(3.0), &[("a", 2.442_819), ("c", 0.980_829)]));
    assert!(near(&search(0.0), &[("c", 0.980_829)]));
}

#[test]
fn equal_documents_come_in_order_of_the_corpus_however_many_are_asked_for() {
    let made = (0..3000).map(|at| Document {
        id: at.to_string(),
        title: String::new(),
        text: match at % 3 {
            0 => "owl fox elk bee".to_owned(),
            1 => "bee elk fox owl".to_owned(),
            _ => format!("word{} owl fly ant", at % 7),
        },
    });
    let index = Index::build(Corpus::new(made.collect()).unwrap(), &plain()).unwrap();
    let want: Vec<String> = (0..3000).filter(|at| at % 3 != 2).map(|at| at.to_string()).collect();
    for k in [1, 7, 100, 1000] {
        let hits = index.search("bee owl elk fox", k).unwrap();
        assert_eq!(
            hits.iter().map(|hit| &hit.id).collect::<Vec<_>>(),
            want.iter().take(k).collect::<Vec<_>>()
        );
        assert!(hits.iter().all(|hit| hit.score == hits[0].score));
    }
}

#[test]
fn hits_do_not_depend_on_the_number_of_threads() {
    let made = (0..1500_u64).map(|at| Document {
        id: at.to_string(),
        title: format!("t{}", at % 11),
        text: (0..20).map(|n| format!("w{} ", at.wrapping_mul(n * n + 7) % 97)).collect(),
    });
    let corpus = Arc::new(Corpus::new(made.collect()).unwrap());
    let dense = DenseConfig { role: "hashed-ngrams".to_owned(), dimensions: 128, weight: 1.0 };
    let config = IndexConfig { dense: Some(dense), ..plain() };
    let answers = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let index = Index::build(Arc::clone(&corpus), &config).unwrap();
            let ask = |query: usize| {
                let mode = [Mode::Words, Mode::Dense, Mode::Hybrid][query % 3];
                index
                    .search_by(mode, &format!("w{} w{} t{}", query % 97, query % 89, query % 11), 20)
                    .unwrap()
            };
            use rayon::prelude::*;
            ((0..300).into_par_iter().map(ask).collect::<Vec<_>>(), index.digest().to_owned())
        })
    };
    let one = answers(1);
    assert_eq!(one, answers(3));
    assert_eq!(one, answers(8));
}

/// BM25 as the formula is written, over one field of words between spaces.
fn naive(documents: &[Vec<usize>], query: &[usize]) -> Vec<f64> {
    let all = documents.len() as f64;
    let average = documents.iter().map(Vec::len).sum::<usize>() as f64 / all;
    let mut with: HashMap<usize, f64> = HashMap::new();
    for word in query {
        let found = documents.iter().filter(|document| document.contains(word)).count();
        with.insert(*word, found as f64);
    }
    let score = |document: &Vec<usize>| {
        let term = |word: &usize| {
            let tf = document.iter().filter(|other| *other == word).count() as f64;
            let idf = (1.0 + (all - with[word] + 0.5) / (with[word] + 0.5)).ln();
            idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * document.len() as f64 / average))
        };
        query.iter().map(term).sum()
    };
    documents.iter().map(score).collect()
}

#[test]
fn what_is_skipped_never_belongs_among_the_best() {
    // Word 0 is in most of 6000 documents and word 400 in few: long and short lists, most of them skipped by the index.
    let mut state = 7_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let unit = (state >> 40) as f64 / (1_u64 << 24) as f64;
        (400.0_f64.powf(unit) - 1.0) as usize
    };
    let documents: Vec<Vec<usize>> = (0..6000).map(|at| (0..5 + at % 31).map(|_| draw()).collect()).collect();
    let text = |words: &[usize]| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let made = documents.iter().enumerate().map(|(at, words)| Document {
        id: at.to_string(),
        title: String::new(),
        text: text(words),
    });
    let index = Index::build(Corpus::new(made.collect()).unwrap(), &plain()).unwrap();
    for length in (1..=8).cycle().take(64) {
        let query: Vec<usize> = (0..length).map(|_| draw()).collect();
        let hits = index.search(&text(&query), 10).unwrap();
        let mut scores = naive(&documents, &query);
        scores.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(hits.len(), 10);
        for (hit, want) in hits.iter().zip(&scores) {
            assert!(
                (f64::from(hit.score) - want).abs() < 1e-4 * want,
                "{query:?}: {} is not {want}",
                hit.score
            );
        }
    }
}

#[test]
fn a_text_outside_the_corpus_scores_as_it_would_inside() {
    let texts = ["owls hunt at night", "bats sleep by day and hunt at night", "a red door"];
    let made = texts.iter().enumerate().map(|(at, text)| Document {
        id: at.to_string(),
        title: String::new(),
        text: (*text).to_owned(),
    });
    let index = Index::build(Corpus::new(made.collect()).unwrap(), &IndexConfig::default()).unwrap();
    let hits = index.search("who hunts at night", 5).unwrap();
    assert_eq!(hits.len(), 2);
    for hit in hits {
        let outside = index.score("who hunts at night", texts[hit.id.parse::<usize>().unwrap()]);
        assert!((outside - hit.score).abs() < 1e-5, "{outside} {}", hit.score);
    }
    assert_eq!(index.score("who hunts at night", "a blue door"), 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_hits_are_those_of_a_naive_bm25(
        // Lengths up to 40 words are kept exactly by the index.
        documents in prop::collection::vec(prop::collection::vec(0_usize..40, 1..40), 1..300),
        query in prop::collection::vec(0_usize..45, 1..9),
    ) {
        let text = |words: &[usize]| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
        let made = documents.iter().enumerate().map(|(at, words)| Document {
            id: at.to_string(), title: String::new(), text: text(words),
        });
        let index = Index::build(Corpus::new(made.collect()).unwrap(), &plain()).unwrap();
        let hits = index.search(&text(&query), 5).unwrap();
        let scores = naive(&documents, &query);
        let mut order: Vec<usize> = (0..documents.len()).filter(|at| scores[*at] > 0.0).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        prop_assert_eq!(hits.len(), order.len().min(5));
        for (hit, at) in hits.iter().zip(&order) {
            let own = scores[hit.id.parse::<usize>().unwrap()];
            prop_assert!((f64::from(hit.score) - own).abs() < 1e-4 * own, "{} is not {}", hit.score, own);
            // Where two naive scores are closer than single precision, either may come first.
            prop_assert!((own - scores[*at]).abs() < 1e-4 * own);
        }
        if order.len() > 1 && scores[order[0]] > scores[order[1]] * 1.0001 {
            prop_assert_eq!(&hits[0].id, &order[0].to_string());
        }
    }
}
