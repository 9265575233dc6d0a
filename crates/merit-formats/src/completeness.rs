//! Does a model consist of exactly the tensors of its shape? Anything else would be another model.

use crate::files::Source;
use crate::gguf::names::{ROPE_FACTORS, gguf_name};
use crate::{FormatError, ModelFiles, expected_tensors};
use std::collections::BTreeSet;

/// Every tensor of the shape is there with its own shape, and no other is.
pub(crate) fn check(files: &ModelFiles) -> Result<(), FormatError> {
    let present = names(files);
    let (layers, count) = (files.config().layers, present.len());
    // Before a list is made that is as long as the file says.
    if layers > count {
        return Err(FormatError::file(
            files.path(),
            format!("{layers} layers cannot be made of {count} tensors"),
        ));
    }
    let mut known = BTreeSet::new();
    for expected in expected_tensors(files.config()) {
        let stored = stored(files, &expected.name);
        let refuse = |reason: String| FormatError::tensor(files.path(), &stored, reason);
        let span = files.span(&expected.name).ok_or_else(|| refuse("is missing".to_owned()))?;
        if span.shape != expected.shape {
            return Err(refuse(format!(
                "has shape {:?}, the settings make it {:?}",
                span.shape, expected.shape
            )));
        }
        known.insert(stored);
    }
    match present.into_iter().find(|name| !known.contains(*name) && !may_pass_over(files, name)) {
        None => Ok(()),
        Some(name) => {
            let family = files.config().style.family;
            let reason = format!(
                "is no part of a {family:?} decoder as it is run here; leaving it out would make another model"
            );
            Err(FormatError::tensor(files.path(), name, reason))
        }
    }
}

fn names(files: &ModelFiles) -> BTreeSet<&str> {
    match &files.source {
        Source::Hf(folder) => folder.shards.names().collect(),
        Source::Gguf(file) => file.spans.keys().map(String::as_str).collect(),
    }
}

/// What the files call a tensor.
fn stored(files: &ModelFiles, name: &str) -> String {
    match &files.source {
        Source::Hf(folder) => folder.stored(name),
        Source::Gguf(_) => gguf_name(name, files.config().style.family).unwrap_or_else(|| name.to_owned()),
    }
}

fn may_pass_over(files: &ModelFiles, stored: &str) -> bool {
    match &files.source {
        Source::Hf(folder) => folder.may_pass_over(stored),
        Source::Gguf(_) => stored == ROPE_FACTORS,
    }
}
