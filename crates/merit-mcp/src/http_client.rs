//! A server over HTTP: every request is an exchange of its own, with every body bounded.
//!
//! The answer comes as JSON in one piece or as a stream of events. An answer over [`MAX_MESSAGE`] is not read to its end.

use crate::fault::Fault;
use crate::lines::MAX_MESSAGE;
use crate::loopback::Address;
use crate::message::Message;
use crate::sse::Events;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client as Hyper, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use merit_net::text::{glimpse, in_a_chain};
use merit_net::{BodyError, whole};
use serde_json::Value;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::sync::Semaphore;

pub(crate) const SESSION: &str = "mcp-session-id";
pub(crate) const VERSION: &str = "mcp-protocol-version";
const BOTH: &str = "application/json, text/event-stream";
/// How many requests one client may have under way; more wait their turn.
const MAX_REQUESTS: usize = 256;
/// How often a stream of events that broke off is taken up again, and after how long.
const RESUMED: usize = 2;
const RESUMED_AFTER: Duration = Duration::from_millis(250);

/// One pool of connections to one server, and the session that it gave us.
#[derive(Debug)]
pub(crate) struct OverHttp {
    hyper: Hyper<HttpConnector, Full<Bytes>>,
    address: Address,
    session: OnceLock<String>,
    version: OnceLock<String>,
    places: Semaphore,
}

impl OverHttp {
    pub(crate) fn new(address: Address) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let hyper = Hyper::builder(TokioExecutor::new()).build(connector);
        let places = Semaphore::new(MAX_REQUESTS);
        Self { hyper, address, session: OnceLock::new(), version: OnceLock::new(), places }
    }

    /// Says the agreed version with all that follows.
    pub(crate) fn agree(&self, version: &str) {
        let _ = self.version.set(version.to_owned());
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&self, id: u64, request: &Message) -> Result<Value, Fault> {
        let _place = self.places.acquire().await;
        let response = self.post(request).await?;
        if let Some(session) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
            let _ = self.session.set(session.to_owned());
        }
        if has_type(&response, "text/event-stream") {
            return self.streamed(id, response).await;
        }
        if has_type(&response, "application/json") {
            let bytes = body(response).await?;
            return match parsed(&bytes)? {
                Message::Answer { outcome, .. } => outcome.map_err(Fault::Refused),
                _ => Err(Fault::Answer("the answer is no answer but a request of its own".to_owned())),
            };
        }
        let kind = response.headers().get(CONTENT_TYPE).map(|kind| format!("{kind:?}"));
        Err(Fault::Http(format!("unexpected content type: {}", kind.unwrap_or_else(|| "none".to_owned()))))
    }

    /// Sends a message that wants no answer; whatever comes with the thanks is of no interest.
    pub(crate) async fn tell(&self, message: &Message) -> Result<(), Fault> {
        self.post(message).await.map(|_| ())
    }

    /// Ends the session. A server need not offer that, and one that has forgotten it has done what was asked.
    pub(crate) async fn close(&self) {
        if self.session.get().is_some() {
            let _ = self.exchange(Method::DELETE, None, None).await;
        }
    }

    /// Reads events until the answer is among them.
    async fn streamed(&self, id: u64, response: Response<Incoming>) -> Result<Value, Fault> {
        let mut events = Events::new(response.into_body());
        for round in 0.. {
            let broken = loop {
                match events.next().await {
                    Ok(Some(data)) => match parsed(&data)? {
                        Message::Answer { id: answered, outcome } if answered.as_u64() == Some(id) => {
                            return outcome.map_err(Fault::Refused);
                        }
                        Message::Request { id, method, .. } => {
                            let _ = self.tell(&Message::answer_of_client(id, &method)).await;
                        }
                        _ => {}
                    },
                    Ok(None) => break Fault::Http("its events end without an answer".to_owned()),
                    Err(Fault::TooLarge) => return Err(Fault::TooLarge),
                    Err(other) => break other,
                }
            };
            let Some(last) = events.last_id().filter(|_| round < RESUMED).map(str::to_owned) else {
                return Err(broken);
            };
            tokio::time::sleep(RESUMED_AFTER).await;
            let response = self.exchange(Method::GET, None, Some(&last)).await?;
            if !response.status().is_success() || !has_type(&response, "text/event-stream") {
                return Err(broken);
            }
            events = Events::new(response.into_body());
        }
        Err(Fault::Closed)
    }

    /// The response to a message, once its head says success.
    async fn post(&self, message: &Message) -> Result<Response<Incoming>, Fault> {
        let in_session = self.session.get().is_some();
        let response = self.exchange(Method::POST, Some(message.to_bytes()), None).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(Fault::Forgotten);
        }
        let is_json = has_type(&response, "application/json");
        let bytes = body(response).await.unwrap_or_default();
        // The server's own words when it gives some, else the status and the beginning of the text.
        if is_json
            && let Ok(Message::Answer { outcome: Err(error), .. }) = Message::parse(&bytes)
            && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
        {
            return Err(Fault::Refused(error));
        }
        Err(Fault::Http(format!("HTTP {status}: {}", glimpse(&String::from_utf8_lossy(&bytes), 300))))
    }

    async fn exchange(
        &self,
        method: Method,
        body: Option<Vec<u8>>,
        last_event: Option<&str>,
    ) -> Result<Response<Incoming>, Fault> {
        let mut request = Request::builder().method(method).uri(&self.address.uri).header(ACCEPT, BOTH);
        for (name, value) in &self.address.headers {
            request = request.header(name, value);
        }
        let ours = [(SESSION, self.session.get()), (VERSION, self.version.get())];
        let ours = ours.into_iter().filter_map(|(name, value)| Some((name, value?.as_str())));
        for (name, value) in ours.chain(last_event.map(|id| ("last-event-id", id))) {
            request = request.header(name, value);
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::from(body.unwrap_or_default()));
        let request = request.map_err(|error| Fault::Http(format!("a request cannot be built: {error}")))?;
        self.hyper.request(request).await.map_err(|error| Fault::Http(in_a_chain(&error)))
    }
}

fn parsed(bytes: &[u8]) -> Result<Message, Fault> {
    Message::parse(bytes).map_err(|error| {
        let text = glimpse(&String::from_utf8_lossy(bytes), 200);
        Fault::Answer(format!("the answer is no MCP message ({error}): {text:?}"))
    })
}

/// The whole body.
async fn body(response: Response<Incoming>) -> Result<Bytes, Fault> {
    whole(response.into_body(), MAX_MESSAGE).await.map_err(|error| match error {
        BodyError::TooLarge => Fault::TooLarge,
        BodyError::Broken(why) => Fault::Http(format!("the answer could not be read: {why}")),
    })
}

fn has_type(response: &Response<Incoming>, kind: &str) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}
