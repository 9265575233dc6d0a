//! Telling a client every second that its call is under way, where it asks to be told.

use crate::message::Message;
use serde_json::{Value, json};
use std::future::Future;
use std::time::Duration;

/// From one word to the next.
const EVERY: Duration = Duration::from_secs(1);

/// What a client wants to know its call by; absent: it does not ask to be told.
pub(crate) fn token(params: &Value) -> Option<Value> {
    let token = params.pointer("/_meta/progressToken");
    token.filter(|token| token.is_string() || token.is_number()).cloned()
}

/// Waits for the answer and hands a notification to `tell` every second until it comes.
pub(crate) async fn told_of<T, F: Future<Output = ()>>(
    token: Option<Value>,
    answered: impl Future<Output = T>,
    tell: impl Fn(Message) -> F,
) -> T {
    tokio::pin!(answered);
    let mut seconds = 0;
    loop {
        tokio::select! {
            outcome = &mut answered => return outcome,
            () = tokio::time::sleep(EVERY), if token.is_some() => {
                seconds += EVERY.as_secs();
                let params = json!({"progressToken": token, "progress": seconds, "message": format!("{seconds} s")});
                tell(Message::Notification { method: "notifications/progress".to_owned(), params }).await;
            }
        }
    }
}
