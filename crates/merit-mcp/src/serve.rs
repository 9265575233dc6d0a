//! Serving: over our own standard streams to the program that started us, or over HTTP to programs on this machine.

use crate::lines::MAX_MESSAGE;
use crate::runtime::{self, Remote};
use crate::served::{Catalogue, ServeError, ServedTool, ServerInfo, Session};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::service::serve_server;
use rmcp::transport::streamable_http_server::session::{SessionManager as _, local::LocalSessionManager};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio_pipes};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The path of the one endpoint.
const PATH: &str = "/mcp";
/// How many connections are open at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 1024;
/// How long a session over HTTP may be silent before it counts as gone. An episode may think for long between two calls.
const MAX_SILENCE: Duration = Duration::from_secs(3600);
/// How long a client may take to send the head of a request.
const HEAD_DEADLINE: Duration = Duration::from_secs(30);

type Service = StreamableHttpService<Session, LocalSessionManager>;

/// Serves the tools over our standard streams until the client closes our input. Nothing else may write to standard output.
pub async fn serve_stdio(tools: Vec<ServedTool>, info: ServerInfo) -> Result<(), ServeError> {
    let session = Catalogue::new(tools, info)?.open();
    let handle = runtime::handle().map_err(ServeError::Threads)?;
    let serving = async move {
        let running = serve_server(session, stdio_pipes()).await;
        let running = running.map_err(|error| ServeError::Stdio(error.to_string()))?;
        running.waiting().await.map(|_| ()).map_err(|error| ServeError::Stdio(error.to_string()))
    };
    let served = Remote::spawn(handle, serving).await;
    served.ok_or_else(|| ServeError::Threads("a task ended early".to_owned()))?
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
    let handle = runtime::handle().map_err(ServeError::Threads)?;
    let starting = async move {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let stop = catalogue.stop.clone();
        let stop_accepting = stop.clone();
        let sessions = Arc::new(sessions());
        let service = service(catalogue, Arc::clone(&sessions), stop.clone());
        let accepting = tokio::spawn(async move {
            accept(listener, service, stop_accepting).await;
            end_all(&sessions).await;
        });
        Ok(HttpServer { address, stop, accepting })
    };
    let started = Remote::spawn(handle, starting).await;
    let started = started.ok_or_else(|| ServeError::Threads("a task ended early".to_owned()))?;
    started.map_err(|error: std::io::Error| ServeError::Address { address, why: error.to_string() })
}

fn sessions() -> LocalSessionManager {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(MAX_SILENCE);
    // An answer belongs to the connection that asked: nothing is stored for clients that come back for it later.
    sessions.session_config.sse_retry = None;
    sessions
}

async fn end_all(sessions: &LocalSessionManager) {
    let open: Vec<_> = sessions.sessions.read().await.keys().cloned().collect();
    for id in open {
        // The only failure is that it has ended by itself.
        let _ = sessions.close_session(&id).await;
    }
}

fn service(
    catalogue: Arc<Catalogue>,
    sessions: Arc<LocalSessionManager>,
    stop: CancellationToken,
) -> Service {
    let config = StreamableHttpServerConfig::default()
        .with_sse_retry(None)
        .with_cancellation_token(stop)
        .with_max_request_body_bytes(MAX_MESSAGE)
        // Pages of a browser have no business here.
        .enforce_origin_validation();
    StreamableHttpService::new(move || Ok(catalogue.open()), sessions, config)
}

async fn accept(listener: TcpListener, service: Service, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
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
        let (service, stop) = (service.clone(), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = converse(stream, service) => {}
            }
            drop(place);
        });
    }
}

async fn converse(stream: TcpStream, service: Service) {
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request: Request<Incoming>| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(route(service, request).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_DEADLINE);
    // A client that breaks off is no event for us; its session ends by itself.
    let _ = server.serve_connection(TokioIo::new(stream), answer).await;
}

async fn route(service: Service, request: Request<Incoming>) -> Response<BoxBody<Bytes, Infallible>> {
    if request.uri().path() == PATH {
        return service.handle(request).await;
    }
    let mut response = Response::new(Full::from(format!("the tools are served at {PATH}\n")).boxed());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
