//! Nearest vectors without looking at all of them: inverted lists around centres, with vectors of one byte a dimension.
//!
//! Keys are hashed words and n-grams in 256 dimensions. Up to 16,384 keys are one list, and every vector is looked at. More are
//! parted by a tree of two levels of centres, each found by k-means over a sample; a query reads the lists of the nearest centres
//! until it has looked at 16,384 vectors, and besides those that the caller names. Without these it would miss most of a million:
//! short texts lie far from any centre. Deterministic: the same keys in the same order give the same lists and answers.

use crate::MemoryError;
use merit_core::embedder::{HashedNgrams, unit_vectors};
use merit_search::SearchError;
use rayon::prelude::*;

const DIMENSIONS: usize = 256;
/// Keys up to which every vector is looked at; keys of a list, on average; vectors that a query looks at.
const ONE_LIST: usize = 16_384;
const LIST: usize = 512;
const LOOKED_AT: usize = 16_384;
/// Vectors that centres are found from, and rounds of k-means.
const SAMPLE: usize = 32_768;
const ROUNDS: usize = 6;
/// Keys that are embedded together.
const CHUNK: usize = 4096;

type Centre = Vec<f32>;

/// A list: the places of its keys, and their vectors.
#[derive(Debug, Default)]
struct List {
    places: Vec<u32>,
    codes: Vec<i8>,
    scales: Vec<f32>,
}

/// Centres above, centres below each, and a list for each of those.
#[derive(Debug)]
pub(crate) struct Lists {
    embedder: HashedNgrams,
    top: Vec<Centre>,
    below: Vec<Vec<Centre>>,
    lists: Vec<Vec<List>>,
    /// Where the vector of every place is: centre above, centre below, position.
    homes: Vec<(u16, u16, u32)>,
}

impl Lists {
    /// Over `count` keys by place.
    pub(crate) fn build<'a>(
        count: usize,
        key: impl Fn(usize) -> &'a str + Sync,
    ) -> Result<Self, MemoryError> {
        let embedder = HashedNgrams::new(DIMENSIONS, merit_search::words);
        let (top, below) = match count <= ONE_LIST {
            true => (vec![vec![0.0; DIMENSIONS]], vec![vec![vec![0.0; DIMENSIONS]]]),
            false => centres(&embedder, count, &key)?,
        };
        let lists = below.iter().map(|below| below.iter().map(|_| List::default()).collect()).collect();
        let mut made = Self { embedder, top, below, lists, homes: Vec::with_capacity(count) };
        for first in (0..count).step_by(2 * CHUNK) {
            let places: Vec<usize> = (first..count.min(first + 2 * CHUNK)).collect();
            let placed: Vec<Vec<(usize, usize, Code)>> = places
                .par_chunks(CHUNK)
                .map(|places| {
                    let texts: Vec<&str> = places.iter().map(|at| key(*at)).collect();
                    let vectors = unit_vectors(&made.embedder, &texts).map_err(SearchError::from)?;
                    Ok(vectors.iter().map(|vector| made.place(vector)).collect())
                })
                .collect::<Result<_, MemoryError>>()?;
            for (at, (a, b, code)) in places.into_iter().zip(placed.into_iter().flatten()) {
                made.put(at as u32, (a, b), &code);
            }
        }
        Ok(made)
    }

    /// One more key.
    pub(crate) fn push(&mut self, at: u32, key: &str) -> Result<(), MemoryError> {
        let vector = self.embed(key)?;
        let (a, b, code) = self.place(&vector);
        self.put(at, (a, b), &code);
        Ok(())
    }

    /// Places come in order.
    fn put(&mut self, at: u32, (a, b): (usize, usize), code: &Code) {
        let list = &mut self.lists[a][b];
        self.homes.push((a as u16, b as u16, list.places.len() as u32));
        list.push(at, code);
    }

    /// At most `k` places with a cosine above 0, in no order that counts; `also` are looked at in any case.
    pub(crate) fn rank(
        &self,
        query: &str,
        k: usize,
        also: &[(u32, f32)],
    ) -> Result<Vec<(u32, f32)>, MemoryError> {
        let vector = self.embed(query)?;
        let code = Code::of(&vector);
        let mut near: Vec<(f32, usize, usize)> = Vec::new();
        for (a, below) in self.below.iter().enumerate() {
            near.extend(below.iter().enumerate().map(|(b, centre)| (dot(centre, &vector), a, b)));
        }
        near.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        let (mut found, mut looked): (Vec<(u32, f32)>, usize) = (Vec::new(), 0);
        let mut floor = 0.0;
        for (_, a, b) in near {
            if looked >= LOOKED_AT {
                break;
            }
            let list = &self.lists[a][b];
            looked += list.places.len();
            list.scores(&code, |place, score| {
                if score > floor {
                    found.push((place, score));
                }
            });
            if found.len() > 4 * k + 1024 {
                floor = cut(&mut found, k);
            }
        }
        for (place, _) in also {
            let Some((a, b, at)) = self.homes.get(*place as usize) else { continue };
            let score = self.lists[usize::from(*a)][usize::from(*b)].score(*at as usize, &code);
            if score > floor {
                found.push((*place, score));
            }
        }
        found.sort_unstable_by_key(|(place, _)| *place);
        found.dedup_by_key(|(place, _)| *place);
        cut(&mut found, k);
        Ok(found)
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>, MemoryError> {
        let vectors = unit_vectors(&self.embedder, &[text]).map_err(SearchError::from)?;
        Ok(vectors.into_iter().next().unwrap_or_else(|| vec![0.0; DIMENSIONS]))
    }

    fn place(&self, vector: &[f32]) -> (usize, usize, Code) {
        let a = nearest(&self.top, vector);
        (a, nearest(&self.below[a], vector), Code::of(vector))
    }
}

