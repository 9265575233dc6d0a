//! Why an audit could not be made. A target that refuses or breaks on a probe is a finding, not an error.

/// Why an audit could not be made.
#[derive(Debug, thiserror::Error)]
pub enum AttackError {
    /// Nothing to try it on.
    #[error("{target} has no tasks to try it on; give some with `--tasks`")]
    NoTasks {
        /// The target.
        target: String,
    },
    /// The target itself cannot be used.
    #[error("{target}: {why}")]
    Target {
        /// The target.
        target: String,
        /// What is wrong with it.
        why: String,
    },
    /// A target that answers some other number of attempts than it was given.
    #[error("{target} was given {asked} attempts and answered {answered}")]
    Count {
        /// The target.
        target: String,
        /// Attempts given.
        asked: usize,
        /// Payments returned.
        answered: usize,
    },
}
