//! One try of one call: a request goes out, an answer comes back whole or in pieces.

use crate::EndpointConfig;
use crate::answer::{Answer, Piece};
use crate::config::span;
use crate::draft::Draft;
use crate::field::BadField;
use crate::refusal;
use crate::request::Call;
use crate::transport::{Http, content_type};
use crate::trouble::Trouble;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use merit_net::Events;
use merit_net::text::{glimpse, in_a_chain};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Hears the pieces of an answer as they come.
pub(crate) type Listener = Arc<dyn Fn(Piece) + Send + Sync>;

/// Asks for JSON in one piece.
pub(crate) async fn json(http: &Http, call: &Call) -> Result<Value, Trouble> {
    let response = http.send(call.path, call.bytes(false), false).await?;
    match content_type(&response).as_str() {
        "application/json" => parsed(http, &http.whole(response.into_body()).await?),
        other => Err(wrong_type(other)),
    }
}

/// Asks for an answer in one piece.
pub(crate) async fn whole(http: &Http, call: &Call) -> Result<Answer, Trouble> {
    let value = json(http, call).await?;
    finished(http, call, &value, None)
}

/// Asks for an answer in pieces. A server that cannot stream sends it in one.
pub(crate) async fn streamed(
    http: &Http,
    config: &EndpointConfig,
    call: &Call,
    listener: Option<&Listener>,
) -> Result<Answer, Trouble> {
    let response = http.send(call.path, call.bytes(true), true).await?;
    match content_type(&response).as_str() {
        "text/event-stream" => {
            Reader::new(http, call, listener).read(response.into_body(), span(config.idle_s)).await
        }
        "application/json" => {
            let value = parsed(http, &http.whole(response.into_body()).await?)?;
            finished(http, call, &value, listener)
        }
        other => Err(wrong_type(other)),
    }
}

fn finished(http: &Http, call: &Call, value: &Value, listener: Option<&Listener>) -> Result<Answer, Trouble> {
    let mut draft = Draft::default();
    let news = draft.take(value).map_err(|bad| malformed(http, &bad))?;
    draft.stop_at(&call.own_stops);
    let answer = draft.finished(call.wants).map_err(|bad| malformed(http, &bad))?;
    if let Some(listener) = listener {
        news.into_iter().for_each(|piece| listener(piece));
    }
    Ok(answer)
}

fn parsed(http: &Http, bytes: &[u8]) -> Result<Value, Trouble> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = glimpse(&http.clean(&String::from_utf8_lossy(bytes)), 120);
        Trouble::Malformed(format!("it is no JSON ({error}): {text:?}"))
    })
}

fn malformed(http: &Http, bad: &BadField) -> Trouble {
    Trouble::Malformed(http.clean(&bad.0))
}

fn wrong_type(found: &str) -> Trouble {
    let found = if found.is_empty() { "of no type".to_owned() } else { format!("`{}`", glimpse(found, 80)) };
    Trouble::Malformed(format!(
        "it is {found} in place of `application/json`; does `base_url` end in the version?"
    ))
}

/// Whether there is more to read.
enum Flow {
    More,
    Over,
}

struct Reader<'a> {
    http: &'a Http,
    call: &'a Call,
    listener: Option<&'a Listener>,
    draft: Draft,
    events: Events,
    bytes: usize,
}

impl<'a> Reader<'a> {
    fn new(http: &'a Http, call: &'a Call, listener: Option<&'a Listener>) -> Self {
        let events = Events::new(http.limit());
        Self { http, call, listener, draft: Draft::default(), events, bytes: 0 }
    }

    /// Reads until the server says that it is done, a stop of ours is met, or something breaks.
    async fn read(mut self, mut body: Incoming, idle: Duration) -> Result<Answer, Trouble> {
        loop {
            let frame = match tokio::time::timeout(idle, body.frame()).await {
                Err(_) => return self.over(Some(format!("nothing came for {} s", idle.as_secs_f64()))),
                Ok(None) => return self.over(None),
                Ok(Some(Err(error))) => return self.over(Some(in_a_chain(&error))),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            self.bytes += data.len();
            let limit = self.http.limit();
            let events = self.events.push(&data).filter(|_| self.bytes <= limit);
            for event in events.ok_or(Trouble::TooLarge(limit))? {
                if matches!(self.take(&event)?, Flow::Over) {
                    return self.over(None);
                }
            }
        }
    }

    fn take(&mut self, event: &[u8]) -> Result<Flow, Trouble> {
        if event == b"[DONE]" {
            return Ok(Flow::Over);
        }
        let value = parsed(self.http, event)?;
        let is_error = value.get("error").is_some_and(|error| !error.is_null()) || value["object"] == "error";
        if is_error {
            return Err(refusal::of_event(&value, self.http.key()));
        }
        let news = self.draft.take(&value).map_err(|bad| malformed(self.http, &bad))?;
        if let Some(listener) = self.listener {
            news.into_iter().for_each(|piece| listener(piece));
        }
        let met = self.draft.stop_at(&self.call.own_stops);
        Ok(if met { Flow::Over } else { Flow::More })
    }

    /// The end of the stream. Some servers leave out the last event, or never close, so the reason of the end decides.
    fn over(mut self, broken: Option<String>) -> Result<Answer, Trouble> {
        if broken.is_none()
            && !self.draft.has_ended()
            && let Some(event) = self.events.rest()
        {
            self.take(&event)?;
        }
        if !self.draft.has_ended() {
            let why = broken.unwrap_or_else(|| "the stream ended without a reason for the end".to_owned());
            return Err(Trouble::Cut { pieces: self.draft.pieces(), why: self.http.clean(&why) });
        }
        self.draft.finished(self.call.wants).map_err(|bad| malformed(self.http, &bad))
    }
}
