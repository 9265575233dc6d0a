//! What came of a program's tests.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What came of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum TestOutcome {
    Passed,
    /// It did not: a wrong value, a missing function, a program that ended.
    Failed {
        /// Why. May quote the test.
        why: String,
    },
    /// The program raised what the test did not expect.
    Exception {
        what: String,
    },
    /// The program did not answer in time.
    Time,
    /// The program used more memory than it may, or answered with more than the judge can hold.
    Memory,
    /// The program wrote or answered more than it may.
    Output,
    /// The program asked for more processes or threads than it may have.
    Processes,
    /// The program was killed.
    Killed {
        how: String,
    },
    /// The program asked for something forbidden and did not live with the refusal.
    Refused {
        call: String,
    },
}

impl TestOutcome {
    /// The outcome in a word, which quotes nothing.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed { .. } => "failed",
            Self::Exception { .. } => "exception",
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Output => "output",
            Self::Processes => "processes",
            Self::Killed { .. } => "killed",
            Self::Refused { .. } => "refused",
        }
    }
}

impl fmt::Display for TestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { why: text }
            | Self::Exception { what: text }
            | Self::Killed { how: text }
            | Self::Refused { call: text } => write!(f, "{}: {text}", self.word()),
            Self::Time => f.write_str("out of time"),
            Self::Memory => f.write_str("out of memory"),
            Self::Output => f.write_str("too much output"),
            Self::Processes => f.write_str("too many processes or threads"),
            Self::Passed => f.write_str("passed"),
        }
    }
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodeVerdict {
    /// Tests passed, visible and hidden.
    pub passed: usize,
    /// Number of tests.
    pub total: usize,
    /// One per visible test, in order.
    pub visible: Vec<TestOutcome>,
    /// One per hidden test, in order.
    pub hidden: Vec<TestOutcome>,
    /// Why no test could be tried: there is no program, or it does not parse. Absent: they were tried.
    pub unusable: Option<String>,
    /// Tests that a program passes which does no work. They pay only beside a test that the same program fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weak: Vec<WeakTest>,
    /// What a program does that does no work and passes as much. Absent: there is none, so that what passed is earned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unearned: Option<String>,
}

/// A test that a program passes which does no work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeakTest {
    /// Whether it is one of the hidden ones.
    pub hidden: bool,
    pub number: usize,
    /// What the program does that passes it.
    pub impostor: String,
}

impl CodeVerdict {
    pub(super) fn new(outcomes: Vec<TestOutcome>, visible: usize, unusable: Option<String>) -> Self {
        let passed = outcomes.iter().filter(|&outcome| *outcome == TestOutcome::Passed).count();
        let total = outcomes.len();
        let mut visible_outcomes = outcomes;
        let hidden = visible_outcomes.split_off(visible.min(total));
        let (weak, unearned) = (Vec::new(), None);
        Self { passed, total, visible: visible_outcomes, hidden, unusable, weak, unearned }
    }

    /// Whether every test passed, and not only tests that pay nothing alone.
    pub fn all_passed(&self) -> bool {
        self.total > 0 && self.passed == self.total && self.unearned.is_none()
    }

    /// The share of tests that passed; 0 where a program that does no work passes as much.
    pub fn share(&self) -> f64 {
        if self.total == 0 || self.unearned.is_some() { 0.0 } else { self.passed as f64 / self.total as f64 }
    }
}
