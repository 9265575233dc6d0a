//! The HTTP exchange under a client: hyper over loopback, with every body bounded.
//!
//! An answer over [`MAX_MESSAGE`] is not read to its end; the call that waits for it gets an error of our own in its place.

use crate::lines::MAX_MESSAGE;
use crate::notes::too_large;
use crate::sse::{self, Events};
use crate::text::glimpse;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client as Hyper, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use std::collections::HashMap;
use std::sync::Arc;

const BOTH: &str = "application/json, text/event-stream";
const SESSION: &str = "mcp-session-id";

/// What can go wrong below the protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFailure {
    #[error("{}", chain(.0))]
    Exchange(#[from] hyper_util::client::legacy::Error),
    #[error("a request could not be built: {0}")]
    Build(#[from] http::Error),
    #[error("the answer could not be read: {0}")]
    Body(String),
}

type Failure = StreamableHttpError<HttpFailure>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The error and its causes on one line: hyper's own text names only the stage.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

/// One pool of connections, shared by all requests of a client.
#[derive(Clone, Debug)]
pub(crate) struct LoopbackHttp {
    hyper: Hyper<HttpConnector, Full<Bytes>>,
}

impl LoopbackHttp {
    pub(crate) fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self { hyper: Hyper::builder(TokioExecutor::new()).build(connector) }
    }

    async fn exchange(
        &self,
        method: Method,
        uri: &str,
        session: Option<Arc<str>>,
        headers: Headers,
        body: Option<Vec<u8>>,
    ) -> Result<Response<Incoming>, Failure> {
        let mut request = Request::builder().method(method).uri(uri).header(ACCEPT, BOTH);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header(SESSION, session.as_ref());
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request =
            request.body(Full::from(body.unwrap_or_default())).map_err(|error| client(error.into()))?;
        self.hyper.request(request).await.map_err(|error| client(error.into()))
    }
}

fn client(failure: HttpFailure) -> Failure {
    StreamableHttpError::Client(failure)
}

/// The whole body, or nothing when it is over the limit.
async fn body(response: Response<Incoming>) -> Result<Option<Bytes>, Failure> {
    match Limited::new(response.into_body(), MAX_MESSAGE).collect().await {
        Ok(collected) => Ok(Some(collected.to_bytes())),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Ok(None),
        Err(error) => Err(client(HttpFailure::Body(chain(error.as_ref())))),
    }
}

fn has_type(response: &Response<Incoming>, kind: &str) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}

fn unexpected(what: String) -> Failure {
    StreamableHttpError::UnexpectedServerResponse(what.into())
}

/// The reason of a refusal: the server's JSON-RPC error when it gives one, else the status and the beginning of the text.
async fn refusal(response: Response<Incoming>) -> Result<StreamableHttpPostResponse, Failure> {
    let status = response.status();
    let is_json = has_type(&response, "application/json");
    let bytes = body(response).await?.unwrap_or_default();
    if is_json
        && let Ok(message @ ServerJsonRpcMessage::Error(_)) = serde_json::from_slice(&bytes)
        && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
    {
        return Ok(StreamableHttpPostResponse::Json(message, None));
    }
    Err(unexpected(format!("HTTP {status}: {}", glimpse(&String::from_utf8_lossy(&bytes), 300))))
}

/// An answer in one piece.
async fn json(
    response: Response<Incoming>,
    request: Option<RequestId>,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let parsed = match body(response).await? {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            let text = glimpse(&String::from_utf8_lossy(&bytes), 200);
            unexpected(format!("the answer is no MCP message ({error}): {text:?}"))
        }),
        None => match &request {
            Some(id) => Ok(too_large(id.clone())),
            None => Err(unexpected(format!("the answer has more than {MAX_MESSAGE} bytes"))),
        },
    };
    match parsed {
        Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
        // Nothing was asked, so whatever came with the thanks is of no interest.
        Err(_) if request.is_none() => Ok(StreamableHttpPostResponse::Accepted),
        Err(error) => Err(error),
    }
}

impl StreamableHttpClient for LoopbackHttp {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let asked = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let in_session = session.is_some();
        let sent = serde_json::to_vec(&message)?;
        let response = self.exchange(Method::POST, &uri, session, headers, Some(sent)).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return refusal(response).await;
        }
        let opened = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if has_type(&response, "text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(sse::events(response.into_body(), asked), opened));
        }
        if has_type(&response, "application/json") || asked.is_none() {
            return json(response, asked, opened).await;
        }
        let kind = response.headers().get(CONTENT_TYPE).map(|kind| format!("{kind:?}"));
        Err(StreamableHttpError::UnexpectedContentType(kind))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        let response = self.exchange(Method::DELETE, &uri, Some(session), headers, None).await?;
        let status = response.status();
        // A server need not offer to end sessions, and one that has forgotten it has done what was asked.
        let fine =
            status.is_success() || matches!(status, StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND);
        if fine { Ok(()) } else { Err(unexpected(format!("HTTP {status} to the end of the session"))) }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        mut headers: Headers,
    ) -> Result<Events, Failure> {
        if let Some(id) = last_event_id.as_deref().and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(HeaderName::from_static("last-event-id"), id);
        }
        let response = self.exchange(Method::GET, &uri, session, headers, None).await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !response.status().is_success() || !has_type(&response, "text/event-stream") {
            return Err(unexpected(format!("HTTP {} in place of a stream of events", response.status())));
        }
        Ok(sse::events(response.into_body(), None))
    }
}
