//! What does a model behind an endpoint say? A client for every server that speaks the OpenAI protocol.
//!
//! In: an [`EndpointConfig`] and conversations, texts, tokens or texts to embed. Out: an [`Answer`] (text, calls, reasons, token
//! ids and log-probabilities where the server gives them), vectors, or a typed [`EndpointError`]. Requests have deadlines, tries
//! with pauses, a concurrency limit and a file of kept answers that replays them. Nothing here judges what a model said.

mod address;
mod answer;
mod cache;
mod config;
mod draft;
mod endpoint;
mod error;
mod exchange;
mod field;
mod listing;
mod message;
mod params;
mod refusal;
mod request;
mod retry;
mod scores;
mod scripted;
mod secret;
mod server;
mod tls;
mod transport;
mod trouble;
mod usage;

pub use answer::{Answer, Finish, ModelCard, Piece, TokenScore, TopToken, Usage};
pub use cache::CacheError;
pub use config::{CacheConfig, CacheMode, EndpointConfig, MaxTokensField, RetryCut};
pub use endpoint::Endpoint;
pub use error::EndpointError;
pub use merit_net::{Task, wait};
pub use message::{ChatMessage, ChatRole, FunctionCall, FunctionSpec};
pub use params::Params;
pub use request::{ChatRequest, Prompt, TextRequest};
pub use scripted::{Asked, Reply, ScriptedServer};
pub use server::Server;
/// Cancels the calls of a handle made by [`Endpoint::cancelled_by`].
pub use tokio_util::sync::CancellationToken;

/// Waiting for servers is no work; reading long answers is a little.
static THREADS: merit_net::Threads = merit_net::Threads::new("merit-endpoint", 2);

/// Starts `future` on the threads of this crate.
pub fn spawn<T, F>(future: F) -> Result<Task<T>, EndpointError>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    THREADS.spawn(future).map_err(EndpointError::Threads)
}
