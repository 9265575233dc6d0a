//! Arrays of whoever asks: rows are episodes, columns are tokens.
//!
//! Anything that `numpy.asarray` reads is taken: numpy's arrays, and torch's tensors on the CPU, whose memory it shares. Numbers are
//! float32 and are read where they lie; what would have to be converted or copied is refused with what to do. Two exceptions, for
//! what trainers hold: a mask of whole numbers becomes one of truth values, and a list of rows, which may differ in length, is laid
//! one row after another.

use crate::error;
use numpy::{
    Element, Ix1, Ix2, PyArray, PyArray1, PyArrayDescr, PyArrayMethods as _, PyReadonlyArray, PyUntypedArray,
    PyUntypedArrayMethods as _,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Where the rows are among the entries.
#[derive(PartialEq)]
pub(crate) struct Layout {
    /// Where each row begins, and where the last one ends.
    pub(crate) bounds: Vec<usize>,
    /// The columns of an array. Absent: it was a list of rows.
    columns: Option<usize>,
}

impl Layout {
    fn of_array(rows: usize, columns: usize) -> Self {
        Self { bounds: (0..=rows).map(|row| row * columns).collect(), columns: Some(columns) }
    }

    pub(crate) fn rows(&self) -> usize {
        self.bounds.len() - 1
    }

    pub(crate) fn entries(&self) -> usize {
        self.bounds.last().copied().unwrap_or_default()
    }

    /// Entries as whoever gave the mask gets them: an array for an array, a list of rows for a list of rows.
    pub(crate) fn give<'py>(&self, py: Python<'py>, entries: Vec<f32>) -> PyResult<Bound<'py, PyAny>> {
        match self.columns {
            Some(columns) => Ok(PyArray1::from_vec(py, entries).reshape([self.rows(), columns])?.into_any()),
            None => {
                let rows = self.bounds.windows(2).map(|bound| &entries[bound[0]..bound[1]]);
                Ok(PyList::new(py, rows.map(|row| PyArray1::from_slice(py, row)))?.into_any())
            }
        }
    }

    fn shape(&self) -> String {
        match self.columns {
            Some(columns) => format!("{} rows of {columns}", self.rows()),
            None => {
                let lengths: Vec<usize> = self.bounds.windows(2).map(|bound| bound[1] - bound[0]).collect();
                format!("{} rows of {lengths:?}", self.rows())
            }
        }
    }
}

/// The entries of all rows, one row after another.
pub(crate) enum Entries<'py, T: Element> {
    /// Where they lie.
    There(PyReadonlyArray<'py, T, Ix2>),
    /// Laid together here.
    Here(Vec<T>),
}

impl<T: Element> Entries<'_, T> {
    pub(crate) fn slice(&self) -> &[T] {
        match self {
            // `read` has seen that it lies row by row.
            Self::There(array) => array.as_slice().unwrap_or_default(),
            Self::Here(entries) => entries,
        }
    }
}

/// The mask: `True` or 1 where the policy chose the token.
pub(crate) fn mask<'py>(given: &Bound<'py, PyAny>) -> PyResult<(Entries<'py, bool>, Layout)> {
    read("mask", given, None, whole_numbers)
}

/// A stream of numbers that lies as the mask does.
pub(crate) fn numbers<'py>(
    name: &str,
    given: &Bound<'py, PyAny>,
    like: &Layout,
) -> PyResult<Entries<'py, f32>> {
    let plain = <f32 as Element>::get_dtype(given.py());
    let (entries, layout) = read(name, given, Some(plain), |array| {
        let found = array.dtype();
        Err(format!(
            "`{name}` is {found} and float32 is read; pass {name}.astype(numpy.float32), or {name}.float() of a tensor"
        ))
    })?;
    if layout.bounds != like.bounds {
        let why = format!(
            "`{name}` has the shape {} and the mask {}; give them the same",
            layout.shape(),
            like.shape()
        );
        return Err(error::input(given.py(), why));
    }
    Ok(entries)
}

/// The same where it may be left out.
pub(crate) fn maybe<'py>(
    name: &str,
    given: Option<&Bound<'py, PyAny>>,
    like: &Layout,
) -> PyResult<Option<Entries<'py, f32>>> {
    given.map(|given| numbers(name, given, like)).transpose()
}

/// What there is instead of the entries of an array that are of another type, or why there is nothing.
type Other<T> = Result<Vec<T>, String>;

