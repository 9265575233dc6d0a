//! What can go wrong with a model, apart from one session's sampling.

/// A fault of configuration, file, batch or arithmetic.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A configuration that cannot work.
    #[error("decoder config: {0}")]
    Config(String),
    /// A shape that cannot work.
    #[error(transparent)]
    Shape(#[from] merit_formats::ConfigError),
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
        got: usize,
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
    /// An adapter that cannot work, or belongs elsewhere.
    #[error("adapter: {0}")]
    Adapter(String),
    /// A model's file that is not what it should be.
    #[error(transparent)]
    Format(#[from] merit_formats::FormatError),
    /// The machine has not enough memory left.
    #[error(
        "not enough memory for {what}: {:.2} GiB needed, {:.2} GiB available",
        *need as f64 / (1u64 << 30) as f64,
        *have as f64 / (1u64 << 30) as f64
    )]
    Memory {
        what: String,
        need: u64,
        /// Bytes that the system can give.
        have: u64,
    },
    /// A chat template that cannot be used.
    #[error("chat template: {0}")]
    Template(String),
    /// The threads could not be started.
    #[error(transparent)]
    Threads(#[from] merit_kernels::ThreadsError),
    /// A tokenizer file that is not one.
    #[error(transparent)]
    Tokenizer(#[from] merit_text::TokenizerError),
}

impl From<ModelError> for merit_api::trainer::TrainError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Sequence { index, reason } => Self::Sequence { index, reason },
            ModelError::NonFiniteGradient { norm } => Self::NonFiniteGradient { norm },
            other => Self::Other(Box::new(other)),
        }
    }
}
