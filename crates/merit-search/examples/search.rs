//! Times building and searching an index over a synthetic corpus, on one thread per query.
//!
//! The corpus has words drawn from a Zipf distribution (rank `r` of 50,000 with weight `1/r`), about 100 a document; queries of
//! 1, 3 and 8 words are drawn from the words of random documents, so that frequent words are asked as often as they are
//! written. One JSON object per line: first the builds (`plain` splits words only, as the peer does; `english` is the default
//! config with 256-dimensional vectors), then one line per mode and query length with the quantiles of single searches for 10
//! hits, snippets included. A quantile is the time that at least this share of the searches do not pass; `mean_cpu_ms` leaves
//! out waiting for a busy machine; `best` is the sum of all first scores. Memory is resident memory as the kernel counts it.
//! Arguments: documents, queries per line, and a folder into which `corpus.jsonl` and `queries.json` are written for
//! `benchmarks/peers/bm25_search.py` and `word_index.py`; then, perhaps, `plain`, which leaves out all but words.
#![allow(clippy::print_stdout)]

use merit_search::{
    Corpus, DenseConfig, Document, Index, IndexConfig, Mode, SearchError, Stemming, StopWords,
};
use std::io::Write;
use std::time::Instant;

const VOCABULARY: usize = 50_000;
const LENGTHS: [usize; 3] = [1, 3, 8];
const WARM: usize = 20;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let a = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        b ^ (b >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A made-up word of at least two syllables; ranks give different words.
fn word(rank: usize) -> String {
    const SYLLABLES: [&str; 40] = [
        "ba", "be", "bo", "bu", "da", "de", "do", "du", "fa", "fi", "fo", "ga", "go", "gu", "ka", "ki", "ko",
        "ku", "la", "li", "lo", "ma", "mi", "mo", "mu", "na", "ni", "no", "pa", "pi", "po", "ra", "ri", "ro",
        "sa", "si", "ta", "ti", "va", "zo",
    ];
    let (mut left, mut word) = (rank + SYLLABLES.len(), String::new());
    while left > 0 {
        word.push_str(SYLLABLES[left % SYLLABLES.len()]);
        left /= SYLLABLES.len();
    }
    word + "k"
}

fn corpus(documents: usize, random: &mut Random) -> Result<Corpus, SearchError> {
    let words: Vec<String> = (0..VOCABULARY).map(word).collect();
    let mut total = 0.0;
    let weights: Vec<f64> = (0..VOCABULARY)
        .map(|rank| {
            total += 1.0 / (rank + 1) as f64;
            total
        })
        .collect();
    let mut draw = |count: usize| {
        let picks = (0..count).map(|_| {
            let at = random.unit() * total;
            words[weights.partition_point(|sum| *sum < at).min(VOCABULARY - 1)].as_str()
        });
        picks.collect::<Vec<_>>().join(" ")
    };
    let lengths: Vec<usize> = (0..documents).map(|at| 50 + at * 7919 % 101).collect();
    let made = lengths.iter().enumerate();
    let made = made.map(|(at, words)| Document { id: at.to_string(), title: draw(4), text: draw(*words) });
    Corpus::new(made.collect())
}

fn queries(corpus: &Corpus, words: usize, count: usize, random: &mut Random) -> Vec<String> {
    let mut one = || {
        let picks = (0..words).map(|_| {
            let document = &corpus.documents()[random.below(corpus.len())];
            let written: Vec<&str> = document.text.split(' ').collect();
            written[random.below(written.len())].to_owned()
        });
        picks.collect::<Vec<_>>().join(" ")
    };
    (0..count).map(|_| one()).collect()
}

/// A line of this process' status, in MiB.
fn memory(line: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|row| row.strip_prefix(line)?.strip_prefix(':'));
    let kib = found.and_then(|row| row.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}

/// Milliseconds that this thread has run; counts no waiting for a processor.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).map_or(f64::NAN, |ns| ns / 1e6)
}

