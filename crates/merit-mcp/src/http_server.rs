//! Our tools over HTTP: one path, a session for each client that opens the protocol.
//!
//! An answer is JSON in one piece. A call whose client asks to be told of its progress and takes longer than a second is answered
//! by a stream of events, the last of which is the answer. A call ends when its client cancels it, breaks off the exchange or
//! ends the session. We send nothing that was not asked for, so there is no stream of events to open.

use crate::http_client::{SESSION, VERSION};
use crate::lines::MAX_MESSAGE;
use crate::message::{INTERNAL_ERROR, Message, PARSE_ERROR, RpcError, VERSIONS};
use crate::served::{Catalogue, Session};
use crate::{event_body::EventBody, progress};
use http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, uri::Authority};
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use merit_net::{BodyError, is_loopback, whole};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The path of the one endpoint.
pub(crate) const PATH: &str = "/mcp";
/// How long a session may be silent before it counts as gone, with all that its tools keep for it.
const MAX_SILENCE: Duration = Duration::from_secs(600);

/// The type of a body of events.
const EVENTS: &str = "text/event-stream";

type Answer = Response<Either<Full<Bytes>, EventBody>>;

/// Why a request is not taken.
struct Refusal {
    status: StatusCode,
    why: String,
}

impl From<Refusal> for Answer {
    fn from(Refusal { status, why }: Refusal) -> Self {
        text(status, format!("{why}\n"))
    }
}

/// All sessions of a server.
pub(crate) struct Service {
    catalogue: Arc<Catalogue>,
    open: Mutex<HashMap<String, Open>>,
}

/// A session and when it was last heard of.
struct Open {
    session: Arc<Session>,
    heard: Instant,
}

impl Service {
    pub(crate) fn new(catalogue: Arc<Catalogue>) -> Self {
        Self { catalogue, open: Mutex::default() }
    }

    pub(crate) fn end_all(&self) {
        self.open().drain().for_each(|(_, open)| open.session.over.cancel());
    }

    /// Ends the sessions that have been silent for too long and wait for nothing.
    pub(crate) fn end_silent(&self) {
        let lives = |open: &Open| open.heard.elapsed() < MAX_SILENCE || Arc::strong_count(&open.session) > 1;
        self.open().retain(|_, open| lives(open));
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session that the headers name.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<Session>, Refusal> {
        let Some(id) = headers.get(SESSION) else {
            return Err(refused(StatusCode::BAD_REQUEST, "open a session first: `initialize`"));
        };
        let mut open = self.open();
        let Some(found) = id.to_str().ok().and_then(|id| open.get_mut(id)) else {
            return Err(refused(StatusCode::NOT_FOUND, "there is no such session (any more)"));
        };
        found.heard = Instant::now();
        Ok(Arc::clone(&found.session))
    }

    async fn post(&self, request: Request<Incoming>) -> Result<Answer, Refusal> {
        let (head, body) = request.into_parts();
        let bytes = match whole(body, MAX_MESSAGE).await {
            Ok(bytes) => bytes,
            Err(BodyError::TooLarge) => {
                let why = format!("a message has at most {MAX_MESSAGE} bytes");
                return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, why));
            }
            Err(BodyError::Broken(_)) => {
                return Err(refused(StatusCode::BAD_REQUEST, "the message breaks off"));
            }
        };
        match Message::parse(&bytes) {
            Ok(Message::Request { id, method, params }) if method == "initialize" => {
                Ok(self.initialize(&id, params).await)
            }
            Ok(Message::Request { id, method, params }) => {
                let session = self.session(&head.headers)?;
                let token = progress::token(&params).filter(|_| takes_events(&head.headers));
                Ok(answer_to(session, id, method, params, token).await)
            }
            Ok(Message::Notification { method, params }) => {
                self.session(&head.headers)?.note(&method, &params);
                Ok(text(StatusCode::ACCEPTED, String::new()))
            }
            Ok(Message::Answer { .. }) => Ok(text(StatusCode::ACCEPTED, String::new())),
            Err(why) => {
                let outcome = Err(RpcError::new(PARSE_ERROR, why));
                Ok(json(StatusCode::BAD_REQUEST, &Message::Answer { id: Value::Null, outcome }))
            }
        }
    }

    async fn initialize(&self, id: &Value, params: Value) -> Answer {
        let Some(name) = unguessable() else {
            return refused(StatusCode::INTERNAL_SERVER_ERROR, "there is no randomness for a session").into();
        };
        let session = Arc::new(self.catalogue.open());
        let outcome = session.answer(id, "initialize", params).await.unwrap_or(Ok(Value::Null));
        let mut answer = json(StatusCode::OK, &Message::Answer { id: id.clone(), outcome });
        if let Ok(value) = HeaderValue::from_str(&name) {
            answer.headers_mut().insert(SESSION, value);
        }
        self.open().insert(name, Open { session, heard: Instant::now() });
        answer
    }

    fn delete(&self, headers: &HeaderMap) -> Result<Answer, Refusal> {
        self.session(headers)?.over.cancel();
        let id = headers.get(SESSION).and_then(|id| id.to_str().ok()).unwrap_or_default();
        self.open().remove(id);
        Ok(text(StatusCode::NO_CONTENT, String::new()))
    }
}

