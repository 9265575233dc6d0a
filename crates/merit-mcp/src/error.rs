//! What can go wrong with a server that is not the agent's doing.
//!
//! A tool that says "you asked wrongly" is no error here: it is a `CallOutcome` with `is_error`. Everything below is ours or the
//! server's: the episode that meets it ends as an infrastructure failure.

use std::time::Duration;

/// Why a server could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The configuration cannot work.
    #[error("MCP server: {0}")]
    Config(String),
    /// The server could not be started, or did not open the protocol.
    #[error("MCP server {server} could not be started: {why}{stderr}")]
    Start {
        /// The command or address.
        server: String,
        why: String,
        /// The end of what it wrote to its standard error, introduced in words; empty when there is none.
        stderr: String,
    },
    /// It answered, but not as the protocol demands.
    #[error("MCP server {server} broke the protocol: {what}")]
    Protocol {
        /// The command or address.
        server: String,
        /// What was wrong with the answer.
        what: String,
    },
    /// One message was larger than this client takes in.
    #[error("MCP server {server} sent a message of more than {limit} bytes; it was not read")]
    TooLarge {
        /// The command or address.
        server: String,
        /// The largest message taken in, in bytes.
        limit: usize,
    },
    /// No answer in time. The request was cancelled; the client can be used on.
    #[error("MCP server {server} took longer than {after:?} {doing}{hint}")]
    Deadline {
        /// The command or address.
        server: String,
        /// What it was asked to do.
        doing: String,
        after: Duration,
        /// What may explain it (output that is no message, standard error), introduced in words; empty when there is nothing.
        hint: String,
    },
    /// The server ended or closed the connection. A new connection is needed.
    #[error("MCP server {server} is gone: {why}{stderr}")]
    Gone {
        /// The command or address.
        server: String,
        why: String,
        /// The end of what it wrote to its standard error, introduced in words; empty when there is none.
        stderr: String,
    },
    /// The server says that it failed inside (a JSON-RPC error that is not about the request).
    #[error("MCP server {server} failed inside (JSON-RPC {code}): {message}")]
    Broken {
        /// The command or address.
        server: String,
        /// The JSON-RPC error code.
        code: i32,
        message: String,
    },
    /// The exchange over HTTP failed.
    #[error("MCP server {server}: {why}")]
    Http { server: String, why: String },
    /// The threads that carry all connections could not be started.
    #[error("the MCP threads cannot be started: {0}")]
    Threads(String),
}
