//! Why a recipe cannot be used: one reason, or all that were found.

use crate::toml_error::Located;
use merit_core::printable::count;

/// Why a recipe cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    #[error("{0}")]
    Parse(#[from] Located),
    /// It parses, but cannot work.
    #[error("{file}: {why}")]
    Combination {
        /// The file, or what stands for it.
        file: String,
        /// The reason and the alternative.
        why: String,
    },
    #[error("cannot read {file}: {why}")]
    Read { file: String, why: String },
    /// There is none of that name.
    #[error(transparent)]
    Unknown(#[from] merit_core::registry::UnknownName),
    /// Two or more of these, one a line.
    #[error("{} in {file}:{}", count(.errors.len(), "mistake"), lines(.errors))]
    Several {
        /// The file, or what stands for it.
        file: String,
        /// What is wrong, each a mistake of its own.
        errors: Vec<RecipeError>,
    },
}

fn lines(errors: &[RecipeError]) -> String {
    errors.iter().map(|error| format!("\n{error}")).collect()
}

impl RecipeError {
    /// All of `errors` as one; what was said once is not said again. `None`: there are none.
    pub(crate) fn all(file: &str, errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut kept: Vec<Self> = Vec::new();
        for error in errors.into_iter().flat_map(Self::each) {
            if kept.iter().all(|known| known.to_string() != error.to_string()) {
                kept.push(error);
            }
        }
        match kept.len() {
            0 | 1 => kept.pop(),
            _ => Some(Self::Several { file: file.to_owned(), errors: kept }),
        }
    }

    /// The errors one by one; any other than `Several` is the only one.
    pub(crate) fn each(self) -> Vec<Self> {
        match self {
            Self::Several { errors, .. } => errors,
            one => vec![one],
        }
    }

    /// The same with every place in a text changed.
    pub(crate) fn placed(self, change: impl Fn(Located) -> Located) -> Self {
        let one = |error| match error {
            Self::Parse(located) => Self::Parse(change(located)),
            other => other,
        };
        match self {
            Self::Several { file, errors } => {
                Self::Several { file, errors: errors.into_iter().map(one).collect() }
            }
            error => one(error),
        }
    }
}
