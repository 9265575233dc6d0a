//! The settings of `boards`, and which of them each kind knows.

use super::strings::{LETTERS, SPELLING};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The boards that can be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Mines to be avoided.
    #[default]
    Mines,
    /// A box to be pushed.
    Push,
    /// Pairs of letters to be written.
    Strings,
}

/// The settings of `boards`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Boards {
    /// Which board is played: `mines`, `push` or `strings`.
    pub kind: Kind,
    /// Mines, a third of the moves that the shortest way takes, or wanted pairs, in training tasks, dealt in turn; 1 to 5.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Letters that there are, 4 to 8. Absent: 8. Only of strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub letters: Option<u32>,
    /// Signs by which a letter is said, 1 to 3: `add b`, `add b e`, `add b e t`. Absent: 1. Only of strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spelling: Option<u32>,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Boards {
    fn default() -> Self {
        Self {
            kind: Kind::Mines,
            sizes: vec![2, 3],
            held_out_sizes: Vec::new(),
            letters: None,
            spelling: None,
            instructions: false,
        }
    }
}

impl Boards {
    pub(super) fn letters(&self) -> usize {
        self.letters.unwrap_or(*LETTERS.end()) as usize
    }

    pub(super) fn spelling(&self) -> usize {
        self.spelling.unwrap_or(*SPELLING.start()) as usize
    }
}

impl Component for Boards {
    const ABOUT: About = About {
        name: "boards",
        summary: "Mines to be avoided by reasoning, a box to be pushed to its place, or pairs of letters to be written; the board is seen after every move.",
        paper: "VPR (2026); OPRL",
    };

    fn check(&self) -> Result<(), Refusal> {
        for (name, given, known) in
            [("letters", self.letters, LETTERS), ("spelling", self.spelling, SPELLING)]
        {
            let Some(given) = given else { continue };
            if self.kind != Kind::Strings {
                return Err(Refusal::new(format!("`{name}` means nothing beside strings; leave it out")));
            }
            let range = format!("{} to {}", known.start(), known.end());
            Refusal::unless(known.contains(&given), name, given, &range)?;
        }
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list mines, thirds of moves or pairs, as in [2, 3]"));
        }
        match self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(1..=5).contains(*size)) {
            Some(size) => Err(Refusal::new(format!("a size of {size}; give 1 to 5"))),
            None => Ok(()),
        }
    }
}
