//! Rows of a Parquet file as JSON values.

use crate::{ImportError, ItemError};
use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Map, Value};
use std::panic::catch_unwind;

/// An entry with its line or row.
pub(crate) type Numbered = (usize, Result<Value, ItemError>);

/// Whether the file says that it is one.
pub(crate) fn is_parquet(file: &[u8]) -> bool {
    file.starts_with(b"PAR1")
}

/// Its rows, numbered from 1.
pub(crate) fn rows(file: &[u8]) -> Result<Vec<Numbered>, ImportError> {
    // The reader panics over some damage instead of saying so.
    let read = catch_unwind(|| read_rows(file));
    read.unwrap_or_else(|_| Err(ImportError::NotParquet { why: "it is damaged".to_owned() }))
}

fn read_rows(file: &[u8]) -> Result<Vec<Numbered>, ImportError> {
    let unreadable =
        |error: parquet::errors::ParquetError| ImportError::NotParquet { why: error.to_string() };
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(file)).map_err(unreadable)?;
    let rows = reader.get_row_iter(None).map_err(unreadable)?;
    let rows: Vec<Numbered> = rows
        .zip(1..)
        .map(|(row, at)| Ok((at, Ok(object(&row.map_err(unreadable)?)))))
        .collect::<Result<_, ImportError>>()?;
    if rows.is_empty() { Err(ImportError::Empty) } else { Ok(rows) }
}

fn object(row: &Row) -> Value {
    row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect::<Map<_, _>>().into()
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(flag) => (*flag).into(),
        Field::Byte(number) => (*number).into(),
        Field::Short(number) => (*number).into(),
        Field::Int(number) => (*number).into(),
        Field::Long(number) => (*number).into(),
        Field::UByte(number) => (*number).into(),
        Field::UShort(number) => (*number).into(),
        Field::UInt(number) => (*number).into(),
        Field::ULong(number) => (*number).into(),
        Field::Float(number) => (*number).into(),
        Field::Double(number) => (*number).into(),
        Field::Str(text) => text.clone().into(),
        Field::Group(row) => object(row),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        // Dates, times, decimals, bytes and maps: no shape reads them, so that their text is enough.
        other => other.to_string().into(),
    }
}
