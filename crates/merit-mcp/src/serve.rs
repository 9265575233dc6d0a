//! Serving: over our own standard streams to the program that started us, or over HTTP to programs on this machine.

use crate::http_server::{PATH, Service, route};
use crate::lines::{Line, Lines, MAX_MESSAGE};
use crate::message::{INVALID_REQUEST, Message, PARSE_ERROR, RpcError};
use crate::served::{Catalogue, ServeError, ServedTool, ServerInfo, Session};
use crate::{EARLY, THREADS, progress};
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, Stdout};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

/// How many connections are open at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 1024;
/// How often sessions that went silent are looked for.
const TIDIED_EVERY: Duration = Duration::from_secs(60);
/// How long a client may take to send the head of a request.
const HEAD_DEADLINE: Duration = Duration::from_secs(30);

/// Serves the tools over our standard streams until the client closes our input and the calls under way have ended, which have to
/// end by themselves. Nothing else may write to standard output.
pub async fn serve_stdio(tools: Vec<ServedTool>, info: ServerInfo) -> Result<(), ServeError> {
    let session = Arc::new(Catalogue::new(tools, info)?.open());
    let serving = THREADS.spawn(converse_in_lines(session)).map_err(ServeError::Threads)?;
    serving.await.map_err(|_| ServeError::Threads(EARLY.to_owned()))?
}

/// Answers each line as it comes, calls side by side. When the input ends, calls under way are still answered: a client that pipes a
/// file of requests to us reads on.
async fn converse_in_lines(session: Arc<Session>) -> Result<(), ServeError> {
    let output = Arc::new(Mutex::new(tokio::io::stdout()));
    let mut lines = Lines::new(tokio::io::stdin());
    let mut answering = tokio::task::JoinSet::new();
    let refused = |id, code, why: String| Message::Answer { id, outcome: Err(RpcError::new(code, why)) };
    loop {
        let message = match lines.next().await {
            Line::End => break,
            Line::Dropped(skimmed) => {
                let id = skimmed.id().map(Value::from).unwrap_or_default();
                Err(refused(id, INVALID_REQUEST, format!("a message has at most {MAX_MESSAGE} bytes")))
            }
            Line::Whole(line) => Message::parse(&line).map_err(|why| refused(Value::Null, PARSE_ERROR, why)),
        };
        match message {
            Ok(Message::Request { id, method, params }) => {
                let (session, output) = (Arc::clone(&session), Arc::clone(&output));
                answering.spawn(async move { answer(&session, &output, id, &method, params).await });
            }
            Ok(Message::Notification { method, params }) => session.note(&method, &params),
            // Nothing was asked.
            Ok(Message::Answer { .. }) => {}
            Err(refusal) => {
                write(&output, &refusal).await.map_err(|error| ServeError::Stdio(error.to_string()))?;
            }
        }
        while answering.try_join_next().is_some() {}
    }
    while answering.join_next().await.is_some() {}
    session.over.cancel();
    Ok(())
}

/// Answers one request. A client that has gone reads nothing; the end of our input says so too.
async fn answer(session: &Session, output: &Mutex<Stdout>, id: Value, method: &str, params: Value) {
    let token = progress::token(&params);
    let asked = id.clone();
    let answered = session.answer(&asked, method, params);
    let outcome = progress::told_of(token, answered, |message| async move {
        let _ = write(output, &message).await;
    });
    if let Some(outcome) = outcome.await {
        let _ = write(output, &Message::Answer { id, outcome }).await;
    }
}

async fn write(output: &Mutex<Stdout>, message: &Message) -> std::io::Result<()> {
    let mut line = message.to_bytes();
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

/// A server over HTTP; dropping it ends it.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    stop: CancellationToken,
    accepting: tokio::task::JoinHandle<()>,
}

impl HttpServer {
    /// Where it listens; the port is the chosen one when port 0 was asked for.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What clients are told to connect to.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Ends all sessions and stops listening.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Serves the tools at `http://ADDRESS/mcp`; the address must be a loopback one. Each client that opens the protocol is a session.
pub async fn serve_http(
    tools: Vec<ServedTool>,
    address: SocketAddr,
    info: ServerInfo,
) -> Result<HttpServer, ServeError> {
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    let catalogue = Catalogue::new(tools, info)?;
    let starting = async move {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let stop = catalogue.stop.clone();
        let stop_accepting = stop.clone();
        let service = Arc::new(Service::new(catalogue));
        let accepting = tokio::spawn(async move {
            accept(listener, &service, stop_accepting).await;
            service.end_all();
        });
        Ok(HttpServer { address, stop, accepting })
    };
    let started = THREADS.spawn(starting).map_err(ServeError::Threads)?.await;
    let started = started.map_err(|_| ServeError::Threads(EARLY.to_owned()))?;
    started.map_err(|error: std::io::Error| ServeError::Address { address, why: error.to_string() })
}

async fn accept(listener: TcpListener, service: &Arc<Service>, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut tidied = tokio::time::interval(TIDIED_EVERY);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            _ = tidied.tick() => {
                service.end_silent();
                continue;
            }
            accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, listener.accept().await)
            } => accepted,
        };
        let (Ok(place), Ok((stream, _))) = accepted else {
            // Out of descriptors, most likely: the listener is fine, a little patience helps.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (service, stop) = (Arc::clone(service), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = converse(stream, service) => {}
            }
            drop(place);
        });
    }
}

async fn converse(stream: TcpStream, service: Arc<Service>) {
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request: Request<Incoming>| {
        let service = Arc::clone(&service);
        async move { route(&service, request).await }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_DEADLINE);
    // A client that breaks off is no event for us; its session ends by itself.
    let _ = server.serve_connection(TokioIo::new(stream), answer).await;
}
