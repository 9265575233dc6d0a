//! From what happened to a request to what we say of it: whose fault, and the words that help to find it.

use crate::child::ServerProcess;
use crate::fault::Fault;
use crate::lines::MAX_MESSAGE;
use crate::message::{INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::notes::Noise;
use crate::{CallOutcome, McpError};
use merit_net::text::glimpse;
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

    /// A call that the server did not answer with a result. A complaint about the request itself (an unknown tool, arguments
    /// that do not fit) is the agent's doing.
    pub(crate) async fn of_call(&self, fault: Fault) -> Result<CallOutcome, McpError> {
        match fault {
            Fault::Refused(error) if matches!(error.code, INVALID_PARAMS | METHOD_NOT_FOUND) => {
                Ok(CallOutcome::wrong(&error.message))
            }
            other => Err(self.of_fault(other).await),
        }
    }

    pub(crate) async fn of_fault(&self, fault: Fault) -> McpError {
        let server = self.server.clone();
        match fault {
            Fault::TooLarge => McpError::TooLarge { server, limit: MAX_MESSAGE },
            Fault::Refused(error) => {
                let message = glimpse(&error.message, MAX_WORDS);
                McpError::Broken { server, code: error.code, message }
            }
            Fault::Closed | Fault::Write(_) | Fault::Forgotten => self.gone(&fault.to_string()).await,
            Fault::Http(why) => McpError::Http { server, why: glimpse(&why, MAX_WORDS) },
            Fault::Answer(what) => self.protocol(glimpse(&what, MAX_WORDS)),
        }
    }

    /// The protocol did not open.
    pub(crate) async fn of_start(&self, fault: &Fault) -> McpError {
        let server = self.server.clone();
        // A process that has ended shows itself in either direction, whichever is tried first.
        let why = match (fault, &self.process) {
            (Fault::Closed | Fault::Write(_), Some(process)) => process.ending().await,
            _ => fault.to_string(),
        };
        let why = format!("{}{}", glimpse(&why, MAX_WORDS), self.noise.in_words());
        McpError::Start { server, why, stderr: self.last_words() }
    }

    /// A result that the method does not have.
    pub(crate) fn nonsense(&self, method: &str) -> McpError {
        self.protocol(format!(
            "its answer to {method} is not what the protocol says{}",
            self.noise.in_words()
        ))
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
