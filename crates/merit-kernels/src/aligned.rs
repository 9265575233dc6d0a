//! Numbers that begin at a line of the processor's cache, so that whole vectors never lie across two.

// A view of whole lines as the numbers in them.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

/// Bytes of a line.
const LINE: usize = 64;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// A number of which any bits are one, no wider than a line.
pub trait Number: Copy + 'static {}

impl Number for f32 {}
impl Number for u32 {}

/// A vector of numbers that begins at a line.
#[derive(Debug, Clone)]
pub struct Aligned<T> {
    lines: Vec<Line>,
    len: usize,
    numbers: std::marker::PhantomData<T>,
}

impl<T: Number> Aligned<T> {
    /// So many numbers whose bits are zero.
    pub(crate) fn zeros(len: usize) -> Self {
        let lines = vec![Line([0; LINE]); (len * size_of::<T>()).div_ceil(LINE)];
        Self { lines, len, numbers: std::marker::PhantomData }
    }

    pub fn none() -> Self {
        Self::zeros(0)
    }
}

impl<T: Number> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the lines hold at least `len` numbers, begin at a multiple of 64, and any bits are a number.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Number> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; the lines are borrowed by this call alone.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
