//! What can be wrong with a model file, each naming the file and the tensor or key.

use crate::ConfigError;
use std::path::{Path, PathBuf};

/// A model file that cannot be read or written, and why.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as `read` or `write`.
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file as a whole is not what it should be.
    #[error("{}: {reason}", path.display())]
    File {
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// One tensor is not what it should be.
    #[error("{}: tensor `{tensor}`: {reason}", path.display())]
    Tensor {
        path: PathBuf,
        /// The tensor, by the name that the file gives it.
        tensor: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// One setting is missing, malformed, or asks for what cannot be honoured.
    #[error("{}: `{key}`: {reason}", path.display())]
    Key {
        path: PathBuf,
        key: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The settings are each well-formed and together make no decoder.
    #[error("{}: {source}", path.display())]
    Config { path: PathBuf, source: ConfigError },
    /// A kind of model that is not known here.
    #[error("{}: {source}", path.display())]
    Unknown {
        path: PathBuf,
        /// What was looked for, what is known and what is nearest.
        source: merit_core::registry::UnknownName,
    },
}

impl FormatError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn file(path: &Path, reason: impl Into<String>) -> Self {
        Self::File { path: path.to_path_buf(), reason: reason.into() }
    }

    pub(crate) fn tensor(path: &Path, tensor: &str, reason: impl Into<String>) -> Self {
        Self::Tensor { path: path.to_path_buf(), tensor: tensor.to_owned(), reason: reason.into() }
    }

    pub(crate) fn key(path: &Path, key: &str, reason: impl Into<String>) -> Self {
        Self::Key { path: path.to_path_buf(), key: key.to_owned(), reason: reason.into() }
    }

    pub(crate) fn unknown(path: &Path, kind: &'static str, name: &str, known: &[&str]) -> Self {
        let source = merit_core::registry::UnknownName {
            kind,
            name: name.to_owned(),
            nearest: merit_core::registry::nearest(name, known.iter().copied()),
            known: known.iter().map(|&k| k.to_owned()).collect(),
        };
        Self::Unknown { path: path.to_path_buf(), source }
    }
}