/// Answers a request of a session. The stream is of one piece with the exchange: when that breaks off, so does the call.
async fn answer_to(
    session: Arc<Session>,
    id: Value,
    method: String,
    params: Value,
    token: Option<Value>,
) -> Answer {
    let (sender, mut messages) = tokio::sync::mpsc::channel(1);
    let answering = async move {
        let to_client = &sender;
        let tell = |message| async move { drop(to_client.send(message).await) };
        let answered = session.answer(&id, &method, params);
        let outcome = tokio::select! {
            () = sender.closed() => return,
            outcome = progress::told_of(token, answered, tell) => outcome,
        };
        let cancelled = || Err(RpcError::new(INTERNAL_ERROR, "the call was cancelled"));
        let _ = sender.send(Message::Answer { id, outcome: outcome.unwrap_or_else(cancelled) }).await;
    };
    tokio::spawn(answering);
    match messages.recv().await {
        Some(answer @ Message::Answer { .. }) => json(StatusCode::OK, &answer),
        Some(first) => events(EventBody::new(first, messages)),
        None => refused(StatusCode::INTERNAL_SERVER_ERROR, "the call ended without an answer").into(),
    }
}

pub(crate) async fn route(
    service: &Service,
    request: Request<Incoming>,
) -> Result<Answer, std::convert::Infallible> {
    if request.uri().path() != PATH {
        return Ok(text(StatusCode::NOT_FOUND, format!("the tools are served at {PATH}\n")));
    }
    if let Some(refusal) = refusal(request.headers()) {
        return Ok(refusal.into());
    }
    let answer = match *request.method() {
        Method::POST => service.post(request).await,
        Method::DELETE => service.delete(request.headers()),
        _ => Err(refused(StatusCode::METHOD_NOT_ALLOWED, "messages are posted; nothing is sent unasked")),
    };
    Ok(answer.unwrap_or_else(Into::into))
}

/// Pages of a browser have no business here, under whatever name they reach us; and we do not speak every version.
fn refusal(headers: &HeaderMap) -> Option<Refusal> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    if headers.contains_key(ORIGIN) || host.is_some_and(|host| !is_loopback(host.host())) {
        return Some(refused(StatusCode::FORBIDDEN, "tools are served to programs on this machine only"));
    }
    let version = headers.get(VERSION)?.to_str().unwrap_or_default();
    let known = VERSIONS.contains(&version);
    (!known)
        .then(|| refused(StatusCode::BAD_REQUEST, format!("we speak the versions {}", VERSIONS.join(", "))))
}

/// Whether a client can read an answer that comes as events.
fn takes_events(headers: &HeaderMap) -> bool {
    let accepted = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains(EVENTS));
    headers.get_all(ACCEPT).iter().any(accepted)
}

/// The name of a session, which cannot be guessed.
fn unguessable() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn refused(status: StatusCode, why: impl Into<String>) -> Refusal {
    Refusal { status, why: why.into() }
}

fn text(status: StatusCode, text: String) -> Answer {
    answer(status, "text/plain; charset=utf-8", text.into())
}

fn json(status: StatusCode, message: &Message) -> Answer {
    answer(status, "application/json", message.to_bytes().into())
}

fn events(body: EventBody) -> Answer {
    whole_or_events(StatusCode::OK, EVENTS, Either::Right(body))
}

fn answer(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    whole_or_events(status, kind, Either::Left(Full::new(body)))
}

fn whole_or_events(status: StatusCode, kind: &'static str, body: Either<Full<Bytes>, EventBody>) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
