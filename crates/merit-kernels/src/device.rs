//! The device that runs the kernels: the narrow seam between the passes of a decoder and the machine.
//!
//! A pass names an operation, its operands and their plain sizes; how it is cut into tiles, vectors and threads is decided
//! here, and never shows in the bits of the result.

// Lets threads write different parts of one result.
#![allow(unsafe_code)]

use crate::gemm::{Left, PANEL, Right, Size, Start, Sum, gemm_into};
use crate::gemm_across::gemm_across_into;
use crate::gemm_bf16;
use crate::matrix::Form;
use crate::pack::Packed;
use crate::split::{Rather, pieces};
use crate::target::Target;
use crate::tile_runs::TileRuns;
use crate::{Dot, Isa, Matrix, Precision, Workers};

/// This machine's processor, with the threads that one operation may use.
///
/// Operations wake the threads for every call that is worth it. A pass of many short operations is quicker inside
/// [`Workers::enter`], where its threads are already awake.
#[derive(Debug, Clone)]
pub struct Device {
    isa: Isa,
    dot: Dot,
    workers: Workers,
}

impl Device {
    /// The fastest instruction set and bf16 unit here, on these threads.
    pub fn new(workers: Workers) -> Self {
        Self { isa: Isa::best(), dot: Dot::best(), workers }
    }

    /// One thread of the fastest instruction set.
    pub fn single() -> Self {
        Self::new(Workers::single())
    }

    /// The same device with another instruction set; results stay the same.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    /// The same device with another unit for bf16; f32 results stay the same, bf16 results if both [`Dot::same_chain`].
    #[must_use]
    pub fn with_dot(mut self, dot: Dot) -> Self {
        self.dot = dot;
        self
    }

    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The unit for products of bf16.
    pub fn dot(&self) -> Dot {
        self.dot
    }

    /// The threads of one operation.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }

    /// Gives a matrix new values, in the order it was made from; no memory is allocated.
    pub fn refill(&self, matrix: &mut Matrix, values: &[f32]) {
        matrix.refill(self.isa, &self.workers, values);
    }

    /// `out (+)= x w` for `rows` rows of `x`, each as wide as the matrix has inputs.
    pub fn product(&self, matrix: &Matrix, rows: usize, x: &[f32], out: &mut [f32], start: Start) {
        let size = Size { m: rows, n: matrix.outputs(), k: matrix.inputs() };
        match matrix.form() {
            Form::F32 { forward, .. } => self.product_f32(size, x, forward, out, start),
            Form::Bf16 { forward, .. } => self.product_bf16(size, x, forward, out, start),
            Form::Quantised(weights, Precision::F32) => {
                weights.product((self.isa, &self.workers), rows, x, out, start);
            }
            Form::Quantised(weights, Precision::Bf16) => {
                let amx = self.dot.has_tiles() && self.isa == Isa::best();
                weights.product_bf16((self.isa, &self.workers, amx), rows, x, out, start);
            }
        }
    }

    /// `dx (+)= dy wᵀ`; the matrix must have been made with its way back.
    pub fn product_back(&self, matrix: &Matrix, rows: usize, dy: &[f32], dx: &mut [f32], start: Start) {
        const MADE: &str = "the matrix was made for training";
        let size = Size { m: rows, n: matrix.inputs(), k: matrix.outputs() };
        match matrix.form() {
            Form::F32 { back, .. } => self.product_f32(size, dy, back.as_ref().expect(MADE), dx, start),
            Form::Bf16 { back, .. } => self.product_bf16(size, dy, back.as_ref().expect(MADE), dx, start),
            Form::Quantised(..) => panic!("quantised weights have no way back"),
        }
    }

