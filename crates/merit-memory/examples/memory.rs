//! Times a memory: a folder is filled, closed, opened again and asked, on one thread per query.
//!
//! Items are sentences of 12 words drawn from a Zipf distribution over 50,000; a query is 4 words of an item, one of them with a letter
//! changed. One JSON object a line: filling, opening, then for each way of finding the quantiles of single queries for 5 items and how
//! often the item that was asked for is the first (`found`), with the mean of the processor time beside the time on the clock. The first query of a way makes its index and is told apart
//! (`first_s`); `again_s` is the first query after another opening, which reads what was kept. At last, for queries of 4 and of 12
//! words, how many of the ten nearest vectors of all are among the ten that `dense` finds (`recall`). Arguments: items, queries per line.
#![allow(clippy::print_stdout)]

use merit_core::embedder::{HashedNgrams, unit_vectors};
use merit_core::{Seed, Stream};
use merit_memory::{Candidate, Edge, Memory, MemoryError, Query, Retrieval, Settings};
use std::time::Instant;

const VOCABULARY: usize = 50_000;
const WORDS: usize = 12;
const AT_ONCE: usize = 50_000;
/// Queries that are compared with a look at everything, and the vectors that `merit-memory` makes.
const COMPARED: usize = 50;
const NEAREST: usize = 10;
const DIMENSIONS: usize = 256;

fn word(rank: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "de", "fo", "gu", "ka", "li", "mo", "nu", "pa", "ri", "so", "ta", "ve", "zo", "chi", "da",
        "re", "ko", "mu", "si",
    ];
    let (mut left, mut word) = (rank + 400, String::new());
    while left > 0 {
        word.push_str(SYLLABLES[left % 20]);
        left /= 20;
    }
    word
}

fn sentence(words: &[String], sums: &[f64], stream: &mut Stream) -> String {
    let total = sums.last().copied().unwrap_or(0.0);
    let pick = |at: f64| words[sums.partition_point(|sum| *sum < at).min(VOCABULARY - 1)].as_str();
    (0..WORDS).map(|_| pick(stream.unit() * total)).collect::<Vec<_>>().join(" ")
}

/// So many words of an item, one of them with another last letter.
fn asked(text: &str, count: usize, stream: &mut Stream) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut taken: Vec<String> =
        (0..count).map(|_| words[stream.below(WORDS as u64) as usize].to_owned()).collect();
    taken[0].pop();
    taken[0].push('x');
    taken.join(" ")
}

/// Seconds that this thread has run; 0 where the system does not say.
fn processor() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).map_or(0.0, |ns| ns / 1e9)
}

fn quantile(sorted: &[f64], q: f64) -> f64 {
    sorted[((sorted.len() as f64 * q).ceil() as usize).clamp(1, sorted.len()) - 1]
}

