//! One episode's connection to a server, and the calls over it.

use crate::excerpt::{middle_cut, refused};
use crate::{Arguments, ToolAnswer, ToolFuture, ToolSession};
use merit_mcp::{Client, McpError, ServerConfig};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// A connection that is opened by the first call.
pub(super) struct Connection {
    server: ServerConfig,
    client: Mutex<Option<Arc<Client>>>,
    /// Calls made so far, by all tools that share it.
    calls: AtomicU64,
}

impl Connection {
    pub(super) fn to(server: ServerConfig) -> Self {
        Self { server, client: Mutex::new(None), calls: AtomicU64::new(0) }
    }

    pub(super) fn open_already(server: ServerConfig, client: Client) -> Self {
        Self { server, client: Mutex::new(Some(Arc::new(client))), calls: AtomicU64::new(0) }
    }

    async fn client(&self) -> Result<Arc<Client>, McpError> {
        let mut client = self.client.lock().await;
        match &*client {
            Some(open) => Ok(Arc::clone(open)),
            None => {
                let opened = Arc::new(Client::connect(&self.server).await?);
                *client = Some(Arc::clone(&opened));
                Ok(opened)
            }
        }
    }

    /// A connection that broke is opened anew by the next call of any session that shares it.
    async fn forget(&self, broken: &Arc<Client>) {
        let mut client = self.client.lock().await;
        if client.as_ref().is_some_and(|open| Arc::ptr_eq(open, broken)) {
            *client = None;
        }
    }
}

/// One tool of a server, opened for an episode.
pub(super) struct McpSession {
    pub(super) connection: Arc<Connection>,
    pub(super) remote: String,
    pub(super) arguments: Arguments,
    pub(super) shown_chars: usize,
    pub(super) stateless: bool,
}

/// The snapshot of a connection over which nothing was asked yet.
pub(super) fn untouched() -> Value {
    json!({ "calls": 0 })
}

impl ToolSession for McpSession {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(async move { self.answer(&input).await })
    }

    fn snapshot(&self) -> Value {
        match self.stateless {
            true => Value::Null,
            false => json!({ "calls": self.connection.calls.load(Ordering::Relaxed) }),
        }
    }
}

impl McpSession {
    async fn answer(&self, input: &str) -> ToolAnswer {
        let input = if input.trim().is_empty() { "{}" } else { input };
        let arguments = match self.arguments.arguments(input) {
            Ok(Value::Object(arguments)) => arguments,
            Ok(_) => return refused("the input must be a JSON object"),
            Err(why) => return refused(why),
        };
        let client = match self.connection.client().await {
            Ok(client) => client,
            Err(error) => return ToolAnswer::Broken(error.to_string()),
        };
        self.connection.calls.fetch_add(1, Ordering::Relaxed);
        match client.call(&self.remote, arguments).await {
            Ok(outcome) if outcome.is_error => {
                ToolAnswer::Refused(middle_cut(&outcome.text, self.shown_chars))
            }
            Ok(outcome) => ToolAnswer::Ok(middle_cut(&outcome.text, self.shown_chars)),
            Err(error) => {
                if self.stateless {
                    self.connection.forget(&client).await;
                }
                ToolAnswer::Broken(error.to_string())
            }
        }
    }
}
