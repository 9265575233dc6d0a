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
    #[error(
        "no program can be paid for: every test is weak ({}), because a program that {impostor} passes them all; add a test \
         that such a program fails, best a call with its result",
        all_of(*.visible, *.hidden)
    )]
    Weak {
        /// What that program does.
        impostor: String,
        /// How many visible tests there are.
        visible: usize,
        /// How many hidden ones.
        hidden: usize,
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
            // What the impostor does may tell what a hidden test asks for.
            Self::Weak { visible, hidden, .. } if *hidden > 0 => {
                let impostor = "does no work".to_owned();
                Self::Weak { impostor, visible: *visible, hidden: *hidden }.to_string()
            }
            other => other.to_string(),
        }
    }
}

/// All tests by their numbers.
fn all_of(visible: usize, hidden: usize) -> String {
    let numbers = |kind: &str, count: usize| match count {
        0 => None,
        1 => Some(format!("{kind}test 1")),
        count => Some(format!("{kind}tests 1 to {count}")),
    };
    let named: Vec<String> =
        [numbers("", visible), numbers("hidden ", hidden)].into_iter().flatten().collect();
    named.join(", ")
}
