//! Tensors into files whose layout is already decided, in whatever order they come, one in memory at a time.

use crate::expected::ExpectedTensor;
use crate::{Encoding, FormatError, NamedTensor};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Where a tensor goes.
pub(crate) struct Slot {
    pub(crate) tensor: ExpectedTensor,
    /// Index among the files.
    pub(crate) file: usize,
    /// First byte, counted from the start of the file.
    pub(crate) start: usize,
    pub(crate) encoding: Encoding,
}

/// Writes every tensor to its slot by `encode`; all must come, each once, with its shape and finite values.
pub(crate) fn write<'a>(
    target: &Path,
    slots: &[Slot],
    files: &[(PathBuf, File)],
    tensors: impl IntoIterator<Item = Result<NamedTensor<'a>, FormatError>>,
    encode: impl Fn(&Slot, &[f32]) -> Option<Vec<u8>>,
) -> Result<(), FormatError> {
    let mut open: HashMap<&str, &Slot> = slots.iter().map(|slot| (slot.tensor.name.as_str(), slot)).collect();
    for tensor in tensors {
        let tensor = tensor?;
        let refuse = |reason: String| FormatError::tensor(target, &tensor.name, reason);
        let Some(slot) = open.remove(tensor.name.as_str()) else {
            return Err(refuse("is no part of such a decoder, or came twice".to_owned()));
        };
        check(slot, &tensor).map_err(refuse)?;
        let bytes = encode(slot, &tensor.values)
            .ok_or_else(|| refuse(format!("cannot be written as {}", slot.encoding)))?;
        let (path, file) = &files[slot.file];
        file.write_all_at(&bytes, slot.start as u64).map_err(FormatError::io("write", path))?;
    }
    match open.into_keys().min() {
        None => Ok(()),
        Some(name) => Err(FormatError::tensor(target, name, "was not given")),
    }
}

fn check(slot: &Slot, tensor: &NamedTensor<'_>) -> Result<(), String> {
    let (wanted, given) = (&slot.tensor.shape, &tensor.shape);
    if wanted != given {
        return Err(format!("has shape {given:?}, the decoder's is {wanted:?}"));
    }
    if tensor.values.len() != wanted.iter().product::<usize>() {
        return Err(format!("has {} values for shape {wanted:?}", tensor.values.len()));
    }
    match tensor.values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => Err(format!("value {at} is {}; such weights are not saved", tensor.values[at])),
    }
}
