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
    /// A reward or recipe that is not there or cannot be used; says where.
    #[error(transparent)]
    Source(#[from] merit_run::RecipeError),
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
    /// A file that cannot be read.
    #[error("cannot read {file}: {why}")]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        why: String,
    },
    /// A line of a task file that says nothing usable.
    #[error("{file}, line {line}: {why}")]
    TaskLine {
        /// The file.
        file: String,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A command that is no command.
    #[error("the command `{command}` cannot be split into words: {why}")]
    Words {
        /// As given.
        command: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A scorer that does not begin by saying what it is.
    #[error("`{command}` does not begin as a scorer should: {why}")]
    Greeting {
        /// The command.
        command: String,
        /// What it did instead, with the end of its standard error.
        why: String,
    },
}
