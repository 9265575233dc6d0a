//! The settings of `places`, which of them each skin knows, and the sizes that they make possible.

use super::blocks::HUES;
use super::home::{MAX_GOALS, Shape};
use super::site::SITES;
use super::town::{MAX_ERRANDS, MAX_ROOMS};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Acts of the longest shortest play; of errands, 40.
pub const MAX_SIZE: u32 = 16;
const MAX_LONG: u32 = 40;
const MAX_SLACK: u32 = 200;

/// What the ground looks like and how it is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Skin {
    /// Rooms one at a time; things may have to be treated first.
    House,
    /// Rooms one at a time; things to carry.
    Quests,
    /// All rooms at once; the whole plan in one line.
    Plan,
    /// Pages of a shop on the web.
    Site,
    /// Places one at a time; errands to be run in their order.
    Errands,
    /// Towers of blocks to be built otherwise.
    Blocks,
}

/// Which rooms have doors between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Doors {
    /// Every pair of neighbouring rooms has a door.
    Open,
    /// Just enough to reach every room.
    Tree,
}

/// Gold steps that are given as done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hints {
    /// Share of tasks with one; the others have none.
    pub share: f64,
    /// At most this share of a task's steps is given; how many is uniform from 0 on.
    pub depth: f64,
}

/// Some of the sites that never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sites {
    /// The number of the first, from 0.
    pub first: u32,
    /// How many sites follow on from the first, itself included.
    pub count: u32,
}

/// The settings of `places`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Places {
    /// What the ground looks like and how it is played.
    pub skin: Skin,
    /// Acts of a shortest play of training tasks, dealt in turn: 2 to 16; in a site 6 to 10, of errands up to 40. Empty: what is usual for the skin.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Rooms, 2 to 8; of errands 2 to 20. Absent: 4; of errands 12. Not in a site, nor of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rooms: Option<u32>,
    /// Things that lie around, 1 to 10, or blocks, 3 to 6. Absent: 4. Not in a site, nor of errands. More blocks are harder; more things are more to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<u32>,
    /// Which rooms have doors between them. Absent: `open` in a plan, otherwise `tree`. Not in a site, nor of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doors: Option<Doors>,
    /// Share of wishes that need a treatment. Absent: 0.5. Only in a house and in a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub treated: Option<f64>,
    /// Gold steps that training tasks give. Absent: none. Only in a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Hints>,
    /// Gold steps that held-out tasks give. Absent: none. Only in a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out_hints: Option<Hints>,
    /// Sections, 2 to 4: a site of 31, 45 or 59 pages. Absent: 3. Only in a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections: Option<u32>,
    /// Chance that a section's page behind a mirror is blocked, in training tasks; never behind both where the way leads. Absent: 0.
    /// Only in a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<f64>,
    /// The sites that tasks are on, by number; each has a name, and its shelves never change. Absent: every task has a site of its own,
    /// without a name. Only in a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sites: Option<Sites>,
    /// Errands of a task, 1 to 8. Absent: 4. Only of errands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errands: Option<u32>,
    /// Turns that a task grants beyond the acts of a shortest play; an agent that needs more is late. Absent: no deadline. Only of errands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<u32>,
    /// A lever somewhere that undoes all errands. Absent: none. Only of errands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lever: Option<bool>,
    /// Every reply but the last tells the errand that is due. Absent: none does. Only of errands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracker: Option<bool>,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            skin: Skin::House,
            sizes: Vec::new(),
            held_out_sizes: Vec::new(),
            rooms: None,
            objects: None,
            doors: None,
            treated: None,
            hints: None,
            held_out_hints: None,
            sections: None,
            blocked: None,
            sites: None,
            errands: None,
            slack: None,
            lever: None,
            tracker: None,
            instructions: false,
        }
    }
}

impl Places {
    pub(super) fn shape(&self) -> Shape {
        let doors = self.doors.unwrap_or(if self.skin == Skin::Plan { Doors::Open } else { Doors::Tree });
        Shape {
            rooms: self.rooms() as usize,
            things: self.objects.unwrap_or(4) as usize,
            tree: doors == Doors::Tree,
            treated: if self.skin == Skin::Quests { 0.0 } else { self.treated.unwrap_or(0.5) },
        }
    }

    fn rooms(&self) -> u32 {
        self.rooms.unwrap_or(if self.skin == Skin::Errands { 12 } else { 4 })
    }

    pub(super) fn errands(&self) -> u32 {
        self.errands.unwrap_or(4)
    }

    /// The sizes of training tasks: those that are given, or what is usual for the skin.
    pub(super) fn trained_sizes(&self) -> &[u32] {
        match (self.sizes.as_slice(), self.skin) {
            ([], Skin::House | Skin::Quests | Skin::Plan) => &[4, 6, 8],
            ([], Skin::Site) => &[6, 8],
            ([], Skin::Errands) => &[12, 14],
            ([], Skin::Blocks) => &[4, 6],
            (given, _) => given,
        }
    }

