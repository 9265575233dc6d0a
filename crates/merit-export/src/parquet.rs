//! Rows as a Parquet file, with lists and structs as nested columns.
//!
//! Two things are JSON texts, because what they hold differs from row to row and would be filled up with nulls as a struct:
//! `tools`, which TRL reads so, and the `arguments` of a call, as OpenAI's protocol has them.

use crate::ExportError;
use crate::columns::{Kind, Leaf};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;

/// Rows of a group, which is what is held in memory.
const GROUP: usize = 1000;

/// What the columns of a file hold, found by looking at all of its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns(Kind);

impl Default for Columns {
    fn default() -> Self {
        Self(Kind::Nothing)
    }
}

impl Columns {
    /// Makes room for a row.
    pub fn see(&mut self, row: &Value) {
        let kind = std::mem::replace(&mut self.0, Kind::Nothing);
        self.0 = kind.over(&flattened(row.clone()));
    }
}

/// A Parquet file under way.
pub struct ParquetRows<W: Write + Send> {
    file: SerializedFileWriter<W>,
    kind: Kind,
    leaves: Vec<Leaf>,
    rows: usize,
}

impl<W: Write + Send> ParquetRows<W> {
    /// Begins a file of these columns.
    pub fn new(out: W, columns: Columns) -> Result<Self, ExportError> {
        let kind = columns.0.settled();
        let fields = match &kind {
            Kind::Struct(fields) => fields.iter().map(|(name, kind)| column(name, kind)).collect(),
            _ => Ok(Vec::new()),
        };
        let schema = Arc::new(Type::group_type_builder("row").with_fields(fields?).build()?);
        let settings = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(out, schema, Arc::new(settings))?;
        let leaves = vec![Leaf::default(); kind.leaves().len()];
        Ok(Self { file, kind, leaves, rows: 0 })
    }

    /// Adds a row, which [`Columns::see`] has seen.
    pub fn push(&mut self, row: Value) -> Result<(), ExportError> {
        self.kind.shred(&flattened(row), &mut self.leaves);
        self.rows += 1;
        if self.rows.is_multiple_of(GROUP) { self.write_group() } else { Ok(()) }
    }

    /// Ends the file; gives back what it was written to.
    pub fn finish(mut self) -> Result<W, ExportError> {
        if !self.rows.is_multiple_of(GROUP) {
            self.write_group()?;
        }
        Ok(self.file.into_inner()?)
    }

    fn write_group(&mut self) -> Result<(), ExportError> {
        let mut group = self.file.next_row_group()?;
        for (kind, leaf) in self.kind.leaves().into_iter().zip(&mut self.leaves) {
            let Some(mut column) = group.next_column()? else { break };
            write_leaf(&mut column, kind, &std::mem::take(leaf))?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

fn write_leaf(column: &mut SerializedColumnWriter<'_>, kind: &Kind, leaf: &Leaf) -> Result<(), ParquetError> {
    let levels = (Some(leaf.definition.as_slice()), Some(leaf.repetition.as_slice()));
    let values = leaf.values.iter();
    match kind {
        Kind::Bool => {
            let values: Vec<bool> = values.map(|value| value.as_bool().unwrap_or_default()).collect();
            column.typed::<BoolType>().write_batch(&values, levels.0, levels.1)?;
        }
        Kind::Int => {
            let values: Vec<i64> = values.map(|value| value.as_i64().unwrap_or_default()).collect();
            column.typed::<Int64Type>().write_batch(&values, levels.0, levels.1)?;
        }
        Kind::Float => {
            let values: Vec<f64> = values.map(|value| value.as_f64().unwrap_or_default()).collect();
            column.typed::<DoubleType>().write_batch(&values, levels.0, levels.1)?;
        }
        _ => {
            let values: Vec<ByteArray> = values.map(|value| ByteArray::from(text(value).as_str())).collect();
            column.typed::<ByteArrayType>().write_batch(&values, levels.0, levels.1)?;
        }
    }
    Ok(())
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn column(name: &str, kind: &Kind) -> Result<TypePtr, ParquetError> {
    let leaf = |physical| Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    let group =
        |fields| Type::group_type_builder(name).with_repetition(Repetition::OPTIONAL).with_fields(fields);
    let column = match kind {
        Kind::Bool => leaf(Physical::BOOLEAN).build(),
        Kind::Int => leaf(Physical::INT64).build(),
        Kind::Float => leaf(Physical::DOUBLE).build(),
        Kind::Text | Kind::Nothing => {
            leaf(Physical::BYTE_ARRAY).with_logical_type(Some(LogicalType::String)).build()
        }
        Kind::Struct(fields) => {
            let fields: Result<_, _> = fields.iter().map(|(name, kind)| column(name, kind)).collect();
            group(fields?).build()
        }
        Kind::List(inner) => {
            let items = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![column("element", inner)?])
                .build()?;
            group(vec![Arc::new(items)]).with_logical_type(Some(LogicalType::List)).build()
        }
    };
    column.map(Arc::new)
}

/// The row with `tools` and every `arguments` as JSON texts.
fn flattened(mut row: Value) -> Value {
    if let Some(tools) = row.get_mut("tools").filter(|tools| !tools.is_null()) {
        *tools = text(tools).into();
    }
    flatten_arguments(&mut row);
    row
}

fn flatten_arguments(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(flatten_arguments),
        Value::Object(map) => {
            for (name, value) in map.iter_mut() {
                match name.as_str() {
                    "arguments" if !value.is_null() => *value = text(value).into(),
                    _ => flatten_arguments(value),
                }
            }
        }
        _ => {}
    }
}
