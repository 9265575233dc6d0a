//! What can go wrong with a model, apart from one session's sampling.

/// A fault of configuration, file, batch or arithmetic.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A configuration that cannot work.
    #[error("decoder config: {0}")]
    Config(String),
    /// A file that is not what it should be.
    #[error("checkpoint: {0}")]
    Checkpoint(String),
    /// A tensor that is missing, misshapen or of another type.
    #[error("checkpoint: tensor `{tensor}`: {reason}")]
    Tensor {
        /// The tensor's name in the file.
        tensor: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A training sequence that cannot be read.
    #[error("sequence {index}: {reason}")]
    Sequence {
        /// Its place in the batch.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The objective gave a stream of another length.
    #[error("sequence {index}: the objective gave {got} {stream} coefficients for {want} tokens")]
    Coefficients {
        /// The sequence's place in the batch.
        index: usize,
        /// `logprob`, `entropy` or `value`.
        stream: &'static str,
        /// How many came.
        got: usize,
        /// How many were due.
        want: usize,
    },
    /// The temperature is not a positive finite number.
    #[error("temperature {0} is not a positive number")]
    Temperature(f32),
    /// The gradient overflowed or is undefined; the weights were left as they were.
    #[error("the gradient is not finite (norm {norm}); the weights were not changed")]
    NonFiniteGradient {
        /// What the norm came to.
        norm: f64,
    },
    /// The threads could not be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were wanted.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// A tokenizer file that is not one.
    #[error("tokenizer: {0}")]
    Tokenizer(String),
}
