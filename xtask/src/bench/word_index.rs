//! Word indexes of 100,000 and of a million documents: ours in memory beside tantivy and SQLite's FTS5 on disk.
//!
//! The corpora are `search`'s, without stems and stop words. A million documents take a minute to draw and 0.7 GB to write, so
//! that this is measured only where it is named; the files are removed afterwards.

use super::job::{Job, interleave};
use super::lines::per_round;
use super::record::Record;
use super::spread::Spread;
use super::table::{Bar, Better, Row, alone, beside_peers};
use super::{Asked, Subject};
use crate::root;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject = Subject {
    name: "word-index",
    by_default: false,
    peers: &["tantivy"],
    examples: &[("merit-search", "search")],
    measure,
};

const FOLDER: &str = "target/bench-inputs/word-index";
const SIZES: [u64; 2] = [100_000, 1_000_000];
/// Words of a query.
const LENGTHS: [u32; 3] = [1, 3, 8];
const PEERS: [(&str, &str); 2] = [("tantivy", "tantivy, on disk"), ("fts5", "SQLite's FTS5, on disk")];

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let sizes = if asked.quick { [200, 500] } else { SIZES };
    for size in sizes {
        // FTS5 takes seconds a query over a million documents.
        let queries = if size == SIZES[1] { 30 } else { 200 };
        let tags = json!({"documents": size});
        let ours = Job::merit("search", &format!("{size} {queries} {FOLDER} plain"), tags.clone());
        let theirs = PEERS.map(|(engine, _)| {
            Job::peer_in("search", engine, "word_index.py", &format!("{FOLDER} {engine}"), tags.clone())
        });
        let jobs: Vec<Job> = std::iter::once(ours).chain(theirs).collect();
        interleave(&jobs, asked.rounds, record)?;
    }
    let folder = root().join(FOLDER);
    std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    Ok(format!("{}\n{}", beside_peers(&beside(&record.lines, sizes)?), alone(&built(&record.lines, sizes)?)))
}

fn beside(lines: &[Value], sizes: [u64; 2]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for size in sizes {
        for words in LENGTHS {
            for (engine, peer) in PEERS {
                let of =
                    |side: &str| json!({"side": side, "what": "search", "documents": size, "words": words});
                rows.push(Row {
                    regime: format!("{size} documents, {words} words in the query, mean processor ms"),
                    merit: per_round(lines, &of("merit"), "mean_cpu_ms")?,
                    peer: peer.to_owned(),
                    theirs: per_round(lines, &of(engine), "mean_cpu_ms")?,
                    better: Better::Lower,
                    bar: Bar::None,
                });
            }
        }
    }
    Ok(rows)
}

/// What, value, bar, whether it is met.
type Fact = (String, String, String, Option<bool>);

/// What each index takes to build and to keep.
fn built(lines: &[Value], sizes: [u64; 2]) -> Result<Vec<Fact>> {
    let mut facts = Vec::new();
    for size in sizes {
        for (side, kept, named) in [
            ("merit", "index_mib", "merit's index in memory, beside the text"),
            ("tantivy", "disk_mib", "tantivy's index on disk, with the text"),
            ("fts5", "disk_mib", "FTS5's index on disk, with the text"),
        ] {
            let wanted = json!({"side": side, "what": "build", "documents": size});
            for (key, unit) in [(kept, "MiB"), ("seconds", "s to build")] {
                let spread = Spread::of(&per_round(lines, &wanted, key)?);
                facts.push((
                    format!("{size} documents: {named}"),
                    format!("{spread} {unit}"),
                    "—".to_owned(),
                    None,
                ));
            }
        }
    }
    Ok(facts)
}
