//! Pages of remembered keys and values: where a page keeps what, as floats or in bfloat16.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use crate::aligned::{Aligned, Number};
use crate::attention::HeadMemory;
use crate::bf16::{round, widen};
use crate::isa::per_isa;
use crate::{Device, Precision};
use merit_formats::DecoderConfig;
use std::ops::Range;

/// Positions of one page.
pub const PAGE: usize = 64;
/// Numbers of a vector, and pairs of a line.
pub(crate) const LANES: usize = 16;

/// The numbers of one page.
#[derive(Debug, Clone)]
pub enum PageData {
    /// As they were computed.
    F32(Aligned<f32>),
    /// The upper halves of floats, two and two, the first one below; for models that round what they multiply.
    Bf16(Aligned<u32>),
}

impl PageData {
    /// Takes over what another page of the same layout holds.
    pub fn copy_from(&mut self, other: &Self) {
        match (self, other) {
            (Self::F32(to), Self::F32(from)) => to.copy_from_slice(from),
            (Self::Bf16(to), Self::Bf16(from)) => to.copy_from_slice(from),
            _ => panic!("{SAME}"),
        }
    }
}

const SAME: &str = "pages have the precision of their layout";

/// What a page is made of.
pub(crate) trait Cell: Number {
    /// How many numbers one of them holds.
    const NUMBERS: usize;

    fn of(page: &PageData) -> &[Self];
}

impl Cell for f32 {
    const NUMBERS: usize = 1;

    fn of(page: &PageData) -> &[Self] {
        let PageData::F32(data) = page else { panic!("{SAME}") };
        data
    }
}

impl Cell for u32 {
    const NUMBERS: usize = 2;

    fn of(page: &PageData) -> &[Self] {
        let PageData::Bf16(data) = page else { panic!("{SAME}") };
        data
    }
}

/// Where a page keeps what, per layer and key head.
///
/// Floats: keys by dimension, then values by position. Pairs of halves come in lines of sixteen: keys in strips of sixteen
/// positions, a line for every two dimensions; then values, for every two positions a line for every sixteen dimensions. So a
/// position touches few lines, and what is read lies one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLayout {
    layers: usize,
    kv_heads: usize,
    dim: usize,
    /// `dim` rounded up to whole vectors.
    value_row: usize,
    precision: Precision,
}

impl PageLayout {
    pub fn of(config: &DecoderConfig, precision: Precision) -> Self {
        let dim = config.head_dim();
        let value_row = dim.next_multiple_of(16);
        Self { layers: config.layers, kv_heads: config.kv_heads, dim, value_row, precision }
    }

    /// What the numbers of a page are rounded to.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Bytes of one page.
    pub fn bytes(&self) -> usize {
        let each = match self.precision {
            Precision::F32 => 4,
            Precision::Bf16 => 2,
        };
        each * self.numbers()
    }

    /// A page of zeros.
    pub fn page(&self) -> PageData {
        match self.precision {
            Precision::F32 => PageData::F32(Aligned::zeros(self.numbers())),
            Precision::Bf16 => PageData::Bf16(Aligned::zeros(self.numbers() / 2)),
        }
    }

    fn numbers(&self) -> usize {
        self.layers * self.kv_heads * self.head_numbers()
    }

    fn head_numbers(&self) -> usize {
        PAGE * (self.dim + self.value_row)
    }

    /// Numbers of a key.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// Numbers from the values of one position to those of the next.
    pub(crate) fn value_row(&self) -> usize {
        self.value_row
    }