    /// `dw += xᵀ dy` for a matrix `[inputs, outputs]`, its sums running over the rows.
    ///
    /// In f32 the sums go on from row to row, so two calls for the halves of a batch give the bits of one call for both. In
    /// bf16 they advance by 32 rows, so this holds only where the first half is a multiple of 32.
    pub fn gradient(
        &self,
        precision: Precision,
        rows: usize,
        (x, inputs): (&[f32], usize),
        (dy, outputs): (&[f32], usize),
        dw: &mut [f32],
    ) {
        let size = Size { m: inputs, n: outputs, k: rows };
        let target = whole(size, dw);
        match precision {
            Precision::F32 => self.for_pieces(size, f32_ns(size), Rather::Longer, |rows, columns| {
                let part = Size { m: rows.len(), n: columns.len(), k: size.k };
                let (x, dy) = ((&x[rows.start..], inputs), (&dy[columns.start..], outputs));
                // SAFETY: `whole` found the result to fit, and no other piece has these rows and columns.
                unsafe { gemm_across_into(self.isa, part, x, dy, target.from(rows.start, columns.start)) };
            }),
            Precision::Bf16 => self.for_pieces(size, self.bf16_ns(size), Rather::Longer, |rows, columns| {
                let (x, dy) = ((x, inputs, rows), (dy, outputs, columns));
                // SAFETY: as above.
                unsafe { gemm_bf16::gradient((self.isa, self.dot), size.k, x, dy, target) };
            }),
        }
    }

    fn product_f32(&self, size: Size, x: &[f32], right: &Packed, out: &mut [f32], start: Start) {
        let (target, right) = (whole(size, out), right.as_right());
        self.for_pieces(size, f32_ns(size), Rather::Rows, |rows, columns| {
            let part = Size { m: rows.len(), n: columns.len(), k: size.k };
            let left = Left::rows(&x[rows.start * size.k..], size.k);
            let right = Right { data: &right.data[columns.start / PANEL * right.panel..], ..right };
            let target = target.from(rows.start, columns.start);
            // SAFETY: `whole` found the result to fit, and no other piece has these rows and columns.
            unsafe { gemm_into(self.isa, part, left, right, target, start, Sum::over(size.k)) };
        });
    }

    fn product_bf16(&self, size: Size, x: &[f32], right: &TileRuns, out: &mut [f32], start: Start) {
        let target = whole(size, out);
        self.for_pieces(size, self.bf16_ns(size), Rather::Rows, |rows, columns| {
            // SAFETY: `whole` found the result to fit, and no other piece has these rows and columns.
            unsafe {
                gemm_bf16::product((self.isa, self.dot), size.k, (x, rows), (right, columns), target, start);
            }
        });
    }

    /// Runs `work` on pieces of the result that together cover it.
    fn for_pieces(
        &self,
        size: Size,
        ns: f64,
        rather: Rather,
        work: impl Fn(std::ops::Range<usize>, std::ops::Range<usize>) + Sync,
    ) {
        if self.workers.threads() == 1 {
            return work(0..size.m, 0..size.n);
        }
        let mut pieces = pieces(self.workers.threads(), (size.m, size.n), ns, rather);
        self.workers.for_each(&mut pieces, |_, (rows, columns)| work(rows.clone(), columns.clone()));
    }

    /// About how long one thread takes: the arithmetic, and reading the right matrix.
    fn bf16_ns(&self, Size { m, n, k }: Size) -> f64 {
        let flops_per_ns = if self.dot == Dot::portable() { 50.0 } else { 500.0 };
        2.0 * (m * n * k) as f64 / flops_per_ns + 2.0 * (n * k) as f64 / BYTES_PER_NS
    }
}

/// Bytes of a right matrix that one thread reads in a nanosecond.
const BYTES_PER_NS: f64 = 10.0;

/// About how long one thread takes: the arithmetic, and reading the right matrix.
fn f32_ns(Size { m, n, k }: Size) -> f64 {
    2.0 * (m * n * k) as f64 / 100.0 + 4.0 * (n * k) as f64 / BYTES_PER_NS
}

/// All of a result, after checking that it fits.
fn whole(size: Size, out: &mut [f32]) -> Target {
    assert!(size.m * size.n <= out.len(), "product: the result does not fit");
    Target { data: out.as_mut_ptr(), row: size.n }
}
