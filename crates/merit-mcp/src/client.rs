//! One connection to one server.
//!
//! A connection is a session: a server that keeps state keeps it per connection. Open one per episode when episodes must not see
//! each other's traces ([`Client::connect`] with the same configuration, as often as needed); share one behind an `Arc` when the
//! server keeps no state, and calls run side by side on it.

use crate::child::{self, Leash};
use crate::config::{Endpoint, ServerConfig};
use crate::failure::Failures;
use crate::http_client::LoopbackHttp;
use crate::lines::Lines;
use crate::listing::{NoList, ToolInfo, all_tools};
use crate::loopback::Address;
use crate::runtime::{self, Remote};
use crate::{CallOutcome, McpError};
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, Implementation,
};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService, serve_client};
use rmcp::transport::common::client_side_sse::FixedInterval;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use serde_json::{Map, Value};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long [`Client::close`] waits for a server to end by itself.
const GRACE: Duration = Duration::from_secs(3);
/// How many requests one client may have under way over HTTP; more wait their turn.
const MAX_REQUESTS: usize = 256;

/// A server, connected: the protocol is open and its tools are known.
///
/// Made and used from any executor, or from ordinary code with [`wait`](crate::wait). Dropping it ends the connection at once: a
/// server that is a command is killed with all that it started; a session over HTTP is ended in the background.
#[derive(Debug)]
pub struct Client {
    tools: Vec<ToolInfo>,
    connection: Connection,
    call_deadline: Duration,
}

#[derive(Debug)]
struct Connection {
    /// Absent for a server that is not ours. First, so that the process ends before its streams are let go.
    leash: Option<Leash>,
    failures: Arc<Failures>,
    running: RunningService<RoleClient, Us>,
}

/// What we tell servers about ourselves. Requests of the server to us (sampling, files, questions) are refused.
#[derive(Debug)]
struct Us;

impl ClientHandler for Us {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("merit", env!("CARGO_PKG_VERSION")),
        )
    }
}

impl Client {
    /// Starts or reaches the server, opens the protocol and lists its tools, within `start_seconds`.
    pub async fn connect(config: &ServerConfig) -> Result<Self, McpError> {
        let endpoint = config.endpoint()?;
        let (name, deadline) = (config.name(), config.start_deadline());
        let call_deadline = config.call_deadline();
        let handle = runtime::handle().map_err(McpError::Threads)?;
        let opened = Remote::spawn(handle, open(endpoint, name, deadline)).await;
        let (connection, tools) =
            opened.ok_or_else(|| McpError::Threads("a task ended early".to_owned()))??;
        Ok(Self { tools, connection, call_deadline })
    }

    /// The tools it offered when the connection was opened, in its order.
    pub fn tools(&self) -> &[ToolInfo] {
        &self.tools
    }

    /// Calls a tool, within `call_seconds`. Dropping the future, or the deadline, cancels the request at the server; either way
    /// the client can be used on.
    pub async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<CallOutcome, McpError> {
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let peer = self.connection.running.peer().clone();
        let failures = Arc::clone(&self.connection.failures);
        let (doing, after) = (format!("answering a call of `{name}`"), self.call_deadline);
        let call = async move {
            match timeout(after, peer.call_tool_once(params)).await {
                Ok(Ok(CallToolResponse::Complete(result))) => Ok(result.into()),
                Ok(Ok(_)) => Err(failures.protocol("it wants more input or a task in place of an answer")),
                Ok(Err(error)) => failures.of_call(error).await,
                Err(_) => Err(failures.late(doing, after)),
            }
        };
        let handle = runtime::handle().map_err(McpError::Threads)?;
        let answered = Remote::spawn(handle, call).await;
        answered.ok_or_else(|| McpError::Threads("a task ended early".to_owned()))?
    }

    /// Ends the connection in good order: a command gets the end of its input and a few seconds to finish, a session over HTTP is
    /// ended before this returns. Dropping the client does without the courtesy.
    pub async fn close(self) {
        let Connection { leash, mut running, .. } = self.connection;
        let farewell = async move {
            let _ = running.close_with_timeout(GRACE).await;
            if let Some(Leash(process)) = &leash {
                process.wait(GRACE).await;
                process.end().await;
            }
        };
        if let Ok(handle) = runtime::handle() {
            Remote::spawn(handle, farewell).await;
        }
    }
}

/// Everything of [`Client::connect`] that runs over there.
async fn open(
    endpoint: Endpoint,
    name: String,
    deadline: Duration,
) -> Result<(Connection, Vec<ToolInfo>), McpError> {
    let Endpoint::Url(address) = endpoint else {
        let (leash, output, input) = child::start(&endpoint).map_err(|why| {
            let (server, stderr) = (name.clone(), String::new());
            McpError::Start { server, why, stderr }
        })?;
        let failures = Arc::new(Failures::of_process(name, Arc::clone(&leash.0)));
        let lines = Lines::new(output, input, failures.noise());
        return greet(serve_client(Us, lines), Some(leash), failures, deadline).await;
    };
    greet(serve_client(Us, over_http(address)), None, Arc::new(Failures::of_address(name)), deadline).await
}

/// Waits for the protocol to open and lists the tools.
async fn greet(
    opening: impl Future<Output = Result<RunningService<RoleClient, Us>, ClientInitializeError>>,
    leash: Option<Leash>,
    failures: Arc<Failures>,
    deadline: Duration,
) -> Result<(Connection, Vec<ToolInfo>), McpError> {
    let greeting = async {
        let running = match opening.await {
            Ok(running) => running,
            Err(error) => return Err(failures.of_start(&error).await),
        };
        match all_tools(running.peer()).await {
            Ok(tools) => Ok((running, tools)),
            Err(NoList::Protocol(what)) => Err(failures.protocol(what)),
            Err(NoList::Service(error)) => Err(failures.of_listing(error).await),
        }
    };
    match timeout(deadline, greeting).await {
        Ok(greeted) => greeted.map(|(running, tools)| (Connection { leash, failures, running }, tools)),
        Err(_) => Err(failures.late("to start and list its tools", deadline)),
    }
}

fn over_http(address: Address) -> StreamableHttpClientTransport<LoopbackHttp> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(address.uri.to_string());
    config.custom_headers = address.headers;
    config.max_concurrent_requests = MAX_REQUESTS;
    // A server that has forgotten the session has forgotten what the episode did there: that must be seen, not papered over.
    config.reinit_on_expired_session = false;
    let mut retry = FixedInterval::default();
    retry.max_times = Some(2);
    retry.duration = Duration::from_millis(250);
    config.retry_config = Arc::new(retry);
    StreamableHttpClientTransport::with_client(LoopbackHttp::new(), config)
}
