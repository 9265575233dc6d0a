//! Words on a terminal: of a text from outside nothing is obeyed, and nothing hides.

pub(crate) use merit_core::printable::{count, lines, piece};
