//! Tools of other programs, and ours for them: the Model Context Protocol, client and server.
//!
//! A [`Client`] connects to one server as a [`ServerConfig`] names it, lists its tools and calls them. What the agent asked wrongly
//! comes back as a [`CallOutcome`] with `is_error`; what broke outside the agent's reach is an [`McpError`]. [`serve_stdio`] and
//! [`serve_http`] offer our tools to any client of the protocol, on this machine. Knows nothing of merit's tools: the adapter in
//! either direction lives beside them.
//!
//! A connection is a session. [`Client::connect`] once per episode keeps the state of episodes apart (a process each for commands,
//! a protocol session each over HTTP); one client behind an `Arc` shares a server without state among all of them.

mod child;
mod client;
mod config;
mod error;
mod event_body;
mod failure;
mod fault;
mod http_client;
mod http_server;
mod lines;
mod listing;
mod loopback;
mod message;
mod notes;
mod outcome;
mod peer;
mod piped;
mod progress;
mod serve;
mod served;
mod skimmed;
mod sse;
mod tail;

pub use client::Client;
pub use config::{MAX_SECONDS, PASSED_ON, ServerConfig};
pub use error::McpError;
pub use lines::MAX_MESSAGE;
pub use listing::{MAX_DESCRIPTION, MAX_NAME, MAX_SCHEMA, MAX_TOOLS, ToolInfo};
pub use merit_net::wait;
pub use outcome::{CallOutcome, MAX_TEXT};
pub use serve::{HttpServer, serve_http, serve_stdio};
pub use served::{ServeError, ServedAnswer, ServedCall, ServedFuture, ServedTool, ServerInfo};

static THREADS: merit_net::Threads = merit_net::Threads::new("merit-mcp", 8);

/// Said of a task that panicked.
const EARLY: &str = "a task ended early";
