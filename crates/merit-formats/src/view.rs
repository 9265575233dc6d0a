//! One tensor, as it lies in its file.

use crate::{Encoding, FormatError};
use std::borrow::Cow;
use std::path::Path;

/// A tensor's shape and bytes, still encoded.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorView<'a> {
    /// The name in `transformers`.
    pub name: String,
    /// `[out, in]` of a matrix, `[width]` of a vector.
    pub shape: Vec<usize>,
    /// How `bytes` are to be read.
    pub encoding: Encoding,
    /// Row after row; borrowed from the file, or owned where rows had to be put in another order.
    pub bytes: Cow<'a, [u8]>,
}

impl TensorView<'_> {
    /// How many values there are.
    pub fn values(&self) -> usize {
        self.shape.iter().product()
    }

    /// Values in a row: the last size.
    pub fn columns(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// How many rows there are; 1 for a vector.
    pub fn rows(&self) -> usize {
        self.values().checked_div(self.columns()).unwrap_or(0)
    }

    /// Bytes of a row; rows are whole blocks.
    pub fn row_bytes(&self) -> usize {
        self.bytes.len().checked_div(self.rows()).unwrap_or(0)
    }

    /// The bytes of one row; `None` beyond the last.
    pub fn row(&self, index: usize) -> Option<&[u8]> {
        let start = index.checked_mul(self.row_bytes())?;
        self.bytes.get(start..start + self.row_bytes()).filter(|_| index < self.rows())
    }

    /// Every value, decoded to single precision.
    pub fn to_f32(&self) -> Vec<f32> {
        let mut values = vec![0.0; self.values()];
        self.encoding
            .decode(&self.bytes, &mut values)
            .expect("shape and bytes were checked when the file was opened");
        values
    }

    /// Every value, unless one of them is not a number: such weights only make nonsense.
    pub(crate) fn finite(&self, path: &Path) -> Result<Vec<f32>, FormatError> {
        let values = self.to_f32();
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(at) => {
                let (value, shape) = (values[at], &self.shape);
                let reason = format!("value {at} of shape {shape:?} is {value}; the file is corrupt");
                Err(FormatError::tensor(path, &self.name, reason))
            }
        }
    }
}

/// A tensor with its values, for writing.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor<'a> {
    /// The name in `transformers`.
    pub name: String,
    /// `[out, in]` of a matrix, `[width]` of a vector.
    pub shape: Vec<usize>,
    /// Row after row. Of a gain: what multiplies, also where the file is to hold one less.
    pub values: Cow<'a, [f32]>,
}