/// Keeps the best `k`; the score that the next must exceed.
fn cut(found: &mut Vec<(u32, f32)>, k: usize) -> f32 {
    if found.len() <= k || k == 0 {
        return 0.0;
    }
    found.select_nth_unstable_by(k - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(k);
    found.iter().map(|(_, score)| *score).fold(f32::INFINITY, f32::min)
}

/// A vector in whole numbers from -127 to 127, times a scale.
struct Code {
    /// Wide enough to be multiplied as they are.
    values: [i16; DIMENSIONS],
    scale: f32,
}

impl Code {
    fn of(vector: &[f32]) -> Self {
        let most = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let scale = if most > 0.0 { most / 127.0 } else { 1.0 };
        let mut values = [0; DIMENSIONS];
        values.iter_mut().zip(vector).for_each(|(value, x)| *value = (x / scale).round() as i16);
        Self { values, scale }
    }

    fn product(&self, other: &[i8; DIMENSIONS]) -> i32 {
        self.values.iter().zip(other).map(|(a, b)| i32::from(*a) * i32::from(i16::from(*b))).sum()
    }
}

impl List {
    fn push(&mut self, place: u32, code: &Code) {
        self.places.push(place);
        self.codes.extend(code.values.iter().map(|value| *value as i8));
        self.scales.push(code.scale);
    }

    fn scores(&self, query: &Code, mut each: impl FnMut(u32, f32)) {
        for ((place, code), scale) in
            self.places.iter().zip(self.codes.as_chunks::<DIMENSIONS>().0).zip(&self.scales)
        {
            each(*place, query.product(code) as f32 * scale * query.scale);
        }
    }

    fn score(&self, at: usize, query: &Code) -> f32 {
        match (self.codes.as_chunks::<DIMENSIONS>().0.get(at), self.scales.get(at)) {
            (Some(code), Some(scale)) => query.product(code) as f32 * scale * query.scale,
            _ => 0.0,
        }
    }
}

/// Eight sums side by side, so that they are added in one pass.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

fn nearest(centres: &[Centre], vector: &[f32]) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (at, centre) in centres.iter().enumerate() {
        let cosine = dot(centre, vector);
        if cosine > best.1 {
            best = (at, cosine);
        }
    }
    best.0
}

/// Two levels of centres for so many keys, from evenly spread ones.
fn centres<'a>(
    embedder: &HashedNgrams,
    count: usize,
    key: &(impl Fn(usize) -> &'a str + Sync),
) -> Result<(Vec<Centre>, Vec<Vec<Centre>>), MemoryError> {
    let stride = (count / SAMPLE).max(1);
    let places: Vec<usize> = (0..count).step_by(stride).collect();
    let sample: Vec<Vec<f32>> = places
        .par_chunks(CHUNK)
        .map(|places| unit_vectors(embedder, &places.iter().map(|at| key(*at)).collect::<Vec<_>>()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(SearchError::from)?
        .into_iter()
        .flatten()
        .collect();
    let branches = ((count / LIST) as f64).sqrt().ceil() as usize;
    let all: Vec<&[f32]> = sample.iter().map(Vec::as_slice).collect();
    let top = means(&all, branches);
    let mut parts: Vec<Vec<&[f32]>> = vec![Vec::new(); top.len()];
    for vector in all {
        parts[nearest(&top, vector)].push(vector);
    }
    let below = parts
        .par_iter()
        .zip(&top)
        .map(|(part, centre)| if part.is_empty() { vec![centre.clone()] } else { means(part, branches) })
        .collect();
    Ok((top, below))
}

/// k-means by cosine, from evenly spread vectors.
fn means(vectors: &[&[f32]], count: usize) -> Vec<Centre> {
    let count = count.clamp(1, vectors.len().max(1));
    let mut centres: Vec<Centre> =
        (0..count).filter_map(|at| Some(vectors.get(at * vectors.len() / count)?.to_vec())).collect();
    for _ in 0..ROUNDS {
        let places: Vec<usize> = vectors.par_iter().map(|vector| nearest(&centres, vector)).collect();
        let mut sums = vec![vec![0.0_f32; DIMENSIONS]; centres.len()];
        for (vector, at) in vectors.iter().zip(places) {
            sums[at].iter_mut().zip(*vector).for_each(|(sum, x)| *sum += x);
        }
        for (centre, sum) in centres.iter_mut().zip(sums) {
            let length = dot(&sum, &sum).sqrt();
            if length > 0.0 {
                *centre = sum.into_iter().map(|x| x / length).collect();
            }
        }
    }
    centres
}
