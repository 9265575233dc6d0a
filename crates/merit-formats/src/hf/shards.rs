//! The safetensors files of a folder as one set of tensors.

use super::json;
use crate::mapped::Mapped;
use crate::safetensors::read_head;
use crate::span::{Span, Spans};
use crate::{FormatError, TensorView};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const INDEX: &str = "model.safetensors.index.json";
const SINGLE: &str = "model.safetensors";

/// Tensors of one or more files.
#[derive(Debug)]
pub(crate) struct Shards {
    files: Vec<(PathBuf, Mapped)>,
    /// Which file, and where in it.
    places: BTreeMap<String, (usize, Span)>,
}

impl Shards {
    /// The files of a folder: those of the index, or the single one.
    pub(crate) fn of_folder(folder: &Path) -> Result<Self, FormatError> {
        let (index, single) = (folder.join(INDEX), folder.join(SINGLE));
        if single.exists() {
            return Self::of_file(&single);
        }
        let Some(map) = json::map(&index)? else {
            let reason =
                format!("holds neither `{SINGLE}` nor `{INDEX}`; other formats of weights are not read");
            return Err(FormatError::file(folder, reason));
        };
        let Some(weights) = map.get("weight_map").and_then(|value| value.as_object()) else {
            return Err(FormatError::key(&index, "weight_map", "must map names of tensors to files"));
        };
        let mut wanted = BTreeMap::new();
        for (tensor, file) in weights {
            wanted.insert(tensor.as_str(), plain_name(&index, tensor, file)?);
        }
        let names: BTreeSet<&str> = wanted.values().copied().collect();
        let shards = Self::open(names.into_iter().map(|name| folder.join(name)).collect())?;
        for (tensor, file) in wanted {
            if shards.places.get(tensor).is_none_or(|(at, _)| !shards.files[*at].0.ends_with(file)) {
                return Err(FormatError::tensor(
                    &index,
                    tensor,
                    format!("is not in `{file}`, where the index has it"),
                ));
            }
        }
        Ok(shards)
    }

    /// A single file.
    pub(crate) fn of_file(path: &Path) -> Result<Self, FormatError> {
        Self::open(vec![path.to_path_buf()])
    }

    fn open(paths: Vec<PathBuf>) -> Result<Self, FormatError> {
        let mut shards = Self { files: Vec::new(), places: BTreeMap::new() };
        for path in paths {
            let bytes = Mapped::open(&path)?;
            let spans: Spans = read_head(&path, &bytes)?;
            for (name, span) in spans {
                if shards.places.contains_key(&name) {
                    return Err(FormatError::tensor(&path, &name, "is in another file of the model too"));
                }
                shards.places.insert(name, (shards.files.len(), span));
            }
            shards.files.push((path, bytes));
        }
        Ok(shards)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    pub(crate) fn span(&self, name: &str) -> Option<&Span> {
        self.places.get(name).map(|(_, span)| span)
    }

    /// The tensor that the files call `stored`, under the name `name`.
    pub(crate) fn view(&self, stored: &str, name: &str) -> Option<TensorView<'_>> {
        let (file, span) = self.places.get(stored)?;
        let bytes = &self.files[*file].1[span.start..span.start + span.bytes];
        Some(TensorView {
            name: name.to_owned(),
            shape: span.shape.clone(),
            encoding: span.encoding,
            bytes: Cow::Borrowed(bytes),
        })
    }
}

/// A name of a file in the same folder; an index must not lead out of it.
fn plain_name<'a>(index: &Path, tensor: &str, file: &'a serde_json::Value) -> Result<&'a str, FormatError> {
    let plain = |name: &&str| Path::new(name).file_name().is_some_and(|last| last == *name);
    file.as_str().filter(plain).ok_or_else(|| {
        let reason = format!("must lie in a file of the same folder, not in {file}");
        FormatError::tensor(index, tensor, reason)
    })
}
