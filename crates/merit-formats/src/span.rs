//! Where tensors lie in a file, and the checks that hold for every format: inside, not overlapping, of the right size.

use crate::{Encoding, FormatError};
use std::collections::BTreeMap;
use std::path::Path;

/// One tensor of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// Rows first, as `[out, in]`.
    pub(crate) shape: Vec<usize>,
    pub(crate) encoding: Encoding,
    /// First byte, counted from the start of the file.
    pub(crate) start: usize,
    pub(crate) bytes: usize,
}

/// The tensors of a file by name.
pub(crate) type Spans = BTreeMap<String, Span>;

/// How many bytes a tensor takes, or why there can be no such tensor.
pub(crate) fn byte_length(shape: &[usize], encoding: Encoding) -> Result<usize, String> {
    let values = shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    let values = values.ok_or_else(|| format!("shape {shape:?} has more values than can be counted"))?;
    let columns = shape.last().copied().unwrap_or(1);
    if !columns.is_multiple_of(encoding.block()) {
        return Err(format!(
            "rows of {columns} values are not whole blocks of {} values ({encoding})",
            encoding.block()
        ));
    }
    encoding.bytes_for(values).ok_or_else(|| format!("shape {shape:?} takes more bytes than can be counted"))
}

/// Refuses two tensors that share bytes.
pub(crate) fn refuse_overlap(path: &Path, spans: &Spans) -> Result<(), FormatError> {
    let mut in_order: Vec<(&String, &Span)> = spans.iter().filter(|(_, span)| span.bytes > 0).collect();
    in_order.sort_by_key(|(_, span)| span.start);
    for pair in in_order.windows(2) {
        let [(before, first), (name, second)] = pair else { continue };
        if first.start + first.bytes > second.start {
            return Err(FormatError::tensor(path, name, format!("its bytes overlap those of `{before}`")));
        }
    }
    Ok(())
}
