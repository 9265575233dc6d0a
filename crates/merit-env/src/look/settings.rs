//! The settings of `look`, and which of them each mode knows.

use super::figure::{Channel, MAX_OBJECTS};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked of the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A question about a grid.
    Answer,
    /// The better of two answers to it.
    Judge,
    /// A question about a table in time, with claims.
    Video,
    /// A question about a picture of a few objects.
    Count,
}

impl Mode {
    /// Whether there is a grid to zoom into.
    pub(super) fn is_grid(self) -> bool {
        matches!(self, Self::Answer | Self::Judge)
    }
}

/// The settings of `look`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Look {
    /// What is asked of the player.
    pub mode: Mode,
    /// Of training tasks, dealt in turn: tiles of the view from side to side, 2 to 4; in the mode `video` claims that the answer needs,
    /// 1 to 3; in the mode `count` objects, 1 to 4.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Cells of a tile from side to side, 2 to 4. Only of a grid.
    pub tile: u32,
    /// Share of tasks that the view from afar answers. Only of a grid.
    pub easy: f64,
    /// Whether the agent can zoom. False is the control: the same tasks, and every call is answered `no tools here`. Only of a
    /// grid.
    pub tool: bool,
    /// Offer the two answers the other way round. Only in the mode `judge`.
    pub swap: bool,
    /// Share of what is shown that is wrong, 0 to 0.5. Only in the mode `video`.
    pub corruption: f64,
    /// How pictures are shown. Absent: `image`. Only in the mode `count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// Share of the tasks with one object that ask for its name. Absent: none. Only in the mode `count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named: Option<f64>,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            mode: Mode::Answer,
            sizes: vec![2, 3],
            held_out_sizes: Vec::new(),
            tile: 3,
            easy: 0.5,
            tool: true,
            swap: false,
            corruption: 0.3,
            channel: None,
            named: None,
            instructions: false,
        }
    }
}

impl Component for Look {
    const ABOUT: About = About {
        name: "look",
        summary: "A grid that is seen from afar and can be zoomed into, to answer or to judge; a table in time seen through noise; or a picture with or without a caption.",
        paper: "DeepEyes; ARM-Thinker; ReWatch-R1; Infi-MMR",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list at least one, as in [2, 3]"));
        }
        let (known, of) = match self.mode {
            Mode::Video => (1..=3_u32, "claims that the answer needs, 1 to 3"),
            Mode::Count => (1..=MAX_OBJECTS, "objects, 1 to 4"),
            _ => (2..=4, "tiles of the view from side to side, 2 to 4"),
        };
        if let Some(size) = self.sizes.iter().chain(&self.held_out_sizes).find(|size| !known.contains(*size))
        {
            return Err(Refusal::new(format!("a size of {size}; give {of}")));
        }
        Refusal::unless((2..=4).contains(&self.tile), "tile", self.tile, "2 to 4")?;
        Refusal::unless((0.0..=1.0).contains(&self.easy), "easy", self.easy, "a share, 0 to 1")?;
        Refusal::unless((0.0..=0.5).contains(&self.corruption), "corruption", self.corruption, "0 to 0.5")?;
        let named = self.named.unwrap_or_default();
        Refusal::unless((0.0..=1.0).contains(&named), "named", named, "a share, 0 to 1")?;
        let usual = Self::default();
        let idle = [
            ("tile", !self.mode.is_grid() && self.tile != usual.tile),
            ("easy", !self.mode.is_grid() && self.easy != usual.easy),
            ("tool", !self.mode.is_grid() && self.tool != usual.tool),
            ("swap", self.mode != Mode::Judge && self.swap),
            ("corruption", self.mode != Mode::Video && self.corruption != usual.corruption),
            ("channel", self.mode != Mode::Count && self.channel.is_some()),
            ("named", self.mode != Mode::Count && self.named.is_some()),
        ];
        match idle.iter().find(|(_, set)| *set) {
            Some((key, _)) => Err(Refusal::new(format!("`{key}` does nothing in this `mode`; leave it out"))),
            None => Ok(()),
        }
    }
}
