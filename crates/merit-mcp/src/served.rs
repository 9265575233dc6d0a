//! Our tools as others see them: what is served, and how one client's requests are answered.

use crate::listing::{check_name, check_schema};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// How many tools one page of the list holds.
const PAGE: usize = 256;

/// A call by a client.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedCall {
    /// Which client connection it comes over: equal for all calls of one connection, never used again after it closed.
    pub session: u64,
    /// The arguments as given; the tool checks them.
    pub arguments: Map<String, Value>,
}

/// What a served tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServedAnswer {
    /// It ran.
    Ok(String),
    /// The caller asked wrongly; the text says what to do better.
    Wrong(String),
    /// The tool itself broke.
    Broken(String),
}

/// The answer, when it comes. Dropped when the client cancels the call.
pub type ServedFuture = Pin<Box<dyn Future<Output = ServedAnswer> + Send>>;

/// A tool offered to others.
#[derive(Clone)]
pub struct ServedTool {
    /// What it is called by; unique among the tools served together.
    pub name: String,
    /// What it does, for the model that chooses it.
    pub description: String,
    /// The JSON Schema of its arguments, `{"type": "object", …}`.
    pub input_schema: Value,
    /// Answers a call.
    pub call: Arc<dyn Fn(ServedCall) -> ServedFuture + Send + Sync>,
}

impl fmt::Debug for ServedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedTool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a server says of itself, and what it does when a client goes.
#[derive(Clone, Default)]
pub struct ServerInfo {
    /// The server's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How to use the tools together, for the model. Absent: nothing is said.
    pub instructions: Option<String>,
    /// Called once for each session that made a call, after its last one, so that what is kept for it can be freed. Absent:
    /// nothing is kept.
    pub closed: Option<Arc<dyn Fn(u64) + Send + Sync>>,
}

impl fmt::Debug for ServerInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, version, .. } = self;
        f.debug_struct("ServerInfo").field("name", name).field("version", version).finish_non_exhaustive()
    }
}

/// Why tools cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServeError {
    /// A tool that cannot be offered.
    #[error("cannot serve: {0}")]
    Tool(String),
    /// An address that others could reach.
    #[error("cannot serve at {0}: tools are served to this machine only; use 127.0.0.1 or [::1]")]
    NotLoopback(std::net::SocketAddr),
    /// The address cannot be used.
    #[error("cannot serve at {address}: {why}")]
    Address {
        /// The address asked for.
        address: std::net::SocketAddr,
        /// What the system says.
        why: String,
    },
    /// The client did not open the protocol, or the streams broke.
    #[error("serving over the standard streams failed: {0}")]
    Stdio(String),
    /// The threads that carry all connections could not be started.
    #[error("the MCP threads cannot be started: {0}")]
    Threads(String),
}

/// All that is served, shared by the sessions.
pub(crate) struct Catalogue {
    listed: Vec<Tool>,
    calls: HashMap<String, Arc<dyn Fn(ServedCall) -> ServedFuture + Send + Sync>>,
    info: ServerInfo,
    sessions: AtomicU64,
    /// Ends the calls under way when the server stops.
    pub(crate) stop: CancellationToken,
}

impl Catalogue {
    pub(crate) fn new(tools: Vec<ServedTool>, info: ServerInfo) -> Result<Arc<Self>, ServeError> {
        let mut listed = Vec::with_capacity(tools.len());
        let mut calls = HashMap::with_capacity(tools.len());
        for ServedTool { name, description, input_schema, call } in tools {
            check_name(&name).map_err(ServeError::Tool)?;
            check_schema(&name, &input_schema).map_err(ServeError::Tool)?;
            let Value::Object(schema) = input_schema else {
                return Err(ServeError::Tool(format!("tool `{name}`: its schema is no JSON object")));
            };
            listed.push(Tool::new(name.clone(), description, Arc::new(schema)));
            if calls.insert(name.clone(), call).is_some() {
                return Err(ServeError::Tool(format!("two tools are called `{name}`")));
            }
        }
        Ok(Arc::new(Self {
            listed,
            calls,
            info,
            sessions: AtomicU64::new(1),
            stop: CancellationToken::new(),
        }))
    }

    /// What answers the next client.
    pub(crate) fn open(self: &Arc<Self>) -> Session {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        Session { catalogue: Arc::clone(self), number, called: AtomicBool::new(false) }
    }

    fn unknown(&self, name: &str) -> ErrorData {
        let distance = |known: &&str| strsim::damerau_levenshtein(known, name);
        let short = name.chars().count() <= 2 * crate::MAX_NAME;
        let names = self.listed.iter().map(|tool| tool.name.as_ref());
        let text = match names.filter(|_| short).min_by_key(distance) {
            Some(near) if distance(&near) <= 1 + near.chars().count() / 3 => {
                format!("no tool `{name}`; did you mean `{near}`?")
            }
            _ => format!("no tool `{}`; tools/list names all of them", crate::text::glimpse(name, 100)),
        };
        ErrorData::invalid_params(text, None)
    }

    fn page(&self, cursor: Option<&str>) -> Result<ListToolsResult, ErrorData> {
        let start = match cursor.map(str::parse::<usize>) {
            None => 0,
            Some(Ok(start)) if start <= self.listed.len() => start,
            Some(_) => return Err(ErrorData::invalid_params("the cursor is not one of ours", None)),
        };
        let end = start.saturating_add(PAGE).min(self.listed.len());
        let tools = self.listed.get(start..end).unwrap_or_default().to_vec();
        let next_cursor = (end < self.listed.len()).then(|| end.to_string());
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(tools) })
    }
}

/// One client connection; its end is reported when it is dropped.
pub(crate) struct Session {
    catalogue: Arc<Catalogue>,
    number: u64,
    /// A tool was called, so there may be something to free.
    called: AtomicBool,
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(closed) = self.catalogue.info.closed.as_ref().filter(|_| *self.called.get_mut()) {
            closed(self.number);
        }
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let ServerInfo { name, version, instructions, .. } = &self.catalogue.info;
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(Implementation::new(name, version));
        info.instructions.clone_from(instructions);
        info
    }

    // From 2026-07-28 on the protocol has no sessions, and our tools keep state per client: we speak the versions that have them.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.catalogue.page(request.and_then(|params| params.cursor).as_deref())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(call) = self.catalogue.calls.get(request.name.as_ref()) else {
            return Err(self.catalogue.unknown(&request.name));
        };
        self.called.store(true, Ordering::Relaxed);
        let arguments = request.arguments.unwrap_or_default();
        let answer = call(ServedCall { session: self.number, arguments });
        tokio::select! {
            answer = answer => in_protocol(answer),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the call was cancelled", None)),
            () = self.catalogue.stop.cancelled() => Err(ErrorData::internal_error("the server stops", None)),
        }
    }
}

fn in_protocol(answer: ServedAnswer) -> Result<CallToolResponse, ErrorData> {
    match answer {
        ServedAnswer::Ok(text) => Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into()),
        ServedAnswer::Wrong(text) => Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into()),
        ServedAnswer::Broken(text) => Err(ErrorData::internal_error(text, None)),
    }
}
