//! Arrays of numpy: rows are episodes, columns are tokens.
//!
//! Arrays that lie in memory row by row are read where they are; others are refused with what to do, never copied in silence.

use crate::error;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;

/// The entries of an array, row by row.
pub(crate) fn flat<'a, T: numpy::Element>(
    py: Python<'_>,
    name: &str,
    array: &'a PyReadonlyArray2<'_, T>,
    shape: (usize, usize),
) -> PyResult<&'a [T]> {
    let dims = array.as_array();
    let found = dims.dim();
    if found != shape {
        let why = format!("`{name}` has the shape {found:?} and the mask {shape:?}; give them the same");
        return Err(error::input(py, why));
    }
    let by_row = array.as_slice().ok().filter(|_| array.is_c_contiguous());
    by_row.ok_or_else(|| {
        error::input(py, format!("`{name}` does not lie row by row; pass numpy.ascontiguousarray({name})"))
    })
}

/// Refuses a list that has not one entry for each row.
pub(crate) fn of_rows<T>(
    py: Python<'_>,
    name: &str,
    list: Option<&Vec<T>>,
    (rows, _): (usize, usize),
) -> PyResult<()> {
    match list {
        Some(list) if list.len() != rows => {
            let why = format!("`{name}` has {} entries and the mask {rows} rows", list.len());
            Err(error::input(py, why))
        }
        _ => Ok(()),
    }
}
