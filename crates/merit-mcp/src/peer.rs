//! The protocol over either way of reaching a server: opening it, asking, cancelling, parting.

use crate::THREADS;
use crate::fault::Fault;
use crate::http_client::OverHttp;
use crate::message::{Message, NEWEST, VERSIONS};
use crate::piped::Piped;
use merit_net::text::glimpse;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How messages travel.
#[derive(Debug)]
pub(crate) enum Link {
    Piped(Piped),
    OverHttp(Box<OverHttp>),
}

/// A server that can be asked. Dropping it ends a session over HTTP in the background.
#[derive(Debug)]
pub(crate) struct Peer {
    link: Arc<Link>,
    next: AtomicU64,
    closed: AtomicBool,
}

impl Peer {
    pub(crate) fn new(link: Link) -> Self {
        Self { link: Arc::new(link), next: AtomicU64::new(1), closed: AtomicBool::new(false) }
    }

    /// Sends `initialize` and says that it is done; fails where the server speaks no version that is known here.
    pub(crate) async fn open(&self) -> Result<(), Fault> {
        let about = json!({"name": "merit", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": about});
        // What opens the protocol must not be cancelled; the connection goes with it.
        let answer = self.link.ask(0, &request(0, "initialize", params)).await?;
        let Some(version) = answer.get("protocolVersion").and_then(Value::as_str) else {
            let shown = glimpse(&answer.to_string(), 200);
            return Err(Fault::Answer(format!(
                "its answer to initialize names no `protocolVersion`: {shown}"
            )));
        };
        if !VERSIONS.contains(&version) {
            let shown = glimpse(version, 50);
            return Err(Fault::Answer(format!(
                "it speaks version {shown:?} of the protocol, which we do not"
            )));
        }
        if let Link::OverHttp(http) = &*self.link {
            http.agree(version);
        }
        let method = "notifications/initialized".to_owned();
        self.link.tell(&Message::Notification { method, params: Value::Null }).await
    }

    /// Asks and waits for the result. When the future is dropped, the server is told that the call is cancelled.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Value, Fault> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut asked = Asked { link: Arc::clone(&self.link), id, answered: false };
        let answer = self.link.ask(id, &request(id, method, params)).await;
        asked.answered = true;
        answer
    }

    /// Parts in good order: a process gets the end of its input, a session over HTTP is ended.
    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.link.close().await;
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let (Link::OverHttp(_), false, Ok(handle)) =
            (&*self.link, *self.closed.get_mut(), THREADS.handle())
        {
            let link = Arc::clone(&self.link);
            handle.spawn(async move { link.close().await });
        }
    }
}

fn request(id: u64, method: &str, params: Value) -> Message {
    Message::Request { id: id.into(), method: method.to_owned(), params }
}

impl Link {
    async fn ask(&self, id: u64, request: &Message) -> Result<Value, Fault> {
        match self {
            Self::Piped(piped) => piped.ask(id, request).await,
            Self::OverHttp(http) => http.ask(id, request).await,
        }
    }

    async fn tell(&self, message: &Message) -> Result<(), Fault> {
        match self {
            Self::Piped(piped) => piped.tell(message).await,
            Self::OverHttp(http) => http.tell(message).await,
        }
    }

    async fn close(&self) {
        match self {
            Self::Piped(piped) => piped.close().await,
            Self::OverHttp(http) => http.close().await,
        }
    }
}

/// A request under way; cancelled at the server when it is dropped unanswered.
struct Asked {
    link: Arc<Link>,
    id: u64,
    answered: bool,
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let (false, Ok(handle)) = (self.answered, THREADS.handle()) {
            let (link, id) = (Arc::clone(&self.link), self.id);
            let params = json!({"requestId": id, "reason": "nobody waits for the answer"});
            let method = "notifications/cancelled".to_owned();
            handle.spawn(async move { link.tell(&Message::Notification { method, params }).await });
        }
    }
}
