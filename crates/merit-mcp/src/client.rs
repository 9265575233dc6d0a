//! One connection to one server.
//!
//! A connection is a session: a server that keeps state keeps it per connection. Open one per episode when episodes must not see
//! each other's traces ([`Client::connect`] with the same configuration, as often as needed); share one behind an `Arc` when the
//! server keeps no state, and calls run side by side on it.

use crate::child::{self, Leash};
use crate::config::{Endpoint, ServerConfig};
use crate::failure::Failures;
use crate::http_client::OverHttp;
use crate::listing::{NoList, ToolInfo, all_tools};
use crate::peer::{Link, Peer};
use crate::piped::Piped;
use crate::{CallOutcome, EARLY, McpError, THREADS};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long [`Client::close`] waits for a server to end by itself.
const GRACE: Duration = Duration::from_secs(3);

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
    peer: Arc<Peer>,
}

impl Client {
    /// Starts or reaches the server, opens the protocol and lists its tools, within `start_s`.
    ///
    /// ```
    /// use merit_mcp::{Client, ServedAnswer, ServedCall, ServedFuture, ServedTool, ServerConfig, ServerInfo, serve_http, wait};
    /// let call = |_: ServedCall| -> ServedFuture { Box::pin(async { ServedAnswer::Ok("pong".into()) }) };
    /// let input_schema = serde_json::json!({ "type": "object" });
    /// let tool = ServedTool { name: "ping".into(), description: "Answers.".into(), input_schema, call: std::sync::Arc::new(call) };
    /// let info = ServerInfo { name: "example".into(), version: "1".into(), instructions: None, closed: None };
    /// let server = wait(serve_http(vec![tool], "127.0.0.1:0".parse()?, info))?;
    /// let client = wait(Client::connect(&ServerConfig { url: Some(server.url()), ..ServerConfig::default() }))?;
    /// assert_eq!(client.tools()[0].name, "ping");
    /// assert_eq!(wait(client.call("ping", Default::default()))?.text, "pong");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn connect(config: &ServerConfig) -> Result<Self, McpError> {
        let endpoint = config.endpoint()?;
        let (name, deadline) = (config.name(), config.start_deadline());
        let call_deadline = config.call_deadline();
        let opening = THREADS.spawn(open(endpoint, name, deadline)).map_err(McpError::Threads)?;
        let (connection, tools) = opening.await.map_err(|_| McpError::Threads(EARLY.to_owned()))??;
        Ok(Self { tools, connection, call_deadline })
    }

    /// The tools it offered when the connection was opened, in its order.
    pub fn tools(&self) -> &[ToolInfo] {
        &self.tools
    }

    /// Calls a tool, within `timeout_s`. Dropping the future, or the deadline, cancels the request at the server; either way
    /// the client can be used on.
    pub async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<CallOutcome, McpError> {
        let params = json!({"name": name, "arguments": arguments});
        let peer = Arc::clone(&self.connection.peer);
        let failures = Arc::clone(&self.connection.failures);
        let (doing, after) = (format!("answering a call of `{name}`"), self.call_deadline);
        let call = async move {
            match timeout(after, peer.ask("tools/call", params)).await {
                Ok(Ok(result)) => {
                    CallOutcome::of_result(&result).ok_or_else(|| failures.nonsense("tools/call"))
                }
                Ok(Err(fault)) => failures.of_call(fault).await,
                Err(_) => Err(failures.late(doing, after)),
            }
        };
        let answering = THREADS.spawn(call).map_err(McpError::Threads)?;
        answering.await.map_err(|_| McpError::Threads(EARLY.to_owned()))?
    }

    /// Ends the connection in good order: a command gets the end of its input and a few seconds to finish, a session over HTTP is
    /// ended before this returns. Dropping the client does without the courtesy.
    pub async fn close(self) {
        let Connection { leash, peer, .. } = self.connection;
        let farewell = async move {
            let _ = timeout(GRACE, peer.close()).await;
            if let Some(Leash(process)) = &leash {
                process.wait(GRACE).await;
                process.end().await;
            }
        };
        if let Ok(parting) = THREADS.spawn(farewell) {
            let _ = parting.await;
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
        let failures = Failures::of_process(name, Arc::clone(&leash.0));
        let link = Link::Piped(Piped::new(output, input, failures.noise()));
        return greet(link, Some(leash), failures, deadline).await;
    };
    greet(Link::OverHttp(Box::new(OverHttp::new(address))), None, Failures::of_address(name), deadline).await
}

/// Waits for the protocol to open and lists the tools.
async fn greet(
    link: Link,
    leash: Option<Leash>,
    failures: Failures,
    deadline: Duration,
) -> Result<(Connection, Vec<ToolInfo>), McpError> {
    let peer = Peer::new(link);
    let greeting = async {
        if let Err(fault) = peer.open().await {
            return Err(failures.of_start(&fault).await);
        }
        match all_tools(&peer).await {
            Ok(tools) => Ok(tools),
            Err(NoList::Protocol(what)) => Err(failures.protocol(what)),
            Err(NoList::Fault(fault)) => Err(failures.of_fault(fault).await),
        }
    };
    let greeted = timeout(deadline, greeting).await;
    let tools = greeted.unwrap_or_else(|_| Err(failures.late("to start and list its tools", deadline)))?;
    let connection = Connection { leash, failures: Arc::new(failures), peer: Arc::new(peer) };
    Ok((connection, tools))
}
