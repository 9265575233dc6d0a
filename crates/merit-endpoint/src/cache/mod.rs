//! Answers that are kept: recorded once, found again by what was asked.
//!
//! An answer is kept under the hash of everything that decides it and the number of its sample, so that eight answers to the same
//! request replay as eight. The file is append-only and may be written by several processes at once; a line that a kill cut
//! short is read over.

mod file;
mod key;

pub(crate) use file::AnswerFile;
pub use file::CacheError;
pub(crate) use key::Key;
