//! Nearest vectors: every vector is looked at roughly, and the best of those are compared by one byte a coordinate.
//!
//! Keys are hashed words and n-grams in 256 coordinates. The rough look takes a coordinate as -1, 0 or 1, in two bits. These lie in
//! blocks of [`LANES`] keys, coordinate by coordinate, so that only the coordinates that a query has are read; a query is
//! rounded to small whole numbers, which makes its product with a block a sum of rows. Up to [`EXACT`] keys there is no rough
//! look. Above 262,144 keys only the heaviest coordinates of a query take part in it, 64 of them at a million. Deterministic.

use crate::MemoryError;
use merit_core::embedder::{HashedNgrams, unit_vectors};
use merit_search::SearchError;
use rayon::prelude::*;

const DIMENSIONS: usize = 256;
/// Keys up to which all are compared, and the fewest that are compared where there are more.
const EXACT: usize = 16_384;
const COMPARED: usize = 1536;
/// Keys of a block, and bytes of a row, which holds one coordinate of a block: bits 2p and 2p + 1 of byte `i` belong to key `p * ROW + i`.
const LANES: usize = 4 * ROW;
const ROW: usize = 4096;
/// Coordinates of a unit vector that are less than half of their root mean square are 0 in the rough look. 0 is written as 1.
const LIGHT: f32 = 0.5 / 16.0;
const ZERO: u8 = 1;
const ZEROS: u8 = 0b0101_0101;
/// Rows that are added at once: seven times 2 fits four bits. Rows that are added before their bytes are full.
const PASS: usize = 7;
const FULL: usize = 17 * PASS;
/// Keys that are passed over together where none of them can be among the best.
const GROUP: usize = 64;
/// Coordinates of all keys that a rough look reads, at most.
const READ: usize = 1 << 26;
/// Keys that are embedded together.
const CHUNK: usize = 1024;

type Row = [u8; ROW];
type Code = [i8; DIMENSIONS];

/// No coordinate, to fill a pass.
static NOTHING: Row = [0; ROW];

/// The vectors of keys, by place.
#[derive(Debug)]
pub(crate) struct Vectors {
    embedder: HashedNgrams,
    codes: Vec<Code>,
    /// What a code is multiplied with to be a unit vector; 0 where there is no direction.
    scales: Vec<f32>,
    /// The same of the rough look, and the greatest of every [`GROUP`].
    rough: Vec<f32>,
    greatest: Vec<f32>,
    /// [`DIMENSIONS`] rows a block.
    rows: Vec<Row>,
}

impl Vectors {
    pub(crate) fn build(keys: &[String]) -> Result<Self, MemoryError> {
        let mut made = Self::empty();
        for keys in keys.chunks(16 * CHUNK) {
            let parts: Vec<Vec<Vec<f32>>> = keys
                .par_chunks(CHUNK)
                .map(|keys| {
                    let texts: Vec<&str> = keys.iter().map(String::as_str).collect();
                    unit_vectors(&made.embedder, &texts).map_err(SearchError::from)
                })
                .collect::<Result<_, _>>()?;
            parts.iter().flatten().for_each(|vector| made.put(vector));
        }
        Ok(made)
    }

    fn empty() -> Self {
        let embedder = HashedNgrams::new(DIMENSIONS, merit_search::words);
        let (codes, rows) = (Vec::new(), Vec::new());
        Self { embedder, codes, scales: Vec::new(), rough: Vec::new(), greatest: Vec::new(), rows }
    }

    pub(crate) fn push(&mut self, key: &str) -> Result<(), MemoryError> {
        let vector = self.embed(key)?;
        self.put(&vector);
        Ok(())
    }

    fn put(&mut self, vector: &[f32]) {
        let (block, lane) = (self.codes.len() / LANES, self.codes.len() % LANES);
        if lane == 0 {
            self.rows.resize((block + 1) * DIMENSIONS, [ZEROS; ROW]);
        }
        let mut heavy = 0.0_f32;
        for (row, x) in self.rows[block * DIMENSIONS..].iter_mut().zip(vector) {
            if x.abs() > LIGHT {
                heavy += 1.0;
                let (byte, shift) = (&mut row[lane % ROW], 2 * (lane / ROW));
                let written = if *x > 0.0 { ZERO + 1 } else { ZERO - 1 };
                *byte = *byte & !(3 << shift) | written << shift;
            }
        }
        self.push_rough(if heavy > 0.0 { 1.0 / heavy.sqrt() } else { 0.0 });
        let (code, scale) = code(vector, 127.0);
        self.codes.push(code.map(|x| x as i8));
        self.scales.push(scale);
    }

