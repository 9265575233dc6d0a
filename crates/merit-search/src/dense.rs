//! Which documents point the same way as the query? Exact search over all vectors.
//!
//! Vectors lie in blocks of [`LANES`] documents, within a block dimension by dimension, so that one dimension of all its
//! documents is added in one vectorised pass and dimensions in which the query is zero cost nothing. A document's cosine is
//! summed in order of the dimensions, the same on any machine and number of threads.

use crate::top::Top;
use crate::{Corpus, SearchError};
use merit_core::embedder::{Embedder, unit_vectors};
use rayon::prelude::*;
use std::sync::Arc;

/// Documents of a block.
const LANES: usize = 1024;

/// Most memory for vectors.
const MAX_BYTES: usize = 64 << 30;

pub(crate) struct DenseIndex {
    embedder: Arc<dyn Embedder>,
    documents: usize,
    /// One row of lanes per dimension.
    blocks: Vec<Vec<[f32; LANES]>>,
}

impl DenseIndex {
    pub(crate) fn build(corpus: &Corpus, embedder: Arc<dyn Embedder>) -> Result<Self, SearchError> {
        let bytes = corpus.len().saturating_mul(embedder.dimensions()).saturating_mul(4);
        if bytes > MAX_BYTES {
            return Err(SearchError::Config {
                key: "dense.dimensions",
                got: embedder.dimensions().to_string(),
                want: format!("fewer: the vectors of {} documents would fill {bytes} bytes", corpus.len()),
            });
        }
        let blocks: Result<Vec<_>, SearchError> = corpus
            .documents()
            .par_chunks(LANES)
            .map(|documents| {
                let texts: Vec<String> =
                    documents.iter().map(|one| format!("{}\n{}", one.title, one.text)).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                Ok(block(embedder.dimensions(), &unit_vectors(embedder.as_ref(), &texts)?))
            })
            .collect();
        Ok(Self { documents: corpus.len(), blocks: blocks?, embedder })
    }

    /// The query's unit vector; nothing when it has no direction.
    pub(crate) fn embed(&self, query: &str) -> Result<Option<Vec<f32>>, SearchError> {
        let vector = unit_vectors(self.embedder.as_ref(), &[query])?.pop().unwrap_or_default();
        Ok(vector.iter().any(|x| *x != 0.0).then_some(vector))
    }

    /// At most `k` documents with a cosine above 0, best first, ties in order of the corpus.
    pub(crate) fn rank(&self, query: &[f32], k: usize) -> Vec<(u32, f32)> {
        let present: Vec<(usize, f32)> =
            query.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect();
        let mut top = Top::new(k, 0.0);
        let mut first = 0;
        for block in &self.blocks {
            let cosines = cosines(block, &present);
            let best = cosines.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            if best > top.floor() {
                for (lane, cosine) in cosines.iter().enumerate().take(self.documents.saturating_sub(first)) {
                    top.offer((first + lane) as u32, *cosine);
                }
            }
            first += LANES;
        }
        top.into_ranked()
    }
}

/// Vectors turned to lie dimension by dimension; missing documents are zeros.
fn block(dimensions: usize, vectors: &[Vec<f32>]) -> Vec<[f32; LANES]> {
    let mut rows = vec![[0.0; LANES]; dimensions];
    for (lane, vector) in vectors.iter().enumerate() {
        for (row, value) in rows.iter_mut().zip(vector) {
            if let Some(cell) = row.get_mut(lane) {
                *cell = *value;
            }
        }
    }
    rows
}

fn cosines(block: &[[f32; LANES]], query: &[(usize, f32)]) -> [f32; LANES] {
    let mut sums = [0.0; LANES];
    let (fours, rest) = query.as_chunks::<4>();
    for [(a, qa), (b, qb), (c, qc), (d, qd)] in fours {
        if let (Some(ra), Some(rb), Some(rc), Some(rd)) =
            (block.get(*a), block.get(*b), block.get(*c), block.get(*d))
        {
            for lane in 0..LANES {
                sums[lane] += (qa * ra[lane] + qb * rb[lane]) + (qc * rc[lane] + qd * rd[lane]);
            }
        }
    }
    for (at, value) in rest {
        if let Some(row) = block.get(*at) {
            for lane in 0..LANES {
                sums[lane] += value * row[lane];
            }
        }
    }
    sums
}
