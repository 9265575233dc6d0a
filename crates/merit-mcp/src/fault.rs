//! Why a request got no result, before it is known whose fault that is.

use crate::message::RpcError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{} (JSON-RPC {})", .0.message, .0.code)]
    Refused(RpcError),
    /// The answer was not read.
    #[error("the answer is too large")]
    TooLarge,
    #[error("it closed the connection")]
    Closed,
    #[error("it cannot be written to ({0})")]
    Write(String),
    /// A server over HTTP does not know our session any more.
    #[error("it has forgotten our session (HTTP 404)")]
    Forgotten,
    /// The exchange over HTTP failed.
    #[error("{0}")]
    Http(String),
    /// It answered, but not as the protocol demands.
    #[error("{0}")]
    Answer(String),
}
