//! An annotation: what a model, a judge or a probe says of an episode. It is asked for before scoring and stored, so that a
//! score can be repeated without asking again.

use crate::{Cost, EpisodeId, Evidence};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What somebody says of an episode. A claim with its author, never part of the episode itself.
///
/// It speaks of the whole and of turns. There is no stream by token: values of a value head stand in the transcript beside the tokens, and
/// nothing else that is asked about episodes speaks of single tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Annotation {
    /// What it is about, e.g. `helpfulness`. A term or a credit rule asks for it by this name.
    pub name: String,
    /// What was said of the whole episode.
    pub value: f64,
    /// What was said of each turn, with `None` where nothing was; empty when it is about the whole episode only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Option<f64>>,
    /// What it rests on; a term that reads the annotation takes it over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Who says so: a model, a judge, a probe.
    pub by: String,
    /// Version of whoever says so; empty where they have none.
    pub version: String,
    /// What asking cost.
    pub cost: Cost,
}

/// The annotations of a batch, by episode.
pub type Annotations = HashMap<EpisodeId, Vec<Annotation>>;