fn built(name: &str, corpus: &Corpus, config: &IndexConfig) -> Result<Index, SearchError> {
    let corpus = std::sync::Arc::new(corpus.clone());
    let (before, start) = (memory("VmRSS"), Instant::now());
    let index = Index::build(corpus, config)?;
    let line = serde_json::json!({
        "what": "build", "config": name, "documents": index.corpus().len(),
        "corpus_mib": index.corpus().bytes() as f64 / 1_048_576.0,
        "seconds": start.elapsed().as_secs_f64(), "index_mib": memory("VmRSS") - before,
        "peak_mib": memory("VmHWM"), "digest": index.digest(),
    });
    println!("{line}");
    Ok(index)
}

fn timed(
    config: &str,
    index: &Index,
    mode: Mode,
    words: usize,
    queries: &[String],
) -> Result<(), SearchError> {
    let mut times = Vec::with_capacity(queries.len());
    let (mut hits, mut best) = (0, 0.0);
    let mut cpu = f64::NAN;
    for (at, query) in queries.iter().enumerate() {
        cpu = if at == WARM { cpu_ms() } else { cpu };
        let start = Instant::now();
        let found = std::hint::black_box(index.search_by(mode, query, 10)?);
        if at >= WARM {
            times.push(start.elapsed().as_secs_f64() * 1e3);
            hits += found.len();
            best += found.first().map_or(0.0, |hit| f64::from(hit.score));
        }
    }
    let cpu = (cpu_ms() - cpu) / times.len() as f64;
    times.sort_by(f64::total_cmp);
    let quantile =
        |share: f64| times[((share * times.len() as f64).ceil() as usize).clamp(1, times.len()) - 1];
    let line = serde_json::json!({
        "what": "search", "config": config, "mode": mode.name(), "words": words, "queries": times.len(), "hits": hits, "best": best,
        "p50_ms": quantile(0.5), "p95_ms": quantile(0.95), "p99_ms": quantile(0.99), "mean_cpu_ms": cpu,
    });
    println!("{line}");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let documents: usize = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let count: usize = arguments.next().map_or(Ok(500), |text| text.parse())?;
    let mut random = Random(20_250_101);
    let corpus = corpus(documents.max(1), &mut random)?;
    let asked: Vec<Vec<String>> =
        LENGTHS.iter().map(|words| queries(&corpus, *words, count.max(1) + WARM, &mut random)).collect();
    if let Some(folder) = arguments.next() {
        std::fs::create_dir_all(&folder)?;
        let mut file = std::io::BufWriter::new(std::fs::File::create(format!("{folder}/corpus.jsonl"))?);
        for document in corpus.documents() {
            writeln!(file, "{}", serde_json::to_string(document)?)?;
        }
        file.flush()?;
        std::fs::write(format!("{folder}/queries.json"), serde_json::to_string(&asked)?)?;
    }
    let plain = IndexConfig {
        title_boost: 0.0,
        stemming: Stemming::None,
        stop_words: StopWords::None,
        ..IndexConfig::default()
    };
    let index = built("plain", &corpus, &plain)?;
    for (words, queries) in LENGTHS.iter().zip(&asked) {
        timed("plain", &index, Mode::Words, *words, queries)?;
    }
    drop(index);
    if arguments.next().is_some_and(|only| only == "plain") {
        return Ok(());
    }
    let dense = DenseConfig { role: "hashed-ngrams".to_owned(), dimensions: 256, weight: 1.0 };
    let english = IndexConfig { dense: Some(dense), ..IndexConfig::default() };
    let index = built("english", &corpus, &english)?;
    for mode in [Mode::Words, Mode::Dense, Mode::Hybrid] {
        for (words, queries) in LENGTHS.iter().zip(&asked) {
            timed("english", &index, mode, *words, queries)?;
        }
    }
    Ok(())
}
