//! Messages as the server-sent events of a response.

use crate::message::Message;
use bytes::Bytes;
use hyper::body::{Body, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc::Receiver;

/// A body that grows by an event with each message, until the sender stops.
pub(crate) struct EventBody {
    first: Option<Message>,
    rest: Receiver<Message>,
}

impl EventBody {
    pub(crate) fn new(first: Message, rest: Receiver<Message>) -> Self {
        Self { first: Some(first), rest }
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let message = match self.first.take() {
            Some(first) => Some(first),
            None => ready!(self.rest.poll_recv(context)),
        };
        Poll::Ready(message.map(|message| Ok(Frame::data(event(&message)))))
    }
}

/// JSON has no line breaks of its own, so an event is one line of data.
fn event(message: &Message) -> Bytes {
    [b"data: ", message.to_bytes().as_slice(), b"\n\n"].concat().into()
}
