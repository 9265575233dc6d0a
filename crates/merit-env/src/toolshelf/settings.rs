//! The settings of `toolshelf`, which of them each mode knows, and the shelf that they make.

use super::shelf::{MAX_TOOLS, Shelf};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// What is asked of the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Use the tools and answer what the last one gives.
    #[default]
    Agent,
    /// Name the tools in one line, `use TOOL then TOOL`, and be done.
    Retrieve,
    /// The same for what is written about one tool instead of a request.
    Document,
}

/// How tools are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// By four words: domain, verb, object and unit.
    #[default]
    Words,
    /// By a number below 1000 that tells nothing about the tool.
    Numbers,
    /// By its four words in angle brackets, which are one token for a decoder made on the spot.
    Tokens,
}

/// How requests are worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Template {
    /// `need VERB OBJECT at DOMAIN by UNIT for NUMBER SIZE`.
    #[default]
    Plain,
    /// The same words in another order.
    Shifted,
}

/// The settings of `toolshelf`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Toolshelf {
    /// Tools that training tasks need, one after the other, dealt in turn; 1 to 3.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// What is asked: `agent`, `retrieve` or `document`. The last takes sizes of 1.
    pub mode: Mode,
    /// How tools are named: `words`, `numbers` or `tokens`.
    pub names: Names,
    /// How requests are worded: `plain` or `shifted`. Not in the mode `document`.
    pub template: Template,
    /// Tools on the shelf, 20 to 500.
    pub tools: u32,
    /// Which shelf: the same number gives the same tools.
    pub shelf: u64,
    /// Share of needs that leave out the unit and, where the rest still means one tool, another word. Not in the mode
    /// `document`.
    pub vague: f64,
    /// How often a word of a request is another word for the same. Not in the mode `document`.
    pub synonyms: f64,
    /// How unevenly tools are needed: the n-th tool as often as n to the power of minus this; 0 to 3.
    pub skew: f64,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
    #[serde(skip)]
    made: Made,
}

/// The shelf of some settings, made when it is first needed and then kept: it is wanted in every step. It follows from the settings, so
/// that it does not tell two of them apart, and a copy, which may be changed, makes its own.
#[derive(Debug, Default)]
struct Made(OnceLock<Shelf>);

impl Clone for Made {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Made {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Default for Toolshelf {
    fn default() -> Self {
        Self {
            sizes: vec![1, 2],
            held_out_sizes: Vec::new(),
            mode: Mode::Agent,
            names: Names::Words,
            template: Template::Plain,
            tools: 200,
            shelf: 0,
            vague: 0.3,
            synonyms: 0.3,
            skew: 0.0,
            instructions: false,
            made: Made::default(),
        }
    }
}

impl Component for Toolshelf {
    const ABOUT: About = About {
        name: "toolshelf",
        summary: "Hundreds of tools that are never listed: name the one that is needed, read what it takes, use it.",
        paper: "ToolGen (2024)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list how many tools are needed, as in [1, 2]"));
        }
        let most = if self.mode == Mode::Document { 1 } else { 3 };
        let sizes = || self.sizes.iter().chain(&self.held_out_sizes);
        if let Some(size) = sizes().find(|size| !(1..=most).contains(*size)) {
            return Err(Refusal::new(format!("a size of {size}; give 1 to {most} tools in this mode")));
        }
        Refusal::unless((20..=MAX_TOOLS).contains(&self.tools), "tools", self.tools, "20 to 500")?;
        let share = |value: f64| (0.0..=1.0).contains(&value);
        Refusal::unless(share(self.vague), "vague", self.vague, "a share between 0 and 1")?;
        Refusal::unless(share(self.synonyms), "synonyms", self.synonyms, "a share between 0 and 1")?;
        Refusal::unless((0.0..=3.0).contains(&self.skew), "skew", self.skew, "between 0 and 3")?;
        let usual = Self::default();
        let worded = [
            ("template", self.template != usual.template),
            ("vague", self.vague != usual.vague),
            ("synonyms", self.synonyms != usual.synonyms),
        ];
        match worded.iter().find(|(_, set)| self.mode == Mode::Document && *set) {
            Some((key, _)) => Err(Refusal::new(format!(
                "`{key}` is about requests, and the mode `document` has none; leave it out"
            ))),
            None => Ok(()),
        }
    }
}

impl Toolshelf {
    pub fn shelf(&self) -> &Shelf {
        self.made.0.get_or_init(|| Shelf::new(self.shelf, self.tools, self.names))
    }

    /// How often needs are vague and words are others, and how unevenly tools are needed. What is written about a tool is never vague.
    pub(super) fn shares(&self) -> [f64; 3] {
        match self.mode {
            Mode::Document => [0.0, 0.0, self.skew],
            Mode::Agent | Mode::Retrieve => [self.vague, self.synonyms, self.skew],
        }
    }

    pub(super) fn hint(&self) -> &'static str {
        match self.mode {
            Mode::Agent => "say use TOOL, give ARGUMENTS or answer NUMBER",
            Mode::Retrieve => "say use TOOL or use TOOL then TOOL",
            Mode::Document => "say use TOOL",
        }
    }
}
