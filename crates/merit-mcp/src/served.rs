//! Our tools as others see them: what is served, and how one client's requests are answered.

use crate::listing::{check_name, check_schema};
use crate::message::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NEWEST, RpcError, VERSIONS};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// The tool ran; the text is its result.
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
    pub name: String,
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
    /// Each as the protocol lists it, by name.
    listed: Vec<(String, Value)>,
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
            let tool = json!({"name": name, "description": description, "inputSchema": input_schema});
            listed.push((name.clone(), tool));
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
        Session {
            catalogue: Arc::clone(self),
            number: self.sessions.fetch_add(1, Ordering::Relaxed),
            called: AtomicBool::new(false),
            over: self.stop.child_token(),
            calls: Mutex::default(),
        }
    }

    fn unknown(&self, name: &str) -> RpcError {
        let distance = |known: &&str| strsim::damerau_levenshtein(known, name);
        let short = name.chars().count() <= 2 * crate::MAX_NAME;
        let names = self.listed.iter().map(|(name, _)| name.as_str());
        let text = match names.filter(|_| short).min_by_key(distance) {
            Some(near) if distance(&near) <= 1 + near.chars().count() / 3 => {
                format!("no tool `{name}`; did you mean `{near}`?")
            }
            _ => format!("no tool `{}`; tools/list names all of them", merit_net::text::glimpse(name, 100)),
        };
        RpcError::new(INVALID_PARAMS, text)
    }

    fn page(&self, cursor: Option<&str>) -> Result<Value, RpcError> {
        let start = match cursor.map(str::parse::<usize>) {
            None => 0,
            Some(Ok(start)) if start <= self.listed.len() => start,
            Some(_) => return Err(RpcError::new(INVALID_PARAMS, "the cursor is not one of ours")),
        };
        let end = start.saturating_add(PAGE).min(self.listed.len());
        let tools = self.listed.get(start..end).unwrap_or_default().iter().map(|(_, tool)| tool);
        let mut page = json!({"tools": tools.collect::<Vec<_>>()});
        if end < self.listed.len() {
            page["nextCursor"] = json!(end.to_string());
        }
        Ok(page)
    }

    /// What the server says of itself: the version that the client asks for when we speak it, else our newest.
    fn greeting(&self, params: &Value) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let version = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&NEWEST);
        let ServerInfo { name, version: own, instructions, .. } = &self.info;
        let mut greeting = json!({
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": name, "version": own},
        });
        if let Some(instructions) = instructions {
            greeting["instructions"] = json!(instructions);
        }
        greeting
    }
}

/// One client connection; its end is reported when it is dropped.
pub(crate) struct Session {
    catalogue: Arc<Catalogue>,
    number: u64,
    /// A tool was called, so there may be something to free.
    called: AtomicBool,
    /// Ends the calls under way.
    pub(crate) over: CancellationToken,
    /// What cancels each request under way, by its id as JSON.
    calls: Mutex<HashMap<String, CancellationToken>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(closed) = self.catalogue.info.closed.as_ref().filter(|_| *self.called.get_mut()) {
            closed(self.number);
        }
    }
}

impl Session {
    /// Answers a request; nothing when it was cancelled.
    pub(crate) async fn answer(
        &self,
        id: &Value,
        method: &str,
        params: Value,
    ) -> Option<Result<Value, RpcError>> {
        match method {
            "tools/call" => self.cancellable(id.to_string(), self.call(params)).await,
            _ if !(params.is_object() || params.is_null()) => {
                Some(Err(RpcError::new(INVALID_PARAMS, "`params` must be an object")))
            }
            "tools/list" => Some(match params.get("cursor") {
                None | Some(Value::Null) => self.catalogue.page(None),
                Some(Value::String(cursor)) => self.catalogue.page(Some(cursor)),
                Some(_) => Err(RpcError::new(INVALID_PARAMS, "`cursor` must be a text")),
            }),
            "initialize" => Some(match params.get("protocolVersion") {
                Some(Value::String(_)) => Ok(self.catalogue.greeting(&params)),
                _ => Err(RpcError::new(INVALID_PARAMS, "`initialize` needs `protocolVersion`, a text")),
            }),
            "ping" => Some(Ok(json!({}))),
            other => {
                let shown = merit_net::text::glimpse(other, 100);
                Some(Err(RpcError::new(METHOD_NOT_FOUND, format!("this server has no method `{shown}`"))))
            }
        }
    }

    /// Takes a message that wants no answer: of interest is only that a request is cancelled.
    pub(crate) fn note(&self, method: &str, params: &Value) {
        if let ("notifications/cancelled", Some(id)) = (method, params.get("requestId"))
            && let Some(cancel) = self.calls().remove(&id.to_string())
        {
            cancel.cancel();
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a call until it is cancelled or the session is over.
    async fn cancellable<T>(&self, id: String, call: impl Future<Output = T>) -> Option<T> {
        let cancel = self.over.child_token();
        self.calls().insert(id.clone(), cancel.clone());
        let _place = Place { session: self, id };
        cancel.run_until_cancelled(call).await
    }

    async fn call(&self, params: Value) -> Result<Value, RpcError> {
        let wrong = |what: &str| Err(RpcError::new(INVALID_PARAMS, what));
        let Value::Object(mut params) = params else { return wrong("a call has a `name`") };
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return wrong("`arguments` must be an object"),
        };
        let Some(name) = params.get("name").and_then(Value::as_str) else {
            return wrong("a call has a `name`");
        };
        let Some(call) = self.catalogue.calls.get(name) else { return Err(self.catalogue.unknown(name)) };
        self.called.store(true, Ordering::Relaxed);
        in_protocol(call(ServedCall { session: self.number, arguments }).await)
    }
}

/// A request under way, noted until it ends.
struct Place<'a> {
    session: &'a Session,
    id: String,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.session.calls().remove(&self.id);
    }
}

fn in_protocol(answer: ServedAnswer) -> Result<Value, RpcError> {
    let content = |text: String, is_error: bool| {
        Ok(json!({"content": [{"type": "text", "text": text}], "isError": is_error}))
    };
    match answer {
        ServedAnswer::Ok(text) => content(text, false),
        ServedAnswer::Wrong(text) => content(text, true),
        ServedAnswer::Broken(text) => Err(RpcError::new(INTERNAL_ERROR, text)),
    }
}
