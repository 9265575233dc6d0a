//! The token embedding: one row of weights for each token, kept as its file has it, and read as the head too.

use crate::quant::{QuantError, QuantMatrix, QuantPart};
use crate::{Isa, Matrix};
use std::sync::Arc;

/// Rows of weights by number, `[rows][width]`; clones share them.
#[derive(Debug, Clone)]
pub struct Table {
    rows: usize,
    width: usize,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Plain(Arc<[f32]>),
    Quantised(Arc<QuantMatrix>),
}

impl Table {
    /// From row-major values; what does not fill a row is left out.
    pub fn plain(values: impl Into<Arc<[f32]>>, width: usize) -> Self {
        let values = values.into();
        Self { rows: values.len().checked_div(width).unwrap_or(0), width, form: Form::Plain(values) }
    }

    /// From the blocks of a file, in any encoding; they stay as they are.
    pub fn quantised(part: QuantPart) -> Result<Self, QuantError> {
        let weights = Arc::new(QuantMatrix::new(&[part])?);
        Ok(Self { rows: part.outputs, width: part.inputs, form: Form::Quantised(weights) })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Values of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many bytes the weights take.
    pub fn bytes(&self) -> usize {
        match &self.form {
            Form::Plain(values) => size_of_val(&**values),
            Form::Quantised(weights) => weights.bytes(),
        }
    }

    /// Writes row `row`, which must exist, into `out`, which must be as wide.
    pub fn row(&self, row: usize, out: &mut [f32]) {
        match &self.form {
            Form::Plain(values) => out.copy_from_slice(&values[row * self.width..(row + 1) * self.width]),
            Form::Quantised(weights) => weights.read_output(Isa::best(), row, out),
        }
    }

    /// The matrix that takes a hidden state to one number for each row, over the same memory; `None` for plain values,
    /// whose products want a layout of their own ([`Matrix::pack_transposed`]).
    pub fn head(&self) -> Option<Matrix> {
        match &self.form {
            Form::Plain(_) => None,
            Form::Quantised(weights) => Some(Matrix::of_quantised(Arc::clone(weights))),
        }
    }
}
