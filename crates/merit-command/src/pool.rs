//! Copies of one program, as many as are in use at once.

use crate::{Channel, CommandError};
use serde_json::{Map, Value};
use std::sync::{Mutex, PoisonError};

/// Makes copies of a program when all it has are in use. A taken copy has one user until it is given back; one that is not
/// given back is killed with its channel.
pub struct Pool {
    make: Box<dyn Fn() -> Channel + Send + Sync>,
    idle: Mutex<Vec<Channel>>,
}

impl Pool {
    /// An empty pool; starts nothing.
    pub fn new(make: impl Fn() -> Channel + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), idle: Mutex::default() }
    }

    /// A copy that is alive, or has not been started yet.
    pub fn take(&self) -> Channel {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut channel = idle.unwrap_or_else(|| (self.make)());
        channel.forget_the_dead();
        channel
    }

    pub fn give_back(&self, channel: Channel) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(channel);
    }

    /// One request to whichever copy is free.
    pub fn request(&self, request: Value) -> Result<Map<String, Value>, CommandError> {
        let mut channel = self.take();
        let answer = channel.request(request);
        self.give_back(channel);
        answer
    }
}
