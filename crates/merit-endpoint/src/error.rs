//! Why an endpoint gave no answer. None of these is a verdict on what a model said.

use crate::cache::CacheError;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The configuration cannot work.
    #[error("endpoint: {0}")]
    Config(String),
    /// Something was asked for that this kind of server cannot do or say.
    #[error("a server of kind `{server}` {what}")]
    Unsupported {
        server: &'static str,
        /// What it cannot do, and what to do instead.
        what: String,
    },
    /// The server understood and said no; asking again would not help.
    #[error("{endpoint} refused (HTTP {status}): {message}")]
    Refused {
        endpoint: String,
        status: u16,
        /// What it said, shortened, without the key.
        message: String,
    },
    /// The key is missing, wrong or has no rights.
    #[error("{endpoint} does not accept the key (HTTP {status}): {message}{hint}")]
    Unauthorised {
        endpoint: String,
        status: u16,
        /// What it said, shortened, without the key.
        message: String,
        /// Where the key comes from, in words.
        hint: String,
    },
    /// Too many requests, after all tries.
    #[error("{endpoint} is overrun after {tries} tries (HTTP {status}): {message}{}", asked_to_wait(.retry_after_s))]
    RateLimited {
        endpoint: String,
        status: u16,
        /// How often it was asked.
        tries: u32,
        /// What it said, shortened, without the key.
        message: String,
        /// How long it asked us to wait, in seconds. Absent: it did not say.
        retry_after_s: Option<f64>,
    },
    /// The server failed inside, after all tries.
    #[error("{endpoint} failed {tries} times, last with HTTP {status}: {message}")]
    Failing {
        endpoint: String,
        /// The last HTTP status.
        status: u16,
        /// How often it was asked.
        tries: u32,
        /// What it said, shortened, without the key.
        message: String,
    },
    /// The whole request took too long.
    #[error("{endpoint} gave no answer within {after_s} s ({tries} tries); {doing}")]
    Deadline {
        endpoint: String,
        /// The deadline, in seconds.
        after_s: f64,
        /// How often it was asked.
        tries: u32,
        /// What was going on when the time was up.
        doing: String,
    },
    /// No connection, or one that broke before an answer began.
    #[error("{endpoint} cannot be reached ({tries} tries): {why}")]
    Connection {
        endpoint: String,
        /// How often it was tried.
        tries: u32,
        why: String,
    },
    /// The answer broke off or fell silent.
    #[error("the answer of {endpoint} broke off after {pieces} pieces ({tries} tries): {why}")]
    Cut {
        endpoint: String,
        /// How often it was asked.
        tries: u32,
        /// How many pieces had come the last time.
        pieces: usize,
        why: String,
    },
    /// An answer that is not what the protocol says, or lacks what was asked for.
    #[error("the answer of {endpoint} cannot be used: {what}")]
    Malformed {
        endpoint: String,
        /// The field, what it is and what it should be.
        what: String,
    },
    /// An answer larger than allowed.
    #[error(
        "the answer of {endpoint} has more than {limit} bytes; raise `max_response_bytes` if that is wanted"
    )]
    TooLarge {
        endpoint: String,
        /// The most that is read.
        limit: usize,
    },
    /// The conversation does not fit into the model.
    #[error("the conversation does not fit into the context of the model at {endpoint}: {message}")]
    ContextOverflow {
        endpoint: String,
        /// The model's limit in tokens. Absent: the server does not say.
        limit: Option<usize>,
        /// What it said, shortened, without the key.
        message: String,
    },
    /// The caller cancelled the request.
    #[error("the request was cancelled")]
    Cancelled,
    /// A strict replay was asked for a request that was not recorded.
    #[error("{path} holds no answer to {asked}; {nearest}")]
    NotRecorded {
        /// The file of kept answers.
        path: String,
        /// What was asked, in words.
        asked: String,
        /// What the file does hold, in words.
        nearest: String,
    },
    /// The file of kept answers cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The threads that carry all connections could not be started, or one of them broke.
    #[error("the threads of the endpoint broke: {0}")]
    Threads(String),
}

impl EndpointError {
    /// The kind of failure in a few words, the same for all failures of one kind: `timed out`, `server said 429`.
    pub fn cause(&self) -> String {
        let words = match self {
            Self::Refused { status, .. }
            | Self::Unauthorised { status, .. }
            | Self::RateLimited { status, .. }
            | Self::Failing { status, .. } => return format!("server said {status}"),
            Self::Config(_) => "wrong settings",
            Self::Unsupported { .. } => "not offered by the server",
            Self::Deadline { .. } => "timed out",
            Self::Connection { .. } => "server not reached",
            Self::Cut { .. } => "answer broke off",
            Self::Malformed { .. } => "answer not understood",
            Self::TooLarge { .. } => "answer too large",
            Self::ContextOverflow { .. } => "conversation too long",
            Self::Cancelled => "cancelled",
            Self::NotRecorded { .. } => "not recorded",
            Self::Cache(_) => "kept answers broken",
            Self::Threads(_) => "threads broke",
        };
        words.to_owned()
    }
}

fn asked_to_wait(seconds: &Option<f64>) -> String {
    seconds.map_or_else(String::new, |seconds| format!("; it asks to wait {seconds:.0} s"))
}
