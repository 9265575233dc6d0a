//! From what the protocol library reports to what we say of it: whose fault, and the words that help to find it.

use crate::child::ServerProcess;
use crate::http_client::HttpFailure;
use crate::lines::MAX_MESSAGE;
use crate::notes::{Noise, is_too_large};
use crate::text::glimpse;
use crate::{CallOutcome, McpError};
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The longest report of a server's own words, in bytes.
const MAX_WORDS: usize = 1000;

/// What is known of a server, for error reports.
#[derive(Debug)]
pub(crate) struct Failures {
    server: String,
    /// Absent for a server that is not our process.
    process: Option<Arc<ServerProcess>>,
    noise: Arc<Noise>,
}

impl Failures {
    pub(crate) fn of_process(server: String, process: Arc<ServerProcess>) -> Self {
        Self { server, process: Some(process), noise: Arc::default() }
    }

    pub(crate) fn of_address(server: String) -> Self {
        Self { server, process: None, noise: Arc::default() }
    }

    pub(crate) fn noise(&self) -> Arc<Noise> {
        Arc::clone(&self.noise)
    }

    /// A call that the server did not answer with a result. A complaint about the request itself is the agent's doing.
    pub(crate) async fn of_call(&self, error: ServiceError) -> Result<CallOutcome, McpError> {
        match error {
            ServiceError::McpError(error) if is_about_the_request(&error) => {
                Ok(CallOutcome::wrong(&error.message))
            }
            other => Err(self.of_service(other, "tools/call").await),
        }
    }

    pub(crate) async fn of_listing(&self, error: ServiceError) -> McpError {
        self.of_service(error, "tools/list").await
    }

    async fn of_service(&self, error: ServiceError, method: &str) -> McpError {
        let server = self.server.clone();
        match error {
            ServiceError::McpError(error) if is_too_large(&error) => {
                McpError::TooLarge { server, limit: MAX_MESSAGE }
            }
            ServiceError::McpError(error) => {
                let message = glimpse(&error.message, MAX_WORDS);
                McpError::Broken { server, code: error.code.0, message }
            }
            ServiceError::TransportClosed => self.gone("it closed the connection").await,
            ServiceError::TransportSend(error) if self.process.is_some() => {
                self.gone(&format!("it cannot be written to ({})", error.error)).await
            }
            ServiceError::TransportSend(error) => self.of_http(error.error.as_ref()),
            ServiceError::UnexpectedResponse => self.protocol(format!(
                "its answer to {method} is not what the protocol says{}",
                self.noise.in_words()
            )),
            other => self.protocol(glimpse(&other.to_string(), MAX_WORDS)),
        }
    }

    /// The protocol did not open.
    pub(crate) async fn of_start(&self, error: &ClientInitializeError) -> McpError {
        let server = self.server.clone();
        // A process that has ended shows itself in either direction, whichever is tried first.
        let why = match (error, &self.process) {
            (
                ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. },
                Some(process),
            ) => process.ending().await,
            (ClientInitializeError::ConnectionClosed(_), None) => "it closed the connection".to_owned(),
            (ClientInitializeError::TransportError { error, .. }, None) => in_a_chain(error.error.as_ref()),
            (other, _) => in_a_chain(other),
        };
        let why = format!("{}{}", glimpse(&why, MAX_WORDS), self.noise.in_words());
        McpError::Start { server, why, stderr: self.last_words() }
    }

    fn of_http(&self, error: &(dyn Error + 'static)) -> McpError {
        let server = self.server.clone();
        let expired = |error: &(dyn Error + 'static)| {
            matches!(error.downcast_ref(), Some(StreamableHttpError::<HttpFailure>::SessionExpired))
        };
        if causes(error).any(expired) {
            let why = "it has forgotten our session (HTTP 404)".to_owned();
            return McpError::Gone { server, why, stderr: String::new() };
        }
        McpError::Http { server, why: glimpse(&in_a_chain(error), MAX_WORDS) }
    }

    async fn gone(&self, why: &str) -> McpError {
        let why = match &self.process {
            Some(process) => process.ending().await,
            None => why.to_owned(),
        };
        McpError::Gone { server: self.server.clone(), why, stderr: self.last_words() }
    }

    pub(crate) fn protocol(&self, what: impl Into<String>) -> McpError {
        McpError::Protocol { server: self.server.clone(), what: what.into() }
    }

    pub(crate) fn late(&self, doing: impl Into<String>, after: Duration) -> McpError {
        let hint = format!("{}{}", self.noise.in_words(), self.last_words());
        McpError::Deadline { server: self.server.clone(), doing: doing.into(), after, hint }
    }

    fn last_words(&self) -> String {
        self.process.as_ref().map(|process| process.last_words()).unwrap_or_default()
    }
}

/// Unknown tools and arguments that do not fit.
fn is_about_the_request(error: &ErrorData) -> bool {
    matches!(error.code, ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND)
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// The error and its causes on one line, without repeating what an outer text already says.
fn in_a_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error).map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
