//! Rows of a flat stream, with the mask that says which entries may carry credit.

use super::same_len;
use crate::CreditError;
use std::ops::Range;

/// Where rows begin and end in a flat stream, and which of its entries are trainable.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    bounds: &'a [usize],
    mask: &'a [bool],
}

impl<'a> Rows<'a> {
    /// Row `i` is `bounds[i]..bounds[i + 1]`; the first bound is 0, the last the length of `mask`.
    pub fn new(bounds: &'a [usize], mask: &'a [bool]) -> Result<Self, CreditError> {
        same_len("mask", mask.len(), bounds.last().copied().unwrap_or(0))?;
        let mut before = 0;
        for (at, &value) in bounds.iter().enumerate() {
            if value < before || (at == 0 && value != 0) {
                return Err(CreditError::Bounds { at, value, before });
            }
            before = value;
        }
        Ok(Self { bounds, mask })
    }

    pub fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries of row `row`, which must be below [`Rows::len`].
    pub fn range(&self, row: usize) -> Range<usize> {
        self.bounds[row]..self.bounds[row + 1]
    }

    /// The mask of the whole stream.
    pub fn mask(&self) -> &'a [bool] {
        self.mask
    }
}

/// Writes the number of each row on its trainable entries, and 0 on the others.
pub fn spread(rows: &Rows<'_>, per_row: &[f64], out: &mut [f32]) -> Result<(), CreditError> {
    same_len("per_row", per_row.len(), rows.len())?;
    same_len("out", out.len(), rows.mask.len())?;
    for (row, &value) in per_row.iter().enumerate() {
        let value = value as f32;
        let range = rows.range(row);
        let mask = &rows.mask[range.clone()];
        out[range].iter_mut().zip(mask).for_each(|(o, &m)| *o = if m { value } else { 0.0 });
    }
    Ok(())
}