    /// Keys and values of one head.
    pub(crate) fn head<'a, T: Cell>(
        &self,
        page: &'a PageData,
        (layer, kv): (usize, usize),
    ) -> (&'a [T], &'a [T]) {
        T::of(page)[self.head_range::<T>(layer, kv)].split_at(PAGE * self.dim / T::NUMBERS)
    }

    fn head_range<T: Cell>(&self, layer: usize, kv: usize) -> Range<usize> {
        let len = self.head_numbers() / T::NUMBERS;
        let at = (layer * self.kv_heads + kv) * len;
        at..at + len
    }

    /// The same as products read it.
    pub(crate) fn memory<'a>(&self, (keys, values): (&'a [f32], &'a [f32])) -> HeadMemory<'a> {
        HeadMemory { keys, key_row: PAGE, values, value_row: self.value_row }
    }

    /// Pairs in the keys of sixteen positions.
    pub(crate) fn strip(&self) -> usize {
        self.dim / 2 * LANES
    }

    /// Makes floats of one head of all these pages, laid out as pages of floats are; `widened` finds them again.
    pub(crate) fn widen(&self, pages: &[&PageData], (layer, kv): (usize, usize), to: &mut Vec<f32>) {
        let numbers = self.head_numbers();
        to.resize(pages.len() * numbers, 0.0);
        for (page, to) in pages.iter().zip(to.chunks_exact_mut(numbers)) {
            let (keys, values) = self.head::<u32>(page, (layer, kv));
            let (to_keys, to_values) = to.split_at_mut(PAGE * self.dim);
            for (first, strip) in (0..PAGE).step_by(LANES).zip(keys.chunks_exact(self.strip())) {
                for (line, to) in strip.chunks_exact(LANES).zip(to_keys.chunks_exact_mut(2 * PAGE)) {
                    let (even, odd) = to.split_at_mut(PAGE);
                    widen_line(line, &mut even[first..first + LANES], &mut odd[first..first + LANES]);
                }
            }
            let pairs = values.chunks_exact(self.value_row);
            for (pair, to) in pairs.zip(to_values.chunks_exact_mut(2 * self.value_row)) {
                let (even, odd) = to.split_at_mut(self.value_row);
                let rows = even.chunks_exact_mut(LANES).zip(odd.chunks_exact_mut(LANES));
                for (line, (even, odd)) in pair.chunks_exact(LANES).zip(rows) {
                    widen_line(line, even, odd);
                }
            }
        }
    }

    /// The keys and values of page `index` of those that were widened.
    pub(crate) fn widened<'a>(&self, floats: &'a [f32], index: usize) -> HeadMemory<'a> {
        let numbers = self.head_numbers();
        self.memory(floats[index * numbers..(index + 1) * numbers].split_at(PAGE * self.dim))
    }

    /// Says that position `slot` of a page will be stored soon.
    pub fn expect(&self, page: &PageData, layer: usize, slot: usize) {
        #[cfg(target_arch = "x86_64")]
        for kv in 0..self.kv_heads {
            use crate::attention_x86::ask_for;
            match page {
                PageData::F32(_) => {
                    let (keys, values) = self.head::<f32>(page, (layer, kv));
                    ask_for(&keys[slot..], self.dim, PAGE);
                    ask_for(&values[slot * self.value_row..], self.value_row / LANES, LANES);
                }
                PageData::Bf16(_) => {
                    let (keys, values) = self.head::<u32>(page, (layer, kv));
                    ask_for(&keys[slot / LANES * self.strip()..], self.dim / 2, LANES);
                    ask_for(&values[slot / 2 * self.value_row..], self.value_row / LANES, LANES);
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (page, layer, slot);
    }

    /// Stores position `slot` of a page in one layer; `keys` and `values` hold all heads.
    pub fn write(&self, page: &mut PageData, layer: usize, slot: usize, keys: &[f32], values: &[f32]) {
        let rows = keys.chunks_exact(self.dim).zip(values.chunks_exact(self.dim)).enumerate();
        match page {
            PageData::F32(data) => {
                for (kv, (keys, values)) in rows {
                    let head = &mut data[self.head_range::<f32>(layer, kv)];
                    let (to_keys, to_values) = head.split_at_mut(PAGE * self.dim);
                    for (line, &key) in to_keys.chunks_exact_mut(PAGE).zip(keys) {
                        line[slot] = key;
                    }
                    to_values[slot * self.value_row..][..self.dim].copy_from_slice(values);
                }
            }
            PageData::Bf16(data) => {
                for (kv, (keys, values)) in rows {
                    let head = &mut data[self.head_range::<u32>(layer, kv)];
                    let (to_keys, to_values) = head.split_at_mut(PAGE / 2 * self.dim);
                    let strip = &mut to_keys[slot / LANES * self.strip()..];
                    for (line, pair) in strip.chunks_exact_mut(LANES).zip(keys.chunks_exact(2)) {
                        line[slot % LANES] = lower(pair[0]) | upper(pair[1]);
                    }
                    let pairs = &mut to_values[slot / 2 * self.value_row..][..self.dim];
                    if slot.is_multiple_of(2) {
                        pairs.iter_mut().zip(values).for_each(|(pair, &value)| *pair = lower(value));
                    } else {
                        let second = |(pair, &value): (&mut u32, &f32)| *pair = *pair & 0xffff | upper(value);
                        pairs.iter_mut().zip(values).for_each(second);
                    }
                }
            }
        }
    }
}

/// The half of a float as the first of a pair.
#[inline(always)]
fn lower(number: f32) -> u32 {
    u32::from(round(number))
}

/// The half of a float as the second of a pair.
#[inline(always)]
fn upper(number: f32) -> u32 {
    u32::from(round(number)) << 16
}

/// Floats of a line: the first number of each pair, and the second.
fn widen_line(line: &[u32], first: &mut [f32], second: &mut [f32]) {
    for ((&pair, first), second) in line.iter().zip(first).zip(second) {
        (*first, *second) = widen(pair);
    }
}

per_isa! {
    /// Rounds all columns from `first` on, in rows of `width`, to numbers of bfloat16.
    fn round_columns(rows: &mut [f32], width: usize, first: usize) {
        for row in rows.chunks_exact_mut(width) {
            for number in &mut row[first..] {
                *number = f32::from_bits(u32::from(round(*number)) << 16);
            }
        }
    }
}

impl Device {
    /// Rounds the keys and values of rows `q | k | v` to what pages of this precision hold, so that whole sequences are
    /// attended to as remembered ones are.
    pub fn round_memory(&self, config: &DecoderConfig, precision: Precision, qkv: &mut [f32]) {
        if precision == Precision::Bf16 {
            round_columns(self.isa(), qkv, config.qkv_width(), config.key_column(0));
        }
    }
}
