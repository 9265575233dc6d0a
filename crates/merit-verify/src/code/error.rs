//! What can go wrong that is not the program's doing.

use merit_sandbox::SandboxError;

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CodeError {
    /// A setting that cannot be.
    #[error("{0}")]
    Config(String),
    /// A test that cannot be used: it does not parse, cannot set itself up, or judges nothing.
    #[error("{} test {number} cannot be used: {why}", if *.hidden { "hidden" } else { "visible" })]
    Test {
        /// Whether it is one of the hidden ones.
        hidden: bool,
        number: usize,
        /// What is wrong with it. May quote it.
        why: String,
    },
    /// A program that does no work passes every test, so that none of them can pay.
    #[error("all tests are weak: a program that {impostor} passes every one; add a test that it fails")]
    Weak {
        /// What that program does.
        impostor: String,
    },
    /// The sandbox broke, or cannot start here.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("the judge of the tests broke: {0}")]
    Judge(String),
}

impl CodeError {
    /// The error in words that quote no hidden test.
    pub fn discreet(&self) -> String {
        match self {
            Self::Test { hidden: true, number, .. } => format!("hidden test {number} cannot be used"),
            other => other.to_string(),
        }
    }
}
