//! Pages of remembered keys and values: where a page keeps what, as floats or in bfloat16.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use crate::attention::HeadMemory;
use crate::bf16::round;
use crate::isa::per_isa;
use crate::{Device, Precision};
use merit_formats::{DecoderConfig, bf16_to_f32};
use std::ops::Range;

/// Positions of one page.
pub const PAGE: usize = 64;

/// The numbers of one page.
#[derive(Debug, Clone)]
pub enum PageData {
    /// As they were computed.
    F32(Vec<f32>),
    /// The upper halves of floats, for models that round what they multiply.
    Bf16(Vec<u16>),
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

/// A number as a page holds it.
pub(crate) trait Cell: Copy + 'static {
    fn of(page: &PageData) -> &[Self];
}

impl Cell for f32 {
    fn of(page: &PageData) -> &[Self] {
        let PageData::F32(data) = page else { panic!("{SAME}") };
        data
    }
}

impl Cell for u16 {
    fn of(page: &PageData) -> &[Self] {
        let PageData::Bf16(data) = page else { panic!("{SAME}") };
        data
    }
}

/// Where a page keeps what: per layer and key head, keys by dimension, then values by position.
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
    /// The pages of this decoder.
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
            Precision::F32 => PageData::F32(vec![0.0; self.numbers()]),
            Precision::Bf16 => PageData::Bf16(vec![0; self.numbers()]),
        }
    }

    fn numbers(&self) -> usize {
        self.layers * self.kv_heads * self.head_numbers()
    }

    fn head_numbers(&self) -> usize {
        PAGE * (self.dim + self.value_row)
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
        T::of(page)[self.head_range(layer, kv)].split_at(PAGE * self.dim)
    }

    fn head_range(&self, layer: usize, kv: usize) -> Range<usize> {
        let at = (layer * self.kv_heads + kv) * self.head_numbers();
        at..at + self.head_numbers()
    }

    /// The same as products read it.
    pub(crate) fn memory<'a>(&self, (keys, values): (&'a [f32], &'a [f32])) -> HeadMemory<'a> {
        HeadMemory { keys, key_row: PAGE, values, value_row: self.value_row }
    }

    /// Makes floats of one head of all these pages; `widened` finds them again.
    pub(crate) fn widen(&self, pages: &[&PageData], (layer, kv): (usize, usize), to: &mut Vec<f32>) {
        to.clear();
        for page in pages {
            to.extend(u16::of(page)[self.head_range(layer, kv)].iter().map(|&bits| bf16_to_f32(bits)));
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
        match page {
            PageData::F32(data) => self.expect_cells(data, layer, slot),
            PageData::Bf16(data) => self.expect_cells(data, layer, slot),
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (page, layer, slot);
    }

    #[cfg(target_arch = "x86_64")]
    fn expect_cells<T>(&self, data: &[T], layer: usize, slot: usize) {
        use crate::attention_x86::ask_for;
        let line = 64 / size_of::<T>();
        for kv in 0..self.kv_heads {
            let (keys, values) = data[self.head_range(layer, kv)].split_at(PAGE * self.dim);
            ask_for(&keys[slot..], self.dim, PAGE);
            ask_for(&values[slot * self.value_row..], self.value_row.div_ceil(line), line);
        }
    }

    /// Stores position `slot` of a page in one layer; `keys` and `values` hold all heads.
    pub fn write(&self, page: &mut PageData, layer: usize, slot: usize, keys: &[f32], values: &[f32]) {
        match page {
            PageData::F32(data) => self.write_cells(data, (layer, slot), (keys, values), |x| x),
            PageData::Bf16(data) => self.write_cells(data, (layer, slot), (keys, values), round),
        }
    }

    fn write_cells<T>(
        &self,
        data: &mut [T],
        (layer, slot): (usize, usize),
        (keys, values): (&[f32], &[f32]),
        cell: impl Fn(f32) -> T,
    ) {
        let heads = self.head_range(layer, 0).start..self.head_range(layer + 1, 0).start;
        let rows = keys.chunks_exact(self.dim).zip(values.chunks_exact(self.dim));
        for (head, (keys, values)) in data[heads].chunks_exact_mut(self.head_numbers()).zip(rows) {
            let (to_keys, to_values) = head.split_at_mut(PAGE * self.dim);
            for (line, &key) in to_keys.chunks_exact_mut(PAGE).zip(keys) {
                line[slot] = cell(key);
            }
            let to_values = &mut to_values[slot * self.value_row..][..self.dim];
            to_values.iter_mut().zip(values).for_each(|(to, &value)| *to = cell(value));
        }
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
