//! The memory that a product lands in, shared by threads that write different parts of it.

// A raw pointer that is handed to several threads; the kernels that write through it say what they promise.
#![allow(unsafe_code)]

/// Where a product lands: row-major with stride `row`, from its first element on.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) data: *mut f32,
    pub(crate) row: usize,
}

// SAFETY: the pieces of a product that run at the same time write different rows or columns.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Target {
    /// The same memory from a later row and column on; inside the target, or never touched.
    pub(crate) fn from(self, row: usize, column: usize) -> Self {
        Self { data: self.data.wrapping_add(row * self.row + column), ..self }
    }

    /// Asks for 32 columns of the first `rows` rows, which will be written soon.
    #[inline]
    pub(crate) fn prefetch(self, rows: usize) {
        #[cfg(target_arch = "x86_64")]
        for row in 0..rows {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let line = self.from(row, 0).data.cast_const().cast::<i8>();
            // SAFETY: a hint that may name any address; the instruction is part of every x86-64.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(line);
                _mm_prefetch::<_MM_HINT_T0>(line.wrapping_add(64));
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = rows;
    }
}