fn main() -> Result<(), MemoryError> {
    let argument =
        |at: usize, usual: usize| std::env::args().nth(at).and_then(|n| n.parse().ok()).unwrap_or(usual);
    let (items, queries) = (argument(1, 1_000_000), argument(2, 300));
    let words: Vec<String> = (0..VOCABULARY).map(word).collect();
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=VOCABULARY)
        .map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        })
        .collect();
    let mut stream = Seed::root(1).stream();
    let texts: Vec<String> = (0..items).map(|_| sentence(&words, &sums, &mut stream)).collect();
    let folder = std::path::PathBuf::from(format!("target/bench-inputs/memory-{items}"));
    let io =
        |why: std::io::Error| MemoryError::Io { path: folder.display().to_string(), why: why.to_string() };
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(io)?;
    }
    let began = Instant::now();
    let mut memory = Memory::create(&folder, Settings::default())?;
    for part in texts.chunks(AT_ONCE) {
        // The rarest word of ten is what an item is about.
        let about = |text: &str| {
            let longest = text.split(' ').max_by_key(|word| word.len()).unwrap_or(text).to_owned();
            vec![Edge { relation: "about".to_owned(), to: longest }]
        };
        memory.evolve(
            part.iter().map(|text| Candidate { edges: about(text), ..Candidate::new(text) }).collect(),
        )?;
    }
    println!("{{\"what\": \"fill\", \"items\": {items}, \"seconds\": {:.3}}}", began.elapsed().as_secs_f64());
    drop(memory);
    let began = Instant::now();
    let mut memory = Memory::open(&folder)?;
    println!("{{\"what\": \"open\", \"items\": {items}, \"seconds\": {:.6}}}", began.elapsed().as_secs_f64());
    let first = |memory: &mut Memory, by: Retrieval| {
        let began = Instant::now();
        memory.retrieve(&Query { by: Some(by), ..Query::new(&texts[0], 5) })?;
        Ok::<f64, MemoryError>(began.elapsed().as_secs_f64())
    };
    let mut firsts = Vec::new();
    for by in Retrieval::ALL {
        firsts.push(first(&mut memory, by)?);
    }
    drop(memory);
    let mut memory = Memory::open(&folder)?;
    for (by, first_s) in Retrieval::ALL.into_iter().zip(firsts) {
        let again = first(&mut memory, by)?;
        let (mut times, mut found) = (Vec::new(), 0);
        let ran = processor();
        for _ in 0..queries {
            let text = &texts[stream.below(items as u64) as usize];
            let query = if by == Retrieval::Exact { text.clone() } else { asked(text, 4, &mut stream) };
            let began = Instant::now();
            let got = memory.retrieve(&Query { by: Some(by), ..Query::new(&query, 5) })?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
            found += usize::from(got.items.first().is_some_and(|item| item.text == *text));
        }
        times.sort_by(f64::total_cmp);
        let busy = (processor() - ran) * 1e3 / queries as f64;
        println!(
            "{{\"what\": \"retrieve\", \"by\": \"{}\", \"items\": {items}, \"first_s\": {first_s:.3}, \"again_s\": {again:.3}, \"p50_ms\": {:.4}, \"p99_ms\": {:.4}, \"processor_mean_ms\": {busy:.4}, \"found\": {:.3}}}",
            by.name(),
            quantile(&times, 0.5),
            quantile(&times, 0.99),
            found as f64 / queries as f64
        );
    }
    for words in [4, WORDS] {
        let asked: Vec<String> = (0..COMPARED)
            .map(|_| asked(&texts[stream.below(items as u64) as usize], words, &mut stream))
            .collect();
        let recall = recall(&mut memory, &texts, &asked)?;
        println!(
            "{{\"what\": \"recall\", \"by\": \"dense\", \"items\": {items}, \"words\": {words}, \"recall\": {recall:.3}}}"
        );
    }
    Ok(())
}

/// The share of what a look at every vector puts among the first that `dense` finds too. Of equals any will do.
fn recall(memory: &mut Memory, texts: &[String], asked: &[String]) -> Result<f64, MemoryError> {
    let embedder = HashedNgrams::new(DIMENSIONS, merit_search::words);
    let embed = |texts: &[String]| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        unit_vectors(&embedder, &texts).map_err(merit_search::SearchError::from)
    };
    let queries = embed(asked)?;
    let mut best = vec![Vec::new(); asked.len()];
    for texts in texts.chunks(4096) {
        let vectors = embed(texts)?;
        for (query, best) in queries.iter().zip(&mut best) {
            best.extend(vectors.iter().map(|vector| cosine(query, vector)));
            best.sort_by(|a: &f32, b| b.total_cmp(a));
            best.truncate(NEAREST);
        }
    }
    let mut right = 0;
    for ((text, query), best) in asked.iter().zip(&queries).zip(best) {
        let found = memory.retrieve(&Query { by: Some(Retrieval::Dense), ..Query::new(text, NEAREST) })?;
        let found = embed(&found.items.into_iter().map(|item| item.text).collect::<Vec<_>>())?;
        let least = best.last().copied().unwrap_or(0.0) - 1e-6;
        right += found.iter().filter(|vector| cosine(query, vector) >= least).count();
    }
    Ok(right as f64 / (asked.len() * NEAREST) as f64)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum()
}
