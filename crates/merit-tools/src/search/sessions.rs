//! One episode's view of a corpus. It keeps no state: the corpus does not change.

use crate::excerpt::middle_cut;
use crate::{ToolAnswer, ToolFuture, ToolSession};
use merit_core::registry::nearest;
use merit_search::{Index, SearchError};
use std::fmt::Write as _;
use std::sync::Arc;

pub(super) struct Searching {
    pub(super) index: Arc<Index>,
    pub(super) hits: usize,
}

pub(super) struct Opening {
    pub(super) index: Arc<Index>,
    pub(super) most: usize,
}

impl ToolSession for Searching {
    fn call(self: Arc<Self>, query: String) -> ToolFuture {
        Box::pin(async move { self.answer(&query) })
    }
}

impl ToolSession for Opening {
    fn call(self: Arc<Self>, id: String) -> ToolFuture {
        Box::pin(async move { self.answer(id.trim()) })
    }
}

impl Searching {
    fn answer(&self, query: &str) -> ToolAnswer {
        let hits = match self.index.search(query, self.hits) {
            Ok(hits) => hits,
            Err(error @ SearchError::Query(_)) => return ToolAnswer::Refused(error.to_string()),
            Err(error) => return ToolAnswer::Broken(error.to_string()),
        };
        if hits.is_empty() {
            return ToolAnswer::Refused("nothing was found; try other words".to_owned());
        }
        let mut text = String::new();
        for (number, hit) in hits.iter().enumerate() {
            let title = if hit.title.is_empty() { String::new() } else { format!(" {}", hit.title) };
            // Writing to a string does not fail.
            let _ =
                writeln!(text, "{}. [{}]{title}\n   {}", number + 1, hit.id, hit.snippet.replace('\n', " "));
        }
        ToolAnswer::Ok(text.trim_end().to_owned())
    }
}

impl Opening {
    fn answer(&self, id: &str) -> ToolAnswer {
        if let Some(document) = self.index.get(id) {
            let title =
                if document.title.is_empty() { String::new() } else { format!("{}\n", document.title) };
            return ToolAnswer::Ok(middle_cut(&format!("{title}{}", document.text), self.most));
        }
        let shown: String = id.chars().filter(|c| !c.is_control()).take(60).collect();
        let ids = self.index.corpus().documents().iter().take(1_000).map(|document| document.id.as_str());
        ToolAnswer::Refused(match nearest(&shown, ids) {
            Some(near) => format!("no document `{shown}`; nearest: {near}"),
            None => format!("no document `{shown}`; search first, and open by the id in brackets"),
        })
    }
}
