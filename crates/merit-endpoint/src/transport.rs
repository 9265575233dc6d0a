//! The HTTP exchange of one try: hyper, every body bounded, every failure a [`Trouble`].

use crate::address::Address;
use crate::config::span;
use crate::refusal;
use crate::secret::ApiKey;
use crate::trouble::Trouble;
use crate::{EndpointConfig, EndpointError};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client as Hyper, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use merit_net::text::in_a_chain;
use merit_net::{BodyError, whole};
use serde_json::Value;
use std::time::SystemTime;

type Connector = hyper_rustls::HttpsConnector<HttpConnector>;

/// One pool of connections to one server.
#[derive(Debug)]
pub(crate) struct Http {
    hyper: Hyper<Connector, Full<Bytes>>,
    address: Address,
    key: Option<ApiKey>,
    limit: usize,
}

impl Http {
    pub(crate) fn new(
        config: &EndpointConfig,
        address: Address,
        key: Option<ApiKey>,
    ) -> Result<Self, EndpointError> {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(span(config.connect_s)));
        tcp.enforce_http(false);
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(crate::tls::client(config.ca_file.as_deref())?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let hyper = Hyper::builder(TokioExecutor::new()).build(connector);
        Ok(Self { hyper, address, key, limit: config.max_response_bytes })
    }

    pub(crate) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Sends a request and gives its response once the headers are here and say success.
    pub(crate) async fn send(
        &self,
        path: &str,
        body: Option<Vec<u8>>,
        stream: bool,
    ) -> Result<Response<Incoming>, Trouble> {
        let request = self.request(path, body, stream)?;
        let sent = self.hyper.request(request).await;
        let response =
            sent.map_err(|error| Trouble::Connection(self.clean(&advised(&in_a_chain(&error)))))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (head, body) = response.into_parts();
        // A reason that is too long or breaks off is no reason to forget the status.
        let bytes = whole(body, refusal::MAX_REFUSAL).await.unwrap_or_default();
        Err(refusal::of_response(head.status, &head.headers, &bytes, self.key(), SystemTime::now()))
    }

    pub(crate) async fn whole(&self, body: Incoming) -> Result<Bytes, Trouble> {
        whole(body, self.limit).await.map_err(|error| match error {
            BodyError::TooLarge => Trouble::TooLarge(self.limit),
            BodyError::Broken(why) => Trouble::Cut { pieces: 0, why },
        })
    }

    /// `text` without the key.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.removed_from(text))
    }

    /// `value` without the key.
    pub(crate) fn clean_value(&self, value: Value) -> Value {
        match &self.key {
            Some(key) => key.removed_from_value(value),
            None => value,
        }
    }

    fn request(
        &self,
        path: &str,
        body: Option<Vec<u8>>,
        stream: bool,
    ) -> Result<Request<Full<Bytes>>, Trouble> {
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let accepted = if stream { "text/event-stream, application/json" } else { "application/json" };
        let mut request = Request::builder()
            .method(method)
            .uri(self.address.join(path))
            .header(ACCEPT, accepted)
            .header(USER_AGENT, concat!("merit/", env!("CARGO_PKG_VERSION")));
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.header());
        }
        let body = Full::from(body.unwrap_or_default());
        request
            .body(body)
            .map_err(|error| Trouble::Malformed(format!("the request cannot be built: {error}")))
    }
}

/// A certificate without a known issuer is the usual trouble behind a company's proxy.
fn advised(why: &str) -> String {
    if why.contains("UnknownIssuer") {
        return format!("{why}; where the certificate is your own or a proxy's, name its file in `ca_file`");
    }
    why.to_owned()
}

/// What a response says that it is, without parameters.
pub(crate) fn content_type(response: &Response<Incoming>) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