    fn push_rough(&mut self, scale: f32) {
        match self.greatest.last_mut().filter(|_| !self.rough.len().is_multiple_of(GROUP)) {
            Some(greatest) => *greatest = greatest.max(scale),
            None => self.greatest.push(scale),
        }
        self.rough.push(scale);
    }

    /// At most `k` places with a cosine above 0, best first, of equals the earlier. `here` says which count.
    pub(crate) fn rank(
        &self,
        query: &str,
        k: usize,
        here: impl Fn(u32) -> bool,
    ) -> Result<Vec<(u32, f32)>, MemoryError> {
        let vector = self.embed(query)?;
        // Finer than the codes, and wide enough to be multiplied as it is.
        let (code, scale) = code(&vector, 4095.0);
        let places = match self.codes.len() {
            few if few <= EXACT => (0..few as u32).collect(),
            _ => self.look(&vector, COMPARED.max(16 * k)),
        };
        let mut found = Vec::with_capacity(places.len());
        for place in places {
            let at = place as usize;
            let cosine = product(&code, &self.codes[at]) as f32 * self.scales[at] * scale;
            if cosine > 0.0 && here(place) {
                found.push((place, cosine));
            }
        }
        cut(&mut found, k);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(found)
    }

    /// The places that look nearest.
    fn look(&self, query: &[f32], most: usize) -> Vec<u32> {
        let asked = Asked::of(query, READ / self.codes.len());
        let (mut found, mut floor): (Vec<(u32, f32)>, f32) = (Vec::with_capacity(LANES), 0.0);
        let mut sums = Sums::default();
        for (at, block) in self.rows.as_chunks::<DIMENSIONS>().0.iter().enumerate() {
            asked.add(block, &mut sums);
            let groups = (at * LANES / GROUP..).zip(sums.totals.as_chunks::<GROUP>().0);
            for ((group, totals), greatest) in groups.zip(&self.greatest[at * LANES / GROUP..]) {
                let most = totals.iter().fold(0, |most, total| (*total).max(most));
                if f32::from(most) * greatest <= floor {
                    continue;
                }
                let (first, mut scores) = (group * GROUP, [0.0_f32; GROUP]);
                for ((score, total), scale) in scores.iter_mut().zip(totals).zip(&self.rough[first..]) {
                    *score = f32::from(*total) * scale;
                }
                for (place, score) in (first as u32..).zip(scores) {
                    if score > floor {
                        found.push((place, score));
                    }
                }
            }
            if found.len() > 2 * most {
                floor = cut(&mut found, most);
            }
        }
        cut(&mut found, most);
        found.into_iter().map(|(place, _)| place).collect()
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>, MemoryError> {
        let vectors = unit_vectors(&self.embedder, &[text]).map_err(SearchError::from)?;
        Ok(vectors.into_iter().next().unwrap_or_else(|| vec![0.0; DIMENSIONS]))
    }

    /// Appends what [`Vectors::read`] makes the same vectors of.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        self.scales.iter().chain(&self.rough).for_each(|scale| bytes.extend(scale.to_le_bytes()));
        bytes.extend(self.rows.as_flattened());
        bytes.extend(self.codes.as_flattened().iter().map(|x| *x as u8));
    }