/// The entries and where they are. Rows of Python's own numbers, which have no type, become `plain`; what is of another type is
/// given to `other`.
fn read<'py, T: Element + Copy>(
    name: &str,
    given: &Bound<'py, PyAny>,
    plain: Option<Bound<'py, PyArrayDescr>>,
    other: impl Fn(&Bound<'py, PyUntypedArray>) -> Other<T>,
) -> PyResult<(Entries<'py, T>, Layout)> {
    let py = given.py();
    let refused = |why: String| error::input(py, why);
    if let Some(rows) = listed(given) {
        let (mut entries, mut bounds) = (Vec::new(), vec![0]);
        for (at, row) in rows.iter().enumerate() {
            let row = array(name, row, plain.as_ref().filter(|_| listed(row).is_some()))?;
            if row.ndim() != 1 {
                let dims = row.ndim();
                return Err(refused(format!(
                    "row {at} of `{name}` has {dims} dimensions; a list holds a row in each place"
                )));
            }
            match row.cast::<PyArray<T, Ix1>>() {
                Ok(row) => entries.extend(borrowed(name, row)?.as_array().iter().copied()),
                // An empty list is of no type.
                Err(_) if row.shape() == [0] => {}
                Err(_) => entries.extend(other(&row).map_err(refused)?),
            }
            bounds.push(entries.len());
        }
        return Ok((Entries::Here(entries), Layout { bounds, columns: None }));
    }
    let array = array(name, given, None)?;
    let &[rows, columns] = array.shape() else {
        let dims = array.ndim();
        return Err(refused(format!("`{name}` has {dims} dimensions; it takes two, of episodes and tokens")));
    };
    let layout = Layout::of_array(rows, columns);
    let Ok(typed) = array.cast::<PyArray<T, Ix2>>() else {
        return Ok((Entries::Here(other(&array).map_err(refused)?), layout));
    };
    let there = borrowed(name, typed)?;
    if !there.is_c_contiguous() || there.as_slice().is_err() {
        let why = format!(
            "`{name}` does not lie row by row; pass numpy.ascontiguousarray({name}), or {name}.contiguous() of a tensor"
        );
        return Err(refused(why));
    }
    Ok((Entries::There(there), layout))
}

/// The rows of a list. Absent: it is none.
fn listed<'py>(given: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    let list = given.cast::<PyList>().map(|list| list.iter().collect());
    list.or_else(|_| given.cast::<PyTuple>().map(|tuple| tuple.iter().collect())).ok()
}

/// The object as an array, which shares its memory where it can.
fn array<'py>(
    name: &str,
    given: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyArrayDescr>>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = given.py();
    let as_array = AS_ARRAY.import(py, "numpy", "asarray")?;
    let more = PyDict::new(py);
    if let Some(dtype) = dtype {
        more.set_item("dtype", dtype)?;
    }
    let made = as_array.call((given,), Some(&more)).map_err(|why| {
        let todo = "give an array of numpy, a tensor on the CPU (`.detach().cpu()`), or a list of rows";
        error::input(py, format!("`{name}` cannot be read as an array: {}; {todo}", why.value(py)))
    })?;
    Ok(made.cast_into::<PyUntypedArray>()?)
}

fn borrowed<'py, T: Element, D: numpy::ndarray::Dimension>(
    name: &str,
    array: &Bound<'py, PyArray<T, D>>,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
    array
        .try_readonly()
        .map_err(|why| error::input(array.py(), format!("`{name}` cannot be read just now: {why}")))
}

/// Whole numbers that are 0 and 1 as truth values, in any layout: masks of torch and of tokenizers are int64.
fn whole_numbers(array: &Bound<'_, PyUntypedArray>) -> Other<bool> {
    let read = truths::<i64>(array)
        .or_else(|| truths::<i32>(array))
        .or_else(|| truths::<u8>(array))
        .or_else(|| truths::<i8>(array))
        .or_else(|| truths::<i16>(array))
        .or_else(|| truths::<u16>(array))
        .or_else(|| truths::<u32>(array))
        .or_else(|| truths::<u64>(array));
    read.unwrap_or_else(|| {
        let found = array.dtype();
        Err(format!(
            "`mask` is {found}; a mask is of truth values, or of whole numbers, 0 and 1; pass mask != 0"
        ))
    })
}

/// Absent: it is an array of another type.
fn truths<T: Element + Copy + PartialEq + From<bool> + std::fmt::Display>(
    array: &Bound<'_, PyUntypedArray>,
) -> Option<Other<bool>> {
    let array = array.cast::<PyArray<T, numpy::IxDyn>>().ok()?;
    let array = match array.try_readonly() {
        Ok(array) => array,
        Err(why) => return Some(Err(format!("`mask` cannot be read just now: {why}"))),
    };
    let (no, yes) = (T::from(false), T::from(true));
    let truth = |number: &T| match number {
        number if *number == yes => Ok(true),
        number if *number == no => Ok(false),
        number => Err(format!("`mask` holds {number}; a mask holds 0 and 1; pass mask != 0")),
    };
    Some(array.as_array().iter().map(truth).collect())
}

/// What there is for each row: a list, or what can be made one, as an array or a tensor of any type.
pub(crate) fn by_row<'py, T: for<'a> FromPyObject<'a, 'py>>(
    name: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Vec<T>> {
    let listed = match given.getattr_opt("tolist")? {
        Some(tolist) => tolist.call0()?,
        None => given.clone(),
    };
    listed.extract::<Vec<T>>().map_err(|why: PyErr| {
        let why =
            format!("`{name}` cannot be read: {}; give a list with one for each row", why.value(given.py()));
        error::input(given.py(), why)
    })
}

/// The same where it may be left out.
pub(crate) fn maybe_by_row<'py, T: for<'a> FromPyObject<'a, 'py>>(
    name: &str,
    given: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Vec<T>>> {
    given.map(|given| by_row(name, given)).transpose()
}

/// Refuses a list that has not one entry for each row.
pub(crate) fn of_rows<T>(py: Python<'_>, name: &str, list: Option<&Vec<T>>, like: &Layout) -> PyResult<()> {
    match list {
        Some(list) if list.len() != like.rows() => {
            let why = format!("`{name}` has {} entries and the mask {} rows", list.len(), like.rows());
            Err(error::input(py, why))
        }
        _ => Ok(()),
    }
}
