//! Why an audit could not be made. A target that refuses or breaks on a probe is a finding, not an error.

/// Why an audit could not be made.
#[derive(Debug, thiserror::Error)]
pub enum AttackError {
    #[error("{target} has no tasks to try it on; give some with `--tasks`, or in the first line of a scorer")]
    NoTasks { target: String },
    /// A file or folder that was given for its tasks.
    #[error("{file} holds no tasks; give one a line, with `prompt` and `answer`, or a folder with episodes")]
    EmptyTasks { file: String },
    /// Nobody knows what is right, so that no attack could be told from it.
    #[error(
        "{target} cannot be audited: none of its {tasks} tasks says what is right, so that nothing can be held against it; give \
         the tasks an `answer`, or let a scorer say what is `full`"
    )]
    NothingKnown { target: String, tasks: usize },
    /// The target itself cannot be used.
    #[error("{target}: {why}")]
    Target {
        target: String,
        /// What is wrong with it.
        why: String,
    },
    /// A reward or recipe that is not there or cannot be used; says where.
    #[error(transparent)]
    Source(#[from] merit_run::RecipeError),
    /// A target that answers some other number of attempts than it was given.
    #[error("{target} was given {asked} attempts and answered {answered}")]
    Count { target: String, asked: usize, answered: usize },
    /// A file that cannot be read.
    #[error("cannot read {file}: {why}")]
    Read {
        file: String,
        /// What the system says.
        why: String,
    },
    /// A line of a task file that says nothing usable.
    #[error("{file}, line {line}: {why}")]
    TaskLine {
        file: String,
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A command that is no command.
    #[error("the command `{command}` cannot be split into words: {why}")]
    Words {
        command: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A scorer that does not begin by saying what it is.
    #[error("`{command}` does not begin as a scorer should: {why}")]
    Greeting {
        command: String,
        /// What it did instead, with the end of its standard error.
        why: String,
    },
}