    /// The sizes that tasks can have.
    fn possible(&self) -> std::ops::RangeInclusive<u32> {
        let (wishes, rooms) = (self.objects.unwrap_or(4).min(MAX_GOALS as u32), self.rooms());
        // Take, put and treat each thing, walk, open a box or two: longer plays exist, and are too rare to be drawn.
        let acts = wishes * if self.shape().treated > 0.0 { 3 } else { 2 };
        match self.skin {
            Skin::Site => 6..=10,
            Skin::Errands => self.tours(),
            // At worst all blocks but one are put on the table, and then all but one in their place.
            Skin::Blocks => 2..=2 * self.objects.unwrap_or(4).saturating_sub(1),
            _ => 2..=(acts + rooms.min(2 * wishes) + wishes.min(2)).min(MAX_SIZE),
        }
    }

    /// The sizes of errands: the errands and the walks between them.
    fn tours(&self) -> std::ops::RangeInclusive<u32> {
        let (errands, rooms) = (self.errands(), self.rooms());
        match self.shape().tree {
            // Shorter and longer ones exist, and are too rare to be drawn.
            true => 2 * errands + errands * rooms / 20..=(errands + errands * rooms / 2).min(MAX_LONG),
            false => (2 * errands - 1).max(2)..=2 * errands,
        }
    }

    /// The settings that only some skins know: name, whether it is given, whether this skin knows it.
    fn particular(&self) -> [(&'static str, bool, bool); 13] {
        let site = self.skin == Skin::Site;
        let plan = self.skin == Skin::Plan;
        let (errands, blocks) = (self.skin == Skin::Errands, self.skin == Skin::Blocks);
        [
            ("rooms", self.rooms.is_some(), !site && !blocks),
            ("objects", self.objects.is_some(), !site && !errands),
            ("doors", self.doors.is_some(), !site && !blocks),
            ("treated", self.treated.is_some(), plan || self.skin == Skin::House),
            ("hints", self.hints.is_some(), plan),
            ("held_out_hints", self.held_out_hints.is_some(), plan),
            ("sections", self.sections.is_some(), site),
            ("blocked", self.blocked.is_some(), site),
            ("sites", self.sites.is_some(), site),
            ("errands", self.errands.is_some(), errands),
            ("slack", self.slack.is_some(), errands),
            ("lever", self.lever.is_some(), errands),
            ("tracker", self.tracker.is_some(), errands),
        ]
    }
}

impl Component for Places {
    const ABOUT: About = About {
        name: "places",
        summary: "Rooms or pages, containers and things: a house, quests, whole plans, a site with blocked pages, errands, blocks.",
        paper: "",
    };

    fn check(&self) -> Result<(), Refusal> {
        if let Some((name, ..)) = self.particular().into_iter().find(|(_, given, known)| *given && !known) {
            let skin = format!("{:?}", self.skin).to_lowercase();
            return Err(Refusal::new(format!("`{name}` means nothing to the skin `{skin}`; leave it out")));
        }
        let share = 0.0..=1.0;
        let most = if self.skin == Skin::Errands { MAX_ROOMS as u32 } else { 8 };
        Refusal::unless((2..=most).contains(&self.rooms()), "rooms", self.rooms(), &format!("2 to {most}"))?;
        let objects = self.objects.unwrap_or(4);
        let (least, most) = if self.skin == Skin::Blocks { (3, HUES.len() as u32) } else { (1, 10) };
        let range = format!("{least} to {most}");
        Refusal::unless((least..=most).contains(&objects), "objects", objects, &range)?;
        let range = format!("1 to {MAX_ERRANDS}");
        Refusal::unless(
            (1..=MAX_ERRANDS as u32).contains(&self.errands()),
            "errands",
            self.errands(),
            &range,
        )?;
        let slack = self.slack.unwrap_or_default();
        Refusal::unless(slack <= MAX_SLACK, "slack", slack, &format!("0 to {MAX_SLACK}"))?;
        let sections = self.sections.unwrap_or(3);
        Refusal::unless((2..=4).contains(&sections), "sections", sections, "2 to 4")?;
        for (name, value) in [("treated", self.treated), ("blocked", self.blocked)] {
            let value = value.unwrap_or_default();
            Refusal::unless(share.contains(&value), name, value, "a share, 0 to 1")?;
        }
        for (name, hints) in [("hints", self.hints), ("held_out_hints", self.held_out_hints)] {
            let sound =
                hints.is_none_or(|hints| share.contains(&hints.share) && (0.0..1.0).contains(&hints.depth));
            Refusal::unless(sound, name, "out of range", "a share of 0 to 1 and a depth of 0 to below 1")?;
        }
        if let Some(Sites { first, count }) = self.sites {
            let fits = count > 0 && first.saturating_add(count) as usize <= SITES.len();
            let range = format!("one site or more, of {}", SITES.len());
            Refusal::unless(fits, "sites", format!("{first} and {count} from there on"), &range)?;
        }
        let possible = self.possible();
        match self.trained_sizes().iter().chain(&self.held_out_sizes).find(|size| !possible.contains(size)) {
            Some(size) => Err(Refusal::new(format!(
                "a size of {size}; with these settings a shortest play has {} to {} acts",
                possible.start(),
                possible.end()
            ))),
            None => Ok(()),
        }
    }
}
