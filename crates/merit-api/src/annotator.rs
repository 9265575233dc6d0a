//! Annotators: models, judges and programs that are asked about an episode before it is scored.
//!
//! The driver asks, stores what was said, and hands it to the reward with the batch; scoring itself asks nobody and can be
//! repeated. What an annotator could not say is absent, and a term that needs it fails by its own type, never as 0.

use merit_core::registry::Kind;
use merit_core::{Annotation, Episode};
use std::sync::Arc;

/// The settings of an annotator, as a recipe writes them.
pub trait AnnotatorSettings: Send + Sync {
    /// The names of the annotations it gives.
    fn gives(&self) -> Vec<String>;

    /// Whether it may say something of each turn, besides the whole episode.
    fn speaks_of_turns(&self) -> bool {
        true
    }

    /// Opens what it needs. Called once per arm of a run, never by a check.
    fn build(&self) -> Result<Box<dyn Annotator>, String>;
}

impl Kind for dyn AnnotatorSettings {
    const KIND: &'static str = "annotator";
}

/// Gives finished episodes annotations, which terms and credit rules ask for by their names.
pub trait Annotator: Send {
    /// What it says of an episode; never asked of one that broke. The error is why it could not say anything.
    fn annotate(&mut self, episode: &Episode) -> Result<Vec<Annotation>, String>;

    /// The same of many, one result for each in order; for an annotator that can be asked about several at once.
    fn annotate_all(&mut self, episodes: &[Arc<Episode>]) -> Vec<Result<Vec<Annotation>, String>> {
        episodes.iter().map(|episode| self.annotate(episode)).collect()
    }
}