    /// The vectors of so many keys; nothing where the bytes are not those.
    pub(crate) fn read(bytes: &[u8], count: usize) -> Option<Self> {
        let numbers = |bytes: &[u8]| -> Vec<f32> {
            bytes.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect()
        };
        let (scales, rest) = bytes.split_at_checked(count.checked_mul(4)?)?;
        let (rough, rest) = rest.split_at_checked(count * 4)?;
        let (rows, codes) = rest.split_at_checked(count.div_ceil(LANES) * DIMENSIONS * ROW)?;
        let (codes, more) = codes.as_chunks::<DIMENSIONS>();
        if codes.len() != count || !more.is_empty() {
            return None;
        }
        let mut read = Self {
            codes: codes.iter().map(|code| code.map(|x| x as i8)).collect(),
            scales: numbers(scales),
            rows: rows.as_chunks().0.to_vec(),
            ..Self::empty()
        };
        numbers(rough).into_iter().for_each(|scale| read.push_rough(scale));
        Some(read)
    }
}

/// A vector in whole numbers up to `most`, and one over their length; 0 where there is no direction.
fn code(vector: &[f32], most: f32) -> ([i16; DIMENSIONS], f32) {
    let step = vector.iter().fold(f32::MIN_POSITIVE, |step, x| step.max(x.abs())) / most;
    let (mut code, mut square) = ([0; DIMENSIONS], 0.0_f32);
    for (code, x) in code.iter_mut().zip(vector) {
        let whole = (x / step).round();
        square += whole * whole;
        *code = whole as i16;
    }
    (code, if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 })
}

fn product(a: &[i16; DIMENSIONS], b: &Code) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(i16::from(*b))).sum()
}

/// Keeps the best `most`, in no order that counts; the score that the next must exceed.
fn cut(found: &mut Vec<(u32, f32)>, most: usize) -> f32 {
    if found.len() <= most || most == 0 {
        return 0.0;
    }
    found.select_nth_unstable_by(most - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(most);
    found.iter().map(|(_, score)| *score).fold(f32::INFINITY, f32::min)
}

/// A query in whole numbers: a coordinate stands as often as it weighs.
struct Asked {
    plus: Vec<usize>,
    minus: Vec<usize>,
}

/// The products of a query with the vectors of a block.
struct Sums {
    totals: Box<[i16; LANES]>,
    parts: Box<[Row; 4]>,
}

impl Default for Sums {
    fn default() -> Self {
        Self { totals: Box::new([0; LANES]), parts: Box::new([[0; ROW]; 4]) }
    }
}

impl Asked {
    /// The heaviest `most` coordinates, in steps of their median, at most three of them.
    fn of(query: &[f32], most: usize) -> Self {
        let mut heavy: Vec<(usize, f32)> =
            query.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect();
        heavy.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        heavy.truncate(most.max(PASS));
        let step = heavy.get(heavy.len() / 2).map_or(1.0, |(_, x)| x.abs());
        let (mut plus, mut minus) = (Vec::new(), Vec::new());
        for (at, x) in heavy {
            let side = if x > 0.0 { &mut plus } else { &mut minus };
            side.extend(std::iter::repeat_n(at, (x.abs() / step).round().min(3.0) as usize));
        }
        Self { plus, minus }
    }

    /// At most 256 coordinates of weight 3 and size 1, so that totals fit.
    fn add(&self, block: &[Row; DIMENSIONS], sums: &mut Sums) {
        sums.totals.fill(0);
        for (side, sign) in [(&self.plus, 1), (&self.minus, -1)] {
            for full in side.chunks(FULL) {
                sums.parts.as_flattened_mut().fill(0);
                for pass in full.chunks(PASS) {
                    let rows = std::array::from_fn(|at| pass.get(at).map_or(&NOTHING, |at| &block[*at]));
                    add(rows, &mut sums.parts);
                }
                let zero = i16::from(ZERO) * full.len() as i16;
                for (total, part) in sums.totals.iter_mut().zip(sums.parts.as_flattened()) {
                    *total += sign * (i16::from(*part) - zero);
                }
            }
        }
    }
}

/// Adds rows to what there is. Seven fields of two bits are added in four before these are taken apart.
fn add(rows: [&Row; PASS], [first, second, third, fourth]: &mut [Row; 4]) {
    const LOW: u8 = 0b0011_0011;
    for at in 0..ROW {
        let (mut even, mut odd) = (0, 0);
        for row in rows {
            even += row[at] & LOW;
            odd += row[at] >> 2 & LOW;
        }
        first[at] += even & 15;
        second[at] += odd & 15;
        third[at] += even >> 4;
        fourth[at] += odd >> 4;
    }
}
