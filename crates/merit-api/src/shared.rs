//! What the tools of one episode share, such as the connection to a server that offers several of them.
//!
//! The engine makes one per episode and hands it to every tool it opens. Freed with the episode's sessions.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Things by name, for one episode.
#[derive(Default)]
pub struct EpisodeShared(Mutex<HashMap<String, Arc<dyn Any + Send + Sync>>>);

impl EpisodeShared {
    /// What is kept under `name`; made first if nothing of this type is.
    ///
    /// ```
    /// let shared = merit_api::EpisodeShared::default();
    /// let first = shared.get_or("connection", || String::from("open"));
    /// let again = shared.get_or("connection", || String::from("another"));
    /// assert!(std::sync::Arc::ptr_eq(&first, &again));
    /// ```
    pub fn get_or<T: Any + Send + Sync>(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.get(name).and_then(|found| Arc::clone(found).downcast().ok()) {
            return found;
        }
        let made = Arc::new(make());
        kept.insert(name.to_owned(), Arc::clone(&made) as Arc<dyn Any + Send + Sync>);
        made
    }
}
